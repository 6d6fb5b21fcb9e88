"""An edit on trial: the sequence as it will be, and the operations that have to run again for it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any

from armillary.articulation._order import OrderedList, Place
from armillary.articulation._overlay import ABSENT, Absent, Overlay, own_list
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.links import Link, chain_of
from armillary.articulation.operations import Operation, Reading
from armillary.articulation.paths import as_path
from armillary.errors import (
    InvalidOperation,
    LinkLoop,
    MissingRead,
    OperationFailed,
    TagTaken,
    UndeclaredRead,
    UndeclaredWrite,
    UnknownPath,
    UnknownTag,
    WrongValue,
)

__all__ = [
    "Apply",
    "Draft",
    "Edit",
    "InsertAfter",
    "InsertBefore",
    "Move",
    "RemoveOperation",
    "Step",
    "Tables",
    "revert",
    "same_value",
]

_LABEL = attrgetter("label")
_MUTABLE = (list, dict, set, bytearray)


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the sequence of operations; `tag` is the operation that it is about."""

    tag: str


@dataclass(frozen=True, slots=True)
class Apply(Edit):
    """Add an operation at the end, or in place of the one that has this tag."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class InsertBefore(Edit):
    """Add an operation right in front of another."""

    operation: Operation
    before: str


@dataclass(frozen=True, slots=True)
class InsertAfter(Edit):
    """Add an operation right behind another."""

    operation: Operation
    after: str


@dataclass(frozen=True, slots=True)
class RemoveOperation(Edit):
    """Remove an operation from the sequence."""


@dataclass(slots=True, eq=False)
class Step:
    """One operation in the sequence. It is not changed; frozen it would take longer to make.

    Attributes:
        operation: What runs.
        place: Its place in the sequence; the item is its tag.
        reads: The paths it declares to read.
        writes: The paths it declares to write.
        seen: The values it read in its last run; None where it has to run.
        outputs: The values it returned then.
    """

    operation: Operation
    place: Place[str]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    seen: Mapping[str, Any] | None
    outputs: Mapping[str, Any]

    @property
    def tag(self) -> str:
        """The name of the operation in its model."""
        return self.place.item

    @classmethod
    def new(cls, operation: object, place: Place[str], outputs: Mapping[str, Any]) -> Step:
        """Make a step that has not run; `outputs` are those of the one it replaces."""
        if not isinstance(operation, Operation):
            raise InvalidOperation(
                f"'{place.item}' was to be {operation!r}, which is no operation. Give an instance of a class derived "
                "from Operation, or a call of a function decorated with @operation(...).",
                operation,
            )
        reads = tuple(dict.fromkeys([as_path(path) for path in operation.reads]))
        writes = tuple(dict.fromkeys([as_path(path) for path in operation.writes]))
        if not writes:
            raise InvalidOperation(
                f"Operation '{place.item}' writes nothing: it would do nothing. Declare a path.", operation
            )
        return cls(operation, place, reads, writes, None, outputs)

    def run(self, read: Reading) -> dict[str, Any]:
        """Run the operation; check what it returns against what it declares."""
        try:
            answer = self.operation.run(read)
        except UndeclaredRead:
            raise
        except Exception as cause:
            raise OperationFailed(self.tag, cause) from cause
        if not isinstance(answer, Mapping):
            raise UndeclaredWrite(self.tag, self.writes, ())
        missing = [path for path in self.writes if path not in answer]
        undeclared = [str(path) for path in answer if path not in self.writes]
        if missing or undeclared:
            raise UndeclaredWrite(self.tag, missing, undeclared)
        for path in self.writes:
            self._check_value(path, answer[path])
        return dict(answer)

    def _check_value(self, path: str, value: object) -> None:
        if value is None:
            raise UndeclaredWrite(self.tag, (path,), ())
        if isinstance(value, _MUTABLE):
            raise InvalidOperation(
                f"Operation '{self.tag}' gave a {type(value).__name__} for '{path}', which could be changed behind the "
                "model's back. Give a tuple, a frozen dataclass or an expression.",
                value,
            )
        if isinstance(value, Link) and value.parent is not None and value.parent not in (*self.reads, *self.writes):
            raise UndeclaredRead(self.tag, value.parent, self.reads)


def same_value(one: object, other: object) -> bool:
    """Whether two values are equal in every respect; False where that cannot be known."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float) and (one == other == 0.0):
        return math.copysign(1.0, one) == math.copysign(1.0, other)
    is_same = getattr(one, "is_same", None)
    try:
        return bool(is_same(other) if is_same is not None else one == other)
    except Exception:  # noqa: BLE001  (an object of the user may raise anything)
        return False


