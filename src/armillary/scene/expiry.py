"""Expiry: data that are older than a sliding window are removed from the scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

from armillary.errors import FramesHanging, InvalidArgument, NotItsParent, UnknownNode
from armillary.errors.format import format_duration
from armillary.forks import Turn
from armillary.scene.domains import DataStamps
from armillary.scene.traversal import VisitedNode, Visitor, Walk
from armillary.store.changes import (
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
from armillary.store.values import as_several

if TYPE_CHECKING:
    from armillary._core import NodeId, SceneView
    from armillary.scene.reading import SceneVersion

__all__ = ["ExpiryRule", "ExpiryRules", "Window", "as_window", "expired", "remove_expired"]

KINDS = ("transform", "geometry")
_STATIC = ("transformType", "static")

Apply = Callable[[Sequence[Change]], object]
Edge = tuple["NodeId", "NodeId"]
"""A node, and one of its parents."""


@dataclass(frozen=True, slots=True)
class Window:
    """How long data are kept under a node.

    Attributes:
        older_than: The age above which they are removed [ns].
        under: The node.
        kinds: Some of `transform` and `geometry`; uncertain transforms are transforms.
    """

    older_than: int
    under: NodeId
    kinds: tuple[str, ...] = KINDS


def as_window(older_than: int, under: NodeId, kinds: Sequence[str]) -> Window:
    """Check the arguments of a window, and make it."""
    named = (kinds,) if isinstance(kinds, str) else as_several(kinds, "kinds")
    if not named or not all(kind in KINDS for kind in named):
        raise InvalidArgument(f"kinds are some of {KINDS}, got {kinds!r}.", kinds)
    return Window(_as_duration(older_than), under, named)


def _as_duration(older_than: int) -> int:
    try:
        duration_ns = -1 if isinstance(older_than, bool) else index(older_than)
    except TypeError:
        duration_ns = -1
    if duration_ns < 0:
        raise InvalidArgument(
            f"older_than is a duration in ns, as seconds(5) gives it; got {older_than!r}.", older_than
        )
    return duration_ns


# -- Ages


class _Ages(Visitor):
    """The newest datum of each node, and of everything at or under it, accumulated over several walks."""

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
    """The kind of a node, where an uncertain transform is a transform."""
    kind = view.kind(node)
    return "transform" if kind == "uncertain_transform" else kind


class _Plan:
    """Which nodes are removed from which parents, under some windows."""

    def __init__(self, scene: SceneVersion, windows: Iterable[Window]) -> None:
        self._view, self._ages = scene.view, _Ages(scene)
        self._keeps: dict[Edge, int] = {}
        for one in windows:
            if self._view.contains(one.under):
                scene.traverse(self._ages, under=one.under)
                self._apply(one)

    def _apply(self, one: Window) -> None:
        """Apply a window to every containment at or under its node; of two windows the longer one wins."""
        inside = set(self._view.subtree(one.under))
        for node in inside:
            if kind_of(self._view, node) not in one.kinds or self._ages.own[node] is None:
                continue
            for parent in self._view.parents(node):
                if parent in inside:
                    self._keeps[node, parent] = max(one.older_than, self._keeps.get((node, parent), 0))

    def due(self, now_ns: int) -> float:
        """When the next containment expires [ns], if no data are added."""
        ends = (self._newest(node) + kept for (node, _), kept in self._keeps.items())
        return min((end for end in ends if end >= now_ns), default=math.inf)

    def _newest(self, node: NodeId) -> int:
        newest = self._ages.newest[node]
        return 0 if newest is None else newest

    def changes(self, now_ns: int) -> list[Change]:
        """The changes that remove what has expired, parents first; what a parent takes with it is not listed."""
        expired = {edge for edge, kept in self._keeps.items() if self._newest(edge[0]) + kept < now_ns}
        changes: list[Change] = []
        removed: set[NodeId] = set()
        for node in reversed(self._ages.newest) if expired else ():  # the walk left children before their parents
            parents = self._view.parents(node)
            remaining = [parent for parent in parents if parent not in removed]
            leaves = [parent for parent in remaining if (node, parent) in expired]
            if parents and len(leaves) == len(remaining):  # without parents it is a root
                removed.add(node)
                changes += [Remove(node)] if leaves else []
            else:
                changes += [RemoveParent(node, parent) for parent in leaves]
        return changes


def expired(scene: SceneVersion, windows: Iterable[Window], now_ns: int) -> tuple[list[Change], float]:
    """The changes that remove what has expired, and when the next expires [ns]: infinity where none will."""
    plan = _Plan(scene, windows)
    return plan.changes(now_ns), plan.due(now_ns)


def remove_expired(apply: Apply, changes: Sequence[Change]) -> list[NodeId]:
    """Apply the changes that are still possible, and return the nodes that they are about.

    A node under which there are frames of others stays until these are elsewhere; what others removed meanwhile is
    skipped.
    """
    if not changes or _is_applied(apply, changes):
        applied = list(changes)
    else:
        applied = [change for change in changes if _is_applied(apply, (change,))]
    return [change.id for change in applied if isinstance(change, Remove | RemoveParent)]


def _is_applied(apply: Apply, changes: Sequence[Change]) -> bool:
    try:
        apply(changes)
    except (FramesHanging, NotItsParent, UnknownNode):
        return False
    return True


# -- Rules


class ExpiryRule:
    """A window that is enforced until `cancel()`."""

    def __init__(self, window: Window, windows: ExpiryRules) -> None:
        self.window, self._windows = window, windows

    def cancel(self) -> None:
        """Stop removing data; may be called twice."""
        self._windows.drop(self)

    def __repr__(self) -> str:
        return f"ExpiryRule(older than {format_duration(self.window.older_than)}, under {self.window.under!r})"


class ExpiryRules:
    """The expiry rules of one scene, and when something can expire next."""

    def __init__(self) -> None:
        self.rules: tuple[ExpiryRule, ...] = ()
        self._due_ns: float = -math.inf
        self._enforcing = Turn()

    def add(self, window: Window) -> ExpiryRule:
        """Add a rule."""
        rule = ExpiryRule(window, self)
        self.rules, self._due_ns = (*self.rules, rule), -math.inf
        return rule

    def copied(self) -> ExpiryRules:
        """The same rules, for a copy of the scene; each copy is cancelled separately."""
        twin = ExpiryRules()
        for rule in self.rules:
            twin.add(rule.window)
        return twin

    def drop(self, rule: ExpiryRule) -> None:
        """Remove a rule."""
        self.rules, self._due_ns = tuple(other for other in self.rules if other is not rule), -math.inf

    @property
    def _shortest_ns(self) -> int:
        return min((rule.window.older_than for rule in self.rules), default=0)

    def note(self, changes: Sequence[Change] | None, now_ns: int, before: SceneView) -> None:
        """Consider that data may expire earlier after changes; None: any data. `before` is the version before them."""
        stamps = [-math.inf] if changes is None else [_oldest_stamp(change, now_ns, before) for change in changes]
        self._due_ns = min(self._due_ns, min(stamps, default=math.inf) + self._shortest_ns)

    def is_due(self, now_ns: int) -> bool:
        """Whether something may have expired."""
        return now_ns > self._due_ns

    def enforce(self, scene: SceneVersion, apply: Apply, now_ns: int) -> list[NodeId]:
        """Remove what has expired; returns at once where another thread is doing so."""
        if not self._enforcing.take():
            return []
        try:
            return self._removed(scene, apply, now_ns)
        finally:
            self._enforcing.give_back()

    def _removed(self, scene: SceneVersion, apply: Apply, now_ns: int) -> list[NodeId]:
        changes, self._due_ns = expired(scene, [rule.window for rule in self.rules], now_ns)
        removed = remove_expired(apply, changes)
        if len(removed) < len(changes):  # it is unknown when frames below are moved elsewhere
            self._due_ns = min(self._due_ns, now_ns + self._shortest_ns)
        return removed


def _oldest_stamp(change: Change, now_ns: int, before: SceneView) -> float:
    """The stamp of the oldest datum that may expire earlier because of a change; infinity for none."""
    if isinstance(change, Remove):
        return -math.inf if _is_kept_for_others(before, change.id) else math.inf
    if isinstance(change, AddParent | RemoveParent):
        return -math.inf
    if isinstance(change, SetAttributes) and _STATIC[0] in change.attributes:
        return -math.inf
    if not isinstance(change, AddTransform | AddUncertainTransform | AddGeometry | SetTransform):
        return math.inf
    at = now_ns if isinstance(change.at, Now) else change.at
    return math.inf if at is None else at


def _is_kept_for_others(view: SceneView, node: NodeId) -> bool:
    """Whether others may expire earlier without this node: transforms above it, or nodes that it shares with others."""
    if not view.contains(node):
        return False
    return any(len(view.parents(below)) > 1 for below in view.subtree(node)) or _is_in_a_transform(view, node)


def _is_in_a_transform(view: SceneView, node: NodeId) -> bool:
    seen, waiting = {node}, [node]
    while waiting:
        parents = set(view.parents(waiting.pop())) - seen
        if any(kind_of(view, parent) == "transform" for parent in parents):
            return True
        seen |= parents
        waiting.extend(parents)
    return False
