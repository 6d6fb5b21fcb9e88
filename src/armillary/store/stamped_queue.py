"""Stamped data that waits for its transforms: tf2's message filter."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidArgument, InvalidStamp, LimitReached, WorldClosed
from armillary.forks import begin_anew_in_child, new_lock
from armillary.stamps import Latest, seconds
from armillary.store.dispatcher import check_callback, check_timeout
from armillary.store.values import as_number

if TYPE_CHECKING:
    from armillary._core import Pose
    from armillary.store.dispatcher import Dispatcher, WaitHandle


_LONGEST_S = 4e9
_AS_USUAL = {
    "of_at": None,
    "fixed_frame": None,
    "outside": "raise",
    "policy": "unique",
    "interpolation": None,
    "hold_up_to_s": None,
}


@dataclass(slots=True, eq=False)
class _Item:
    """One item and the transforms that it still needs."""

    value: Any
    missing: int
    poses: dict[str, Pose]
    handles: list[WaitHandle]


class StampedQueue:
    """Holds items until they can be seen from every target frame, then delivers them.

    Items are delivered as they become ready, with the poses of their frame by target: `callback(item, poses)`. Dropped
    items are passed to `on_drop(item, reason)`. Both run on the world's dispatcher thread.

    At most `size` items wait for their transforms, and at most `size` are ready and wait for a callback that is slow; a
    new one pushes out the oldest of its kind. Dropped items that `on_drop` has not had yet are kept beside the queue,
    at most `World(max_waits=)` of them; of more, `world.on_error` gets the number. `dropped` counts them all.

    `_lock` guards `_waiting`, `_ready`, the fields of their items, `_drops`, `_dropped` and `_unreported`.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        callback: Callable[[Any, dict[str, Any]], object],
        *,
        in_frames: Sequence[str],
        size: int = 100,
        tolerance_s: float = 0.0,
        timeout_s: float | None = None,
        on_drop: Callable[[Any, ArmillaryError], object] | None = None,
    ) -> None:
        if isinstance(in_frames, str) or not isinstance(in_frames, Sequence) or len(in_frames) == 0:
            raise InvalidArgument(
                "in_frames must be a list of at least one frame name, as in in_frames=['map'].", in_frames
            )
        tolerance_s = as_number(tolerance_s, "tolerance_s")
        if isinstance(size, bool) or not isinstance(size, int) or size < 1 or not 0.0 <= tolerance_s < _LONGEST_S:
            raise InvalidArgument("size must be a whole number of at least 1, and tolerance_s finite and at least 0.")
        check_callback(callback, "callback")
        check_callback(callback if on_drop is None else on_drop, "on_drop")
        self._dispatcher, self._callback, self._on_drop = dispatcher, callback, on_drop
        self._in_frames = tuple(dict.fromkeys(dispatcher.frame_name(name) for name in in_frames))
        self._size, self._tolerance_ns, self._timeout_s = size, seconds(tolerance_s), check_timeout(timeout_s)
        self._lock = new_lock()
        self._waiting: OrderedDict[int, _Item] = OrderedDict()
        self._ready: OrderedDict[int, _Item] = OrderedDict()
        self._drops: deque[tuple[Any, BaseException]] = deque()
        self._dropped = self._unreported = 0
        begin_anew_in_child(self._begin_anew)

    def _begin_anew(self) -> None:
        """Leave the items to the parent of a fork, whose waits and callbacks they belong to."""
        self._waiting.clear()
        self._ready.clear()
        self._drops.clear()

    def __repr__(self) -> str:
        frames = ", ".join(map(repr, self._in_frames))
        return f"StampedQueue(to be seen from {frames}: {len(self)} wait, {self._dropped} dropped)"

    def __len__(self) -> int:
        """The number of items that wait, for their transforms or for the callback."""
        with self._lock:
            return len(self._waiting) + len(self._ready)

    @property
    def dropped(self) -> int:
        """The number of items that were dropped so far."""
        return self._dropped

    def put(self, item: object, *, frame: str, at: int) -> None:
        """Queue one datum that was measured in `frame` at the instant `at`.

        With a tolerance the transforms must exist at `at` and at `at + tolerance_s`. This never waits: where there is
        no place, the oldest item is dropped. Items that are ready take no place from those that wait.
        """
        if isinstance(at, Latest):
            raise InvalidStamp("at must be the instant of the measurement in integer nanoseconds, got LATEST.", at)
        name = self._dispatcher.frame_name(frame)
        self._dispatcher.check({"of": name, "in_frame": self._in_frames[0], "at": at} | _AS_USUAL)
        questions = self._questions(name, at)
        known = [pose for pose in map(self._dispatcher.knows, questions) if pose is not None]
        held = _Item(item, len(questions), {}, [])
        if len(known) == len(questions):
            held.missing, held.poses = 0, {pose.in_frame: pose for pose in known if pose.stamp in {at, None}}
        self._add(held)
        try:
            self._request(held, questions, at)
        except LimitReached as reason:  # of the world's waits
            self._failed(held, reason)
        except ArmillaryError:
            self._forget(held)
            raise

    def _add(self, held: _Item) -> None:
        with self._lock:
            lane = self._waiting if held.missing > 0 else self._ready
            oldest = lane.popitem(last=False)[1] if len(lane) >= self._size else None
            lane[id(held)] = held
        if oldest is not None:
            self._drop(oldest, LimitReached("items in this queue", self._size, "Make it larger, or the data slower."))

    def _request(self, held: _Item, questions: list[dict[str, Any]], at: int) -> None:
        """Let an item be delivered, or wait for the transforms that it needs."""
        if held.missing == 0:
            self._dispatcher.post(self._deliver)
            return
        for question in questions:
            self._ask(held, question, is_answer=question["at"] == at)
        with self._lock:
            is_gone = id(held) not in self._waiting
        if is_gone:  # dropped meanwhile
            self._cancel(held)

    def _remove(self, held: _Item) -> bool:
        """Remove an item; return whether it was still in the queue. The caller holds the lock."""
        return any(lane.pop(id(held), None) is not None for lane in (self._waiting, self._ready))

    def _questions(self, frame: str, at: int) -> list[dict[str, Any]]:
        times = [at] if self._tolerance_ns == 0 else [at, at + self._tolerance_ns]
        return [
            {"of": frame, "in_frame": target, "at": when} | _AS_USUAL for target in self._in_frames for when in times
        ]

    def clear(self) -> None:
        """Remove all items."""
        with self._lock:
            items = list(self._waiting.values())
            self._waiting.clear()
            self._ready.clear()
        for held in items:
            self._cancel(held)

    def _ask(self, held: _Item, question: dict[str, Any], *, is_answer: bool) -> None:
        def on_pose(pose: Pose) -> None:
            self._arrived(held, question["in_frame"], pose if is_answer else None)

        def on_failure(reason: BaseException) -> None:
            self._failed(held, reason)

        held.handles.append(self._dispatcher.ask(question, on_pose, on_failure, self._timeout_s))

    def _arrived(self, held: _Item, target: str, pose: Pose | None) -> None:
        with self._lock:
            if id(held) not in self._waiting:
                return
            held.missing -= 1
            if pose is not None:
                held.poses[target] = pose
            if held.missing > 0:
                return
            self._remove(held)
        self._callback(held.value, held.poses)

    def _failed(self, held: _Item, reason: BaseException) -> None:
        with self._lock:
            was_here = self._remove(held)
        if was_here:
            self._drop(held, reason)

    def _forget(self, held: _Item) -> None:
        with self._lock:
            self._remove(held)
        self._cancel(held)

    def _drop(self, held: _Item, reason: BaseException) -> None:
        self._cancel(held)
        with self._lock:
            self._dropped += 1
            if self._on_drop is None:
                return
            if len(self._drops) < self._dispatcher.max_waits:
                self._drops.append((held.value, reason))
            else:
                self._unreported += 1
        try:
            self._dispatcher.post(self._deliver)
        except WorldClosed:  # closing: this is the dispatcher's last round
            self._report_drops()

    def _deliver(self) -> None:
        """Deliver what is ready, on the dispatcher's thread; what comes meanwhile is posted anew."""
        self._report_drops()
        for _ in range(len(self._ready)):
            with self._lock:
                if not self._ready:
                    return
                _, held = self._ready.popitem(last=False)
            self._dispatcher.call(self._callback, held.value, held.poses)
        if self._ready:
            self._deliver_later()

    def _deliver_later(self) -> None:
        try:
            self._dispatcher.post(self._deliver)
        except WorldClosed as closed:
            for held in list(self._ready.values()):
                self._failed(held, closed)

    def _report_drops(self) -> None:
        on_drop = self._on_drop
        for _ in range(len(self._drops)):
            with self._lock:
                value, reason = self._drops.popleft()
            if on_drop is not None:
                self._dispatcher.call(on_drop, value, reason)
        with self._lock:
            unreported, self._unreported = self._unreported, 0
        if unreported > 0:
            hint = f"on_drop was too slow for {unreported} more."
            self._dispatcher.report(LimitReached("dropped items", self._dispatcher.max_waits, hint))

    def _cancel(self, held: _Item) -> None:
        for handle in held.handles:
            handle.cancel()