@dataclass(slots=True)
class Tables:
    """The state of a history, by tag and by path.

    Attributes:
        steps: The operations, by tag.
        writers: By path, the places of the operations that write it, first to last.
        readers: By path, the places of those that read it, declared or on the way to a pose.
        values: By path, the value of the last writer.
    """

    steps: dict[str, Step] = field(default_factory=dict)
    writers: dict[str, list[Place[str]]] = field(default_factory=dict)
    readers: dict[str, list[Place[str]]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def moved(self, places: Mapping[Place[str], Place[str]]) -> Tables:
        """Return a copy at other places, given by the places here."""
        return Tables(
            steps={tag: replace(step, place=places[step.place]) for tag, step in self.steps.items()},
            writers={path: [places[place] for place in there] for path, there in self.writers.items()},
            readers={path: [places[place] for place in there] for path, there in self.readers.items()},
            values=dict(self.values),
        )


@dataclass(slots=True, eq=False)
class Move:
    """A place that was inserted behind another, or removed from there."""

    place: Place[str]
    behind: Place[str] | None
    is_insertion: bool


def revert(order: OrderedList[str], moves: list[Move]) -> list[Move]:
    """Revert moves, the last first; return the moves that were made for it."""
    inverse = [replace(move, is_insertion=not move.is_insertion) for move in reversed(moves)]
    for move in inverse:
        if move.is_insertion:
            order.put_after(move.behind, move.place)
        else:
            order.remove(move.place)
    return inverse


class Draft:
    """An edit that is tried out on overlays of the tables of a history.

    Nothing of the history changes before `commit`, but for places in the order, which `revert` of `moves` restores.
    """

    def __init__(self, tables: Tables, order: OrderedList[str]) -> None:
        self.steps = Overlay(tables.steps)
        self.writers = Overlay(tables.writers)
        self.readers = Overlay(tables.readers)
        self.values = Overlay(tables.values)
        self.moves: list[Move] = []
        self.touched: dict[str, None] = {}
        self.ran: list[str] = []
        self._order = order
        self._due: set[Place[str]] = set()
        self._unchecked: dict[str, None] = {}

    def edit(self, edit: Edit) -> None:
        """Change the sequence; nothing runs yet."""
        if not isinstance(edit.tag, str) or not edit.tag:
            raise InvalidOperation(f"A tag is a text that is not empty, got {edit.tag!r}.", edit.tag)
        match edit:
            case RemoveOperation(tag):
                self._remove(self._step(tag))
            case Apply(tag, operation):
                old = self.steps.get(tag)
                self._put(operation, old.place if old else self._new_place(tag, self._order.last), old)
            case InsertBefore(tag, operation, before):
                self._put(operation, self._new_place(tag, self._step(before).place.previous), None)
            case InsertAfter(tag, operation, after):
                self._put(operation, self._new_place(tag, self._step(after).place), None)
            case _:
                raise InvalidOperation(f"{edit!r} is no edit. Use Apply, InsertBefore, InsertAfter or Remove.", edit)

    def run(self) -> None:
        """Check what is read (thesis eq. 3.17), then run what has to run, in order, and update the values."""
        for path in self._unchecked:
            self._check_reads(path)
        heap = [(place.label, place) for place in self._due]
        heapify(heap)
        while heap:
            _, place = heappop(heap)
            self._due.discard(place)
            for reader in self._rerun(self.steps[place.item]):
                if reader not in self._due:
                    self._due.add(reader)
                    heappush(heap, (reader.label, reader))
        for path in self.touched:
            writers = self.writers.get(path)
            if not writers:
                self.values.remove(path)
                continue
            value = self.steps[writers[-1].item].outputs[path]
            if not same_value(self.values.before(path), value):
                self.values[path] = value

    def value_before(self, path: str, place: Place[str]) -> Any | Absent:
        """Return the value at a path that an operation at this place reads."""
        writers = self.writers.get(path) or []
        index = bisect_left(writers, place.label, key=_LABEL)
        return self.steps[writers[index - 1].item].outputs[path] if index else ABSENT

    def _step(self, tag: str) -> Step:
        step = self.steps.get(tag)
        if step is None:
            raise UnknownTag(tag, list(self.steps))
        return step

    def _new_place(self, tag: str, behind: Place[str] | None) -> Place[str]:
        if tag in self.steps:
            raise TagTaken(tag)
        place = self._order.insert_after(behind, tag)
        self.moves.append(Move(place, behind, is_insertion=True))
        return place

    def _put(self, operation: object, place: Place[str], old: Step | None) -> None:
        step = Step.new(operation, place, old.outputs if old else {})
        if old is not None:
            self._take_out(old)
        self.steps[step.tag] = step
        runs_now = old is None and place.next is None and not self._due and all(map(self.writers.get, step.reads))
        for path in step.reads:
            _insert(own_list(self.readers, path), place)
        for path in step.writes:
            _insert(own_list(self.writers, path), place)
        if runs_now:
            self._run_at_end(step)
            return
        self._unchecked.update(dict.fromkeys((*step.reads, *step.writes)))
        self._due.add(place)

    def _run_at_end(self, step: Step) -> None:
        """Run a new step behind all others, of which none is due: nothing reads what it writes."""
        reading = _StepReading(self, step)
        step.outputs = step.run(reading)
        step.seen = reading.seen
        for path in reading.seen:
            if path not in step.reads:  # on the way to a pose
                _insert(own_list(self.readers, path), step.place)
        self.ran.append(step.tag)
        self.touched.update(dict.fromkeys(step.outputs))

    def _remove(self, step: Step) -> None:
        self._take_out(step)
        self.steps.remove(step.tag)
        self._due.discard(step.place)
        self.moves.append(Move(step.place, step.place.previous, is_insertion=False))
        self._order.remove(step.place)

    def _take_out(self, step: Step) -> None:
        """Remove a step from the tables; the readers of what it wrote are due."""
        for path in step.writes:
            self._due.update(self._readers_after(path, step.place))
            _discard(own_list(self.writers, path), step.place)
            self.touched[path] = None
        for path in dict.fromkeys((*step.reads, *(step.seen or ()))):
            _discard(own_list(self.readers, path), step.place)
        self._unchecked.update(dict.fromkeys(step.writes))
        self._due.discard(step.place)

    def _check_reads(self, path: str) -> None:
        readers, writers = self.readers.get(path) or [], self.writers.get(path) or []
        for reader in readers:
            if writers and writers[0].label < reader.label:
                return
            if path in self.steps[reader.item].reads:
                raise MissingRead(reader.item, path, next((w.item for w in writers if w is not reader), None))

    def _rerun(self, step: Step) -> list[Place[str]]:
        """Run a step, unless it would read what it read before; return the readers of what became different."""
        if step.seen is not None and all(
            same_value(self.value_before(path, step.place), value) for path, value in step.seen.items()
        ):
            return []
        reading = _StepReading(self, step)
        outputs = step.run(reading)
        self.ran.append(step.tag)
        changed = [p for p, value in outputs.items() if not (p in step.outputs and same_value(step.outputs[p], value))]
        kept = {path: outputs[path] if path in changed else step.outputs[path] for path in outputs}
        self._replace(step, Step(step.operation, step.place, step.reads, step.writes, reading.seen, kept))
        self.touched.update(dict.fromkeys(outputs))
        # A step that replaces another has written nothing here before, even where its value is the same.
        return [r for p in (outputs if step.seen is None else changed) for r in self._readers_after(p, step.place)]

    def _replace(self, old: Step, new: Step) -> None:
        self.steps[new.tag] = new
        if old.seen is None and len(new.seen or ()) <= len(new.reads) and set(new.reads).issuperset(new.seen or ()):
            return
        before, after = (set(step.seen or ()) - set(step.reads) for step in (old, new))
        for path in before - after:
            _discard(own_list(self.readers, path), old.place)
        for path in after - before:
            insort(own_list(self.readers, path), new.place, key=_LABEL)

    def _readers_after(self, path: str, place: Place[str]) -> Iterator[Place[str]]:
        """Yield those that read what is written at this place: up to the next that writes the same, itself included."""
        readers, writers = self.readers.get(path) or [], self.writers.get(path) or []
        if not readers or readers[-1].label <= place.label:
            return
        after = bisect_right(writers, place.label, key=_LABEL)
        end = writers[after].label if after < len(writers) else None
        for reader in readers[bisect_right(readers, place.label, key=_LABEL) :]:
            if end is not None and reader.label > end:
                return
            yield reader


def _insert(places: list[Place[str]], place: Place[str]) -> None:
    if not places or places[-1].label <= place.label:
        places.append(place)
    else:
        insort(places, place, key=_LABEL)


def _discard(places: list[Place[str]], place: Place[str]) -> None:
    index = bisect_left(places, place.label, key=_LABEL)
    if index < len(places) and places[index] is place:
        del places[index]


class _StepReading:
    """The model as the operations before a step left it; `seen` are the values that were read."""

    def __init__(self, draft: Draft, step: Step) -> None:
        self.seen: dict[str, Any] = {}
        self._draft, self._step = draft, step

    def __call__(self, path: str) -> Any:
        """Return the value at one of the declared paths."""
        return self._value(self._declared(path))

    def pose(self, path: str) -> PoseExpression:
        """Return the pose of a declared link in the model."""
        return self._product(self._chain(path))

    def poses_in_common(self, first: str, second: str) -> tuple[PoseExpression, PoseExpression]:
        """Return the poses of two declared links in the nearest link that carries both."""
        one, other = self._chain(first), self._chain(second)
        while one and other and one[-1] == other[-1]:
            one.pop()
            other.pop()
        return self._product(one), self._product(other)

    def _chain(self, path: str) -> list[str]:
        chain = chain_of(self._declared(path), self._link)
        if chain[-1] in chain[:-1]:
            raise LinkLoop(chain[chain.index(chain[-1]) :])
        return chain

    def _product(self, chain: list[str]) -> PoseExpression:
        top_T_link = PoseExpression.identity()
        for i, below in enumerate(reversed(chain)):
            parent_T_link = self._link(below).parent_T_link
            top_T_link = parent_T_link if i == 0 else top_T_link @ parent_T_link
        return top_T_link

    def _declared(self, path: str) -> str:
        asked = as_path(path)
        if asked not in self._step.reads:
            raise UndeclaredRead(self._step.tag, asked, self._step.reads)
        return asked

    def _link(self, path: str) -> Link:
        value = self._value(path)
        if not isinstance(value, Link):
            raise WrongValue(path, "Link", type(value).__name__)
        return value

    def _value(self, path: str) -> Any:
        value = self._draft.value_before(path, self._step.place)
        if isinstance(value, Absent):
            raise UnknownPath(path, ())
        self.seen[path] = value
        return value
