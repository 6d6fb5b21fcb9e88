"""What a scene should be, in plain Python: the oracle of its laws.

One copy of it, and its changes in the order in which they were accepted. Nothing is ever deleted: a change opens or
closes containments, which have the instants since and until which they are true, or sets attributes of a thing.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

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
from scene_model_view import Containment, ModelView, Thing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary import Transform
    from armillary.scene import Change, NodeId

    Step = tuple[Any, ...]

PLACED = ("transform", "uncertain_transform")
HOLDERS = ("group", *PLACED)
ALWAYS_NS = 1 - 2**62


class Refused(Exception):
    """What a scene must not do."""


class SceneModel:
    """The containments of things, and what every `apply` did."""

    def __init__(self, root: NodeId) -> None:
        self.root, self.detached = Thing(root, "group"), Thing(root, "detached")  # of nodes without a parent
        self.containments: list[Containment] = []
        self.undos: list[list[Step]] = []
        self.redos: list[list[Step]] = []
        self.next_lives: dict[Thing, Thing] = {}

    def view(self, stamp: int | None = None) -> ModelView:
        return ModelView(self.root, self.detached, self.containments, stamp)

    def apply(self, changes: Sequence[Change], now: int) -> None:
        """All or none."""
        before = copy.deepcopy(self)
        try:
            did = [step for change in changes for step in self._do(change, now)]
        except Refused:
            self.__dict__ = before.__dict__
            raise
        if any(not isinstance(change, SetTransform) for change in changes):  # samples are not for undo
            self.undos.append(did)
            self.redos.clear()

    def expire(self, older_than: int, kinds: Sequence[str], now: int) -> None:
        """Take out what is older, whole with what is in it, unless that is younger or there is another way up."""
        if changes := self._expired(older_than, kinds, now):
            self.apply(changes, now)

    def _expired(self, older_than: int, kinds: Sequence[str], now: int) -> list[Change]:
        view = self.view()
        inside = [thing for thing in view.things.values() if view.is_in(thing, self.root)]
        old = {
            thing
            for thing in inside
            if ("transform" if thing.kind in PLACED else thing.kind) in kinds
            and thing.newest is not None
            and self._newest_in(thing, view) + older_than < now
        }
        gone: set[Thing] = set()
        while new := {t for t in inside if t is not self.root and self._is_gone(t, view, old, gone)} - gone:
            gone |= new
        leaving = [thing for thing in inside if thing in old and not gone.issuperset(view.parents(thing))]
        return [Remove(thing.id) for thing in leaving]

    def _is_gone(self, thing: Thing, view: ModelView, old: set[Thing], gone: set[Thing]) -> bool:
        return thing in old or gone.issuperset(view.parents(thing))

    def _newest_in(self, thing: Thing, view: ModelView) -> int:
        stamps = [under.newest for under in view.things.values() if view.is_in(under, thing)]
        return max((stamp for stamp in stamps if stamp is not None), default=0)

    def undo(self, now: int) -> None:
        self._take_back(self.undos, self.redos, now)

    def redo(self, now: int) -> None:
        self._take_back(self.redos, self.undos, now)

    def _take_back(self, steps: list[list[Step]], others: list[list[Step]], now: int) -> None:
        if not steps:
            raise Refused("nothing to take back")
        taken = steps.pop()
        put, left = ({step[1] for step in taken if step[0] == done} for done in ("opened", "closed"))
        others.append([self._inverse(step, now, step[1] in put & left) for step in reversed(taken)])

    def _inverse(self, step: Step, now: int, is_moved: bool) -> Step:
        """What was moved was never moved; what was gone is back, or gone again, from now on."""
        done, *what = step
        if done == "assigned":
            thing, key, before, after = self._self(what[0]), *what[1:]
            thing.assignments.append((key, before, now))
            return ("assigned", thing, key, after, before)
        child, parent = map(self._self, what)
        between = [edge for edge in self.containments if edge.child is child and edge.parent is parent]
        if done in ("opened", "added"):
            return self._close(child, parent, between[-1].start if is_moved and done == "opened" else now)
        fresh = self._back(child, now)
        return self._open(fresh, parent, between[-1].end if is_moved and fresh is child else now)

    def _self(self, thing: Thing) -> Thing:
        """Return a thing in its present incarnation."""
        while thing in self.next_lives:
            thing = self.next_lives[thing]
        return thing

    def _back(self, thing: Thing, now: int) -> Thing:
        """As it was, with all that was in it; what had its id taken since begins anew."""
        incarnations = [edge.child for edge in self.containments if edge.child.id == thing.id]
        fresh = thing if incarnations[-1] is thing or self._self(thing) is incarnations[-1] else thing.begun_anew(now)
        if fresh is not thing:
            self.next_lives[thing] = fresh
        for edge in [edge for edge in self.containments if edge.parent is thing and edge.end is None]:
            child = self._back(edge.child, now)
            if child is not edge.child:
                edge.end = now
            if child is not edge.child or fresh is not thing:
                self._open(child, fresh, now)
        return fresh

    def _open(self, child: Thing, parent: Thing, at: int) -> Step:
        self.containments.append(Containment(child, parent, at))
        return ("opened", child, parent)

    def _close(self, child: Thing, parent: Thing, at: int) -> Step:
        (edge,) = (e for e in self.containments if e.child is child and e.parent is parent and e.end is None)
        edge.end = at
        return ("closed", child, parent)

    def _do(self, change: Any, now: int) -> list[Step]:
        at = self._since(change, now)
        match change:
            case SetAttributes():
                return self._assign(self._there(change.id), change.attributes, at)
            case SetTransform():
                return self._place(self._there(change.id), change.transform, at)
            case AddParent():
                return self._contain(self._there(change.id), self._holder(change.parent), at)
            case RemoveParent():
                return self._take_out(self._there(change.id), self._there(change.parent), at)
            case Remove():
                return self._remove(self._there(change.id), at)
        return self._add(change, at)

    def _since(self, change: Any, now: int) -> int:
        """What is fixed for always has always been there, or since it was added again."""
        if isinstance(change.at, int):
            return change.at
        was_there = any(edge.child.id == change.id for edge in self.containments)
        can_be_always = kind_of(change) in (*PLACED, "geometry")
        return now if was_there or change.at is not None or not can_be_always else ALWAYS_NS

    def _add(self, change: Any, at: int) -> list[Step]:
        parent = self.detached if isinstance(change, AddRemoteRoot) else self._holder(change.parent)
        if change.id in self.view().things:
            raise Refused("the id is taken")
        thing = Thing(change.id, kind_of(change), payload_of(change))
        if isinstance(change, AddConnection):
            for end in (*change.sources, *change.targets):
                self._there(end)
        if thing.kind == "geometry":
            thing.seen = None if change.at is None else at
        if thing.kind in PLACED:
            self._place(thing, change.transform, None if change.at is None else at)
        self._assign(thing, change.attributes or {}, at)
        self._open(thing, parent, at)
        return [("added", thing, parent)]

    def _assign(self, thing: Thing, attributes: Any, at: int) -> list[Step]:
        before = thing.attributes(None)
        thing.assignments += [(key, value, at) for key, value in attributes.items()]
        return [("assigned", thing, key, before.get(key), value) for key, value in attributes.items()]

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
            raise Refused("it is the root, or there already, or a cycle")
        self._refuse_cycles_of_the_past(child, parent, at)
        mounted = [self._close(child, self.detached, at)] if self.detached in now.parents(child) else []
        return [*mounted, self._open(child, parent, at)]

    def _refuse_cycles_of_the_past(self, child: Thing, parent: Thing, at: int) -> None:
        """A loop is a loop at one instant, and it must be seen from no instant."""
        ends = {edge.start for edge in self.containments} | {
            edge.end for edge in self.containments if edge.end is not None
        }
        for stamp in {at, *ends}:
            edges = [edge for edge in self.containments if edge.holds(stamp)]
            if stamp >= at and child in _upwards(edges, parent):
                raise Refused("a cycle in the past")

    def _take_out(self, child: Thing, parent: Thing, at: int) -> list[Step]:
        if parent not in self.view().parents(child):
            raise Refused("it is not in there")
        return [self._close(child, parent, at)]

    def _remove(self, thing: Thing, at: int) -> list[Step]:
        if thing is self.root:
            raise Refused("the root stays")
        open_now = [edge for edge in self.containments if edge.child is thing and edge.end is None]
        return [self._close(thing, edge.parent, at) for edge in reversed(open_now)]  # undone in the order that it was

    def _there(self, node: NodeId) -> Thing:
        if (thing := self.view().things.get(node)) is None:
            raise Refused("there is no such node")
        return thing

    def _holder(self, node: NodeId) -> Thing:
        if (thing := self._there(node)).kind not in HOLDERS:
            raise Refused("it is a leaf")
        return thing


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
