"""Queries of a relation graph: poses and twists along paths, with exactly the meaning that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy import float64
from numpy.typing import NDArray  # noqa: TC002 - of a public signature

from armillary.errors import NotConnected, NotRepresentable
from armillary.errors.relations import NoTwistPath, NoValue
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity
from armillary.relations.graph._store import GraphStore
from armillary.relations.representations.adapters import adapt_vector, unwrap
from armillary.relations.rules import TwistEdge


def path_pose(store: GraphStore, of: str, in_frame: str) -> Pose:
    """Return `in_frame_T_of`, composed along the path through the lowest common ancestor."""
    store.require_path(of, in_frame)
    to_of, to_in_frame = store.structure.pose_paths(of, in_frame)
    if not to_in_frame:
        return _pose_down(store, to_of) if to_of else store.identity(of)
    back = inverse_pose(_pose_down(store, to_in_frame))
    return back @ _pose_down(store, to_of) if to_of else back


def _pose_down(store: GraphStore, path: list[str]) -> Pose:
    """Return the pose of the first frame of a path in the parent of its last."""
    poses = store.poses
    pose = poses[path[0]]
    for head in path[1:]:
        pose = poses[head] @ pose
    return pose


def inverse_pose(pose: Pose) -> Pose:
    """Return the inverse, with its position along the axes of its own reference frame."""
    back = pose.inverse()
    return back if back.expressed_in == back.in_frame else back.change_coordinate_frame(back.orientation)


class PosesIn:
    """Poses of several frames in one frame; what their paths share is computed once.

    All frames asked for are in the tree of that frame.
    """

    __slots__ = ("_known", "_store", "_top", "frame")

    def __init__(self, store: GraphStore, frame: str) -> None:
        self._store, self._top, self.frame = store, frame, frame
        self._known: dict[str, Pose | None] = {frame: None}  # None: the frame itself, nothing to compose with

    def pose(self, of: str) -> Pose:
        """Return the pose of a frame in `self.frame`."""
        path, here = self._path_to_known(of)
        pose = self._known[here]
        for head in reversed(path):
            pose = self._known[head] = _composed(pose, self._store.poses[head])
        return self._store.identity(of) if pose is None else pose

    def _path_to_known(self, of: str) -> tuple[list[str], str]:
        """Return the frames from `of` upwards whose pose is not known yet, and the first one above them that is."""
        path, here = dict[str, None](), of
        while here not in self._known:
            path[here] = None
            if (met := self._climb()) in path:
                names = list(path)
                return names[: names.index(met)], met
            here = self._store.structure.pose_parent(here) or here
        return list(path), here

    def _climb(self) -> str:
        """Go one frame up from `self.frame`, so that both ends of a path meet half way."""
        parent = self._store.structure.pose_parent(self._top)
        if parent is not None:
            back = inverse_pose(self._store.poses[self._top])
            self._known[parent] = _composed(self._known[self._top], back)
            self._top = parent
        return self._top


def _composed(upper: Pose | None, lower: Pose) -> Pose:
    return lower if upper is None else upper @ lower


def pose(store: GraphStore, *, of: str, in_frame: str, point: str, reference_point: str, expressed_in: str) -> Pose:
    """Return the pose with seven names; the points have to be on the bodies of the two frames."""
    if (point, reference_point, expressed_in) == (of, in_frame, in_frame):
        return path_pose(store, of, in_frame)
    place, axes = position(store, point, reference_point, expressed_in), orientation(store, of, in_frame)
    try:
        return Pose.from_parts(place, axes, representation=store.representation)
    except NotRepresentable as error:
        names = {"of": of, "in_frame": in_frame, "point": point, "reference_point": reference_point}
        raise _not_representable(names | {"expressed_in": expressed_in}, error) from None


def _not_representable(names: dict[str, str], error: NotRepresentable) -> NotRepresentable:
    question = ", ".join(f"{name}='{value}'" for name, value in names.items())
    hint = (
        "Make the graph of coordinates that can express it, RelationGraph(representation=POSITION_QUATERNION) (from "
        "armillary.relations import POSITION_QUATERNION); or ask for position(...) and orientation(...) apart."
    )
    asked, reason = f"answer pose({question})", {"expected": error.expected, "found": error.found}
    return NotRepresentable(operation="pose", asked=asked, hint=hint, **reason)


def position(store: GraphStore, point: str, reference_point: str, expressed_in: str) -> Position:
    """Return the position of one origin from another, along the axes of a third frame."""
    result = path_pose(store, point, reference_point).position
    if expressed_in == reference_point:
        return result
    return result.change_coordinate_frame(orientation(store, reference_point, expressed_in))


def orientation(store: GraphStore, of: str, in_frame: str, expressed_in: str | None = None) -> Orientation:
    """Return the orientation of one frame in another."""
    result = path_pose(store, of, in_frame).orientation
    if expressed_in is None or expressed_in == in_frame:
        return result
    return result.change_coordinate_frame(orientation(store, in_frame, expressed_in))


def twist(store: GraphStore, point: str, body: str, relative_to: str, expressed_in: str) -> Twist:
    """Return the twist of a body at a point: the twists of the path, summed in one frame, then moved to the point."""
    store.require_path(point, expressed_in)
    if body == relative_to:
        return store.no_motion(point=point, body=body, relative_to=body, expressed_in=expressed_in)
    poses_in = PosesIn(store, expressed_in)
    total: Twist | None = None
    for value, is_forward in _path(store, expressed_in, body, relative_to):
        here = loosened(at_frame(poses_in, value))
        step = here if is_forward else here.inverse()
        total = step if total is None else step @ total
    at_axes = cast("Twist", total)
    if point == expressed_in:
        return at_axes
    return at_axes.change_point(on_body(poses_in.pose(point).position, body))


def angular_velocity(store: GraphStore, body: str, relative_to: str, expressed_in: str) -> AngularVelocity:
    """Return how a body turns, which needs no positions."""
    store.body_of(expressed_in)
    poses_in = PosesIn(store, expressed_in)
    if body == relative_to:
        return store.no_motion(
            point=expressed_in, body=body, relative_to=body, expressed_in=expressed_in
        ).angular_velocity
    total: AngularVelocity | None = None
    for value, is_forward in _path(store, expressed_in, body, relative_to):
        turning = value.angular_velocity
        if turning.expressed_in != expressed_in:
            turning = turning.change_coordinate_frame(poses_in.pose(turning.expressed_in).orientation)
        step = turning if is_forward else turning.inverse()
        total = step if total is None else step @ total
    return cast("AngularVelocity", total)


def at_frame(poses_in: PosesIn, value: Twist) -> Twist:
    """Return a twist at the origin and along the axes of `poses_in.frame`.

    That origin is regarded as fixed to the moving body of the twist for this instant, whatever body its frame is on:
    the composition of twists needs that.
    """
    if value.expressed_in == poses_in.frame == value.point:
        return value
    value = loosened(value)
    if value.expressed_in != poses_in.frame:
        value = value.change_coordinate_frame(poses_in.pose(value.expressed_in).orientation)
    if value.point == poses_in.frame:
        return value
    return value.change_point(on_body(poses_in.pose(value.point).position.inverse(), value.body))


def loosened(value: Twist) -> Twist:
    """Return the twist in the free form, whose point and axes can be chosen freely."""
    parts = value.parts
    if parts.form == "free":
        return value
    free = parts.with_parts(adapt_vector(parts.linear), adapt_vector(parts.angular), "free")
    return value._replace(coordinates=unwrap(free))


def on_body(lever: Position, body: str) -> Position:
    """Return a position as one within a body, which holds for this instant."""
    return lever._replace(body=body, reference_body=body)


def _path(store: GraphStore, frame: str, body: str, relative_to: str) -> list[tuple[Twist, bool]]:
    """The twists from body to body in the tree of a frame, each with False where its inverse is needed."""
    paths = store.structure.twist_paths(frame, body, relative_to)
    if paths is None:
        raise _no_path(store, frame, body, relative_to)
    result, here = [], body
    for edge in (*paths[0], *reversed(paths[1])):
        moving = store.body_of(edge.of)
        result.append((_value(store, edge), moving == here))
        here = edge.relative_to if moving == here else moving
    return result


def _value(store: GraphStore, edge: TwistEdge) -> Twist:
    value = store.twists.get(edge.of)
    if value is None:
        waiting = store.pending[edge.of]
        raise NoValue(waiting, edge.of, waiting.expressed_in)
    return value


def _no_path(store: GraphStore, frame: str, body: str, relative_to: str) -> NoTwistPath:
    structure, asked = store.structure, {body, relative_to}
    beyond = (edge for edge in structure.twists() if not structure.in_one_tree(edge.of, frame))
    unusable = [edge for edge in beyond if {store.body_of(edge.of), edge.relative_to} & asked]
    return NoTwistPath(body, relative_to, structure.moving_with(frame, body), unusable)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A redundant relation that was added, beside the one that the graph computes without it.

    Attributes:
        relation: The relation that was added.
        derived: The same relation from the graph, or None where there is no path any more.
    """

    relation: Pose | Twist
    derived: Pose | Twist | None

    @property
    def residual(self) -> NDArray[float64] | None:
        """The difference of the two, shape (6,), or None where nothing is derived.

        For poses log(derived^-1 measured): translation [m], then rotation [rad], in the frame the pose is of.
        For twists measured minus derived: linear [m/s], then angular [rad/s].
        """
        if isinstance(self.relation, Pose) and isinstance(self.derived, Pose):
            return (self.derived.transform.inverse() @ self.relation.transform).log()
        if isinstance(self.relation, Twist) and isinstance(self.derived, Twist):
            return _as_array(self.relation) - _as_array(self.derived)
        return None


def measurement_key(relation: Pose | Twist) -> tuple[str, ...]:
    """Return what identifies a measurement, whatever its value."""
    if isinstance(relation, Pose):
        return "pose", relation.of, relation.in_frame
    return "twist", relation.point, relation.body, relation.reference_body


def derived(store: GraphStore, relation: Pose | Twist) -> Pose | Twist | None:
    """Return the relation as the graph computes it; None where it cannot (any more)."""
    try:
        if isinstance(relation, Pose):
            return path_pose(store, relation.of, relation.in_frame)
        return twist(store, relation.point, relation.body, relation.reference_body, relation.expressed_in)
    except (NotConnected, NoTwistPath, NoValue):
        return None


def _as_array(twist: Twist) -> NDArray[float64]:
    return np.concatenate([twist.linear, twist.angular])
