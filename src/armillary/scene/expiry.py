"""Sliding windows: what is old leaves the scene."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary._core import ROOT_NODE
from armillary.errors import FramesHanging, InvalidArgument, UnknownNode
from armillary.errors.words import length
from armillary.scene._data_stamps import DataStamps
from armillary.scene.changes import (
    AddGeometry,
    AddParent,
    AddTransform,
    AddUncertainTransform,
    Change,
    Now,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
)
from armillary.scene.traversal import VisitedNode, Visitor, Walk

if TYPE_CHECKING:
    from armillary._core import NodeId, SceneView
    from armillary.scene.reading import SceneVersion

__all__ = ["ExpiryRule", "StandingWindows", "Window", "as_window", "outdated", "remove_outdated"]

KINDS = ("transform", "geometry")
_STATIC = ("transformType", "static")

Apply = Callable[[Sequence[Change]], object]
Edge = tuple["NodeId", "NodeId"]
"""A node, and one of its parents."""


@dataclass(frozen=True, slots=True)
class Window:
    """How long data are kept under a node.

    Attributes:
        older_than: What is older leaves [ns].
        under: Of what is under this node.
        kinds: Which of `transform` and `geometry`; uncertain transforms are transforms.
    """

    older_than: int
    under: NodeId
    kinds: tuple[str, ...] = KINDS


def as_window(older_than: int, under: NodeId, kinds: Sequence[str]) -> Window:
    """A window from arguments as a user gives them."""
    if isinstance(older_than, bool) or not hasattr(older_than, "__index__") or older_than < 0:
        raise InvalidArgument(
            f"older_than is a duration in ns, as seconds(5) gives it; got {older_than!r}.", older_than
        )
    named = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if not named or not set(named) <= set(KINDS):
        raise InvalidArgument(f"kinds are some of {KINDS}, got {kinds!r}.", kinds)
    return Window(int(older_than), under, named)


# -- What is old


class _Ages(Visitor):
    """The newest datum of each node, and of everything at or under it; several walks add up."""

    def __init__(self, scene: SceneVersion) -> None:
        self.own: dict[NodeId, int | None] = {}
        self.newest: dict[NodeId, int | None] = {}
        self._view, self._stamps = scene.view, DataStamps(scene)

    def enter(self, node: VisitedNode) -> Walk | None:
        if node.id in self.newest:
            return Walk.SKIP
        self.own[node.id] = self._own(node.id)
        return None

    def _own(self, node: NodeId) -> int | None:
        if self._view.is_fixed(node) or self._view.attribute(node, _STATIC[0]) == _STATIC[1]:
            return None
        span = self._stamps.span(node)
        is_emptied = span is None and kind_of(self._view, node) == "transform"
        return self._view.created_at(node) if is_emptied else None if span is None else span[1]

    def leave(self, node: VisitedNode) -> None:
        if node.id not in self.newest:
            stamps = (self.own[node.id], *(self.newest[child] for child in node.children))
            self.newest[node.id] = max((stamp for stamp in stamps if stamp is not None), default=None)


def kind_of(view: SceneView, node: NodeId) -> str:
    """An uncertain transform is a transform."""
    kind = view.kind(node)
    return "transform" if kind == "uncertain_transform" else kind


class _Plan:
    """What leaves which parent, under some windows."""

    def __init__(self, scene: SceneVersion, windows: Iterable[Window]) -> None:
        self._view, self._ages = scene.view, _Ages(scene)
        self._keeps: dict[Edge, int] = {}
        for one in windows:
            if self._view.contains(one.under):
                scene.traverse(self._ages, under=one.under)
                self._lay(one)

    def _lay(self, one: Window) -> None:
        """Over every containment at or under its node; of two windows the longer counts."""
        inside = set(self._view.subtree(one.under))
        for node in inside:
            if kind_of(self._view, node) not in one.kinds or self._ages.own[node] is None:
                continue
            for parent in self._view.parents(node):
                if parent in inside:
                    self._keeps[node, parent] = max(one.older_than, self._keeps.get((node, parent), 0))

    def due(self, now_ns: int) -> float:
        """When the next of those that are not old yet will be, if nothing comes."""
        ends = (self._newest(node) + kept for (node, _), kept in self._keeps.items())
        return min((end for end in ends if end >= now_ns), default=math.inf)

    def _newest(self, node: NodeId) -> int:
        newest = self._ages.newest[node]
        return 0 if newest is None else newest

    def changes(self, now_ns: int) -> list[Change]:
        """Parents come first, and what goes with them is not said again."""
        old = {edge for edge, kept in self._keeps.items() if self._newest(edge[0]) + kept < now_ns}
        changes: list[Change] = []
        gone: set[NodeId] = set()
        for node in reversed(self._ages.newest) if old else ():  # children were left before their parents
            living = [parent for parent in self._view.parents(node) if parent not in gone]
            leaves = [parent for parent in living if (node, parent) in old]
            if len(leaves) == len(living) and node != ROOT_NODE:
                gone.add(node)
                changes += [Remove(node)] if leaves else []
            else:
                changes += [RemoveParent(node, parent) for parent in leaves]
        return changes


def outdated(scene: SceneVersion, windows: Iterable[Window], now_ns: int) -> tuple[list[Change], float]:
    """The changes that take out what is old now, and when the next is, if nothing comes [ns]; infinity: never."""
    plan = _Plan(scene, windows)
    return plan.changes(now_ns), plan.due(now_ns)


def remove_outdated(apply: Apply, changes: Sequence[Change]) -> list[NodeId]:
    """Apply them, and tell whose they are; a node in which frames of others hang stays until they have left."""
    if not changes or _is_applied(apply, changes):
        taken = list(changes)
    else:
        taken = [change for change in changes if _is_applied(apply, (change,))]
    return [change.id for change in taken if isinstance(change, Remove | RemoveParent)]


def _is_applied(apply: Apply, changes: Sequence[Change]) -> bool:
    try:
        apply(changes)
    except FramesHanging:
        return False
    return True


# -- Standing rules


class ExpiryRule:
    """A window that stays. `cancel()` ends it."""

    def __init__(self, window: Window, windows: StandingWindows) -> None:
        self.window, self._windows = window, windows

    def cancel(self) -> None:
        """Keep what is there from now on; safe to call twice."""
        self._windows.drop(self)

    def __repr__(self) -> str:
        return f"ExpiryRule(older than {length(self.window.older_than)}, under {self.window.under!r})"


class StandingWindows:
    """The windows of one scene that stay, and when something can be old the next time."""

    def __init__(self) -> None:
        self.rules: tuple[ExpiryRule, ...] = ()
        self._due_ns: float = -math.inf
        self._enforcing = threading.Lock()

    def add(self, window: Window) -> ExpiryRule:
        """One more."""
        rule = ExpiryRule(window, self)
        self.rules, self._due_ns = (*self.rules, rule), -math.inf
        return rule

    def copied(self) -> StandingWindows:
        """The same windows, for a copy of the scene; each is cancelled by itself."""
        twin = StandingWindows()
        for rule in self.rules:
            twin.add(rule.window)
        return twin

    def drop(self, rule: ExpiryRule) -> None:
        """One less."""
        self.rules, self._due_ns = tuple(other for other in self.rules if other is not rule), -math.inf

    def note(self, changes: Sequence[Change] | None, now_ns: int) -> None:
        """What came may be old earlier than what was there; None: anything may have come."""
        shortest = min((rule.window.older_than for rule in self.rules), default=0)
        stamps = [-math.inf] if changes is None else [_oldest_stamp(change, now_ns) for change in changes]
        self._due_ns = min(self._due_ns, min(stamps, default=math.inf) + shortest)

    def is_due(self, now_ns: int) -> bool:
        """Whether it is worth a look."""
        return now_ns > self._due_ns

    def enforce(self, scene: SceneVersion, apply: Apply, now_ns: int) -> list[NodeId]:
        """Take out what is old. What is changed meanwhile is left to the next time."""
        if not self._enforcing.acquire(blocking=False):
            return []
        try:
            changes, self._due_ns = outdated(scene, [rule.window for rule in self.rules], now_ns)
            return remove_outdated(apply, changes)
        except UnknownNode:
            self._due_ns = -math.inf
            return []
        finally:
            self._enforcing.release()


def _oldest_stamp(change: Change, now_ns: int) -> float:
    """Of how old a datum a change may tell; infinity for none."""
    if isinstance(change, AddParent) or (isinstance(change, SetAttributes) and _STATIC[0] in change.attributes):
        return -math.inf
    if not isinstance(change, AddTransform | AddUncertainTransform | AddGeometry | SetTransform):
        return math.inf
    at = now_ns if isinstance(change.at, Now) else change.at
    return math.inf if at is None else at
