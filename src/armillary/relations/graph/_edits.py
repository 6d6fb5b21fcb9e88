"""Edits of a relation graph: add, set and remove poses and twists. Everything is checked before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from armillary.errors import ArmillaryError, NotNumeric, UnknownRelation
from armillary.relations import rules
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist
from armillary.relations.graph import _insertion as insertion
from armillary.relations.graph._queries import Measurement, derived, inverse_pose, loosened, measurement_key, path_pose
from armillary.relations.graph._store import GraphStore
from armillary.relations.rules import PoseEdge, TwistEdge, Violation

__all__ = ["add_pose", "add_twist", "remove_pose", "remove_twist", "set_pose", "set_twist"]

# Poses


def add_pose(store: GraphStore, pose: Pose, *, rigid: bool, adapt: bool) -> Pose | Measurement:
    """Add a pose as it is or adapted, or raise."""
    pose = _edge_pose(store, pose, "add_pose", adapt=adapt)
    edge = store.poses.get(pose.of)
    is_constant = edge is not None and edge.in_frame == pose.in_frame and pose.body == pose.reference_body
    if edge is not None and is_constant and _same(pose, edge):
        return edge
    violation = rules.new_pose(store.structure, pose.of, pose.in_frame, _zero_twists(pose, rigid=rigid))
    if violation is None:
        return _insert_pose(store, pose, rigid=rigid)
    offer = _offered_pose(store, pose, rigid=rigid) if violation.constraint in {"C6a", "C6b", "C8a"} else None
    if adapt and offer is not None:
        return _insert_pose(store, offer, rigid=rigid)
    if adapt and _follows_from_poses(store, violation, pose):
        return _keep_measurement(store, pose)
    raise violation.error("add_pose", f"add {pose!r}", offer)


def set_pose(store: GraphStore, pose: Pose) -> Pose:
    """Give the edge of a pose a new value."""
    pose = _edge_pose(store, pose, "set_pose", adapt=False)
    _require_pose(store, pose.of, pose.in_frame)
    is_rigid = pose.of in store.rigid
    if pose.body != pose.reference_body and not is_rigid:
        store.poses[pose.of] = pose
    elif not _same(pose, store.poses[pose.of]):
        reason = f"Both frames are on '{pose.body}', whose poses are set once."
        if is_rigid:
            reason = "It was added with rigid=True and stays as it is."
        hint = f"Call remove_pose(of='{pose.of}', in_frame='{pose.in_frame}') first if it was wrong."
        violation = Violation("C5", reason, (PoseEdge(pose.of, pose.in_frame),), hint)
        raise violation.error("set_pose", f"set {pose!r}")
    return store.poses[pose.of]


def remove_pose(store: GraphStore, of: str, in_frame: str) -> None:
    """Remove a pose, which splits its tree; the twist of a rigid pose is removed with it."""
    _require_pose(store, of, in_frame)
    if of in store.rigid:
        store.rigid.remove(of)
        store.drop_twist(of)
    store.drop_pose(of)


def _edge_pose(store: GraphStore, pose: Pose, call: str, *, adapt: bool) -> Pose:
    """Return the pose with the bodies of the graph, between the frames themselves."""
    pose = insertion.known_pose(store, pose, call)
    if insertion.is_edge_form(pose):
        return pose
    if adapt:
        return insertion.in_edge_form(store, pose)
    try:
        offer = insertion.in_edge_form(store, pose)
    except ArmillaryError:
        offer = None
    reason = (
        f"An edge holds the pose of the frame '{pose.of}' in '{pose.in_frame}' along the axes of the latter; this one "
        f"is of the point '{pose.point}' from '{pose.reference_point}' along the axes of '{pose.expressed_in}'."
    )
    hint = "Move it with change_point, change_reference_point, change_coordinate_frame."
    raise Violation("C4", reason, (), hint).error(call, f"take in {pose!r}", offer)


def _same(pose: Pose, other: Pose) -> bool:
    """Whether two poses are equal or, where they are numbers, close."""
    try:
        return bool(pose == other) or pose.is_close(other)
    except NotNumeric:
        return False


def _zero_twists(pose: Pose, *, rigid: bool) -> Collection[TwistEdge]:
    """The edges of the zero twists that come with a rigid pose."""
    return [TwistEdge(pose.of, pose.reference_body)] if rigid and pose.body != pose.reference_body else ()


def _insert_pose(store: GraphStore, pose: Pose, *, rigid: bool) -> Pose:
    joined = store.put_pose(pose)
    try:
        insertion.resolve_pending(store, joined)
    except ArmillaryError:
        store.drop_pose(pose.of)
        raise
    for edge in _zero_twists(pose, rigid=rigid):
        value = store.no_motion(point=edge.of, body=pose.body, relative_to=edge.relative_to, expressed_in=edge.of)
        store.put_twist(edge.of, value)
        store.rigid.add(edge.of)
    return pose


def _offered_pose(store: GraphStore, pose: Pose, *, rigid: bool) -> Pose | None:
    """The inverse, or either of both moved to another frame of the same body: the first that no rule forbids."""
    for candidate in _equivalent_poses(store, pose):
        twists = _zero_twists(candidate, rigid=rigid)
        if rules.new_pose(store.structure, candidate.of, candidate.in_frame, twists) is None:
            return candidate
    return None


def _equivalent_poses(store: GraphStore, pose: Pose) -> Iterator[Pose]:
    for candidate in (pose, inverse_pose(pose)):
        if candidate is not pose:
            yield candidate
        root = store.structure.root_of(candidate.of)
        if root != candidate.of and store.body_of(root) == candidate.body:
            yield candidate @ path_pose(store, root, candidate.of)


def _follows_from_poses(store: GraphStore, violation: Violation, pose: Pose) -> bool:
    """Whether the graph can compute the pose already, so that it can be kept as a measurement."""
    return (
        violation.constraint in {"C5", "C6a", "C6b"}
        and pose.of != pose.in_frame
        and store.structure.in_one_tree(pose.of, pose.in_frame)
    )


def _require_pose(store: GraphStore, of: str, in_frame: str) -> None:
    store.body_of(of)
    store.body_of(in_frame)
    edge = store.poses.get(of)
    if edge is not None and edge.in_frame == in_frame:
        return
    inverse = store.poses.get(in_frame)
    if inverse is not None and inverse.in_frame == of:
        raise UnknownRelation(str(PoseEdge(of, in_frame)), PoseEdge(in_frame, of), "Name it that way round.")
    existing = None if edge is None else PoseEdge(of, edge.in_frame)
    raise UnknownRelation(str(PoseEdge(of, in_frame)), existing, "Add it with add_pose(...).")


# Twists


def add_twist(store: GraphStore, twist: Twist, *, adapt: bool, pending: bool) -> Twist | Measurement:
    """Add a twist as it is or adapted, or raise."""
    twist = insertion.known_twist(store, twist, "add_twist")
    head = insertion.head_of(store, twist)
    violation = rules.new_twist(store.structure, head, twist.reference_body)
    if violation is None:
        return _insert_twist(store, twist, head, pending=pending)
    is_redundant = violation.constraint in {"C8a", "C8b"}
    offer = _offered_twist(store, twist, head) if is_redundant else None
    if adapt and offer is not None:
        return _insert_twist(store, offer, offer.point, pending=False)
    is_motion = store.structure.body_of(head) != twist.reference_body
    if adapt and is_redundant and is_motion and rules.is_moving(store.structure, head, twist.reference_body):
        return _keep_measurement(store, twist)
    raise violation.error("add_twist", f"add {twist!r}", offer)


def set_twist(store: GraphStore, twist: Twist, *, pending: bool) -> Twist:
    """Give the edge of a twist a new value."""
    twist = insertion.known_twist(store, twist, "set_twist")
    head = _edge_head(store, twist)
    _check_not_rigid(store, head, "set_twist", f"set {twist!r}")
    value = _value_at(store, twist, head, pending=pending)
    store.put_twist_value(head, value, twist)
    return value or twist


def remove_twist(store: GraphStore, of: str, relative_to: str) -> None:
    """Remove the twist of a frame."""
    store.body_of(of)
    _require_twist(store, of, store.body(relative_to))
    _check_not_rigid(store, of, "remove_twist", f"remove {TwistEdge(of, relative_to)}")
    store.drop_twist(of)


def _insert_twist(store: GraphStore, twist: Twist, head: str, *, pending: bool) -> Twist:
    value = _value_at(store, twist, head, pending=pending)
    store.structure.add_twist(TwistEdge(head, twist.reference_body))
    store.put_twist_value(head, value, twist)
    return value or twist


def _value_at(store: GraphStore, twist: Twist, head: str, *, pending: bool) -> Twist | None:
    """The twist at its head frame; None where it has to wait for poses."""
    missing = insertion.missing_poses(store, twist, head)
    if missing is None:
        return insertion.at_head(store, twist, head)
    if pending:
        return None
    raise missing


def _offered_twist(store: GraphStore, twist: Twist, head: str) -> Twist | None:
    """The twist of another frame of its body, or the inverse at a frame of the other body."""
    if insertion.missing_poses(store, twist, head) is not None:
        return None
    free = loosened(twist)
    for candidate in (free, free.inverse()):
        for frame in store.structure.frames_of(candidate.body):
            is_near = store.structure.in_one_tree(frame, head)
            if is_near and rules.new_twist(store.structure, frame, candidate.reference_body) is None:
                return insertion.at_head(store, candidate, frame)
    return None


def _edge_head(store: GraphStore, twist: Twist) -> str:
    """The head of the edge that holds this twist: at its point, or at the one frame of its body that fits."""
    structure, relative_to = store.structure, twist.reference_body
    if structure.body_of(twist.point) == twist.body:
        _require_twist(store, twist.point, relative_to)
        return twist.point
    held = [frame for frame in structure.frames_of(twist.body) if structure.twist_parent(frame) == relative_to]
    near = [frame for frame in held if structure.in_one_tree(frame, twist.point)]
    if not held:
        raise UnknownRelation(f"a twist of '{twist.body}' relative to '{relative_to}'", None, "Add it: add_twist(...).")
    return (near or held)[0]


def _require_twist(store: GraphStore, of: str, relative_to: str) -> None:
    parent = store.structure.twist_parent(of)
    if parent != relative_to:
        existing = None if parent is None else TwistEdge(of, parent)
        raise UnknownRelation(str(TwistEdge(of, relative_to)), existing, "Add it with add_twist(...).")


def _check_not_rigid(store: GraphStore, head: str, call: str, asked: str) -> None:
    if head not in store.rigid:
        return
    edge = PoseEdge(head, store.poses[head].in_frame)
    hint = f"Call remove_pose(of='{edge.of}', in_frame='{edge.in_frame}') first."
    violation = Violation("C5", f"It belongs to {edge}, added with rigid=True.", (edge,), hint)
    raise violation.error(call, asked)


def _keep_measurement(store: GraphStore, relation: Pose | Twist) -> Measurement:
    """Keep a redundant relation as a measurement, in place of an older one of the same relation."""
    measurement = Measurement(relation, derived(store, relation))
    store.measured[measurement_key(relation)] = relation
    return measurement
