"""Inactive assertions: replicas made them independently, and they conflict with others that are active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError, ConstraintViolation, FrameLoop, FrameNameTaken, SceneCycle
from armillary.store.changes import AddBody, AddParent, AddRelation, AddTwistRelation, Change, Fix
from armillary.store.records import change_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary._core import NodeId, SceneView
    from armillary.store.store import Store

__all__ = ["Inactive", "all_inactive"]


@dataclass(frozen=True, slots=True, eq=False)
class Inactive:
    """An assertion that is not active; it becomes active when what conflicts with it is removed.

    Attributes:
        change: What was asserted: `AddParent`, `Fix`, `AddRelation`, `AddTwistRelation` or `AddBody`; or what added a
            node whose frame was to have a name that another frame has.
        reason: The error that applying this change here, now, would raise.
    """

    change: Change
    reason: ArmillaryError


def all_inactive(store: Store) -> list[Inactive]:
    """Return all inactive assertions, in an order on which replicas agree."""
    found = [*_containment(store.view()), *_of_frames(store), *_names(store)]
    return sorted(found, key=lambda one: (type(one.change).__name__, str(one.change), str(one.reason)))


def _containment(view: SceneView) -> Iterator[Inactive]:
    for node, parent, since in view.cycles():
        yield Inactive(AddParent(node, parent, since), SceneCycle(node, _path_up(view, parent, node)))


def _path_up(view: SceneView, start: NodeId, node: NodeId) -> list[NodeId]:
    """Return the nodes from `start` up to `node`, which contains it; the two alone where there is no such path."""
    paths = {start: [start]}
    for step in (waiting := [start]):
        for above in view.parents(step) if view.contains(step) else ():
            if above not in paths:
                paths[above] = [*paths[step], above]
                waiting.append(above)
    return paths.get(node, [start, node])


def _names(store: Store) -> Iterator[Inactive]:
    """Yield the nodes whose frames were to have a name that another has: they are known by their ids."""
    rows = store.unnamed_rows()
    if not rows:
        return
    added = {record.node: change_of(record) for record in store.records() if record.type == "add_node"}
    for node, name, owner in rows:
        if node in added:
            yield Inactive(added[node], FrameNameTaken(name, owner))


def _of_frames(store: Store) -> Iterator[Inactive]:
    for record, reason, body, at, path in store.inactive_rows():
        change = change_of(record)
        if reason == "closes_loop":
            yield Inactive(change, FrameLoop([change.of, *path], at))  # type: ignore[attr-defined]
        else:
            yield Inactive(change, _violation(change, reason, body))


def _violation(change: Change, reason: str, body: str) -> ConstraintViolation:
    reasons = {
        "on_other_body": "it is on another body",
        "moves_in_body": "something that is active already moves on it",
        "constant_in_body": "both are on one body, whose poses are constant and asserted once",
        "no_body": "the body was taken back",
    }
    return ConstraintViolation(
        constraint="C2" if reason == "on_other_body" else "C5",
        operation=type(change).__name__,
        asked=_asked(change),
        reason=reasons[reason],
        existing=[f"body '{body}'"],
        hint="It becomes active as soon as that is gone.",
        offer=None,
    )


def _asked(change: Change) -> str:
    match change:
        case AddBody(name, frames):
            return f"put {', '.join(map(repr, frames)) or 'frames'} on the body '{name}'"
        case Fix() | AddRelation():
            return f"place '{change.of}' in '{change.in_frame}'"
        case AddTwistRelation():
            return f"set how '{change.of}' moves relative to '{change.relative_to}'"
        case _:
            return "assert this"
