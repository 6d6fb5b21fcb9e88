"""The sequence of operations that a model is made by, the edits of it, and the values that result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from armillary.articulation._draft import (
    Apply,
    Draft,
    Edit,
    InsertAfter,
    InsertBefore,
    Move,
    RemoveOperation,
    Step,
    Tables,
    revert,
    same_value,
)
from armillary.articulation._order import OrderedList
from armillary.articulation._overlay import Absent, Overlay, swapped
from armillary.articulation.operations import Operation
from armillary.articulation.paths import is_under
from armillary.errors import InvalidOperation, NothingToUndo, UnknownTag

__all__ = ["Apply", "Edit", "History", "InsertAfter", "InsertBefore", "ModelChange", "RemoveOperation"]

Check = Callable[[Overlay[str, Any], Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class ModelChange:
    """The result of an edit.

    Attributes:
        before: By path, the old values of what was removed or changed.
        after: By path, the new values of what was added or changed.
        tags: The operations that were added, replaced or removed.
        ran: The tags of the operations that ran, in order.
        kind: Whether it is an edit, or an edit was undone or redone.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    tags: tuple[str, ...]
    ran: tuple[str, ...]
    kind: Literal["edit", "undo", "redo"] = "edit"

    @property
    def paths(self) -> frozenset[str]:
        """Where something was added, changed or removed."""
        return frozenset(self.before) | frozenset(self.after)


@dataclass(frozen=True, slots=True)
class _UndoEntry:
    """The inverse of an edit; every field but the last two belongs to the table of that name."""

    steps: dict[str, Step | Absent]
    writers: dict[str, Any]
    readers: dict[str, Any]
    values: dict[str, Any]
    moves: list[Move]
    tags: tuple[str, ...]


class History:
    """Operations in order, each with a tag, and the values that result from them.

    An edit costs as much as what it touches: the operations it names, and those that read what became different.
    It is applied whole or not at all. Not thread-safe: the model locks.

    Args:
        max_undo: How many edits can be undone.
        check: Called with the values as they will be and the paths that differ; what it raises refuses the edit.
    """

    def __init__(self, *, max_undo: int, check: Check) -> None:
        self._tables = Tables()
        self._order: OrderedList[str] = OrderedList()
        self._check = check
        self._is_editing = False
        self._undo: deque[_UndoEntry] = deque(maxlen=max_undo)
        self._redo: deque[_UndoEntry] = deque(maxlen=max_undo)

    @property
    def max_undo(self) -> int:
        """How many edits can be undone."""
        return self._undo.maxlen or 0

    @property
    def values(self) -> Mapping[str, Any]:
        """The values that result from the operations, by path."""
        return MappingProxyType(self._tables.values)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all operations, first to last."""
        return tuple(place.item for place in self._order)

    def __contains__(self, tag: object) -> bool:
        """Whether an operation has this tag."""
        return tag in self._tables.steps

    def operation(self, tag: str) -> Operation:
        """The operation with this tag."""
        step = self._tables.steps.get(tag)
        if step is None:
            raise UnknownTag(tag, self.tags)
        return step.operation

    def tags_writing(self, under: str) -> tuple[str, ...]:
        """The tags of the operations that write at or under a path, first to last."""
        steps = self._tables.steps
        return tuple(tag for tag in self.tags if any(is_under(path, under) for path in steps[tag].writes))

    def edit(self, edits: Sequence[Edit]) -> ModelChange:
        """Apply all of these edits or none."""
        if self._is_editing:
            raise InvalidOperation("An operation cannot edit the model that it runs in. Give it what to read.", edits)
        draft = Draft(self._tables, self._order)
        self._is_editing = True
        try:
            for edit in edits:
                draft.edit(edit)
            draft.run()
            differing = [p for p in draft.touched if not same_value(draft.values.before(p), draft.values.get(p))]
            self._check(draft.values, differing)
        except BaseException:
            revert(self._order, draft.moves)
            raise
        finally:
            self._is_editing = False
        tags = tuple(dict.fromkeys(edit.tag for edit in edits))
        change = _change(draft.values, differing, tags, tuple(draft.ran))
        if edits:
            self._redo.clear()
            self._undo.append(_committed(draft, tags))
        return change

    def undo(self) -> ModelChange:
        """Undo the last edit; nothing runs for it."""
        return replace(self._reverted(self._undo, self._redo), kind="undo")

    def redo(self) -> ModelChange:
        """Redo the edit that was undone last."""
        return replace(self._reverted(self._redo, self._undo), kind="redo")

    def copied(self) -> History:
        """Return an independent copy of operations and values, without the edits that could be undone here."""
        twin = History(max_undo=self._undo.maxlen or 0, check=self._check)
        twin._tables = self._tables.moved({place: twin._order.append(place.item) for place in self._order})
        return twin

    def forget_edits(self) -> None:
        """Forget the edits so far: none of them can be undone any more."""
        self._undo.clear()
        self._redo.clear()

    def _reverted(self, entries: deque[_UndoEntry], inverses: deque[_UndoEntry]) -> ModelChange:
        if self._is_editing:
            raise InvalidOperation("An operation cannot edit the model that it runs in.", None)
        if not entries:
            raise NothingToUndo
        entry, tables = entries.pop(), self._tables
        values = swapped(tables.values, entry.values)
        inverses.append(
            _UndoEntry(
                steps=swapped(tables.steps, entry.steps),
                writers=swapped(tables.writers, entry.writers),
                readers=swapped(tables.readers, entry.readers),
                values=values,
                moves=revert(self._order, entry.moves),
                tags=entry.tags,
            )
        )
        return ModelChange(_present(values), _present(entry.values), entry.tags, ())


def _committed(draft: Draft, tags: tuple[str, ...]) -> _UndoEntry:
    return _UndoEntry(
        steps=draft.steps.commit(),
        writers=draft.writers.commit(),
        readers=draft.readers.commit(),
        values=draft.values.commit(),
        moves=draft.moves,
        tags=tags,
    )


def _change(
    values: Overlay[str, Any], paths: Sequence[str], tags: tuple[str, ...], ran: tuple[str, ...]
) -> ModelChange:
    before = {path: values.before(path) for path in paths if values.before(path) is not None}
    after = {path: values[path] for path in paths if path in values}
    return ModelChange(before, after, tags, ran)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for path, value in values.items() if not isinstance(value, Absent)}
