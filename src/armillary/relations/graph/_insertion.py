"""Preparing relations for a graph: check their names and coordinates, and bring them to the form of an edge.

A pose edge is from frame to frame; a twist edge holds the twist at the origin and along the axes of its head frame.
Twists are transformed to it with the poses known at that moment, and not again when poses change.
"""

from __future__ import annotations

from collections.abc import Collection

from armillary.errors import InvalidArgument, RepresentationDiffers
from armillary.errors.relations import PosesMissing, UnknownName
from armillary.relations import rules
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist
from armillary.relations.graph import _queries as queries
from armillary.relations.graph._queries import PosesIn
from armillary.relations.graph._store import GraphStore
from armillary.relations.representations import NATIVE, POSITION_QUATERNION
from armillary.relations.rules import BodyNode, FrameNode, Violation, raise_if_violated

_NATIVE_KINDS = frozenset((NATIVE, POSITION_QUATERNION))
"""A `Transform` and a `PositionQuaternion` count as one kind: the second expresses what the first cannot."""


def known_pose(store: GraphStore, pose: Pose, call: str) -> Pose:
    """Return the pose with the bodies of the graph; raises for unknown names or other coordinates."""
    if not isinstance(pose, Pose):
        raise InvalidArgument(f"{call} takes a Pose, got {pose!r}.")
    of, in_frame = (_node(store, name, "frame") for name in (pose.of, pose.in_frame))
    _check_pose_coordinates(store, pose, call)
    body = _agreed_body(store, pose, of, pose.body, call)
    reference_body = _agreed_body(store, pose, in_frame, pose.reference_body, call)
    if (body, reference_body) == (pose.body, pose.reference_body):
        return pose
    return pose._replace(body=body, reference_body=reference_body)


def is_edge_form(pose: Pose) -> bool:
    """Whether the points of a pose are the origins of its frames, and the axes those of the reference."""
    return (pose.point, pose.reference_point, pose.expressed_in) == (pose.of, pose.in_frame, pose.in_frame)


def in_edge_form(store: GraphStore, pose: Pose) -> Pose:
    """Return the pose between the frames themselves."""
    if pose.expressed_in == pose.of:
        pose = pose.change_coordinate_frame(pose.orientation)
    elif pose.expressed_in != pose.in_frame:
        pose = pose.change_coordinate_frame(queries.orientation(store, pose.expressed_in, pose.in_frame))
    if pose.point != pose.of:
        pose = pose.change_point(queries.position(store, pose.of, pose.point, pose.in_frame))
    if pose.reference_point != pose.in_frame:
        helper = queries.position(store, pose.reference_point, pose.in_frame, pose.in_frame)
        pose = pose.change_reference_point(helper)
    return pose


def known_twist(store: GraphStore, twist: Twist, call: str) -> Twist:
    """Return the twist with the bodies of the graph; raises for unknown names or other coordinates."""
    if not isinstance(twist, Twist):
        raise InvalidArgument(f"{call} takes a Twist, got {twist!r}.")
    point = _node(store, twist.point, "frame")
    _node(store, twist.reference_body, "body")
    raise_if_violated(rules.twist_ends(store.structure, point, twist.reference_body), call, _asked(call, twist))
    _check_axes(store, twist, call)
    _check_twist_coordinates(store, twist, call)
    body = store.structure.body_of(point)
    if body is None or twist.body == body:
        return twist
    if twist.body == point:
        return twist._replace(body=body)
    if not store.structure.is_body(twist.body):
        raise UnknownName(twist.body, store.structure.bodies(), "body")
    return twist


def _asked(call: str, twist: Twist) -> str:
    return f"{call.removesuffix('_twist')} {twist!r}"


def _check_axes(store: GraphStore, twist: Twist, call: str) -> None:
    """Raise for axes that the graph does not know."""
    axes = twist.expressed_in
    if axes != twist.reference_body or store.structure.body_of(axes) is not None:
        store.body_of(axes)
        return
    own = ", ".join(f"'{frame}'" for frame in store.structure.frames_of(axes)) or "none yet"
    raise InvalidArgument(
        f"Cannot {_asked(call, twist)}: expressed_in was not given and '{axes}' has no axes: pass expressed_in=. The "
        f"frames of '{axes}': {own}."
    )


