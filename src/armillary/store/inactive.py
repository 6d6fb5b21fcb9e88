"""What copies of a world said together though none of them may say it alone, and which of it does not count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError, ConstraintViolation, FrameLoop, SceneCycle
from armillary.store.changes import AddBody, AddParent, AddRelation, AddTwistRelation, Change, Fix
from armillary.store.records import change_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary._core import NodeId, SceneView
    from armillary.store.store import Store

__all__ = ["Inactive", "all_inactive"]


@dataclass(frozen=True, slots=True, eq=False)
class Inactive:
    """Something that a copy said and that is not in force; it comes into force when what is in its way is gone.

    Attributes:
        change: What was said: `AddParent`, `Fix`, `AddRelation`, `AddTwistRelation` or `AddBody`.
        reason: The error that this would raise if it were said here, now.
    """

    change: Change
    reason: ArmillaryError


def all_inactive(store: Store) -> list[Inactive]:
    """Everything that is not in force, in an order on which copies agree."""
    found = [*_containment(store.view()), *_of_frames(store)]
    return sorted(found, key=lambda one: (type(one.change).__name__, str(one.change), str(one.reason)))


def _containment(view: SceneView) -> Iterator[Inactive]:
    for node, parent, since in view.circles():
        yield Inactive(AddParent(node, parent, since), SceneCycle(node, _way_up(view, parent, node)))


def _way_up(view: SceneView, start: NodeId, node: NodeId) -> list[NodeId]:
    """From a node up to one that it is in; both alone where one of them is not there."""
    ways = {start: [start]}
    for step in (waiting := [start]):
        for above in view.parents(step) if view.contains(step) else ():
            if above not in ways:
                ways[above] = [*ways[step], above]
                waiting.append(above)
    return ways.get(node, [start, node])


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
        "moves_in_body": "something that counts already moves on it",
        "constant_in_body": "both are on one body, whose poses are constant and said once",
    }
    return ConstraintViolation(
        constraint="C2" if reason == "on_other_body" else "C5",
        operation=type(change).__name__,
        asked=_asked(change),
        reason=reasons[reason],
        existing=[f"body '{body}'"],
        hint="It counts as soon as that is gone.",
        offer=None,
    )


def _asked(change: Change) -> str:
    match change:
        case AddBody(name, frames):
            return f"put {', '.join(map(repr, frames)) or 'frames'} on the body '{name}'"
        case Fix() | AddRelation():
            return f"place '{change.of}' in '{change.in_frame}'"
        case AddTwistRelation():
            return f"say how '{change.of}' moves relative to '{change.relative_to}'"
        case _:
            return "say this"
