"""Twists that come, change and go. Everything is checked before anything is changed."""

from __future__ import annotations

from armillary.errors.relations import UnknownRelation
from armillary.relations import _graph_insertion as insertion
from armillary.relations import _graph_offers as offers
from armillary.relations import rules
from armillary.relations._graph_measurements import Measurement, measured
from armillary.relations._graph_store import GraphStore
from armillary.relations._twist import Twist
from armillary.relations.refusals import violated
from armillary.relations.structure import PoseEdge, TwistEdge, Violation


def add_twist(store: GraphStore, twist: Twist, *, adapt: bool, pending: bool) -> Twist | Measurement:
    """Takes a twist in, as it is or adapted, or raises."""
    twist = insertion.known_twist(store, twist, "add_twist")
    head = insertion.head_of(store, twist)
    violation = rules.new_twist(store.structure, head, twist.reference_body)
    if violation is None:
        return _take(store, twist, head, pending=pending)
    offer = offers.offered_twist(store, twist, head) if violation.constraint in {"C8a", "C8b"} else None
    if adapt and offer is not None:
        return _take(store, offer, offer.point, pending=False)
    if adapt and violation.constraint in {"C8a", "C8b"} and _is_told(store, head, twist):
        return measured(store, twist)
    raise violated(violation, "add_twist", f"add {twist!r}", offer)


def _is_told(store: GraphStore, head: str, twist: Twist) -> bool:
    """Whether twists already tell it, so that it can be compared with what they tell."""
    is_motion = store.structure.body_of(head) != twist.reference_body
    return is_motion and rules.is_moving(store.structure, head, twist.reference_body)


def set_twist(store: GraphStore, twist: Twist, *, pending: bool) -> Twist:
    """Gives an edge a new value."""
    twist = insertion.known_twist(store, twist, "set_twist")
    head = _edge_of(store, twist)
    _refuse_mounted(store, head, "set_twist", f"set {twist!r}")
    value = _value_at(store, twist, head, pending=pending)
    store.put_twist_value(head, value, twist)
    return value or twist


def remove_twist(store: GraphStore, of: str, relative_to: str) -> None:
    """Takes the twist of a frame away."""
    store.body_of(of)
    _require(store, of, store.body(relative_to))
    _refuse_mounted(store, of, "remove_twist", f"remove {TwistEdge(of, relative_to)}")
    store.drop_twist(of)


def _take(store: GraphStore, twist: Twist, head: str, *, pending: bool) -> Twist:
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


def _edge_of(store: GraphStore, twist: Twist) -> str:
    """The head of the edge that holds this twist: at its point, or at the one frame of its body that fits."""
    structure, relative_to = store.structure, twist.reference_body
    if structure.body_of(twist.point) == twist.body:
        _require(store, twist.point, relative_to)
        return twist.point
    held = [frame for frame in structure.frames_of(twist.body) if structure.twist_parent(frame) == relative_to]
    near = [frame for frame in held if structure.in_one_tree(frame, twist.point)]
    if not held:
        raise UnknownRelation(f"a twist of '{twist.body}' relative to '{relative_to}'", None, "Add it: add_twist(...).")
    return (near or held)[0]


def _require(store: GraphStore, of: str, relative_to: str) -> None:
    parent = store.structure.twist_parent(of)
    if parent != relative_to:
        existing = None if parent is None else TwistEdge(of, parent)
        raise UnknownRelation(str(TwistEdge(of, relative_to)), existing, "Add it with add_twist(...).")


def _refuse_mounted(store: GraphStore, head: str, call: str, asked: str) -> None:
    if head not in store.rigid:
        return
    edge = PoseEdge(head, store.poses[head].in_frame)
    hint = f"Call remove_pose(of='{edge.of}', in_frame='{edge.in_frame}') first."
    raise violated(Violation("C5", f"It belongs to {edge}, added with rigid=True.", (edge,), hint), call, asked)
