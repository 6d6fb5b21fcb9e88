"""One instant of the plain model of a scene.

A thing is there while a chain of containments leads up to the root, so that every cascade is derived. Of the world's
frames it knows only the product of the transforms above a thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armillary import Transform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armillary.scene import NodeId


class Unclear(Exception):
    """The rules leave open what is visible: a cycle at one past instant."""


@dataclass(eq=False)
class Thing:
    """One incarnation of an id."""

    id: NodeId
    kind: str
    payload: Any = None
    fixed: Transform | None = None
    seen: int | None = None  # when a shape was, from which its age counts
    samples: dict[int, Transform] = field(default_factory=dict)
    assignments: list[tuple[str, Any, int]] = field(default_factory=list)

    def begun_anew(self, now: int) -> Thing:
        """Return another incarnation, as it was and where it was last."""
        assignments = [(key, value, now) for key, value in self.attributes(None).items()]
        place = self.samples[max(self.samples)] if self.samples else self.fixed
        if self.fixed is not None or place is None:
            return Thing(self.id, self.kind, self.payload, place, self.seen, assignments=assignments)
        return Thing(self.id, self.kind, self.payload, samples={now: place}, assignments=assignments)

    def attributes(self, stamp: int | None) -> dict[str, Any]:
        """Return the attributes: the last assignment wins, from its instant on."""
        values = {key: value for key, value, at in self.assignments if stamp is None or at <= stamp}
        return {key: value for key, value in values.items() if value is not None}

    @property
    def newest(self) -> int | None:
        """Return the stamp of its newest datum; None: it has none that can become old."""
        if self.kind == "geometry":
            return self.seen
        return None if self.fixed is not None else max(self.samples, default=None)

    def parent_T_thing(self, stamp: int) -> Transform:
        """Between its samples; before the first one where it was fixed, else there; after the last one there."""
        before = [at for at in self.samples if at <= stamp]
        after = [at for at in self.samples if at > stamp]
        if not before and self.fixed is not None:
            return self.fixed
        if not before or not after:
            return self.samples[max(before) if before else min(after)] if self.samples else Transform.identity()
        start, end = max(before), min(after)
        return self.samples[start].interpolate(self.samples[end], (stamp - start) / (end - start))


@dataclass(eq=False)
class Containment:
    child: Thing
    parent: Thing
    start: int
    end: int | None = None

    def holds(self, stamp: int | None) -> bool:
        return self.end is None if stamp is None else self.start <= stamp and (self.end is None or stamp < self.end)


def _incarnations(containments: Iterable[Containment], stamp: int | None) -> set[Thing]:
    """Return of each id the incarnation that began last by then; every one where no instant is asked for."""
    began = dict.fromkeys(edge.child for edge in containments)  # in the order in which they were added
    if stamp is None:
        return set(began)
    starts = {thing: next(edge.start for edge in containments if edge.child is thing) for thing in began}
    return set({thing.id: thing for thing in began if starts[thing] <= stamp}.values())


class ModelView:
    """The model at one instant; None: as it is, whatever instants were given."""

    def __init__(self, root: Thing, detached: Thing, containments: Iterable[Containment], stamp: int | None) -> None:
        self.stamp, self.root, self.detached = stamp, root, detached
        incarnations = _incarnations(containments, stamp)
        self._edges = [
            edge
            for edge in containments
            if edge.holds(stamp) and {edge.child, edge.parent} <= {root, detached, *incarnations}
        ]
        reached = self._reached([root, detached])
        self.things = {thing.id: thing for thing in reached if thing is not detached}
        if len(self.things) < len(reached) - 1:
            raise Unclear
        self._edges = [edge for edge in self._edges if edge.parent in reached]
        if any(self.is_in(edge.parent, edge.child) for edge in self._edges):
            raise Unclear

    def _reached(self, seeds: list[Thing]) -> set[Thing]:
        reached, waiting = set(seeds), list(seeds)
        while waiting:
            new = set(self.children(waiting.pop())) - reached
            reached |= new
            waiting += new
        return reached

    def children(self, thing: Thing) -> list[Thing]:
        return list(dict.fromkeys(edge.child for edge in self._edges if edge.parent is thing))

    def parents(self, thing: Thing) -> list[Thing]:
        return list(dict.fromkeys(edge.parent for edge in self._edges if edge.child is thing))

    def is_in(self, thing: Thing, ancestor: Thing) -> bool:
        return thing in self._reached([ancestor])

    def found(self, query: dict[str, Any], under: Thing | None = None) -> set[NodeId]:
        reached = self._reached([under or self.root])
        return {thing.id for thing in reached if _is_true_of(query, thing.attributes(self.stamp))}

    def content(self) -> dict[NodeId, tuple[Any, ...]]:
        """What can be asked of every node."""
        return {node: self._content(thing) for node, thing in self.things.items()}

    def _content(self, thing: Thing) -> tuple[Any, ...]:
        parents = [parent.id for parent in self.parents(thing) if parent is not self.detached]
        children = [child.id for child in self.children(thing)]
        return thing.kind, parents, children, thing.attributes(self.stamp), thing.payload

    def map_T_thing(self, thing: Thing) -> Transform | None:
        """The product along the only way from the root; None where there is none, or several, or one without sample."""
        above_T_thing = Transform.identity()
        while thing is not self.root:
            parents = self.parents(thing)
            if len(parents) != 1 or parents[0] is self.detached:
                return None
            above_T_thing = thing.parent_T_thing(self.stamp) @ above_T_thing
            thing = parents[0]
        return above_T_thing


def _is_true_of(query: dict[str, Any], assignments: dict[str, Any]) -> bool:
    """1 and 1.0 are one number, and True is none."""
    met = [
        key in assignments and (assignments[key], assignments[key] is True) == (wanted, wanted is True)
        for key, wanted in query.items()
    ]
    return all(met)
