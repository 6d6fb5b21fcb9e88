"""The six questions to a relation graph. Each answer has exactly the meaning that was asked for."""

from __future__ import annotations

from typing import cast

from armillary.errors import NotRepresentable
from armillary.errors.relations import NoTwistPath, NoValue
from armillary.relations._graph_store import GraphStore
from armillary.relations._graph_views import SeenFrom, basic_pose
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity
from armillary.relations.representations.faces import given, vector_face
from armillary.relations.structure import TwistEdge


def pose(store: GraphStore, *, of: str, in_frame: str, point: str, reference_point: str, expressed_in: str) -> Pose:
    """The seven-name pose; points have to be on the bodies of the two frames."""
    if (point, reference_point, expressed_in) == (of, in_frame, in_frame):
        return basic_pose(store, of, in_frame)
    place, axes = position(store, point, reference_point, expressed_in), orientation(store, of, in_frame)
    try:
        return Pose.from_parts(place, axes, representation=store.representation)
    except NotRepresentable as error:
        names = {"of": of, "in_frame": in_frame, "point": point, "reference_point": reference_point}
        raise _not_sayable(names | {"expressed_in": expressed_in}, error) from None


def _not_sayable(names: dict[str, str], error: NotRepresentable) -> NotRepresentable:
    question = ", ".join(f"{name}='{value}'" for name, value in names.items())
    hint = (
        "Make the graph of coordinates that can say it, RelationGraph(representation=POSITION_QUATERNION) (from "
        "armillary.relations import POSITION_QUATERNION); or ask for position(...) and orientation(...) apart."
    )
    asked, reason = f"answer pose({question})", {"expected": error.expected, "found": error.found}
    return NotRepresentable(operation="pose", asked=asked, hint=hint, **reason)


def position(store: GraphStore, point: str, reference_point: str, expressed_in: str) -> Position:
    """From one origin to another, along the axes of a third frame."""
    result = basic_pose(store, point, reference_point).position
    if expressed_in == reference_point:
        return result
    return result.change_coordinate_frame(orientation(store, reference_point, expressed_in))


def orientation(store: GraphStore, of: str, in_frame: str, expressed_in: str | None = None) -> Orientation:
    """The axes of one frame, seen from another."""
    result = basic_pose(store, of, in_frame).orientation
    if expressed_in is None or expressed_in == in_frame:
        return result
    return result.change_coordinate_frame(orientation(store, in_frame, expressed_in))


def twist(store: GraphStore, point: str, body: str, relative_to: str, expressed_in: str) -> Twist:
    """How a body moves at a point: the twists on the way, brought to one frame and added there, then to the point."""
    store.require_path(point, expressed_in)
    if body == relative_to:
        return store.no_motion(point=point, body=body, relative_to=body, expressed_in=expressed_in)
    seen = SeenFrom(store, expressed_in)
    total: Twist | None = None
    for value, is_forward in _path(store, expressed_in, body, relative_to):
        here = loosened(brought(seen, value))
        step = here if is_forward else here.inverse()
        total = step if total is None else step @ total
    at_axes = cast("Twist", total)
    if point == expressed_in:
        return at_axes
    return at_axes.change_point(on_body(seen.pose(point).position, body))


def angular_velocity(store: GraphStore, body: str, relative_to: str, expressed_in: str) -> AngularVelocity:
    """How a body turns: needs no point, and so no position."""
    store.body_of(expressed_in)
    seen = SeenFrom(store, expressed_in)
    if body == relative_to:
        return store.no_motion(
            point=expressed_in, body=body, relative_to=body, expressed_in=expressed_in
        ).angular_velocity
    total: AngularVelocity | None = None
    for value, is_forward in _path(store, expressed_in, body, relative_to):
        turning = value.angular_velocity
        if turning.expressed_in != expressed_in:
            turning = turning.change_coordinate_frame(seen.pose(turning.expressed_in).orientation)
        step = turning if is_forward else turning.inverse()
        total = step if total is None else step @ total
    return cast("AngularVelocity", total)


def brought(seen: SeenFrom, value: Twist) -> Twist:
    """A twist at the origin and along the axes of the frame it is seen from.

    That origin is regarded as fixed to the moving body of the twist for this instant, whatever body its frame is on:
    that is what the composition of twists asks for.
    """
    if value.expressed_in == seen.frame == value.point:
        return value
    value = loosened(value)
    if value.expressed_in != seen.frame:
        value = value.change_coordinate_frame(seen.pose(value.expressed_in).orientation)
    if value.point == seen.frame:
        return value
    return value.change_point(on_body(seen.pose(value.point).position.inverse(), value.body))


def loosened(value: Twist) -> Twist:
    """The same numbers in the free form, whose point and axes can be chosen apart."""
    parts = value.parts
    if parts.form == "free":
        return value
    free = parts.with_parts(vector_face(parts.linear), vector_face(parts.angular), "free")
    return value._replace(coordinates=given(free))


def on_body(lever: Position, body: str) -> Position:
    """A position regarded as one within a body, for this instant."""
    return lever._replace(body=body, reference_body=body)


def _path(store: GraphStore, frame: str, body: str, relative_to: str) -> list[tuple[Twist, bool]]:
    """The twists from body to body in the tree of a frame; True where one is taken as it is stored."""
    ways = store.structure.twist_ways(frame, body, relative_to)
    if ways is None:
        raise _no_path(store, frame, body, relative_to)
    result, here = [], body
    for edge in (*ways[0], *reversed(ways[1])):
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
