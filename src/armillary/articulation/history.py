"""The sequence of operations that a model is made by, and what they made."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from armillary.articulation._draft import Draft, Move, Tables, replay
from armillary.articulation._overlay import Gone, Overlay, swapped
from armillary.articulation._places import Places
from armillary.articulation._steps import Step, same_value
from armillary.articulation.edits import Edit
from armillary.articulation.operations._operation import Operation
from armillary.articulation.paths import is_under
from armillary.errors import InvalidOperation, NothingToUndo, UnknownTag

__all__ = ["History", "ModelChange"]

Check = Callable[[Overlay[str, Any], Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What an edit did.

    Attributes:
        before: By path, the values that are gone or different now.
        after: By path, the values that are new or different now.
        tags: The operations that were added, replaced or removed.
        ran: The tags of the operations that ran, in order.
        kind: Whether it was made, or took back one before.
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
class _Memory:
    """All that takes an edit back; every field belongs to the table of that name."""

    steps: dict[str, Step | Gone]
    writers: dict[str, Any]
    readers: dict[str, Any]
    values: dict[str, Any]
    moves: list[Move]
    tags: tuple[str, ...]


class History:
    """Operations in order, each with a tag, and the values that they leave.

    An edit costs as much as what it touches: the operations it names, and those that read what became different.
    It is taken whole or not at all. Not thread-safe: the model locks.

    Args:
        max_undo: How many edits can be taken back.
        check: Looks at what the values will be and which paths differ; what it raises refuses the edit.
    """

    def __init__(self, *, max_undo: int, check: Check) -> None:
        self._tables = Tables()
        self._order: Places[str] = Places()
        self._check = check
        self._is_editing = False
        self._undo: deque[_Memory] = deque(maxlen=max_undo)
        self._redo: deque[_Memory] = deque(maxlen=max_undo)

    @property
    def values(self) -> Mapping[str, Any]:
        """What the operations leave, by path."""
        return MappingProxyType(self._tables.values)

    @property
    def tags(self) -> tuple[str, ...]:
        """Of all operations, first to last."""
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
        """Of the operations that write at or under a path, first to last."""
        steps = self._tables.steps
        return tuple(tag for tag in self.tags if any(is_under(path, under) for path in steps[tag].writes))

    def edit(self, edits: Sequence[Edit]) -> ModelChange:
        """Do all of these or none."""
        if self._is_editing:
            raise InvalidOperation("An operation cannot edit the model that it runs in. Give it what to read.", edits)
        draft = Draft(self._tables, self._order)
        self._is_editing = True
        try:
            differing = self._settled(draft, edits)
        except BaseException:
            replay(self._order, draft.moves)
            raise
        finally:
            self._is_editing = False
        tags = tuple(dict.fromkeys(edit.tag for edit in edits))
        change = _change(draft.values, differing, tags, tuple(draft.ran))
        if edits:
            self._redo.clear()
            self._undo.append(_committed(draft, tags))
        return change

    def _settled(self, draft: Draft, edits: Sequence[Edit]) -> list[str]:
        """The paths whose values will be different."""
        for edit in edits:
            draft.edit(edit)
        draft.settle()
        differing = [path for path in draft.touched if not _is_as_before(draft.values, path)]
        self._check(draft.values, differing)
        return differing

    def undo(self) -> ModelChange:
        """Take the last edit back; nothing runs for it."""
        return replace(self._taken_back(self._undo, self._redo), kind="undo")

    def redo(self) -> ModelChange:
        """Do again what was taken back last."""
        return replace(self._taken_back(self._redo, self._undo), kind="redo")

    def copied(self) -> History:
        """The same operations and values, to go another way from here on: nothing before can be taken back there."""
        twin = History(max_undo=self._undo.maxlen or 0, check=self._check)
        twin._tables = self._tables.standing_at({place: twin._order.append(place.item) for place in self._order})
        return twin

    def forget_edits(self) -> None:
        """From here on, nothing before can be taken back."""
        self._undo.clear()
        self._redo.clear()

    def _taken_back(self, memories: deque[_Memory], back: deque[_Memory]) -> ModelChange:
        if self._is_editing:
            raise InvalidOperation("An operation cannot edit the model that it runs in.", None)
        if not memories:
            raise NothingToUndo
        memory, tables = memories.pop(), self._tables
        values = swapped(tables.values, memory.values)
        back.append(
            _Memory(
                steps=swapped(tables.steps, memory.steps),
                writers=swapped(tables.writers, memory.writers),
                readers=swapped(tables.readers, memory.readers),
                values=values,
                moves=replay(self._order, memory.moves),
                tags=memory.tags,
            )
        )
        return ModelChange(_there(values), _there(memory.values), memory.tags, ())


def _committed(draft: Draft, tags: tuple[str, ...]) -> _Memory:
    return _Memory(
        steps=draft.steps.commit(),
        writers=draft.writers.commit(),
        readers=draft.readers.commit(),
        values=draft.values.commit(),
        moves=draft.moves,
        tags=tags,
    )


def _is_as_before(values: Overlay[str, Any], path: str) -> bool:
    return same_value(values.before(path), values.get(path))


def _change(
    values: Overlay[str, Any], paths: Sequence[str], tags: tuple[str, ...], ran: tuple[str, ...]
) -> ModelChange:
    before = {path: values.before(path) for path in paths if values.before(path) is not None}
    after = {path: values[path] for path in paths if path in values}
    return ModelChange(before, after, tags, ran)


def _there(values: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for path, value in values.items() if not isinstance(value, Gone)}
