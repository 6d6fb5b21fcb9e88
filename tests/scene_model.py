"""What a scene should be, in plain Python: the oracle of its laws.

One copy of it, and its changes in the order in which they were accepted. Containments carry since when and until when
they are true; a thing is there while a chain of them leads up to the root. Nothing is ever deleted, every cascade is
derived. Of the world's frames it knows only the product of the transforms above a thing.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armillary import Transform
from armillary.scene import (
    AddConnection,
    AddGeometry,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.scene import Change, NodeId

    Step = tuple[Any, ...]

PLACED = ("transform", "uncertain_transform")
HOLDERS = ("group", *PLACED)


class Refused(Exception):
    """What a scene must not do."""


class Unclear(Exception):
    """Two incarnations of one id, or a circle, at one past instant: what is to be seen, the rules leave open."""


@dataclass(eq=False)
class Thing:
    """One incarnation of an id."""

    id: NodeId
    kind: str
    payload: Any = None
    fixed: Transform | None = None
    samples: dict[int, Transform] = field(default_factory=dict)
    awaits_sample: bool = False  # undo brings a containment back, and never a sample
    said: list[tuple[str, Any, int]] = field(default_factory=list)

    def attributes(self, stamp: int | None) -> dict[str, Any]:
        """The last one to speak is right, from its instant on."""
        values = {key: value for key, value, at in self.said if stamp is None or at <= stamp}
        return {key: value for key, value in values.items() if value is not None}

    @property
    def parent_T_thing(self) -> Transform:
        """By the newest sample."""
        if self.samples:
            return self.samples[max(self.samples)]
        return Transform.identity() if self.fixed is None else self.fixed


@dataclass(eq=False)
class Containment:
    child: Thing
    parent: Thing
    start: int
    end: int | None = None

    def holds(self, stamp: int | None) -> bool:
        return self.end is None if stamp is None else self.start <= stamp and (self.end is None or stamp < self.end)


class ModelView:
    """The model at one instant; None: as it is, whatever instants were given."""

    def __init__(self, model: SceneModel, stamp: int | None) -> None:
        self.stamp, self.root, self.limbo = stamp, model.root, model.limbo
        self._edges = [edge for edge in model.containments if edge.holds(stamp)]
        reached = self._reached([model.root, model.limbo])
        self.things = {thing.id: thing for thing in reached if thing is not model.limbo}
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
        return [edge.child for edge in self._edges if edge.parent is thing]

    def parents(self, thing: Thing) -> list[Thing]:
        return [edge.parent for edge in self._edges if edge.child is thing]

    def is_in(self, thing: Thing, ancestor: Thing) -> bool:
        return thing in self._reached([ancestor])

    def found(self, query: dict[str, Any], under: Thing | None = None) -> set[NodeId]:
        reached = self._reached([under or self.root])
        return {thing.id for thing in reached if _is_true_of(query, thing.attributes(self.stamp))}

    def content(self) -> dict[NodeId, tuple[Any, ...]]:
        """What can be asked of every node."""
        return {node: self._content(thing) for node, thing in self.things.items()}

    def _content(self, thing: Thing) -> tuple[Any, ...]:
        parents = [parent.id for parent in self.parents(thing) if parent is not self.limbo]
        children = [child.id for child in self.children(thing)]
        return thing.kind, parents, children, thing.attributes(self.stamp), thing.payload

    def map_T_thing(self, thing: Thing) -> Transform | None:
        """The product along the only way from the root; None where there is none, or several, or one without sample."""
        above_T_thing = Transform.identity()
        while thing is not self.root:
            parents = self.parents(thing)
            if len(parents) != 1 or parents[0] is self.limbo or thing.awaits_sample:
                return None
            above_T_thing = thing.parent_T_thing @ above_T_thing
            thing = parents[0]
        return above_T_thing


class SceneModel:
    """The containments of things, and what every `apply` did."""

    def __init__(self, root: NodeId) -> None:
        self.root, self.limbo = Thing(root, "group"), Thing(root, "limbo")  # limbo: what is addressed, not found
        self.containments: list[Containment] = []
        self.undos: list[list[Step]] = []
        self.redos: list[list[Step]] = []

    def view(self, stamp: int | None = None) -> ModelView:
        return ModelView(self, stamp)

    def apply(self, changes: Sequence[Change], now: int) -> None:
        """All or none."""
        before = copy.deepcopy(self)
        try:
            did = [step for change in changes for step in self._do(change, now)]
        except Refused:
            self.__dict__ = before.__dict__
            raise
        if did:
            self.undos.append(did)
            self.redos.clear()

    def undo(self, now: int) -> None:
        self._take_back(self.undos, self.redos, now)

    def redo(self, now: int) -> None:
        self._take_back(self.redos, self.undos, now)

    def _take_back(self, steps: list[list[Step]], others: list[list[Step]], now: int) -> None:
        if not steps:
            raise Refused("nothing to take back")
        others.append([self._inverse(step, now) for step in reversed(steps.pop())])

    def _inverse(self, step: Step, now: int) -> Step:
        done, *what = step
        if done == "said":
            thing, key, before, after = what
            thing.said.append((key, before, now))
            return ("said", thing, key, after, before)
        what[0].awaits_sample = bool(what[0].samples)
        return self._close(*what, now) if done == "opened" else self._open(*what, now)

    def _open(self, child: Thing, parent: Thing, at: int) -> Step:
        self.containments.append(Containment(child, parent, at))
        return ("opened", child, parent)

    def _close(self, child: Thing, parent: Thing, at: int) -> Step:
        (edge,) = (e for e in self.containments if e.child is child and e.parent is parent and e.end is None)
        edge.end = at
        return ("closed", child, parent)

    def _do(self, change: Any, now: int) -> list[Step]:
        at = change.at if isinstance(change.at, int) else now
        match change:
            case SetAttributes():
                return self._say(self._there(change.id), change.attributes, at)
            case SetTransform():
                return self._place(self._there(change.id), change.transform, at)
            case AddParent():
                return self._contain(self._there(change.id), self._holder(change.parent), at)
            case RemoveParent():
                return self._take_out(self._there(change.id), self._there(change.parent), at)
            case Remove():
                return self._remove(self._there(change.id), at)
        return self._add(change, at)

    def _add(self, change: Any, at: int) -> list[Step]:
        parent = self.limbo if isinstance(change, AddRemoteRoot) else self._holder(change.parent)
        if change.id in self.view().things:
            raise Refused("the id is taken")
        thing = Thing(change.id, kind_of(change), payload_of(change))
        if isinstance(change, AddConnection):
            for end in (*change.sources, *change.targets):
                self._there(end)
        if thing.kind in PLACED:
            self._place(thing, change.transform, None if change.at is None else at)
        self._say(thing, change.attributes or {}, at)
        return [self._open(thing, parent, at)]

    def _say(self, thing: Thing, attributes: Any, at: int) -> list[Step]:
        before = thing.attributes(None)
        thing.said += [(key, value, at) for key, value in attributes.items()]
        return [("said", thing, key, before.get(key), value) for key, value in attributes.items()]

    def _place(self, thing: Thing, transform: Transform, at: int | None) -> list[Step]:
        if thing.kind not in PLACED:
            raise Refused("it is no transform")
        if at is None:
            thing.fixed = transform
        else:
            thing.samples[at] = transform
        return []

    def _contain(self, child: Thing, parent: Thing, at: int) -> list[Step]:
        now = self.view()
        if child is self.root or parent in now.parents(child) or now.is_in(parent, child):
            raise Refused("it is the root, or there already, or a circle")
        self._refuse_circles_of_the_past(child, parent, at)
        mounted = [self._close(child, self.limbo, at)] if self.limbo in now.parents(child) else []
        return [*mounted, self._open(child, parent, at)]

    def _refuse_circles_of_the_past(self, child: Thing, parent: Thing, at: int) -> None:
        """A loop is a loop at one instant, and it must be seen from no instant."""
        ends = {edge.start for edge in self.containments} | {edge.end for edge in self.containments if edge.end is not None}
        for stamp in {at, *ends}:
            edges = [edge for edge in self.containments if edge.holds(stamp)]
            if stamp >= at and child in _upwards(edges, parent):
                raise Refused("a circle in the past")

    def _take_out(self, child: Thing, parent: Thing, at: int) -> list[Step]:
        if parent not in self.view().parents(child):
            raise Refused("it is not in there")
        return [self._close(child, parent, at)]

    def _remove(self, thing: Thing, at: int) -> list[Step]:
        if thing is self.root:
            raise Refused("the root stays")
        open_now = [edge for edge in self.containments if edge.child is thing and edge.end is None]
        return [self._close(thing, edge.parent, at) for edge in open_now]

    def _there(self, node: NodeId) -> Thing:
        if (thing := self.view().things.get(node)) is None:
            raise Refused("there is no such node")
        return thing

    def _holder(self, node: NodeId) -> Thing:
        if (thing := self._there(node)).kind not in HOLDERS:
            raise Refused("it is a leaf")
        return thing


def _is_true_of(query: dict[str, Any], said: dict[str, Any]) -> bool:
    """1 and 1.0 are one number, and True is none."""
    met = [key in said and (said[key], said[key] is True) == (wanted, wanted is True) for key, wanted in query.items()]
    return all(met)


def _upwards(edges: list[Containment], thing: Thing) -> set[Thing]:
    """What it is in, whether or not that is there."""
    reached, waiting = {thing}, [thing]
    while waiting:
        low = waiting.pop()
        new = {edge.parent for edge in edges if edge.child is low} - reached
        reached |= new
        waiting += new
    return reached


def kind_of(change: Change) -> str:
    kinds = {AddTransform: "transform", AddUncertainTransform: "uncertain_transform", AddGeometry: "geometry"}
    return "connection" if isinstance(change, AddConnection) else kinds.get(type(change), "group")


def payload_of(change: Any) -> Any:
    if isinstance(change, AddGeometry):
        return change.shape
    if isinstance(change, AddConnection):
        return tuple(change.sources), tuple(change.targets), change.start, change.end
    return None
