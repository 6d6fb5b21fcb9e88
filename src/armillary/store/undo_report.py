"""What `undo` took back, or `redo` did again, as a value to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armillary.errors.format import format_stamp
from armillary.store.changes import AddRelation, AddTwistRelation, SetTransform

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from armillary._core import ChangeRecord, NodeId, Transform
    from armillary.store.changes import Change

__all__ = ["UndoReport", "ids_in", "sample_changes"]

_SHOWN = 5  # changes; more are counted
_NAMES = ("of", "names", "name", "id", "joints")
_PLACES = ("in_frame", "relative_to", "parent")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UndoReport:
    """What `undo` took back, or `redo` did again.

    Attributes:
        changes: The changes, in the order in which they were made. What samples did is among them: a relation that
            they made, or a move to another parent, as `AddRelation` or `AddTwistRelation`.
        samples_lost: Samples that went with them, or that do not come back with what was undone.
        tag: Names the batch, for example a mounted model; empty where it has no tag.
        is_redo: Whether it was done again.
        records: The records that do it, for other replicas.
        names: What people call the nodes in `changes`, by id.
    """

    changes: tuple[Change, ...]
    samples_lost: int
    tag: str
    is_redo: bool
    records: tuple[ChangeRecord, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """One sentence a change, and how many samples are lost."""
        shown = [_described(change, self.names) for change in self.changes[:_SHOWN]]
        if len(self.changes) > _SHOWN:
            shown.append(f"and {len(self.changes) - _SHOWN} more")
        done = "Done again" if self.is_redo else "Undone"
        tagged = f" ({self.tag})" if self.tag else ""
        text = f"{done}{tagged}: {'; '.join(shown) or 'nothing'}."
        if self.samples_lost:
            are_lost = "sample is" if self.samples_lost == 1 else "samples are"
            text += f" {self.samples_lost} {are_lost} lost."
        return text

    def __repr__(self) -> str:
        return f"<UndoReport: {self}>"


def sample_changes(
    written: Sequence[tuple[NodeId, Transform, Any, int]], moves: Sequence[tuple[str, str, str, int]]
) -> Iterator[Change]:
    """Yield what samples did as changes: samples of nodes that came with a batch, and moves to another parent."""
    for node, transform, covariance, at in written:
        yield SetTransform(node, transform, covariance, at)
    for of, in_frame, source, start in moves:
        yield AddRelation(of=of, in_frame=in_frame, source=source, at=start)


def ids_in(changes: Sequence[Change]) -> str:
    """Return all that changes are about and where, in which the ids of nodes are."""
    about = (getattr(change, name, None) for change in changes for name in (*_NAMES, *_PLACES, "source"))
    return " ".join(str(part) for value in about for part in _listed(value))


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple | dict) else [value]


def _described(change: Change, called: Mapping[str, str]) -> str:
    """A change in short: what it is about, where, by whom, since when."""
    about = next((value for name in _NAMES if (value := getattr(change, name, None)) is not None), None)
    names = ", ".join(_quoted(name, called) for name in _listed(about))
    text = type(change).__name__ + ("" if about is None else f" {names}")
    place = next((value for name in _PLACES if (value := getattr(change, name, None)) is not None), None)
    if place is not None:
        text += f" {'relative to' if isinstance(change, AddTwistRelation) else 'in'} {_quoted(place, called)}"
    if source := getattr(change, "source", None):
        text += f" by {_quoted(source, called)}"
    at = getattr(change, "at", None)
    return f"{text} from {format_stamp(at)}" if isinstance(at, int) and isinstance(about, str) else text


def _quoted(name: object, called: Mapping[str, str]) -> str:
    name = called.get(str(name), name)
    return f"'{name}'" if isinstance(name, str) else str(name)[:8]