def head_of(store: GraphStore, twist: Twist) -> str:
    """Return the head frame of a twist: its point, or else a frame of the body that poses connect with it."""
    structure = store.structure
    if structure.body_of(twist.point) in (twist.body, None):
        return twist.point
    if not structure.frames_of(twist.body):
        reason = f"The moving end of a twist is a frame, and '{twist.body}' has no frame."
        hint = f"Give it one: add_frame(name, body='{twist.body}')."
        raise Violation("C7", reason, (BodyNode(twist.body),), hint).error("add_twist", f"add {twist!r}")
    free = [frame for frame in structure.frames_of(twist.body) if structure.twist_parent(frame) is None]
    near = [frame for frame in free if structure.in_one_tree(frame, twist.point)]
    return next(iter(near or free or structure.frames_of(twist.body)))


def missing_poses(store: GraphStore, twist: Twist, head: str) -> PosesMissing | None:
    """Return the error of the poses that a twist needs to be moved to its head frame; None if none is missing."""
    structure = store.structure
    for name in (twist.point, twist.expressed_in):
        if not structure.in_one_tree(name, head):
            return PosesMissing(twist, head, name, structure.root_of(head), structure.root_of(name))
    return None


def at_head(store: GraphStore, twist: Twist, head: str) -> Twist:
    """Return the twist at the origin and along the axes of a frame on its body."""
    if twist.point == head == twist.expressed_in:
        return twist
    return queries.at_frame(PosesIn(store, head), twist)


def _node(store: GraphStore, name: str, what: str) -> str:
    """Check that a name is a frame or a body; the rules check which of the two it must be."""
    structure = store.structure
    if structure.body_of(name) is None and not structure.is_body(name):
        known = structure.frames() if what == "frame" else structure.bodies()
        raise UnknownName(name, known, what)
    return name


def _agreed_body(store: GraphStore, pose: Pose, frame: str, named: str, call: str) -> str:
    """Return the body of a frame; raises if the pose names another body (its own name counts as not given)."""
    body = store.structure.body_of(frame)
    if body is None or named in (frame, body):
        return body or named
    reason = f"It says that '{frame}' is on '{named}', and a frame is on one body only."
    violation = Violation("C2", reason, (FrameNode(frame, body),), f"Say body '{body}', or nothing.")
    raise violation.error(call, f"{call} {pose!r}")


def _check_pose_coordinates(store: GraphStore, pose: Pose, call: str) -> None:
    found, expected = pose.parts.representation, store.representation
    if found != expected and not _NATIVE_KINDS.issuperset((found, expected)):
        raise _differs(pose, call, expected.name, found.name)


def _check_twist_coordinates(store: GraphStore, twist: Twist, call: str) -> None:
    """Raise for other coordinates, compared in the free form: body, spatial and hybrid twists are accepted."""
    found, expected = (type(each) for each in (queries.loosened(twist).coordinates, store.zero_motion))
    if found is not expected:
        raise _differs(twist, call, expected.__name__, found.__name__)


def _differs(relation: Pose | Twist, call: str, expected: str, found: str) -> RepresentationDiffers:
    hint = "Convert it explicitly: .converted(representation), or make the graph of the other kind."
    reason = f"the graph's coordinates are {expected}, and these are {found}"
    asked = f"{call.partition('_')[0]} {relation!r}"
    return RepresentationDiffers(operation=call, asked=asked, expected=expected, found=found, hint=hint, reason=reason)


def resolve_pending(store: GraphStore, frames: Collection[str]) -> None:
    """Give the pending twists that need one of these frames their value, where the poses now suffice: all or none."""
    waiting = [(head, store.pending[head]) for head in store.pending.touched_by(frames)]
    ready = [(head, twist) for head, twist in waiting if missing_poses(store, twist, head) is None]
    for head, twist, value in [(head, twist, at_head(store, twist, head)) for head, twist in ready]:
        store.put_twist_value(head, value, twist)
