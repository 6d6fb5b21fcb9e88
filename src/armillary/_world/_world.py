"""World: one world model, as a user sees it."""

from __future__ import annotations

import secrets
import weakref
from typing import TYPE_CHECKING, Literal, Self

from armillary._world._arguments import (
    as_ahead,
    as_authority,
    as_count,
    as_duration,
    as_horizon,
    as_noise,
    as_positive,
    as_text,
    as_thinning,
)
from armillary._world._viewing import ViewingWorld
from armillary.errors import InvalidArgument, WorldClosed
from armillary.stamps import now, seconds
from armillary.transforms import Dispatcher, TypoGuard, check_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import ArrayLike

    from armillary._core import ReadyQueue

__all__ = ["World"]


class World(ViewingWorld):
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
        process_noise: How much a predicted pose (`outside="predict"`) grows uncertain in a second: six variances,
            translation then rotation, or (6, 6); 1e-4 m2/s and 1e-4 rad2/s if not given.
        predict_up_to_s: Further beyond the last sample than this nothing is predicted [s].
        max_waits: At most this many questions wait at once, and as many callbacks are pending behind a slow one.
        max_paths: At most this many paths are looked at for one question with a `policy`.
        max_changes: At most this many changes of structure are kept for other copies of this world.
        max_undo: At most this many can be taken back.
        authority: Where copies contradict one another, what the one with more of it says counts; 0 to 255.

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
        process_noise: ArrayLike | None = None,
        predict_up_to_s: float = 1.0,
        max_waits: int = 10_000,
        max_paths: int = 64,
        max_changes: int = 10_000,
        max_undo: int = 100,
        authority: int = 0,
    ) -> None:
        self._made_with = {key: value for key, value in locals().items() if key not in {"self", "__class__"}}
        if not isinstance(frames, str) or frames not in {"open", "declared"}:
            raise InvalidArgument(f"frames must be 'open' or 'declared', got {frames!r}.", frames)
        if clock is not None and not callable(clock):
            raise InvalidArgument("clock must be a callable that tells integer nanoseconds, like armillary.now.", clock)
        bounds = as_thinning(thin_m, thin_rad)
        super().__init__(
            name=as_text(name, "name"),
            history_ns=as_duration(history, "history"),
            max_samples=as_count(max_samples, "max_samples"),
            max_runs=as_positive(max_runs, "max_runs"),
            max_waits=as_positive(max_waits, "max_waits"),
            thin_m=bounds[0],
            thin_rad=bounds[1],
            default_covariance=default_covariance,
            interpolation=as_text(interpolation, "interpolation"),
            max_ahead_ns=as_ahead(max_ahead_s),
            predict_up_to_ns=as_horizon(predict_up_to_s),
            process_noise=as_noise(process_noise),
            root_frame=check_name(root_frame),
            max_changes=as_positive(max_changes, "max_changes"),
            max_undo=as_positive(max_undo, "max_undo"),
            authority=as_authority(authority),
            bearer=secrets.randbits(64),  # tells apart who bears the same name
        )
        self.root_frame = check_name(root_frame)
        self.on_error: Callable[[BaseException], object] | None = None
        self._clock, self._declared = now if clock is None else clock, frames == "declared"
        self._closed, self._time_offset = False, 0
        self._max_paths = as_positive(max_paths, "max_paths")
        self._typos = TypoGuard()
        self._dispatcher = Dispatcher(weakref.ref(self), as_positive(max_waits, "max_waits"))
        ending = weakref.finalize(self, _end, self._closer(), self._dispatcher, self._woken)
        ending.atexit = False  # at the interpreter's end blocked threads must stay blocked, not wake into it

    def copy(self) -> World:
        """A world that says the same, to try things in: whatever is changed there stays there.

        Samples are copied, the scene is shared until it is changed. Models that stand here stand there as copies,
        `mounts` has them: an edit of one is followed where it stands. Who waits here does not wait there.
        """
        twin = World(**self._made_with)
        twin._become(self)
        twin.on_error, twin._time_offset = self.on_error, self._time_offset
        twin._copy_scene(self)
        twin._copy_mounts(self)
        twin._copy_loops(self)
        return twin

    def close(self) -> None:
        """End threads and waits; safe to call twice. What is stored can still be read."""
        if not self._closed:
            self._closed = True
            self._close_viewers()
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

    def _report(self, error: BaseException) -> None:
        self._dispatcher.report(error)

    def __repr__(self) -> str:
        return f"World({self.name!r}, {len(self.frames())} frames, {len(self._relations())} relations)"


def _end(close_waits: Callable[[], None], dispatcher: Dispatcher, _woken: ReadyQueue) -> None:
    """What is left to do when a world is dropped: nobody may hang on. `_woken` lives as long as it may be woken."""
    close_waits()
    dispatcher.close(wait=False)
