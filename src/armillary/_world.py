"""World: one world model, as a user sees it."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any, Literal, Self

from armillary._core import WorldCore
from armillary.errors import (
    ArmillaryError,
    InvalidArgument,
    InvalidName,
    StampOutOfRange,
    UnknownFrame,
    WorldClosed,
)
from armillary.stamps import LATEST, Latest, now, seconds
from armillary.transforms import (
    Dispatcher,
    RelationInfo,
    Samples,
    Snapshot,
    StampedQueue,
    Tree,
    TypoGuard,
    WaitHandle,
    as_number,
    check_name,
    check_timeout,
    warn_of_typo,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from numpy.typing import ArrayLike

    from armillary.transforms import Pose

__all__ = ["World"]

_NO_RELATION = 0xFFFFFFFF
_NS_PER_S, _LONGEST_S = 1e9, 4e9


class World(WorldCore):
    """Where everything is, in time.

    Frames come into being when they are first named; `set_pose` and `fix` say where they are, `pose` and its
    relatives answer. Reading never waits for writing, and every call is safe from any thread.

    Args:
        name: Who speaks when no `source` is given; stable, not a process id.
        history: How long samples are kept, per relation, against its own newest [ns].
        max_samples: At most this many samples per relation; None: bounded by `history` alone.
        max_runs: At most this many changes of parent are remembered per frame and source.
        clock: A callable that tells the time [ns]; the wall clock if not given.
        default_covariance: (6, 6), taken for samples that come without one.
        root_frame: The frame of the scene's root.
        interpolation: "linear" as tf2's, or "screw": one screw motion.
        frames: "open", or "declared": only names given to `add_frame` are accepted.
        max_ahead_s: Refuse samples further ahead of the clock than this [s].
        thin_m: With `thin_rad`: drop older samples that interpolation reproduces this well [m].
        thin_rad: The same for the angle [rad].
        max_waits: At most this many questions wait at once, and as many callbacks are pending behind a slow one.

    >>> from armillary import Transform, World, seconds
    >>> world = World()
    >>> map_T_robot = Transform.from_xyz_rpy(xyz=(1, 2, 0), rpy=(0, 0, 0))
    >>> world.set_pose(of="robot", in_frame="map", transform=map_T_robot, at=seconds(1.0))
    >>> world.pose(of="map", in_frame="robot").transform.translation.tolist()
    [-1.0, -2.0, 0.0]
    """

    def __init__(
        self,
        name: str = "",
        *,
        history: int = seconds(10),
        max_samples: int | None = None,
        max_runs: int = 1000,
        clock: Callable[[], int] | None = None,
        default_covariance: ArrayLike | None = None,
        root_frame: str = "map",
        interpolation: Literal["linear", "screw"] = "linear",
        frames: Literal["open", "declared"] = "open",
        max_ahead_s: float | None = None,
        thin_m: float | None = None,
        thin_rad: float | None = None,
        max_waits: int = 10_000,
    ) -> None:
        if not isinstance(frames, str) or frames not in {"open", "declared"}:
            raise InvalidArgument(f"frames must be 'open' or 'declared', got {frames!r}.", frames)
        if clock is not None and not callable(clock):
            raise InvalidArgument("clock must be a callable that tells integer nanoseconds, like armillary.now.", clock)
        bounds = _thinning(thin_m, thin_rad)
        super().__init__(
            name=_text(name, "name"),
            history_ns=_duration(history, "history"),
            max_samples=_count(max_samples, "max_samples"),
            max_runs=_positive(max_runs, "max_runs"),
            max_waits=_positive(max_waits, "max_waits"),
            thin_m=bounds[0],
            thin_rad=bounds[1],
            default_covariance=default_covariance,
            interpolation=_text(interpolation, "interpolation"),
            max_ahead_ns=_ahead(max_ahead_s),
        )
        self.root_frame = check_name(root_frame)
        self.on_error: Callable[[BaseException], object] | None = None
        self._clock, self._declared = now if clock is None else clock, frames == "declared"
        self._epoch, self._closed, self._time_offset = 0, False, 0
        self._typos = TypoGuard()
        self._dispatcher = Dispatcher(weakref.ref(self), _positive(max_waits, "max_waits"))
        ending = weakref.finalize(self, _end, self._closer(), self._dispatcher)
        ending.atexit = False  # at the interpreter's end blocked threads must stay blocked, not wake into it

    # -- Time

    def now(self) -> int:
        """The world's clock [ns]."""
        told = self._clock()
        if isinstance(told, float) or not hasattr(told, "__index__"):
            raise InvalidArgument(
                f"The clock told {told!r}; it must tell integer nanoseconds, as time.time_ns does.", told
            )
        self._check_stamp(told, "what the clock tells")
        return int(told) + self._time_offset

    @property
    def time_epoch(self) -> int:
        """How often time was reset."""
        return self._epoch

    def reset_time(self, *, to: int | None = None) -> None:
        """Start a new time: a bag that loops, a simulation that restarts.

        Samples are forgotten, fixed poses stay. With `to`, the world's clock goes on from there.
        """
        if to is not None:
            self._check_stamp(to, "to")
            self._time_offset += to - self.now()
        self._reset_time()
        self._epoch += 1

    # -- Names; called by the native half when it meets a name for the first time

    def _admit(self, name: object) -> str:
        """A name that may be made by use, in its stored form."""
        stored = check_name(name)
        if self._has_frame(stored):
            return stored
        if self._declared:
            raise UnknownFrame(stored, self.frames())
        near = self._typos.meet(stored, self._has_frame)
        if near is not None:
            warn_of_typo(stored, near)
        return stored

    def _declare(self, name: object) -> str:
        """A name that is made on purpose, in its stored form."""
        stored = check_name(name)
        self._typos.add(stored, self._has_frame)
        return stored

    def _knows(self, name: object) -> bool:
        """Whether a frame has this name; for questions that answer no instead of raising."""
        try:
            return self._has_frame(check_name(name))
        except InvalidName:
            return False

    def _recall(self, name: object) -> str:
        """A name that must exist, in its stored form."""
        stored = check_name(name)
        if not self._has_frame(stored):
            raise UnknownFrame(stored, self.frames())
        return stored

    def _with_row(self, error: ArmillaryError, row: int) -> ArmillaryError:
        """The same error, naming the row of the batch that caused it."""
        if not isinstance(error, StampOutOfRange):
            return error
        evidence = {key: getattr(error, key) for key in ("edge", "requested", "first", "last", "inserting")}
        return type(error)(row=row, **evidence)

    def keep(
        self,
        *,
        of: str,
        in_frame: str,
        source: str | None = None,
        history: int | None = None,
        max_samples: int | None = None,
        thin_m: float | None = None,
        thin_rad: float | None = None,
    ) -> None:
        """Set how much one relation remembers; what is not given stays as it is."""
        relation = self._known_relation(of, in_frame, source)
        old_history, old_samples, old_m, old_rad = self._retention(relation)
        bounds = (old_m, old_rad) if thin_m is None and thin_rad is None else _thinning(thin_m, thin_rad)
        self._keep(
            relation,
            old_history if history is None else _duration(history, "history"),
            old_samples if max_samples is None else _count(max_samples, "max_samples"),
            *bounds,
        )

    def samples(
        self, *, of: str, in_frame: str, start: int | None = None, end: int | None = None, source: str | None = None
    ) -> Samples:
        """Read back the stored samples of one relation, `start` and `end` included."""
        stamps, transforms, covariances = self._samples(self._known_relation(of, in_frame, source), start, end)
        return Samples(stamps=stamps, transforms=transforms, covariances=covariances)

    def _known_relation(self, of: str, in_frame: str, source: str | None) -> int:
        of, in_frame = check_name(of), check_name(in_frame)
        who = self._only_source(of, in_frame) if source is None else _text(source, "source")
        relation = self._relation_id(of, in_frame, who)
        if relation == _NO_RELATION:
            raise InvalidArgument(
                f"No source {who!r} places '{of}' directly in '{in_frame}'. world.relations() lists what there is; "
                "world.transforms(...) samples any pair of frames.",
                who,
            )
        return relation

    def _only_source(self, of: str, in_frame: str) -> str:
        """Whoever places `of` in `in_frame`, where that is one; else this world's own name."""
        sources = [who for child, parent, who, *_ in self._relations() if (child, parent) == (of, in_frame)]
        return sources[0] if len(sources) == 1 else self.name

    def relations(self) -> tuple[RelationInfo, ...]:
        """Every pose relation: rate, age, span, samples, source, kind."""
        time_now = self.now()
        return tuple(
            RelationInfo(
                of=of,
                in_frame=in_frame,
                source=source,
                kind=kind,
                samples=samples,
                first=first,
                last=last,
                age_s=None if last is None else (time_now - last) / _NS_PER_S,
            )
            for of, in_frame, source, kind, samples, first, last in self._relations()
        )

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Which frame hangs under which at one time; `print(world.tree())` draws it."""
        parents, infos = self._parents(at), self.relations()
        notes = {info.of: _note(info) for info in infos if parents.get(info.of) == (info.in_frame, info.source)}
        for name in (name for name, parent in parents.items() if parent is None):
            rivals = [f"'{info.source}'" for info in infos if info.of == name]
            if len(rivals) > 1:
                notes[name] = "contested by " + ", ".join(rivals)
        return Tree(parents, notes)

    def snapshot(
        self,
        *,
        in_frame: str,
        at: int | Latest = LATEST,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> Snapshot:
        """The transform of every answerable frame, in one sweep.

        With a stamp all frames are seen at that instant; with `LATEST` each at the newest instant its own path
        covers, and `.stamps` says which.
        """
        sweep = self._sweep(in_frame=in_frame, at=at, outside=outside, policy=policy, interpolation=interpolation)
        return Snapshot(self, sweep, check_name(in_frame))

    # -- Waiting

    def wait_for_pose(
        self,
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> Pose:
        """Block, without polling, until the pose is known.

        Raises:
            WaitTimeout: The time is over; `.reason` says what was still missing.
            ArmillaryError: What is missing can never come any more.
        """
        limit_s = check_timeout(timeout_s)
        question = self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation)
        return self._wait_for_pose(-1.0 if limit_s is None else limit_s, **question)

    def on_pose(
        self,
        callback: Callable[[Pose], object],
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> WaitHandle:
        """Call `callback(pose)` once, when the pose becomes known; the handle has `.cancel()`.

        It runs on the world's one dispatcher thread, also when the pose is known already. When the pose can never
        be known, or the time is over, `on_failure(error)` is called instead (`world.on_error` if not given; closing
        the world ends such a wait without a word).

        Raises:
            LimitReached: `max_waits` callbacks are pending already.
        """
        question = self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation)
        return self._dispatcher.ask(question, callback, on_failure, timeout_s)

    async def pose_when_ready(
        self,
        *,
        of: str,
        in_frame: str,
        at: int | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: int | Latest | None = None,
        fixed_frame: str | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> Pose:
        """The pose, awaited: for asyncio."""
        import asyncio  # noqa: PLC0415  (half of our import time, and most programs never await)

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Pose] = loop.create_future()

        def settle(set_it: Callable[[Any], None], value: object) -> None:
            if not future.done():
                set_it(value)

        handle = self._dispatcher.ask(
            self._question(of, in_frame, at, of_at, fixed_frame, outside, policy, interpolation),
            lambda pose: loop.call_soon_threadsafe(settle, future.set_result, pose),
            lambda error: loop.call_soon_threadsafe(settle, future.set_exception, error),
            timeout_s,
        )
        try:
            return await future
        finally:
            handle.cancel()

    def stamped_queue(
        self,
        callback: Callable[[Any, dict[str, Pose]], object],
        *,
        in_frames: Sequence[str],
        size: int = 100,
        tolerance_s: float = 0.0,
        timeout_s: float | None = None,
        on_drop: Callable[[Any, ArmillaryError], object] | None = None,
    ) -> StampedQueue:
        """A bounded queue that holds stamped data until its transforms exist: tf2's message filter.

        At most `size` items wait for transforms, and as many for a slow callback; a new one pushes out the oldest.
        """
        return StampedQueue(
            self._dispatcher,
            callback,
            in_frames=in_frames,
            size=size,
            tolerance_s=tolerance_s,
            timeout_s=timeout_s,
            on_drop=on_drop,
        )

    def _question(  # noqa: PLR0917  (the keyword arguments of a question, in their order)
        self,
        of: str,
        in_frame: str,
        at: int | Latest,
        of_at: int | Latest | None,
        fixed_frame: str | None,
        outside: str,
        policy: str,
        interpolation: str | None,
    ) -> dict[str, Any]:
        """A question that may be asked before its frames exist; everything else is checked now."""
        question: dict[str, Any] = {
            "of": check_name(of),
            "in_frame": check_name(in_frame),
            "at": at,
            "of_at": of_at,
            "fixed_frame": None if fixed_frame is None else check_name(fixed_frame),
            "outside": outside,
            "policy": policy,
            "interpolation": interpolation,
        }
        self._check_question(**question)
        return question

    def close(self) -> None:
        """End threads and waits; safe to call twice. What is stored can still be read."""
        if not self._closed:
            self._closed = True
            self._close()
            self._dispatcher.close()

    def __enter__(self) -> Self:
        if self._closed:
            raise WorldClosed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"World({self.name!r}, {len(self.frames())} frames, {len(self._relations())} relations)"


def _note(info: RelationInfo) -> str:
    """What the tree says beside a frame."""
    who = f" by '{info.source}'" if info.source else ""
    if info.kind != "sampled":
        return f"[{info.kind}{who}]"
    rate = "" if info.rate_hz is None else f", {info.rate_hz:.3g} Hz"
    return f"[{info.samples} sample{'s' if info.samples != 1 else ''}{rate}{who}]"


def _end(close_waits: Callable[[], None], dispatcher: Dispatcher) -> None:
    """What is left to do when a world is dropped: nobody may hang on."""
    close_waits()
    dispatcher.close(wait=False)


def _ahead(max_ahead_s: float | None) -> int:
    """Below zero means no limit on the native side."""
    if max_ahead_s is None:
        return -1
    limit_s = as_number(max_ahead_s, "max_ahead_s")
    if not 0.0 <= limit_s < _LONGEST_S:
        raise InvalidArgument(
            f"max_ahead_s must be a number of seconds, at least 0, or None, got {max_ahead_s!r}.", max_ahead_s
        )
    return seconds(limit_s)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or any("\ud800" <= letter < "\ue000" for letter in value):
        raise InvalidArgument(f"{name} must be a str that can be stored as UTF-8, got {value!r}.", value)
    return value


def _duration(value: object, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidArgument(
            f"{name} must be a duration in integer nanoseconds, got {value!r}. Pass seconds(10).", value
        )
    duration_ns = value.__index__()
    if not 0 < duration_ns < 2**62:
        raise InvalidArgument(f"{name} must be above zero and below 146 years, got {value!r} ns.", value)
    return int(duration_ns)


def _positive(value: object, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value.__index__() < 2**62:
        raise InvalidArgument(f"{name} must be a whole number of at least 1, got {value!r}.", value)
    return int(value.__index__())


def _count(value: object, name: str) -> int:
    """0 means no bound on the native side."""
    return 0 if value is None else _positive(value, name)


def _thinning(thin_m: float | None, thin_rad: float | None) -> tuple[float, float]:
    if thin_m is None and thin_rad is None:
        return 0.0, 0.0
    if thin_m is None or thin_rad is None:
        raise InvalidArgument("thin_m and thin_rad go together: how far off a dropped sample may be [m] and [rad].")
    thin_m = as_number(thin_m, "thin_m", allowed="a finite length [m]")
    thin_rad = as_number(thin_rad, "thin_rad", allowed="a finite angle [rad]")
    if not (math.isfinite(thin_m) and math.isfinite(thin_rad) and thin_m >= 0.0 and thin_rad >= 0.0):
        raise InvalidArgument(f"thin_m and thin_rad must be finite and not negative, got {thin_m!r} and {thin_rad!r}.")
    return float(thin_m), float(thin_rad)
