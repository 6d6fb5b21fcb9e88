"""Stamped data that waits for its transforms: tf2's message filter."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidArgument, InvalidStamp, LimitReached, WorldClosed
from armillary.stamps import Latest, seconds
from armillary.transforms._dispatcher import as_number, check_callback, check_timeout
from armillary.transforms._names import check_name

if TYPE_CHECKING:
    from armillary._core import Pose
    from armillary.transforms._dispatcher import Dispatcher, WaitHandle


_LONGEST_S = 4e9
_AS_USUAL = {"of_at": None, "fixed_frame": None, "outside": "raise", "policy": "unique", "interpolation": None}


@dataclass(slots=True, eq=False)
class _Item:
    """One datum and the transforms it still needs."""

    value: Any
    missing: int
    poses: dict[str, Pose]
    handles: list[WaitHandle]


class StampedQueue:
    """Holds data until it can be seen from every wanted frame, then hands it on.

    At most `size` items wait; a new one pushes out the oldest. Items are handed on as they become ready,
    with the poses of their frame by target: `callback(item, poses)`. What is given up is handed to
    `on_drop(item, reason)`. Both run on the world's dispatcher thread.

    `_lock` guards `_items` and the fields of its items.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        callback: Callable[[Any, dict[str, Pose]], object],
        *,
        in_frames: Sequence[str],
        size: int = 100,
        tolerance_s: float = 0.0,
        timeout_s: float | None = None,
        on_drop: Callable[[Any, ArmillaryError], object] | None = None,
    ) -> None:
        if isinstance(in_frames, str) or not isinstance(in_frames, Sequence) or len(in_frames) == 0:
            raise InvalidArgument("in_frames must be a list of at least one frame name, as in in_frames=['map'].")
        tolerance_s = as_number(tolerance_s, "tolerance_s")
        if isinstance(size, bool) or not isinstance(size, int) or size < 1 or not 0.0 <= tolerance_s < _LONGEST_S:
            raise InvalidArgument("size must be a whole number of at least 1, and tolerance_s finite and at least 0.")
        check_callback(callback, "callback")
        check_callback(callback if on_drop is None else on_drop, "on_drop")
        self._dispatcher, self._callback, self._on_drop = dispatcher, callback, on_drop
        self._in_frames = tuple(dict.fromkeys(check_name(name) for name in in_frames))
        self._size, self._tolerance_ns, self._timeout_s = size, seconds(tolerance_s), check_timeout(timeout_s)
        self._lock = threading.RLock()
        self._items: OrderedDict[int, _Item] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            return len(self._items)

    def put(self, item: object, *, frame: str, at: int) -> None:
        """Queue one datum that was measured in `frame` at the instant `at`.

        With a tolerance the transforms must exist at `at` and at `at + tolerance_s`. What is known already is handed
        on without taking a place in the queue.
        """
        if isinstance(at, Latest):
            raise InvalidStamp("at must be the instant of the measurement in integer nanoseconds, got LATEST.")
        name = check_name(frame)
        self._dispatcher.check({"of": name, "in_frame": self._in_frames[0], "at": at} | _AS_USUAL)
        questions = self._questions(name, at)
        known = [self._dispatcher.knows(question) for question in questions]
        if all(pose is not None for pose in known):
            poses = {pose.in_frame: pose for pose in known if pose is not None and pose.stamp in {at, None}}
            self._dispatcher.post(lambda: self._callback(item, poses))
            return
        held = _Item(item, len(questions), {}, [])
        with self._lock:
            pushed_out = self._make_room()
            self._items[id(held)] = held
        if pushed_out is not None:
            self._give_up(pushed_out, self._full())
        for question in questions:
            self._ask(held, question, is_answer=question["at"] == at)
        with self._lock:
            is_gone = id(held) not in self._items
        if is_gone:  # given up while it was still asking
            self._cancel(held)

    def _questions(self, frame: str, at: int) -> list[dict[str, Any]]:
        times = [at] if self._tolerance_ns == 0 else [at, at + self._tolerance_ns]
        return [
            {"of": frame, "in_frame": target, "at": when} | _AS_USUAL for target in self._in_frames for when in times
        ]

    def _full(self) -> LimitReached:
        return LimitReached("items in this queue", self._size, "Make it larger, or the data slower.")

    def clear(self) -> None:
        """Forget everything that waits."""
        with self._lock:
            items = list(self._items.values())
            self._items.clear()
        for held in items:
            self._cancel(held)

    def _make_room(self) -> _Item | None:
        return self._items.popitem(last=False)[1] if len(self._items) >= self._size else None

    def _ask(self, held: _Item, question: dict[str, Any], *, is_answer: bool) -> None:
        def on_pose(pose: Pose) -> None:
            self._arrived(held, question["in_frame"], pose if is_answer else None)

        def on_failure(reason: ArmillaryError) -> None:
            self._failed(held, reason)

        held.handles.append(self._dispatcher.ask(question, on_pose, on_failure, self._timeout_s))

    def _arrived(self, held: _Item, target: str, pose: Pose | None) -> None:
        with self._lock:
            if id(held) not in self._items:
                return
            held.missing -= 1
            if pose is not None:
                held.poses[target] = pose
            if held.missing > 0:
                return
            del self._items[id(held)]
        self._callback(held.value, held.poses)

    def _failed(self, held: _Item, reason: ArmillaryError) -> None:
        with self._lock:
            if self._items.pop(id(held), None) is None:
                return
        self._give_up(held, reason)

    def _give_up(self, held: _Item, reason: ArmillaryError) -> None:
        self._cancel(held)
        on_drop = self._on_drop
        if on_drop is None:
            return
        try:
            self._dispatcher.post(lambda: on_drop(held.value, reason))
        except WorldClosed:  # closing: this is the dispatcher's last round
            on_drop(held.value, reason)

    def _cancel(self, held: _Item) -> None:
        for handle in held.handles:
            handle.cancel()
