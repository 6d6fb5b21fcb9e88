"""An edit on trial: the sequence as it will be, and what has to run again for that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any

from armillary.articulation._overlay import Gone, Overlay, changed_list
from armillary.articulation._places import Place, Places
from armillary.articulation._reading import StepReading
from armillary.articulation._steps import Step, new_step, outputs_of, same_value
from armillary.articulation.edits import Apply, Edit, InsertAfter, InsertBefore, RemoveOperation
from armillary.errors import InvalidOperation, MissingRead, TagTaken, UnknownTag

__all__ = ["Draft", "Move", "Tables", "play", "replay"]

_KEY = attrgetter("key")


@dataclass(slots=True)
class Tables:
    """All that a history knows, by tag and by path.

    Attributes:
        steps: By tag.
        writers: By path, the places of the operations that write it, first to last.
        readers: By path, the places of those that read it, declared or on the way to a pose.
        values: By path, what the last writer gave.
    """

    steps: dict[str, Step] = field(default_factory=dict)
    writers: dict[str, list[Place[str]]] = field(default_factory=dict)
    readers: dict[str, list[Place[str]]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def standing_at(self, places: Mapping[Place[str], Place[str]]) -> Tables:
        """The same with other places, by the one of each here."""
        return Tables(
            steps={tag: replace(step, place=places[step.place]) for tag, step in self.steps.items()},
            writers={path: [places[place] for place in there] for path, there in self.writers.items()},
            readers={path: [places[place] for place in there] for path, there in self.readers.items()},
            values=dict(self.values),
        )


@dataclass(frozen=True, slots=True)
class Move:
    """A place that went in (or out) behind another."""

    place: Place[str]
    behind: Place[str] | None
    goes_in: bool

    def reversed(self) -> Move:
        """What takes it back."""
        return replace(self, goes_in=not self.goes_in)


def play(order: Places[str], move: Move) -> None:
    """Do it."""
    if move.goes_in:
        order.put_after(move.behind, move.place)
    else:
        order.remove(move.place)


def replay(order: Places[str], moves: list[Move]) -> list[Move]:
    """Take moves back, the last first; what would take that back."""
    back = [move.reversed() for move in reversed(moves)]
    for move in back:
        play(order, move)
    return back


class Draft:
    """Nothing of the history changes before `commit`, but for places in the order, which `moves` takes back."""

    def __init__(self, tables: Tables, order: Places[str]) -> None:
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
                self._put(operation, old.place if old else self._new_place(tag, self._order.last()), old)
            case InsertBefore(tag, operation, before):
                self._put(operation, self._new_place(tag, self._order.before(self._step(before).place)), None)
            case InsertAfter(tag, operation, after):
                self._put(operation, self._new_place(tag, self._step(after).place), None)
            case _:
                raise InvalidOperation(f"{edit!r} is no edit. Use Apply, InsertBefore, InsertAfter or Remove.", edit)

    def settle(self) -> None:
        """Check what is read (thesis eq. 3.17), then run what has to, in order."""
        for path in self._unchecked:
            self._check_reads(path)
        heap = [(place.key, place) for place in self._due]
        heapify(heap)
        while heap:
            _, place = heappop(heap)
            self._due.discard(place)
            for reader in self._rerun(self.steps[place.item]):
                if reader not in self._due:
                    self._due.add(reader)
                    heappush(heap, (reader.key, reader))
        for path in self.touched:
            self._settle_value(path)

    def value_before(self, path: str, place: Place[str]) -> Any | Gone:
        """What an operation at this place finds at a path."""
        writers = self.writers.get(path) or []
        index = bisect_left(writers, place.key, key=_KEY)
        return self.steps[writers[index - 1].item].outputs[path] if index else Gone()

    def _step(self, tag: str) -> Step:
        step = self.steps.get(tag)
        if step is None:
            raise UnknownTag(tag, list(self.steps))
        return step

    def _new_place(self, tag: str, behind: Place[str] | None) -> Place[str]:
        if tag in self.steps:
            raise TagTaken(tag)
        place = self._order.insert_after(behind, tag)
        self.moves.append(Move(place, behind, goes_in=True))
        return place

    def _put(self, operation: object, place: Place[str], old: Step | None) -> None:
        step = new_step(operation, place, old.outputs if old else {})
        if old is not None:
            self._forget(old)
        self.steps[step.tag] = step
        for path in step.reads:
            insort(changed_list(self.readers, path), place, key=_KEY)
        for path in step.writes:
            insort(changed_list(self.writers, path), place, key=_KEY)
        self._unchecked.update(dict.fromkeys((*step.reads, *step.writes)))
        self._due.add(place)

    def _remove(self, step: Step) -> None:
        self._forget(step)
        self.steps.remove(step.tag)
        self._due.discard(step.place)
        self.moves.append(Move(step.place, self._order.before(step.place), goes_in=False))
        self._order.remove(step.place)

    def _forget(self, step: Step) -> None:
        """Take it out of the tables; who read what it wrote will have to look again."""
        for path in step.writes:
            self._due.update(self._readers_after(path, step.place))
            _take_out(changed_list(self.writers, path), step.place)
            self.touched[path] = None
        for path in dict.fromkeys((*step.reads, *(step.seen or ()))):
            _take_out(changed_list(self.readers, path), step.place)
        self._unchecked.update(dict.fromkeys(step.writes))
        self._due.discard(step.place)

    def _check_reads(self, path: str) -> None:
        readers, writers = self.readers.get(path) or [], self.writers.get(path) or []
        for reader in readers:
            if writers and writers[0].key < reader.key:
                return
            if path in self.steps[reader.item].reads:
                raise MissingRead(reader.item, path, next((w.item for w in writers if w is not reader), None))

    def _rerun(self, step: Step) -> list[Place[str]]:
        """Run it, unless it would see what it saw; the places of those that read what became different."""
        if step.seen is not None and all(
            same_value(self.value_before(path, step.place), value) for path, value in step.seen.items()
        ):
            return []
        reading = StepReading(self, step)
        outputs = outputs_of(step, reading)
        self.ran.append(step.tag)
        changed = [p for p, value in outputs.items() if not (p in step.outputs and same_value(step.outputs[p], value))]
        kept = {path: outputs[path] if path in changed else step.outputs[path] for path in outputs}
        self._renew(step, replace(step, seen=reading.seen, outputs=kept))
        self.touched.update(dict.fromkeys(outputs))
        # A step that takes the place of another gave nothing here before, even where its value is the same.
        return [r for p in (outputs if step.seen is None else changed) for r in self._readers_after(p, step.place)]

    def _renew(self, old: Step, new: Step) -> None:
        self.steps[new.tag] = new
        before, after = (set(step.seen or ()) - set(step.reads) for step in (old, new))
        for path in before - after:
            _take_out(changed_list(self.readers, path), old.place)
        for path in after - before:
            insort(changed_list(self.readers, path), new.place, key=_KEY)

    def _readers_after(self, path: str, place: Place[str]) -> Iterator[Place[str]]:
        """Those that read what is written at this place: up to the next that writes the same, itself included."""
        readers, writers = self.readers.get(path) or [], self.writers.get(path) or []
        after = bisect_right(writers, place.key, key=_KEY)
        end = writers[after].key if after < len(writers) else None
        for reader in readers[bisect_right(readers, place.key, key=_KEY) :]:
            if end is not None and reader.key > end:
                return
            yield reader

    def _settle_value(self, path: str) -> None:
        writers = self.writers.get(path)
        if not writers:
            self.values.remove(path)
            return
        value = self.steps[writers[-1].item].outputs[path]
        if not same_value(self.values.before(path), value):
            self.values[path] = value


def _take_out(places: list[Place[str]], place: Place[str]) -> None:
    index = bisect_left(places, place.key, key=_KEY)
    if index < len(places) and places[index] is place:
        del places[index]
