"""World: one world model, as a user sees it; each method forwards to the part that does the work."""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, Unpack, overload

from armillary._core import WorldFace
from armillary.errors import InvalidArgument, NotShared, RecordingFailed
from armillary.fusion import answers
from armillary.notebook import world_html
from armillary.stamps import LATEST, Latest, as_stamp, seconds
from armillary.store import PoseQuery, Query, Settings, Store, TwistQuery, points
from armillary.store.diagnosis import diagnose
from armillary.store.names import frame_name, frame_of_body
from armillary.store.nodes import names_of_nodes, without_nodes
from armillary.store.velocity_names import velocity_of
from armillary.store.wrench_names import wrench_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import EllipsisType, TracebackType

    from numpy.typing import ArrayLike

    from armillary._core import ChangeRecord, NodeId
    from armillary.articulation import ArticulationModel
    from armillary.articulation.closed_loop import ClosedLoop
    from armillary.articulation.constraints import Constraint
    from armillary.articulation.mount import Mount
    from armillary.articulation.mounts import Mounts
    from armillary.errors import ArmillaryError
    from armillary.fusion.filter import Filter, FilteredPose
    from armillary.fusion.looks import Average
    from armillary.fusion.policies import PolicyPose
    from armillary.record import Recording
    from armillary.relations import AngularVelocity, LinearVelocity, Orientation, Pose, Position, Twist, Wrench
    from armillary.relations.motion import TwistResidual
    from armillary.ros import LogReport, LookupReport, TopicsLike, WrittenLog
    from armillary.scene import Change, Scene
    from armillary.share import Channel, PeerInfo, Share
    from armillary.stamps import StampLike
    from armillary.store.dispatcher import WaitHandle
    from armillary.store.query import Choosing, Outside, PoseWait
    from armillary.store.query import PolicyLike as NamedPolicy
    from armillary.store.stamped_queue import StampedQueue
    from armillary.store.trees import TreeConnection
    from armillary.store.twists import PendingTwist
    from armillary.store.undo_report import UndoReport
    from armillary.transforms import (
        Diagnosis,
        JointSamples,
        JointState,
        RelationInfo,
        Samples,
        Snapshot,
        Transform,
        Tree,
        TwistSamples,
        WrenchSamples,
    )
    from armillary.view.theme import Theme
    from armillary.view.web import Viewer

    PolicyLike = NamedPolicy | Filter

__all__ = ["World"]

_MAX_BYTES = 2**30

_OF_A_WORLD = (
    "The scene of another world comes with its changes, merge(other.scene.changes()). What it keeps under a root of "
    "its own is mounted with scene.add_parent(root, node): see docs/scene_recipes.md."
)
_OF_ELSE = "Load one, or make one."


if TYPE_CHECKING:
    _of_class = classmethod
else:

    class _of_class(classmethod):  # noqa: N801  (used as classmethod is)
        """A class method that refuses to be called on a world, whose caller would lose the new world."""

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            method = super().__get__(None, owner)
            if instance is None:
                return method
            call = f"{owner.__name__}.{method.__name__}"

            @functools.wraps(method)
            def refuse(*_: Any, **__: Any) -> NoReturn:
                raise InvalidArgument(f"{call} makes a new world, and changes none: world = {call}(...).")

            return refuse


