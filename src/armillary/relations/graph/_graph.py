"""`RelationGraph`: the time-free graph of poses and twists between bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from armillary.errors import InvalidArgument
from armillary.errors.relations import UnknownName, UnknownRelation
from armillary.relations import rules
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations.graph import _edits as edits
from armillary.relations.graph import _queries as queries
from armillary.relations.graph._queries import Measurement, derived, measurement_key
from armillary.relations.graph._store import GraphStore
from armillary.relations.representations import NATIVE, Representation
from armillary.relations.rules import FrameNode, Violation, raise_if_violated
from armillary.relations.storage import as_name


class RelationGraph:
    """Bodies with frames, poses from frame to frame, twists from body to frame, at one instant.

    It holds no relation twice, so that it cannot contradict itself. A pose, twist, body or frame that breaks a rule (C1
    to C8b, see `armillary.relations.rules`) raises `ConstraintViolation` and changes nothing. Poses are kept in the
    coordinates they were given in, which have to be those of the graph.

    Args:
        representation: The coordinates of the graph; `NATIVE` if not given.

    >>> from armillary import Transform
    >>> graph = RelationGraph()
    >>> graph.add_body("table", frames=["table"])
    >>> graph.add_body("gun", frames=["gun_base", "gun_tip"])
    >>> above = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.3), rpy=(0.0, 0.0, 0.0))
    >>> _ = graph.add_pose(Pose(of="gun_base", in_frame="table", transform=above))
    >>> _ = graph.add_pose(Pose(of="gun_tip", in_frame="gun_base", transform=above))
    >>> graph.position(of="gun_tip", in_frame="table").xyz
    array([0. , 0. , 0.6])
    """

    __slots__ = ("_store",)

    def __init__(self, *, representation: Representation = NATIVE) -> None:
        self._store = GraphStore(_as_representation(representation))

    @property
    def representation(self) -> Representation:
        """The coordinates that the graph accepts and returns."""
        return self._store.representation

    def __repr__(self) -> str:
        store = self._store
        counts = (len(self.bodies()), len(self.frames()), len(store.poses), len(self.twists()))
        kinds = ("bodies", "frames", "poses", "twists")
        return f"RelationGraph({', '.join(f'{count} {kind}' for count, kind in zip(counts, kinds, strict=True))})"

    # Nodes

    def add_body(self, name: str, frames: Iterable[str] = ()) -> None:
        """Add a body, and frames fixed to it.

        Raises:
            ConstraintViolation: C1 a body has this name, C2 a frame has one of the names.
        """
        if isinstance(frames, str):
            raise InvalidArgument(f"frames must be several names, got the one string '{frames}'. Pass ['{frames}'].")
        name, names = as_name(name, "name"), [as_name(frame, "frames") for frame in frames]
        structure = self._store.structure
        raise_if_violated(rules.new_body(structure, name), "add_body", f"add the body '{name}'")
        for index, frame in enumerate(names):
            violation = rules.new_frame(structure, frame, name) or _duplicate(frame, names[:index], name)
            raise_if_violated(violation, "add_body", f"add the frame '{frame}' to '{name}'")
        structure.add_body(name)
        for frame in names:
            structure.add_frame(frame, name)

    def add_frame(self, name: str, *, body: str | None = None) -> None:
        """Add a frame to a body.

        Raises:
            ConstraintViolation: C2 there is such a frame, C3 no body is named.
            UnknownName: There is no such body.
        """
        name, structure = as_name(name, "name"), self._store.structure
        raise_if_violated(rules.new_frame(structure, name, body), "add_frame", f"add the frame '{name}'")
        if body is None or not structure.is_body(body):
            raise UnknownName(str(body), structure.bodies(), "body")
        structure.add_frame(name, body)

    # Poses

    def add_pose(self, pose: Pose, *, rigid: bool = False, adapt: bool = False) -> Pose | Measurement:
        """Add a pose between two frames.

        Args:
            pose: Between the frames themselves. A body that it does not name is the graph's.
            rigid: The two bodies are mounted on each other: add their zero twist as well.
            adapt: Where a rule forbids the pose, add its inverse or the pose of another frame of the same body
                instead, or keep it as a measurement if the graph determines it already.

        Returns:
            The pose that was added, or the measurement.

        Raises:
            ConstraintViolation: C2, C4, C5, C6a, C6b, C8a or C8b; its `.offer` is what `adapt=True` would add.
            UnknownName: The graph has no such frame.
            RepresentationDiffers: Its coordinates are not of the graph's kind.
        """
        return edits.add_pose(self._store, pose, rigid=rigid, adapt=adapt)

    def set_pose(self, pose: Pose) -> Pose:
        """Give an existing pose a new value.

        Twists do not change: they were moved to their frames when they were added.

        Raises:
            ConstraintViolation: C5 the pose is within one body or was added as rigid, and its value differs.
            UnknownRelation: There is no such pose.
        """
        return edits.set_pose(self._store, pose)

    def remove_pose(self, *, of: str, in_frame: str) -> None:
        """Remove a pose; a rigid one with its twist.

        Raises:
            UnknownRelation: There is no such pose.
        """
        edits.remove_pose(self._store, of, in_frame)

    # Twists

    def add_twist(self, twist: Twist, *, adapt: bool = False, pending: bool = False) -> Twist | Measurement:
        """Add the twist of a body at a point, relative to another body.

        It is kept at the origin and along the axes of its point's frame, to which it is moved with the poses known
        now; later poses do not change it.

        Args:
            twist: Of any point and along any axes. A moving body that it does not name is the graph's.
            adapt: As for `add_pose`.
            pending: If poses are missing, keep the twist until they arrive.

        Returns:
            The twist that was added, as it was given where it is pending; or the measurement.

        Raises:
            ConstraintViolation: C7, C8a or C8b; its `.offer` is what `adapt=True` would add.
            PosesMissing: It cannot be moved to its frame yet.
            UnknownName: The graph has no such frame or body.
        """
        return edits.add_twist(self._store, twist, adapt=adapt, pending=pending)

    def set_twist(self, twist: Twist, *, pending: bool = False) -> Twist:
        """Give an existing twist a new value, moved to its frame with the poses known now.

        Raises:
            ConstraintViolation: C5 the bodies are mounted on each other.
            UnknownRelation: There is no such twist.
            PosesMissing: As for `add_twist`.
        """
        return edits.set_twist(self._store, twist, pending=pending)

    def remove_twist(self, *, of: str, relative_to: str) -> None:
        """Remove the twist of a frame relative to a body.

        Raises:
            UnknownRelation: There is no such twist.
            ConstraintViolation: C5 it belongs to a rigid pose.
        """
        edits.remove_twist(self._store, of, relative_to)

    def remove_measurement(self, measurement: Measurement) -> None:
        """Remove a measurement.

        Raises:
            UnknownRelation: It is not kept (any more).
        """
        if self._store.measured.pop(measurement_key(measurement.relation), None) is None:
            hint = "See measurements()."
            raise UnknownRelation(f"a measurement of {measurement.relation!r}", None, hint)

    # Queries

    def pose(
        self,
        *,
        of: str,
        in_frame: str,
        point: str | None = None,
        reference_point: str | None = None,
        expressed_in: str | None = None,
    ) -> Pose:
        """Return the pose of one frame in another.

        Args:
            of: Frame whose axes, and whose origin unless `point` is given, are placed.
            in_frame: Frame from which it is seen.
            point: Another frame of the same body, whose origin is placed.
            reference_point: Another frame of the body of `in_frame`, from whose origin it is measured.
            expressed_in: Frame along whose axes the position is given; `in_frame` if not given.

        Raises:
            UnknownName: There is no such frame.
            NoPosePath: No poses connect the frames.
            NotRepresentable: The graph's coordinates cannot express it.
        """
        return queries.pose(
            self._store,
            of=of,
            in_frame=in_frame,
            point=point or of,
            reference_point=reference_point or in_frame,
            expressed_in=expressed_in or in_frame,
        )

    def position(
        self,
        *,
        of: str | None = None,
        in_frame: str | None = None,
        point: str | None = None,
        reference_point: str | None = None,
        expressed_in: str | None = None,
    ) -> Position:
        """Return the position of one origin from another; `point` and `reference_point` are other names of the two.

        Raises like `pose`.
        """
        target, reference = _one(point, of, "point= or of="), _one(reference_point, in_frame, "in_frame=")
        return queries.position(self._store, target, reference, expressed_in or in_frame or reference)

    def orientation(self, *, of: str, in_frame: str, expressed_in: str | None = None) -> Orientation:
        """Return the orientation of one frame in another. Raises like `pose`."""
        return queries.orientation(self._store, of, in_frame, expressed_in)

    def twist(
        self, *, relative_to: str, of: str | None = None, point: str | None = None, expressed_in: str | None = None
    ) -> Twist:
        """Return how a body moves relative to another body.

        Args:
            relative_to: The other body, or any frame on it.
            of: Frame on the moving body, or the body itself; that of `point` if not given.
            point: Frame whose origin is the point; `of` if not given. If it is on another body, its origin is
                regarded as moving with the body of `of` for this instant.
            expressed_in: Frame along whose axes the answer is given; `relative_to` if not given.

        Raises:
            UnknownName: There is no such frame or body.
            NoTwistPath: No twists connect the bodies, among those that poses can transform to the point.
            NoPosePath: No poses connect the point and the axes.
            NoValue: A twist on the path is pending.
        """
        where, moving = _one(point, of, "of= or point="), _one(of, point, "of= or point=")
        body, other = self._store.body(moving), self._store.body(relative_to)
        return queries.twist(self._store, where, body, other, expressed_in or relative_to)

    def linear_velocity(
        self, *, relative_to: str, of: str | None = None, point: str | None = None, expressed_in: str | None = None
    ) -> LinearVelocity:
        """Return the velocity of a point of a body relative to another body; arguments as for `twist`."""
        return self.twist(of=of, relative_to=relative_to, point=point, expressed_in=expressed_in).velocity

    def angular_velocity(self, *, of: str, relative_to: str, expressed_in: str | None = None) -> AngularVelocity:
        """Return how a body turns relative to another body; `of` is a body or a frame on it, otherwise as `twist`."""
        body, other = self._store.body(of), self._store.body(relative_to)
        return queries.angular_velocity(self._store, body, other, expressed_in or relative_to)

    # Contents

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies, in the order they were added."""
        return self._store.structure.bodies()

    def frames(self, body: str | None = None) -> tuple[str, ...]:
        """Names of the frames, of all bodies or of one, in the order they were added."""
        structure = self._store.structure
        if body is None:
            return structure.frames()
        if not structure.is_body(body):
            raise UnknownName(body, structure.bodies(), "body")
        return tuple(structure.frames_of(body))

    def body_of(self, frame: str) -> str:
        """The body that a frame is on."""
        return self._store.body_of(frame)

    def poses(self) -> tuple[Pose, ...]:
        """The poses as they were given."""
        return tuple(self._store.poses.values())

    def twists(self) -> tuple[Twist, ...]:
        """The twists as they are kept: each at the origin and along the axes of its frame."""
        return tuple(self._store.twists.values())

    def pending(self) -> tuple[Twist, ...]:
        """The twists that wait for poses, as they were given."""
        return self._store.pending.twists()

    def measurements(self) -> tuple[Measurement, ...]:
        """The redundant relations that were kept, each beside what the graph determines now.

        The same relation measured again replaces the older one.
        """
        return tuple(
            Measurement(relation, derived(self._store, relation)) for relation in self._store.measured.values()
        )


def _as_representation(value: object) -> Representation:
    if isinstance(value, Representation):
        return value
    raise InvalidArgument(
        f"representation must make coordinates, got {value!r}. Pass NATIVE, POSITION_QUATERNION, HOMOGENEOUS_MATRIX, "
        "position_euler(convention), SCIPY or PINOCCHIO (from armillary.relations import ...), or one of your own.",
        value,
    )


def _duplicate(frame: str, before: Sequence[str], body: str) -> Violation | None:
    if frame not in before:
        return None
    return Violation("C2", f"'{frame}' is named twice.", (FrameNode(frame, body),), "Name every frame once.")


def _one(first: str | None, second: str | None, what: str) -> str:
    name = second if first is None else first
    if name is None:
        raise InvalidArgument(f"The question names no frame. Pass {what}.")
    return name
