"""Poses that come, change and go. Everything is checked before anything is changed."""

from __future__ import annotations

from collections.abc import Collection

from armillary.errors import ArmillaryError, NotNumeric
from armillary.errors.relations import UnknownRelation
from armillary.relations import _graph_insertion as insertion
from armillary.relations import _graph_offers as offers
from armillary.relations import rules
from armillary.relations._graph_measurements import Measurement, measured
from armillary.relations._graph_store import GraphStore
from armillary.relations._pose import Pose
from armillary.relations.refusals import violated
from armillary.relations.structure import PoseEdge, TwistEdge, Violation


def add_pose(store: GraphStore, pose: Pose, *, rigid: bool, adapt: bool) -> Pose | Measurement:
    """Takes a pose in, as it is or adapted, or raises."""
    pose = _edge_pose(store, pose, "add_pose", adapt=adapt)
    if _is_set(store, pose):
        return store.poses[pose.of]
    violation = rules.new_pose(store.structure, pose.of, pose.in_frame, _zero_twists(pose, rigid=rigid))
    if violation is None:
        return _take(store, pose, rigid=rigid)
    offer = _offer(store, violation, pose, rigid=rigid)
    if adapt and offer is not None:
        return _take(store, offer, rigid=rigid)
    if adapt and _is_told(store, violation, pose):
        return measured(store, pose)
    raise violated(violation, "add_pose", f"add {pose!r}", offer)


def set_pose(store: GraphStore, pose: Pose) -> Pose:
    """Gives an edge a new value."""
    pose = _edge_pose(store, pose, "set_pose", adapt=False)
    _require(store, pose.of, pose.in_frame)
    if pose.body != pose.reference_body and pose.of not in store.rigid:
        store.poses[pose.of] = pose
    elif not _same(pose, store.poses[pose.of]):
        raise violated(_constant(store, pose), "set_pose", f"set {pose!r}")
    return store.poses[pose.of]


def remove_pose(store: GraphStore, of: str, in_frame: str) -> None:
    """Parts a tree; the twist of a rigid pose goes with it."""
    _require(store, of, in_frame)
    if of in store.rigid:
        store.rigid.remove(of)
        store.drop_twist(of)
    store.drop_pose(of)


def _edge_pose(store: GraphStore, pose: Pose, call: str, *, adapt: bool) -> Pose:
    """The pose with the graph's bodies, between the frames themselves."""
    pose = insertion.known_pose(store, pose, call)
    if insertion.is_edge_form(pose):
        return pose
    if adapt:
        return insertion.in_edge_form(store, pose)
    raise violated(_not_between_frames(pose), call, f"take in {pose!r}", _in_edge_form_or_none(store, pose))


def _in_edge_form_or_none(store: GraphStore, pose: Pose) -> Pose | None:
    try:
        return insertion.in_edge_form(store, pose)
    except ArmillaryError:
        return None


def _not_between_frames(pose: Pose) -> Violation:
    reason = (
        f"An edge holds the pose of the frame '{pose.of}' in '{pose.in_frame}' along the axes of the latter; this one "
        f"is of the point '{pose.point}' from '{pose.reference_point}' along the axes of '{pose.expressed_in}'."
    )
    return Violation("C4", reason, (), "Move it with change_point, change_reference_point, change_coordinate_frame.")


def _is_set(store: GraphStore, pose: Pose) -> bool:
    """Whether the same constant pose is there already."""
    edge = store.poses.get(pose.of)
    is_there = edge is not None and edge.in_frame == pose.in_frame and pose.body == pose.reference_body
    return is_there and edge is not None and _same(pose, edge)


def _same(pose: Pose, other: Pose) -> bool:
    """Equal or, where they are numbers, close."""
    try:
        return bool(pose == other) or pose.is_close(other)
    except NotNumeric:
        return False


def _zero_twists(pose: Pose, *, rigid: bool) -> Collection[TwistEdge]:
    return [TwistEdge(pose.of, pose.reference_body)] if rigid and pose.body != pose.reference_body else ()


def _take(store: GraphStore, pose: Pose, *, rigid: bool) -> Pose:
    joined = store.put_pose(pose)
    try:
        insertion.settle(store, joined)
    except ArmillaryError:
        store.drop_pose(pose.of)
        raise
    for edge in _zero_twists(pose, rigid=rigid):
        names = {"point": edge.of, "body": pose.body, "relative_to": edge.relative_to, "expressed_in": edge.of}
        store.put_twist(edge.of, store.no_motion(**names))
        store.rigid.add(edge.of)
    return pose


def _offer(store: GraphStore, violation: Violation, pose: Pose, *, rigid: bool) -> Pose | None:
    if violation.constraint not in {"C6a", "C6b", "C8a"}:
        return None
    return offers.offered_pose(store, pose, lambda other: _zero_twists(other, rigid=rigid))


def _is_told(store: GraphStore, violation: Violation, pose: Pose) -> bool:
    """Whether poses already tell it, so that it can be compared with what they tell."""
    return (
        violation.constraint in {"C5", "C6a", "C6b"}
        and pose.of != pose.in_frame
        and store.structure.in_one_tree(pose.of, pose.in_frame)
    )


def _constant(store: GraphStore, pose: Pose) -> Violation:
    edge = PoseEdge(pose.of, pose.in_frame)
    hint = f"Call remove_pose(of='{pose.of}', in_frame='{pose.in_frame}') first if it was wrong."
    if pose.of in store.rigid:
        return Violation("C5", "It was added with rigid=True and stays as it is.", (edge,), hint)
    reason = f"Both frames are on '{pose.body}', whose poses are set once."
    return Violation("C5", reason, (edge,), hint)


def _require(store: GraphStore, of: str, in_frame: str) -> None:
    store.body_of(of)
    store.body_of(in_frame)
    edge = store.poses.get(of)
    if edge is not None and edge.in_frame == in_frame:
        return
    turned = store.poses.get(in_frame)
    if turned is not None and turned.in_frame == of:
        raise UnknownRelation(str(PoseEdge(of, in_frame)), PoseEdge(in_frame, of), "Name it that way round.")
    existing = None if edge is None else PoseEdge(of, edge.in_frame)
    raise UnknownRelation(str(PoseEdge(of, in_frame)), existing, "Add it with add_pose(...).")