class World(WorldFace):
    """A world model: where everything is, in time.

    Frames are added when they are first named; `set_pose` and `fix` place them, `pose` and similar methods answer
    queries. Reading never waits for writing, and every call is safe from any thread.

    Args:
        name: The source where none is given; stable, not a process id.
        history: How long samples are kept, per relation, against its own newest [ns]; None: for ever.
        max_samples: At most this many samples per relation; None: bounded by `history` alone.
        max_runs: At most this many changes of parent are kept per frame and source.
        max_sources: At most this many sources place one frame; those of other replicas are not refused.
        clock: A callable that returns the time [ns]; the wall clock if not given.
        default_covariance: (6, 6), used for samples without one.
        root_frame: The frame of the scene's root.
        interpolation: "linear" as tf2's, or "screw": one screw motion.
        frames: "open", or "declared": only names given to `add_frame` are accepted.
        max_ahead_s: Refuse samples further ahead of the clock than this [s].
        rival_timeout: How long after its last sample a source still contests those of others [ns]; None: for ever.
        thin_m: With `thin_rad`: drop older samples that interpolation reproduces this well [m].
        thin_rad: With `thin_m`: drop older samples that interpolation reproduces this well [rad].
        process_noise: The growth of the covariance of a predicted pose (`outside="predict"`) in a second: six
            variances, translation then rotation, or (6, 6); 1e-4 m2/s and 1e-4 rad2/s if not given.
        predict_up_to_s: The longest prediction beyond the last sample [s].
        hold_up_to_s: How far from its own instant `outside="hold"` uses a sample [s]; None: without a limit.
        max_waits: At most this many questions wait at once, and as many callbacks are pending behind a slow one.
        max_paths: At most this many candidate paths are evaluated for one query with a `policy`.
        max_changes: At most this many change records are kept for other replicas of this world.
        max_undo: At most this many changes can be undone.
        authority: Where assertions of replicas conflict, the one with the higher authority wins; 0 to 255.

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
        history: int | None = seconds(10),
        max_samples: int | None = None,
        max_runs: int = 1000,
        max_sources: int = 1000,
        clock: Callable[[], int] | None = None,
        default_covariance: ArrayLike | None = None,
        root_frame: str = "map",
        interpolation: Literal["linear", "screw"] = "linear",
        frames: Literal["open", "declared"] = "open",
        max_ahead_s: float | None = None,
        rival_timeout: int | None = seconds(1),
        thin_m: float | None = None,
        thin_rad: float | None = None,
        process_noise: ArrayLike | None = None,
        predict_up_to_s: float = 1.0,
        hold_up_to_s: float | None = None,
        max_waits: int = 10_000,
        max_paths: int = 64,
        max_changes: int = 10_000,
        max_undo: int = 100,
        authority: int = 0,
    ) -> None:
        given = {key: value for key, value in locals().items() if key not in {"self", "__class__"}}
        store = Store(Settings(**given))
        super().__init__(store)
        self._compose(store)

    @classmethod
    def of_store(cls, store: Store) -> Self:
        """Return a world over an existing store: that of a replay, a transport, a copy."""
        if not isinstance(store, Store):
            raise InvalidArgument(f"A world is made over a Store, got {store!r}.", store)
        world = cls.__new__(cls)
        WorldFace.__init__(world, store)
        world._compose(store)  # noqa: SLF001  (its own constructor)
        return world

    def _compose(self, store: Store) -> None:
        store.policy_answers, store.load_world = answers, World.load
        if type(self).now is not World.now:  # a subclass has a clock of its own
            store.use_time_of(weakref.WeakMethod(self.now))
        self._scene: Scene | None = None
        self._models: Mounts | None = None
        self._viewers: tuple[Viewer, ...] = ()
        self._share: Share | None = None
        self._recordings: tuple[Recording, ...] = ()
        self._log: LogReport | None = None

    # -- Frames

    @property
    def name(self) -> str:
        """The source where a call names none."""
        return self.store.name

    @property
    def root_frame(self) -> str:
        """The frame of the scene's root."""
        return self.store.root_frame

    @property
    def on_error(self) -> Callable[[BaseException], object] | None:
        """A callable that gets the errors of callbacks and observers; None: they are printed."""
        return self.store.on_error

    @on_error.setter
    def on_error(self, callback: Callable[[BaseException], object] | None) -> None:
        self.store.on_error = callback

    def add_frame(self, *names: str) -> None:
        """Add frames by name, before anything else names them."""
        self.store.add_frame(*names)

    def frames(self) -> tuple[str, ...]:
        """Return the names of all frames, in the order they were added."""
        return self.store.frames()

    def prefer(
        self, *, of: str | NodeId, source: str | NodeId | None, start: int | None = None, end: int | None = None
    ) -> None:
        """Set which of several sources queries use for a frame, from `start` until `end`; None takes it back.

        It settles a contest while that source is open, that is until it ends or falls silent for longer than
        `rival_timeout`; then the others count again. A newer preference replaces an older one in its interval. Where a
        node is in several others, these are its sources: by the names of their frames, or their ids.
        """
        self.store.prefer(of=of, source=source, start=start, end=end)

    def end(self, *, of: str | NodeId, source: str | NodeId | None = None, at: int | None = None) -> None:
        """End what a source asserts of a frame at `at`, by default `world.now()`; earlier queries are still answered.

        From then on the source does not contest those of others, until it gives something newer.
        """
        self.store.end(of=of, source=source, at=at)

    def remove_frame(self, name: str, *, subtree: bool = False) -> None:
        """Remove a frame with its past, and the twists that wait for its poses.

        It is refused while frames or nodes are placed in it, unless `subtree=True` removes them too. The frame of a
        node is removed with the node, by `scene.remove`.
        """
        self.store.remove_frame(name, subtree=subtree)

    def forget(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId | None = None,
        source: str | NodeId | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> int:
        """Remove samples of a frame, and what was derived from them, as if they had never been given.

        Its poses and its measured twists go, those that wait for poses included. A relation that has no sample left
        goes with them, and so does a frame that nothing else names. Other replicas follow, and it is saved. `undo`
        brings back such a relation, but not the samples.

        Args:
            of: The frame.
            in_frame: Only poses in this frame, and twists relative to it.
            source: Only samples of this source.
            start: Only samples from this instant on [ns].
            end: Only samples until this instant, itself included [ns].

        Returns:
            How many samples went.

        Raises:
            UnknownFrame: There is no such frame.
            NoSuchRelation: No source of that name places it, or nothing places it in that frame.
        """
        return self.store.forget(of=of, in_frame=in_frame, source=source, start=start, end=end)

    def remove_relation(self, *, of: str | NodeId, in_frame: str | NodeId, source: str | NodeId | None = None) -> int:
        """Remove one relation with its history: samples, fixed and driven poses, and motion relative to `in_frame`.

        What another source asserts of the frame stays, and so does what this source asserts in other frames: it holds
        as if the relation had never been. Other replicas follow, and it is saved. `undo` brings back the relation, but
        not the samples.

        Args:
            of: The frame.
            in_frame: The frame that it is in.
            source: Who asserts it. If left out, the only source that does, or the world's own name.

        Returns:
            How many samples went.

        Raises:
            UnknownFrame: There is no frame `of`.
            NoSuchRelation: The source does not place it directly in `in_frame`; the error lists who places it where.
        """
        return self.store.remove_relation(of=of, in_frame=in_frame, source=source)

    def clear(self) -> None:
        """Remove all samples, and the twists that wait for poses. Structure and fixed poses stay."""
        self.store.clear()

    def attach(
        self,
        *,
        of: str | NodeId,
        to: str | NodeId,
        at: StampLike | None = None,
        source: str | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        hold_up_to_s: float | None = None,
        prefer: bool = True,
    ) -> None:
        """Place a frame in another from `at` on, without moving it: the grasped cup.

        It is a statement of knowledge: until `detach` or `end` it is preferred to what other sources give.

        Args:
            of: The frame that gets a new parent.
            to: Its parent from then on.
            at: With a stamp: its pose then, from then on. None: its last known pose, from `world.now()` on.
            source: The source of the new pose; the world's own name if not given.
            outside: As for `pose`.
            policy: As for `pose`: which pose, if several sources place the frame.
            hold_up_to_s: As for `pose`.
            prefer: False: it contests what other sources give, as `fix` does.
        """
        query = Query(outside=outside, policy=policy, hold_up_to_s=hold_up_to_s)
        rank = "statement" if prefer else "plain"
        self.store.attach_frame(of=of, to=to, at=at, source=source, query=query, rank=rank)

    def detach(
        self,
        *,
        of: str | NodeId,
        to: str | NodeId | None = None,
        at: StampLike | None = None,
        source: str | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        hold_up_to_s: float | None = None,
    ) -> None:
        """Release a frame: what `attach` asserted ends at `at`, by default `world.now()`.

        Args:
            of: The frame that was attached.
            to: Where it stays, at the pose that it has then, for as long as no other source places it.
            at: When it is released.
            source: Whose placement ends; if not given, that of `attach`, or whoever places the frame.
            outside: As for `pose`.
            policy: As for `pose`.
            hold_up_to_s: As for `pose`.
        """
        query = Query(outside=outside, policy=policy, hold_up_to_s=hold_up_to_s)
        self.store.detach_frame(of=of, to=to, at=at, source=source, query=query)

    def connect_trees(
        self,
        *,
        of: str,
        in_frame: str,
        transform: Transform,
        at: int,
        covariance: ArrayLike | None = None,
        source: str = "connection",
        since: int | EllipsisType | None = ...,
        update: bool = False,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        hold_up_to_s: float | None = None,
    ) -> TreeConnection:
        """Connect two trees of frames by a measurement between any two of their frames: two maps that meet.

        The measurement does not place `of`, which keeps its parent and is contested by nobody. It is kept as a sample
        of a frame of its own, `OF@SOURCE`, and determines a correction: the pose of the root of the tree of `of` in the
        root of the other tree, with the covariance of the measurement and of the paths to both roots. It is a sample of
        `source`, of a relation that goes in steps: it holds from `since` on until the next correction. The root frame
        of the scene is never placed: where `of` is in its tree, the other root is placed in it. One `undo` takes the
        connection back; `forget` takes back one correction of several.

        Args:
            of: The frame that was measured.
            in_frame: The frame that it was measured from.
            transform: `in_frame_T_of` as measured.
            at: The instant of the measurement [ns].
            covariance: (6, 6) or six variances of the measurement; unknown, if left out, and so is then that of the
                correction.
            source: Who measured. Use a name that nothing else has.
            since: From when on the correction holds [ns]: from `at` on, if left out; None: always, as a fixed pose.
            update: Correct a connection that this source made before, from `since` on: one more step.
            outside: As for `pose`, for the two paths to the roots.
            policy: As for `pose`, for the two paths to the roots.
            hold_up_to_s: As for `pose`, for the two paths to the roots.

        Raises:
            AlreadyConnected: Both frames are in one tree; the error has the residual of the measurement.
        """
        from armillary.store.trees import connect_trees  # noqa: PLC0415  (most programs have one tree)

        return connect_trees(
            self.store,
            Query(outside=outside, policy=policy, hold_up_to_s=hold_up_to_s),
            of=of,
            in_frame=in_frame,
            transform=transform,
            covariance=covariance,
            at=at,
            source=source,
            since=since,
            update=update,
        )

    def add_relation(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        source: str | None = None,
        interpolation: Literal["linear", "screw", "step"] = "linear",
        at: int | None = None,
    ) -> None:
        """Add a relation before its first sample, or choose how the samples of a known one follow one another.

        Args:
            of: The frame that is placed; made if it is new.
            in_frame: Its parent; made if it is new.
            source: Who places it; the world's own name if not given.
            interpolation: "linear": as the query asks, or the world. "screw": one screw motion, unless the query asks
                otherwise. "step": each sample holds until the next one, as a map correction does: the relation covers
                all time from its first sample on, does not limit `LATEST`, does not move, and `held` of the answers
                names it with its age. It counts for all samples, those of the past included.
            at: Since when samples are expected, where the relation is new [ns]; now if not given.
        """
        self.store.add_relation(of=of, in_frame=in_frame, source=source, interpolation=interpolation, at=at)

    def relations(self) -> tuple[RelationInfo, ...]:
        """Return every relation of poses and of twists: rate, age, span, samples, source, kind."""
        return self.store.relations()

    def newest_stamp(self) -> int | None:
        """Return the newest stamp of all samples [ns], those of joints and twists included; None without samples."""
        return self.store.newest_stamp()

    def tree(self, at: StampLike | Latest = LATEST) -> Tree:
        """Return the parent of each frame at one time; `print(world.tree())` draws it, with the names of nodes."""
        found = self.store.tree(at)
        return replace(found, names=names_of_nodes(self.store, found.parents))

    def keep(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        source: str | None = None,
        history: int | EllipsisType | None = ...,
        max_samples: int | EllipsisType | None = ...,
        thin_m: float | None = None,
        thin_rad: float | None = None,
    ) -> None:
        """Set how many samples one relation keeps, None without a limit; what is not given stays as it is."""
        self.store.keep(
            self.store.known_relation(of, in_frame, source),
            history=history,
            max_samples=max_samples,
            thin_m=thin_m,
            thin_rad=thin_rad,
        )

    def keep_twists(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        source: str | None = None,
        history: int | EllipsisType | None = ...,
        max_samples: int | EllipsisType | None = ...,
    ) -> None:
        """Set how many measured twists one relation keeps, None without a limit; what is not given stays as it is."""
        relation = self.store.known_twist(of, relative_to, source)
        self.store.keep(relation, history=history, max_samples=max_samples)

    def samples(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
    ) -> Samples:
        """Return the stored samples of one relation, `start` and `end` included."""
        return self.store.samples(of=of, in_frame=in_frame, start=start, end=end, source=source)

    def twist_samples(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
    ) -> TwistSamples:
        """Return the measured twists of one frame relative to one body, `start` and `end` included.

        They are as stored: at the origin and along the axes of `of`.
        """
        return self.store.twist_samples(of=of, relative_to=relative_to, start=start, end=end, source=source)

    def average(
        self,
        *,
        of: str,
        in_frame: str,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
        scale: bool = False,
        common_covariance: ArrayLike | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Average:
        """Return the mean pose of a frame that stood still, over many looks, with covariance and outliers.

        A look is a stored sample of `of`, or of the frame that `of` is fixed in, seen from `in_frame` at its instant:
        of a marker that a moving camera sees, in the map. Looks with covariances are weighted by them; where none has
        one, the scatter of the looks gives the covariance of the mean. Outliers are left out and listed. Errors that
        all looks share (an uncertain calibration that is `fix`ed on the way) do not average out, and are carried
        through; errors of samples are taken to be independent.

        Args:
            of: The frame whose mean pose is wanted.
            in_frame: The frame it is seen from.
            start: The first instant [ns]; all that is stored, if left out.
            end: The last instant [ns], included.
            source: Only looks by this source; by all of them, if left out.
            scale: Whether the covariance is widened where looks differ more than their covariances say.
            common_covariance: Of a further error that all looks share (the bias of one camera), in the tangent of `of`:
                (6, 6) or six variances. It is added at the end.
            outside: As for `pose`, for the way from the frame that looks are in to `in_frame`.
            policy: As for `pose`, likewise.
            interpolation: As for `pose`, likewise.
            hold_up_to_s: As for `pose`, likewise.

        Raises:
            NothingToAverage: There is no sample in this interval.
        """
        from armillary.fusion.looks import average_looks  # noqa: PLC0415  (most programs average nothing)

        return average_looks(
            self.store,
            Query(outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s),
            of=of,
            in_frame=in_frame,
            start=start,
            end=end,
            source=source,
            scale=scale,
            common_covariance=common_covariance,
        )

    def snapshot(
        self,
        *,
        in_frame: str | NodeId,
        at: StampLike | Latest = LATEST,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Snapshot:
        """Return the transform of every frame that has one, evaluated together.

        With a stamp all frames are taken at that instant; with `LATEST` each at the newest instant that its own path
        covers, which is in `.stamps`.
        """
        query = Query(at=at, outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s)
        return self.store.snapshot(in_frame, query)

    # -- Time

    def now(self) -> int:
        """Return the time of the world's clock [ns]."""
        return self.store.clock_time()

    @property
    def time_epoch(self) -> int:
        """How often time was reset."""
        return self.store.time_epoch

    def reset_time(self, *, to: int | None = None) -> None:
        """Start a new time epoch: a bag that loops, a simulation that restarts.

        Samples are removed, and twists that wait for poses. What held last holds always: fixed poses, nodes of the
        scene, each transform where it was added. With `to`, the world's clock continues from there.
        """
        self.store.reset_time(to=to)

    # -- Positions and motions

    def position(
        self,
        *,
        of: str | NodeId | None = None,
        in_frame: str | NodeId | None = None,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        reference_point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Position:
        """Return the position of the origin of one frame from the origin of another.

        Args:
            of: Frame whose origin is wanted.
            in_frame: Frame from whose origin it is measured.
            expressed_in: Frame along whose axes the numbers are; `in_frame` if not given.
            point: Frame whose origin is wanted, in place of `of`.
            reference_point: Frame from whose origin it is measured, in place of `in_frame`.
            at: As for `pose`.
            outside: As for `pose`.
            policy: As for `pose`.
            interpolation: As for `pose`.
            hold_up_to_s: As for `pose`.
        """
        return points.position(
            self.store,
            Query(at=at, outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s),
            of=of,
            in_frame=in_frame,
            expressed_in=expressed_in,
            point=point,
            reference_point=reference_point,
        )

    def orientation(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        expressed_in: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Orientation:
        """Return the orientation of one frame in another; arguments as for `pose`.

        A rotation is always along the axes of `in_frame`: any other `expressed_in` is refused.
        """
        query = Query(at=at, outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s)
        return points.orientation(self.store, query, of=of, in_frame=in_frame, expressed_in=expressed_in)

    def linear_velocity(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        window: int | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> LinearVelocity:
        """Return the velocity of a point of one body relative to another; arguments as for `twist`."""
        return self.twist(
            of=of,
            relative_to=relative_to,
            expressed_in=expressed_in,
            point=point,
            at=at,
            window=window,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
        ).velocity

    def angular_velocity(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        window: int | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> AngularVelocity:
        """Return the angular velocity of one body relative to another; arguments as for `twist`, `of` may be a body."""
        return self.twist(
            of=frame_of_body(self.store, of),
            relative_to=relative_to,
            expressed_in=expressed_in,
            at=at,
            window=window,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
        ).angular_velocity

    def express(
        self,
        value: Any,
        *,
        in_frame: str | NodeId,
        at: StampLike | Latest | ArrayLike | None = None,
        kind: str | None = None,
        from_frame: str | NodeId | None = None,
        covariances: ArrayLike | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Any:
        """Return a value as an observer in another frame gives it.

        A pose, a position, an orientation is seen from `in_frame`; a velocity, an acceleration, a force keeps its
        meaning and gets the axes of `in_frame`; a wrench is taken about the origin of `in_frame` as well, lever arm
        included. The covariance of the frames on the path is added; where it is unknown, or computed from a relation
        that the value was computed from too, that of the answer is unknown. All frames are taken at one instant, and
        the answer is marked where one of them was held or predicted.

        Args:
            value: A relation; or an array, (N, k) or (k,), together with `kind` and `from_frame`.
            in_frame: Frame of the observer.
            at: Instant [ns]; of the value itself if not given, else `LATEST`. For arrays also (N,) int64.
            kind: Of the rows of an array: "points" (x, y, z), "directions" (x, y, z), "poses" (x, y, z, w, x, y, z) or
                matrices (4, 4),
                "wrenches" (force, torque about the origin of `from_frame`), "twists" (linear, angular; axes alone
                change).
            from_frame: Frame that an array is given in.
            covariances: (N, 6, 6) of an array of poses, each in the tangent of its pose. The answer is then the poses
                and their covariances, that of `from_frame` propagated over each lever arm; None in place of all of them
                where it is unknown for one row.
            outside: As for `pose`.
            policy: As for `pose`.
            interpolation: As for `pose`.
            hold_up_to_s: As for `pose`.
        """
        query = Query(outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s)
        from armillary.store.expressing import express  # noqa: PLC0415  (forces and all: few programs need them)

        return express(
            self.store,
            value,
            query,
            in_frame=frame_name(self.store, in_frame),
            at=at,
            kind=kind,
            from_frame=None if from_frame is None else frame_name(self.store, from_frame),
            covariances=covariances,
        )

    def add_body(self, name: str, frames: Iterable[str | NodeId] = ()) -> None:
        """Declare frames to be one rigid body; new frames are added.

        Poses within a body are constant: `fix` sets them, once. Every other frame is a body of its own, though it moves
        as one with what it is fixed to for always. A frame with the name of a body is on it. Another call with the
        same name adds frames.

        Raises:
            ConstraintViolation: A frame is on another body, or two of them are joined by a relation that can move, or
                by frames that are not on it, or a source measures how they move, or one motion of the body twice.
        """
        self.store.add_body(name, frames)

    def remove_body(self, name: str, frames: Iterable[str] = ()) -> None:
        """Take frames off a body, each to a body of its own; without frames, take back that the body was declared."""
        self.store.remove_body(name, frames)

    def bodies(self) -> tuple[str, ...]:
        """Return the names of the declared bodies, in the order they were added."""
        return self.store.bodies()

    def body_of(self, frame: str | NodeId) -> str:
        """Return the name of the body that a frame is on: its own until `add_body` puts it on another."""
        return self.store.body_of(frame)

    def can_twist(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        window: int | None = None,
        outside: str = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
        measured: bool = True,
    ) -> bool:
        """Whether `twist` would answer; arguments as there. Wrong arguments raise."""
        how: dict[str, Any] = {"window": window, "outside": outside, "policy": policy, "interpolation": interpolation}
        names: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in, "point": point}
        try:
            self.store.twist(**names, at=at, hold_up_to_s=hold_up_to_s, measured=measured, **how)
        except LookupError:
            return False
        return True

    def twist_residual(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        window: int | None = None,
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
    ) -> TwistResidual:
        """Return how far a measured twist and the derivative of the poses differ.

        Args:
            of: As for `twist`.
            relative_to: As for `twist`.
            expressed_in: As for `twist`.
            at: Instant [ns]. `LATEST`: the newest that the measured twists cover.
            window: As for `twist`, for the poses.
            policy: As for `twist`.
            interpolation: As for `twist`.

        Raises:
            NotMeasured: No twist was measured at that instant.
        """
        from armillary.store.expressing import twist_residual  # noqa: PLC0415  (see `express`)

        return twist_residual(
            self.store,
            TwistQuery(
                of=of,
                relative_to=relative_to,
                expressed_in=expressed_in,
                at=at,
                window=window,
                policy=policy,
                interpolation=interpolation,
            ),
        )

    def pending_twists(self) -> tuple[PendingTwist, ...]:
        """Return the twists of `set_twist(..., pending=True)` that still wait for poses, oldest first."""
        return self.store.pending_twists()

    # -- Velocities alone

    def set_angular_velocity(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        at: StampLike,
        xyz: ArrayLike | None = None,
        velocity: AngularVelocity | None = None,
        expressed_in: str | NodeId | None = None,
        source: str | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        """Say how a body turns, as a gyro measures it; how it moves besides follows from the poses.

        Args:
            of: The frame of the sensor.
            relative_to: A frame on the body that it turns relative to.
            at: Instant [ns].
            xyz: (3,) [rad/s].
            velocity: In its place an `AngularVelocity`.
            expressed_in: The frame along whose axes the numbers are; `of` if not given.
            source: Who asserts it; the world's own name if not given.
            covariance: (3, 3) or three variances, along the same axes; unknown if not given.
        """
        from armillary.store.velocities import set_velocity  # noqa: PLC0415  (few programs measure half a motion)

        names: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in, "source": source}
        set_velocity(self.store, "angular", **names, at=at, xyz=xyz, velocity=velocity, covariance=covariance)

    def set_linear_velocity(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        at: StampLike,
        xyz: ArrayLike | None = None,
        velocity: LinearVelocity | None = None,
        expressed_in: str | NodeId | None = None,
        source: str | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        """Say how the origin of a frame moves, as a Doppler log measures it; how it turns follows from the poses.

        Args:
            of: The frame of the sensor.
            relative_to: A frame on the body that it moves relative to.
            at: Instant [ns].
            xyz: (3,) [m/s].
            velocity: In its place a `LinearVelocity` of that origin.
            expressed_in: As for `set_angular_velocity`.
            source: As for `set_angular_velocity`.
            covariance: As for `set_angular_velocity`.
        """
        from armillary.store.velocities import set_velocity  # noqa: PLC0415  (see `set_angular_velocity`)

        names: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in, "source": source}
        set_velocity(self.store, "linear", **names, at=at, xyz=xyz, velocity=velocity, covariance=covariance)

    # -- Wrenches

    def set_wrench(
        self,
        *,
        of: str | NodeId,
        by: str,
        at: StampLike,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        wrench: Wrench | None = None,
        expressed_in: str | NodeId | None = None,
        source: str | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        """Say what one body exerts on another at one instant, as a force-torque sensor measures it.

        It is kept about the origin and along the axes of `of`: other axes are turned with the poses of that instant.

        Args:
            of: The frame of the sensor: the force acts on its body, the torque is about its origin.
            by: The body that exerts it.
            at: Instant [ns].
            force: (3,) [N].
            torque: (3,) [N m].
            wrench: In place of the two: a `Wrench` with these names.
            expressed_in: The frame along whose axes the numbers are; `of` if not given.
            source: Who asserts it; the world's own name if not given.
            covariance: (6, 6) or six variances, force then torque, along the same axes; unknown if not given.

        Raises:
            BeforeHistory: It is older than the history.
            StampOutOfRange, NotConnected, UnknownFrame: The axes cannot be turned at that instant.
        """
        from armillary.store.wrenches import set_wrench  # noqa: PLC0415  (few programs measure forces)

        set_wrench(
            self.store,
            of=of,
            by=by,
            at=at,
            force=force,
            torque=torque,
            wrench=wrench,
            expressed_in=expressed_in,
            source=source,
            covariance=covariance,
        )

    def set_wrenches(
        self,
        *,
        of: str | NodeId,
        by: str,
        at: ArrayLike,
        wrenches: ArrayLike,
        source: str | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        """Say what one body exerts on another at many instants: all of it is stored, or nothing.

        Args:
            of: As for `set_wrench`.
            by: As for `set_wrench`.
            at: (N,) int64 [ns], in any order.
            wrenches: (N, 6): force [N], then torque [N m], about the origin and along the axes of `of`.
            source: As for `set_wrench`.
            covariance: (6, 6) or six variances of each alike, or (N, 6, 6).
        """
        from armillary.store.wrenches import set_wrenches  # noqa: PLC0415  (see `set_wrench`)

        set_wrenches(self.store, of=of, by=by, at=at, wrenches=wrenches, source=source, covariance=covariance)

    def wrench(
        self,
        *,
        of: str | NodeId,
        by: str,
        point: str | NodeId | None = None,
        expressed_in: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Wrench:
        """Return what one body exerts on another at one instant, about any point and along any axes.

        Between two samples it is linear. Its covariance is that of the samples, plus that of the poses which move it;
        None where one of them is unknown.

        Args:
            of: The frame of the sensor, as it was set.
            by: The body that exerts it.
            point: The frame about whose origin the torque is; that of `of` if not given.
            expressed_in: The frame along whose axes it is; `point` if not given.
            at: Instant [ns]. `LATEST`: the newest that the samples and the poses in between cover.
            outside: "raise", or "hold" what is nearest. Forces are not predicted.
            policy: As for `pose`, for the poses that move it.
            interpolation: As for `pose`, likewise.
            hold_up_to_s: As for `pose`.

        Raises:
            UnknownWrench: Nobody measured it.
            ContestedWrench: Several sources measure it.
            StampOutOfRange: It, or a pose in between, is not known at `at`.
        """
        from armillary.store.wrenches import wrench  # noqa: PLC0415  (see `set_wrench`)

        how = Query(at=at, outside=outside, policy=policy, interpolation=interpolation, hold_up_to_s=hold_up_to_s)
        return wrench(self.store, how, of=of, by=by, point=point, expressed_in=expressed_in)

    def wrenches(self) -> tuple[tuple[str, str], ...]:
        """Return which wrenches were measured: (frame of the sensor, body that exerts it)."""
        from armillary.store.wrenches import wrench_pairs  # noqa: PLC0415  (see `set_wrench`)

        return wrench_pairs(self.store)

    def wrench_samples(
        self,
        *,
        of: str | NodeId,
        by: str,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
    ) -> WrenchSamples:
        """Return the stored wrenches on one frame by one body, `start` and `end` included."""
        from armillary.store.wrenches import wrench_samples  # noqa: PLC0415  (see `set_wrench`)

        return wrench_samples(self.store, of=of, by=by, start=start, end=end, source=source)

    def prefer_wrench(
        self, *, of: str | NodeId, by: str, source: str | None, start: int | None = None, end: int | None = None
    ) -> None:
        """Set which of several sources queries use for a wrench, as `prefer_joint` does for a joint."""
        from armillary.store.wrenches import prefer_wrench  # noqa: PLC0415  (see `set_wrench`)

        prefer_wrench(self.store, of=of, by=by, source=source, start=start, end=end)

    # -- Waiting

    @overload
    def wait_for_pose(self, *, policy: Literal["unique"] = "unique", **asked: Unpack[PoseWait]) -> Pose: ...
    @overload
    def wait_for_pose(self, *, policy: Choosing, **asked: Unpack[PoseWait]) -> PolicyPose: ...
    @overload
    def wait_for_pose(self, *, policy: Literal["filter"] | Filter, **asked: Unpack[PoseWait]) -> FilteredPose: ...
    def wait_for_pose(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        at: StampLike | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: StampLike | Latest | None = None,
        fixed_frame: str | NodeId | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Pose:
        """Block, without polling, until the pose is known.

        Raises:
            WaitTimeout: The time is over; `.reason` is what was still missing.
            ArmillaryError: What is missing can never become known.
        """
        query = PoseQuery(
            of=of,
            in_frame=in_frame,
            at=at,
            of_at=of_at,
            fixed_frame=fixed_frame,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
        )
        return self.store.wait_for_pose(query, timeout_s)

    @overload
    def on_pose(
        self,
        callback: Callable[[Pose], object],
        *,
        policy: Literal["unique"] = "unique",
        on_failure: Callable[[ArmillaryError], object] | None = None,
        **asked: Unpack[PoseWait],
    ) -> WaitHandle: ...
    @overload
    def on_pose(
        self,
        callback: Callable[[PolicyPose], object],
        *,
        policy: Choosing,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        **asked: Unpack[PoseWait],
    ) -> WaitHandle: ...
    @overload
    def on_pose(
        self,
        callback: Callable[[FilteredPose], object],
        *,
        policy: Literal["filter"] | Filter,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        **asked: Unpack[PoseWait],
    ) -> WaitHandle: ...
    def on_pose(
        self,
        callback: Callable[..., object],
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        at: StampLike | Latest = LATEST,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        of_at: StampLike | Latest | None = None,
        fixed_frame: str | NodeId | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> WaitHandle:
        """Call `callback(pose)` once, when the pose becomes known; the handle has `.cancel()`.

        It runs on the world's one dispatcher thread, also when the pose is known already. When the pose can never
        be known, or the time is over, `on_failure(error)` is called instead (`world.on_error` if not given; closing
        the world then ends the wait without a call).

        Raises:
            LimitReached: `max_waits` callbacks are pending already.
        """
        query = PoseQuery(
            of=of,
            in_frame=in_frame,
            at=at,
            of_at=of_at,
            fixed_frame=fixed_frame,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
        )
        return self.store.call_when_known(query, callback, on_failure, timeout_s)

    @overload
    async def pose_when_ready(self, *, policy: Literal["unique"] = "unique", **asked: Unpack[PoseWait]) -> Pose: ...
    @overload
    async def pose_when_ready(self, *, policy: Choosing, **asked: Unpack[PoseWait]) -> PolicyPose: ...
    @overload
    async def pose_when_ready(
        self, *, policy: Literal["filter"] | Filter, **asked: Unpack[PoseWait]
    ) -> FilteredPose: ...
    async def pose_when_ready(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        at: StampLike | Latest = LATEST,
        timeout_s: float | None = None,
        of_at: StampLike | Latest | None = None,
        fixed_frame: str | NodeId | None = None,
        outside: Outside = "raise",
        policy: PolicyLike = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
    ) -> Pose:
        """Await the pose: `wait_for_pose` for asyncio."""
        query = PoseQuery(
            of=of,
            in_frame=in_frame,
            at=at,
            of_at=of_at,
            fixed_frame=fixed_frame,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
        )
        pose: Pose = await self.store.when_known(query, timeout_s)
        return pose

    def stamped_queue(
        self,
        callback: Callable[[Any, dict[str, Pose]], object],
        *,
        in_frames: Sequence[str | NodeId],
        size: int = 100,
        tolerance_s: float = 0.0,
        timeout_s: float | None = None,
        on_drop: Callable[[Any, ArmillaryError], object] | None = None,
    ) -> StampedQueue:
        """Return a bounded queue that holds stamped data until its transforms exist: tf2's message filter.

        At most `size` items wait for transforms, and as many for a slow callback; a new one pushes out the oldest.
        """
        return self.store.stamped_queue(
            callback,
            in_frames=in_frames,
            size=size,
            tolerance_s=tolerance_s,
            timeout_s=timeout_s,
            on_drop=on_drop,
        )

    def wait_for_twist(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: Outside = "raise",
        policy: Literal["unique"] = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
        measured: bool = True,
    ) -> Twist:
        """Block, without polling, until the twist is known: from measured twists, or from poses.

        Raises:
            WaitTimeout: The time is over; `.reason` is what was still missing.
            ArmillaryError: What is missing can never become known.
        """
        query = TwistQuery(
            of=of,
            relative_to=relative_to,
            expressed_in=expressed_in,
            point=point,
            at=at,
            window=window,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
            measured=measured,
        )
        return self.store.wait_for_twist(query, timeout_s)

    def on_twist(
        self,
        callback: Callable[[Twist], object],
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: Outside = "raise",
        policy: Literal["unique"] = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
        measured: bool = True,
    ) -> WaitHandle:
        """Call `callback(twist)` once, when the twist becomes known; otherwise as `on_pose`."""
        query = TwistQuery(
            of=of,
            relative_to=relative_to,
            expressed_in=expressed_in,
            point=point,
            at=at,
            window=window,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
            measured=measured,
        )
        return self.store.call_when_known(query, callback, on_failure, timeout_s)

    async def twist_when_ready(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        expressed_in: str | NodeId | None = None,
        point: str | NodeId | None = None,
        at: StampLike | Latest = LATEST,
        timeout_s: float | None = None,
        window: int | None = None,
        outside: Outside = "raise",
        policy: Literal["unique"] = "unique",
        interpolation: str | None = None,
        hold_up_to_s: float | None = None,
        measured: bool = True,
    ) -> Twist:
        """Await the twist: `wait_for_twist` for asyncio."""
        query = TwistQuery(
            of=of,
            relative_to=relative_to,
            expressed_in=expressed_in,
            point=point,
            at=at,
            window=window,
            outside=outside,
            policy=policy,
            interpolation=interpolation,
            hold_up_to_s=hold_up_to_s,
            measured=measured,
        )
        twist: Twist = await self.store.when_known(query, timeout_s)
        return twist

    # -- Joints and models

    def joints(self) -> tuple[str, ...]:
        """Return the names of the joints, in the order they were added."""
        return tuple(name for name in self.store.joints() if wrench_of(name) is None and velocity_of(name) is None)

    def joint(
        self,
        name: str,
        *,
        at: StampLike | Latest = LATEST,
        outside: Outside = "raise",
        hold_up_to_s: float | None = None,
    ) -> JointState:
        """Return the position and the velocity of one joint at one instant.

        `LATEST` is its newest sample. `outside` and `hold_up_to_s` are as for `pose`.

        Raises:
            UnknownVariable: No joint has this name.
            StampOutOfRange: Its samples do not cover `at`.
            ContestedJoint: Several sources set it.
        """
        return self.store.joint(name, at=at, outside=outside, hold_up_to_s=hold_up_to_s)

    def violations(
        self, *, at: StampLike | Latest = LATEST, outside: Outside = "hold", tolerance: float = 1e-9
    ) -> dict[str, Constraint]:
        """Return the constraints of mounted models that the joints break at one instant, by their paths.

        Limits of joints, and whatever else the models demand of positions; what depends on a joint that was never set
        breaks nothing.

        Args:
            at: The instant.
            outside: As for `joint`; a joint that is not known there is left out.
            tolerance: In the unit of each constraint.
        """
        return {} if self._models is None else self._models.violations(at, outside, tolerance)

    def joint_samples(
        self, name: str, *, start: StampLike | None = None, end: StampLike | None = None, source: str | None = None
    ) -> JointSamples:
        """Return the stored samples of one joint, `start` and `end` included."""
        return self.store.joint_samples(name, start=start, end=end, source=source)

    def prefer_joint(self, name: str, *, source: str | None, start: int | None = None, end: int | None = None) -> None:
        """Set which of several sources queries use for a joint, from `start` until `end`; None takes it back.

        As `prefer` does for a frame: it settles a contest while that source is open, a newer preference replaces an
        older one in its interval, `undo` takes it back, other replicas follow, and it is saved.
        """
        from armillary.store.changes import PreferJoint  # noqa: PLC0415  (few programs have rivals among joints)

        self.store.apply((PreferJoint(name, source, start, end),))

    def mount(
        self,
        model: ArticulationModel,
        *,
        in_frame: str | NodeId | None = None,
        prefix: str | None = None,
        under: str = "",
        at: int | None = None,
        shapes: Literal["visual", "collision", "both", "none"] = "visual",
        strict: bool = False,
        skip_missing: bool = False,
        interpolation: str | Mapping[str, str] | None = None,
    ) -> Mount:
        """Mount a model: every link becomes a frame that its joints move, with its shapes in the scene.

        The link `robot/links/gripper` is the frame `robot/gripper`, the variable `robot/wrist` is the joint
        `robot/wrist`; `set_joints` sets joints. Later edits of the model are followed, each from the time of the
        world's clock when it is made.

        Args:
            model: Stays yours, and can be edited.
            in_frame: The parent of links that have none in the model. If left out, they have no parent until a pose of
                them is set.
            prefix: Replaces the name of the object and its slash; "" for the bare names of links and joints.
            under: Mount only what is at or under this path of the model.
            at: From this instant on [ns]; always, if left out.
            shapes: Which shapes of links become nodes of the scene.
            strict: Refuse a model of which a mesh is missing or cannot be read. Otherwise such meshes are left out,
                with one warning that names them: frames and joints do not need them.
            skip_missing: Leave them out without a warning.
            interpolation: How joints go from one sample to the next: "linear", "wrap" or "hold" for all of them, or by
                name of a variable of the model. "hold": a drawer is where it was left until it is set again, and
                `held` of the answers says so. If left out, as the model has it.

        It is one change of structure: `undo` takes it back as a whole. Edits are undone at the model.

        Raises:
            MissingMeshes: With `strict`: files of shapes do not exist; the error names all of them, and nothing is
                mounted.
            InvalidMesh: With `strict`: a file holds no mesh that can be read.
        """
        from armillary.articulation import ArticulationModel  # noqa: PLC0415  (a world without models needs no casadi)

        if not isinstance(model, ArticulationModel):
            is_world = isinstance(model, World)
            raise InvalidArgument(
                f"An ArticulationModel is mounted, got {model!r}. {_OF_A_WORLD if is_world else _OF_ELSE}",
                model,
            )
        return self.models.mount(
            model,
            in_frame=None if in_frame is None else frame_name(self.store, in_frame),
            prefix=prefix,
            under=under,
            at=at,
            shapes=shapes,
            strict=strict,
            skip_missing=skip_missing,
            interpolation=interpolation,
        )

    def unmount(self, what: Mount | ArticulationModel | str, *, subtree: bool = False) -> Mount:
        """Take a mounted model away: its frames with their past, its shapes and its joints.

        It is one change of structure: `undo` takes it back as a whole, unless the model was edited meanwhile. The model
        stays yours.

        Args:
            what: The mount, the model, or the name of its object, as in "door".
            subtree: Remove what is in its frames as well, such as a camera on the gripper.

        Returns:
            The mount, which no longer is one of `mounts`.

        Raises:
            FrameInUse: Something that did not come with the model is in one of its frames.
        """
        return self.models.unmount(what, subtree=subtree)

    @property
    def models(self) -> Mounts:
        """The mounted models and the mechanisms that complete their joints; `mounts` lists the models."""
        if self._models is None:
            from armillary.articulation.mounts import Mounts  # noqa: PLC0415  (see `mount`)

            self._models = self.store.mechanisms = Mounts(self.store)
        return self._models

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The models that are mounted in this world, in the order they were mounted."""
        return () if self._models is None else self._models.mounted

    def close_loop(self, *, of: str | NodeId, on: str | NodeId, dependents: Sequence[str], at: int) -> ClosedLoop:
        """Close a kinematic loop: from an instant on one frame keeps its pose in another, and some joints follow.

        Two arms hold a tray: the frame of one hand stays on that of the other. Setting the joints of one arm determines
        the dependents; poses, twists and joints are those of the closed loop at every instant, until it is opened.
        Joints of mounted models and fixed poses connect the two frames.

        Args:
            of: The frame that is held: a link, or a frame that is fixed to one.
            on: The frame that it is held on.
            dependents: Names of joints that follow from the others between the two.
            at: From this instant on [ns]; the frames keep their relative pose of this instant.

        Returns:
            The closed loop, which `open(at=)` ends.

        Raises:
            SingularLoop: The loop does not determine these dependents.
            StampOutOfRange: The relative pose is not known at `at`.
        """
        of, on = frame_name(self.store, of), frame_name(self.store, on)
        return self.models.close_loop(of=of, on=on, dependents=dependents, at=at)

    @property
    def closed_loops(self) -> tuple[ClosedLoop, ...]:
        """The kinematic loops that were closed between models, oldest first; some may be open again."""
        return () if self._models is None else self._models.closed_loops

    # -- Scene and changes

    @property
    def scene(self) -> Scene:
        """The nodes of this world: groups, transforms, shapes, attributes. The root is the frame `root_frame`."""
        if self._scene is None:
            from armillary.scene import Scene  # noqa: PLC0415  (a program of poses alone starts without it)

            self._scene = Scene(self.store)
        return self._scene

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """Apply several changes of structure, all or none; return for each the node that it added, or None.

        The changes are the frozen classes of `armillary.scene`, named after the methods of `scene` and of `World`.
        Readers see all of them together; observers are notified after that.
        """
        return self.scene.apply(changes)

    def merge(
        self,
        records: Iterable[ChangeRecord],
        *,
        prefix: str | None = None,
        shared: Iterable[str] = (),
        root_frame: str | None = None,
    ) -> list[ChangeRecord]:
        """Add change records of other replicas, in any order, any number of times; return those that were new.

        With a prefix they are those of another world, a second robot with the same names, that becomes a part of this
        one: "B/" puts it before the names of its frames, bodies and joints. Its nodes get ids of their own, made of the
        prefix and their id, and what is at its root is at the frame `PREFIX + root_frame` here. Sources keep their
        names. Merging again with the same prefix adds what is new.

        Args:
            records: What `scene.changes()` of another world returned; with a prefix, later ones after earlier ones.
            prefix: Put before every name of the other world, as it is; None: a replica of this world, the same names.
            shared: Names that both worlds mean alike, which get no prefix. With the root frame among them, the other
                root is the root here.
            root_frame: The frame of the other world's root; that of this world, if left out.
        """
        return self.scene.merge(records, prefix=prefix, shared=shared, root_frame=root_frame)

    def undo(self) -> UndoReport:
        """Undo the last change of this process, whichever call made it, as a new change.

        Also what a sample made: a frame and a relation that nobody had named, with their samples, or a move to another
        parent, with the samples there. Samples do not come back.

        Returns:
            What was undone, and how many samples are lost.

        Raises:
            NothingToUndo: There is none.
            BuiltUpon: Something that others changed depends on it.
            NoOpposite: It has no inverse: `reset_time`.
        """
        return self.scene.undo()

    def redo(self) -> UndoReport:
        """Apply again what the last `undo` took back; returns what that was. Samples do not come back."""
        return self.scene.redo()

    def digest(self) -> str:
        """Return 64 digits that are equal for worlds of equal structure; samples are not part of it.

        Structure is the scene, the relations of frames, fixed poses, bodies, preferences, joints, and the poses that
        they drive.
        """
        return self.store.digest()

    # -- Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the structure of this world to a JSON file, and the arrays of its shapes to an `.npz` beside it.

        The file has the change log with who changed what when, settings, retention, mounted models and the loops
        between them, the last values and the preferences of joints, and the samples of the scene's transforms. Other
        samples are not part of it, nor is the clock. All is of one moment, whoever writes meanwhile. An existing file
        is replaced as a whole, or stays as it was. `docs/saved_world.schema.json` describes the format.

        Raises:
            UnsavableModel: A mounted model holds an operation that files do not know.
        """
        from armillary.record import write_world  # noqa: PLC0415  (most programs use no files)

        write_world(self, path)

    @_of_class
    def load(
        cls,  # noqa: N805  (see `_of_class`)
        path: str | PathLike[str],
        *,
        clock: Callable[[], int] | None = None,
        kinds: Iterable[type[Any]] = (),
        max_bytes: int = _MAX_BYTES,
        prefix: str | None = None,
        shared: Iterable[str] = (),
    ) -> Self:
        """Return the world that a file describes.

        It answers as the one that was saved, and can be merged with it and with its peers, in both directions. Files of
        version 1 are read as well; they begin a history of their own.

        Args:
            path: A file that `save` wrote. Nothing in it is executed, whoever wrote it.
            clock: As for `World(clock=)`.
            kinds: Operations and joints of your own that its models may name.
            max_bytes: Refuse files larger than this, the arrays included.
            prefix: Put before every name, as for `merge`: two equal robots share one world. The frames, joints and
                nodes of mounted models follow.
            shared: Names that get no prefix, as for `merge`.

        Raises:
            InvalidWorldFile: It is no saved world; `field` is the place of the fault.
        """
        from armillary.record import read_world, restore, with_prefix  # noqa: PLC0415  (see `save`)

        saved = read_world(path, max_bytes=max_bytes, kinds=kinds)
        if prefix is not None:
            saved = with_prefix(saved, prefix, shared)
        world: Self = restore(saved, lambda **settings: cls(clock=clock, **settings))
        return world

    def record(
        self,
        path: str | PathLike[str],
        *,
        transforms: bool = True,
        compression: Literal["", "lz4", "zstd"] = "",
        flush_s: float = 0.5,
        max_bytes: int | None = None,
        max_s: float | None = None,
        max_queue_bytes: int = 64_000_000,
        overwrite: bool = False,
    ) -> Recording:
        """Record the world from now on, what it holds already included, until the recording is closed.

        The file is in the MCAP format; `armillary.replay` plays it. Whenever this process dies, what was flushed is in
        it. Foxglove shows its poses.

        Args:
            path: A new file, as "run.mcap".
            transforms: Also write poses as `foxglove.FrameTransforms`, on the topic "/tf".
            compression: Of chunks: "lz4" is fast, "zstd" small; none takes the least time.
            flush_s: At most so many seconds are lost in a crash [s].
            max_bytes: Go on with a new file, as "run_1.mcap", where one has so many bytes.
            max_s: The same after so many seconds.
            max_queue_bytes: Samples that are not written yet; what comes beyond that is dropped and counted.
            overwrite: Replace a file that exists.

        Raises:
            InvalidArgument: The file exists.
            UnwritableFile: It cannot be written.
        """
        from armillary.record import Recording, RecordingOptions  # noqa: PLC0415  (see `save`)

        self.store.check_open()
        options = RecordingOptions(
            transforms=transforms,
            compression=compression,
            flush_s=flush_s,
            max_bytes=max_bytes,
            max_s=max_s,
            max_queue_bytes=max_queue_bytes,
            overwrite=overwrite,
        )
        self.store.open_scene()
        recording = Recording(self.store, path, options)
        self._recordings = (*(other for other in self._recordings if not other.is_closed), recording)
        return recording

    @_of_class
    def from_log(
        cls,  # noqa: N805  (see `_of_class`)
        path: str | PathLike[str],
        *,
        start: StampLike | None = None,
        end: StampLike | None = None,
        history: int | None = None,
        topics: TopicsLike | None = None,
        which_pass: int = -1,
        name: str = "log",
        progress: Callable[[float], object] | None = None,
    ) -> Self:
        """Return a world with what a log holds: transforms, joints, odometry, motions, and the robot.

        A bag of ROS 1, a folder of rosbag2, an MCAP file with messages of ROS 2 or Foxglove, or a recording of a world.
        Neither ROS nor an index in the file is needed; of a file that is cut off or damaged, what is before that is
        read. `world.log` says what was found. The world's clock stands at the end of the log.

        Each topic is a source: "/tf" and "/tf_static" are "tf", "/odom" is "odom". Where several place a frame, "tf" is
        preferred.

        Args:
            path: The file or the folder. Nothing in it is executed, whoever wrote it.
            start: Leave out what was written down before this instant of the log [ns].
            end: Leave out what was written down after it: the world knows what was known then.
            history: How long samples are kept [ns]; None: all of them.
            topics: How topics are used, as `{"/odom": {"source": "wheels"}, "/imu": {"in_frame": "odom"},
                "/debug/tf": {"use": "no"}}`, or a JSON file with that. `of` and `in_frame` are for messages that do not
                say it themselves.
            which_pass: Where time goes back in the log, which pass to read: from 0, or from -1, the last.
            name: The name of the world.
            progress: Is told how much has been read, from 0 to 1.

        Raises:
            InvalidLog: It is no log.
            MissingExtra: It is compressed in a way that needs a package.
        """
        from armillary.logs import world_of_log  # noqa: PLC0415  (see `save`)

        world, report = world_of_log(
            cls,
            path,
            start=start,
            end=end,
            history=history,
            topics=topics,
            which_pass=which_pass,
            name=name,
            progress=progress,
        )
        world._log = report  # noqa: SLF001  (its own constructor)
        return world

    @_of_class
    def explain_lookup(
        cls,  # noqa: N805  (see `_of_class`)
        path: str | PathLike[str],
        *,
        of: str,
        in_frame: str,
        at: StampLike,
        asked_at: StampLike | None = None,
        buffer: int | None = seconds(10.0),
        topics: TopicsLike | None = None,
    ) -> LookupReport:
        """Return why a pose could not be looked up in the field, from a log: what was known then, and what came later.

        Args:
            path: A log, as for `from_log`.
            of: The frame that was looked up.
            in_frame: The frame that it was to be seen from.
            at: The instant that was asked for [ns].
            asked_at: When it was asked, in the time of the log [ns]; at that very instant, if not given.
            buffer: How much the one who asked remembered [ns]: tf2's ten seconds, if not given.
            topics: As for `from_log`.
        """
        from armillary.logs import lookup_in_log  # noqa: PLC0415  (see `save`)

        report: LookupReport = lookup_in_log(
            cls, path, of=of, in_frame=in_frame, at=at, asked_at=asked_at, buffer=buffer, topics=topics
        )
        return report

    def to_log(
        self, path: str | PathLike[str], *, start: StampLike | None = None, end: StampLike | None = None
    ) -> WrittenLog:
        """Write the poses of this world into a log, for programs of ROS: on "/tf", and fixed ones on "/tf_static".

        Frames that joints move are written at the stamps of the joints. A frame has one parent in tf: where several
        sources place it, one of them is written, and the answer says so in `left_out`.

        Args:
            path: A new file: `run.mcap` for ROS 2, `run.bag` for ROS 1; or a new folder for rosbag2.
            start: Leave out samples before this instant [ns].
            end: Leave out samples after it [ns].

        Raises:
            MissingExtra: Bags and folders need rosbags, which is not installed.
            InvalidArgument: The file exists, or there is nothing to write.
        """
        from armillary.formats.whole_files import as_file_path  # noqa: PLC0415  (see `save`)
        from armillary.ros import write_log  # noqa: PLC0415

        return write_log(self.store, as_file_path(path), start=as_stamp(start, "start"), end=as_stamp(end, "end"))

    def save_trajectory(self, path: str | PathLike[str], *, of: str, in_frame: str, at: ArrayLike | None = None) -> int:
        """Write where a frame went as a table: for tools that compare trajectories, and for pandas. Return its length.

        Args:
            path: `run.tum` or `run.txt`: stamp [s], x y z [m], quaternion x y z w, separated by spaces. `run.csv`: the
                same with commas and a head, as `pandas.read_csv` takes it. An existing file is replaced.
            of: The frame.
            in_frame: The frame it is seen from.
            at: (N,) instants [ns]; those of all samples on the path between the two, if not given.

        Raises:
            UnwritableFile: It cannot be written.
        """
        from armillary.record import write_trajectory  # noqa: PLC0415  (see `save`)

        return write_trajectory(self.store, path, of=of, in_frame=in_frame, at=at)

    @property
    def log(self) -> LogReport | None:
        """What was found in the log that the world was made from; None for other worlds."""
        return self._log

    def save_extrinsics(self, path: str | PathLike[str]) -> tuple[str, ...]:
        """Write fixed poses to a YAML file that can be edited by hand; return the frames that are in it.

        Fixed poses of models and of nodes of the scene are not part of it.
        """
        from armillary.record import save_extrinsics  # noqa: PLC0415  (see `save`)

        return save_extrinsics(self, path)

    def load_extrinsics(self, path: str | PathLike[str], *, max_bytes: int = _MAX_BYTES) -> tuple[str, ...]:
        """Fix the poses of a YAML file, all or none; return the frames whose pose changed.

        Earlier fixed poses of these frames are replaced, on declared bodies too (`recalibrate=True`). Other frames stay
        as they are.

        Raises:
            InvalidExtrinsicsFile: `field` is the place of the fault; nothing has changed.
        """
        from armillary.record import load_extrinsics  # noqa: PLC0415  (see `save`)

        return load_extrinsics(self, path, max_bytes=max_bytes)

    # -- Diagnosis and pictures

    def diagnose(self, *, of: str | NodeId, in_frame: str | NodeId, at: StampLike | Latest = LATEST) -> Diagnosis:
        """Return why `of` cannot be seen from `in_frame` at this time: which link is missing, late, contested or ended.

        It evaluates what `pose` evaluates, changes nothing, and examines every link between the two.

        >>> from armillary import World
        >>> world = World()
        >>> world.add_frame("camera", "map")
        >>> world.diagnose(of="camera", in_frame="map").cause
        'missing link'
        """
        target, viewer = (name if isinstance(name, str) else frame_name(self.store, name) for name in (of, in_frame))
        return diagnose(self.store, of=target, in_frame=viewer, at=at)

    def draw(
        self,
        path: str | PathLike[str],
        *,
        in_frame: str | NodeId | None = None,
        at: int | Latest = LATEST,
        from_: ArrayLike = (1.0, -1.4, 0.9),
        frames: Iterable[str | NodeId] | None = None,
        theme: Theme = "light",
    ) -> Path:
        """Draw this world: shapes of its scene, frames, ellipsoids of covariances.

        Args:
            path: The file to write.
            in_frame: The frame of the picture, z upwards; the root that most hangs under, if left out.
            at: The instant shown [ns].
            from_: The direction from the scene to the camera, in `in_frame`.
            frames: Frames whose axes and names are shown. If left out all but those of nodes, or, of more than 60,
                those that a source reports.
            theme: "light" or "dark" paper.

        Raises:
            InvalidArgument: `from_` has no direction, or another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import draw_world  # noqa: PLC0415  (a world that is not drawn needs none of it)

        seen_from = None if in_frame is None else frame_name(self.store, in_frame)
        shown = None if frames is None else [frame_name(self.store, frame) for frame in frames]
        return draw_world(self, path, in_frame=seen_from, at=at, from_=from_, frames=shown, theme=theme)

    def draw_tree(
        self, path: str | PathLike[str], *, at: int | Latest = LATEST, nodes: bool = False, theme: Theme = "light"
    ) -> Path:
        """Draw the tree of frames at one time, and of each relation its kind, rate, age and source.

        Args:
            path: The file to write.
            at: The instant shown [ns].
            nodes: Show frames of scene nodes, too; their names are ids.
            theme: "light" or "dark" paper.

        Raises:
            InvalidArgument: Another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import draw_tree  # noqa: PLC0415  (see `draw`)

        return draw_tree(self, path, at=at, nodes=nodes, theme=theme)

    def plot_history(
        self,
        path: str | PathLike[str],
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        start: int | None = None,
        end: int | None = None,
        policy: PolicyLike = "unique",
        deviations: float = 2.0,
        theme: Theme = "light",
    ) -> Path:
        """Plot how a pose changed: position, angles, speed and turning over time, with bands of their covariance.

        Args:
            path: The file to write.
            of: The frame whose pose is wanted.
            in_frame: The frame it is seen from.
            start: The first instant [ns]; the oldest that can be answered, if left out.
            end: The last instant [ns]; `LATEST`, if left out.
            policy: How to choose among several sources, as in `pose`.
            deviations: So many standard deviations to both sides are in the bands.
            theme: "light" or "dark" paper.

        Raises:
            InvalidArgument: The pose is fixed, `start` is after `end`, or another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import plot_history  # noqa: PLC0415  (see `draw`)

        of, in_frame = frame_name(self.store, of), frame_name(self.store, in_frame)
        return plot_history(
            self,
            path,
            of=of,
            in_frame=in_frame,
            start=start,
            end=end,
            policy=policy,
            deviations=deviations,
            theme=theme,
        )

    def view(
        self,
        *,
        in_frame: str | NodeId | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        rate_hz: float = 60.0,
        read_only: bool = False,
        quiet: bool = False,
    ) -> Viewer:
        """Show this world in a browser until it, or the viewer, is closed; print the address on stderr.

        Args:
            in_frame: The frame of the picture; the root, if left out.
            host: The address to serve: this computer alone, unless another is given. There is no password.
            port: The first free one from 8080 on, if left out.
            rate_hz: How often the picture is updated.
            read_only: Without sliders for joints: whoever looks can change nothing.
            quiet: Print nothing.

        Raises:
            MissingExtra: viser is not installed.
            InvalidArgument: The port is taken, or is none.
        """
        from armillary.view.web import Viewer  # noqa: PLC0415  (an extra)

        self.store.check_open()
        seen_from = None if in_frame is None else frame_name(self.store, in_frame)
        viewer = Viewer(
            self,
            in_frame=seen_from,
            host=host,
            port=port,
            rate_hz=rate_hz,
            read_only=read_only,
            on_error=self.store.dispatcher.report,
        )
        self._viewers = (*(other for other in self._viewers if other.is_open), viewer)
        if not quiet:
            sys.stderr.write(f"{viewer}\n")
        return viewer

    # -- Sharing

    def share(
        self,
        name: str,
        *,
        connect: Sequence[str] = (),
        listen: Sequence[str] = (),
        router: bool = False,
        samples: Literal["on_demand", "all", "none"] | Callable[[Channel], bool] = "on_demand",
        idle_s: float = 2.0,
        batch_s: float = 0.005,
        user: str | None = None,
        password: str | None = None,
        users: Mapping[str, str] | None = None,
        certificates: tuple[str, str, str] | None = None,
    ) -> Share:
        """Share the world: processes that share a name hold the same structure, and the samples that each asks for.

        Without `connect` and `listen`, processes of this machine find each other. A world is shared once at a time.

        Args:
            name: The name of the shared world.
            connect: Endpoints to connect to, as "tcp/192.168.1.5:7447".
            listen: Endpoints to listen at.
            router: Forward between processes that connect here and do not reach each other.
            samples: Which samples of others to take: those that questions, waits and observers here need, while they
                do; all; none; or all of those for whose `Channel` a function returns True.
            idle_s: Samples that nobody asks for any more go on to come for so long [s].
            batch_s: Where samples come faster than this, those of so many seconds go together [s].
            user: Name to connect with.
            password: Password to connect with.
            users: Names and passwords of those who may connect here; None: everybody.
            certificates: Paths of a certificate authority, a certificate and its key, for endpoints of "tls/".

        Raises:
            MissingExtra: Zenoh is not installed.
            ShareFailed: It cannot listen where it should.
        """
        from armillary.share import Connection, share_world  # noqa: PLC0415  (zenoh is optional)

        self.store.check_open()
        if self._share is not None and not self._share.is_closed:
            raise InvalidArgument(
                f"This world is shared as '{self._share.name}' already. Leave that first: world.leave().", name
            )
        connection = Connection(
            connect=tuple(connect),
            listen=tuple(listen),
            router=router,
            user=user,
            password=password,
            users=users,
            certificates=certificates,
        )
        self._share = share_world(self, name, connection, samples=samples, idle_s=idle_s, batch_s=batch_s)
        return self._share

    def leave(self) -> None:
        """Leave the shared world, which keeps what it holds, and so does this one; nothing where it is not shared."""
        if self._share is not None:
            self._share.close()

    def peers(self) -> tuple[PeerInfo, ...]:
        """Return the other processes that share the world.

        Raises:
            NotShared: It is not shared.
        """
        if self._share is None or self._share.is_closed:
            raise NotShared
        return self._share.peers()

    def _repr_html_(self) -> str:
        return world_html(self, without_nodes(self.tree()))

    # -- Copying and closing

    def copy(self) -> World:
        """Return an independent copy of the world: changes of one do not affect the other.

        Samples are copied, the scene is shared until it is changed. Mounted models are mounted in the copy as copies,
        which `mounts` has: an edit of one is followed in its own world. Waits are not copied.
        """
        twin = World.of_store(self.store.copy())
        if self._scene is not None:
            twin.scene.keep_rules_of(self._scene)
        if self._models is not None:
            twin.models.copy_from(self._models)
        return twin

    def close(self) -> None:
        """End threads and waits; safe to call twice. What is stored can still be read."""
        for viewer in self._viewers:
            viewer.close()
        if self._share is not None:
            self._share.close()
        for recording in self._recordings:
            with contextlib.suppress(RecordingFailed):  # `on_error` was told
                recording.close()
        self.store.close()

    def __enter__(self) -> Self:
        self.store.check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"World({self.name!r}, {len(self.frames())} frames, {len(self.store.relation_rows())} relations)"
