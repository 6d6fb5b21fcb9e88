"""Which nodes are there in the middle of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from armillary._core import LIMBO_NODE, ROOT_NODE, NodeId
from armillary.errors import UnknownNode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import SceneView

__all__ = ["BatchNodes"]


class BatchNodes:
    """The nodes of a scene, and what the wishes of a batch do to them; each wish is looked at once."""

    __slots__ = ("_before", "_looked_at", "_parents", "_takes_out")

    def __init__(self, before: SceneView) -> None:
        self._before = before
        self._parents: dict[NodeId | UUID, set[NodeId]] = {}  # of those that the batch adds, moves and removes
        self._takes_out = False
        self._looked_at = 0

    def look_at(self, wishes: Sequence[tuple[Any, ...]]) -> None:
        """Those of the batch so far."""
        for wish in wishes[self._looked_at :]:
            self._take(*wish[:4])
        self._looked_at = len(wishes)

    def add(self, node: NodeId, parent: NodeId) -> None:
        """A node that comes before all wishes."""
        self._parents[node] = {parent}

    def has(self, node: object) -> bool:
        """Whether a node is there by now."""
        if not isinstance(node, NodeId | UUID):
            return False
        if self._takes_out:
            return self._is_reached(node)
        return node in self._parents or self._before.contains(node)

    def knows(self, node: NodeId) -> bool:
        """Whether a node was there before the batch, or came with it; it may be gone."""
        return node in self._parents or self._before.contains(node)

    def check(self, node: NodeId | UUID) -> None:
        """Raises UnknownNode where a node is not there by now."""
        if not self.has(node):
            self._before.kind(node)  # raises, unless the batch took it out
            raise UnknownNode(NodeId(node))

    def _take(self, kind: str, node: Any, other: Any, parent: Any = None) -> None:
        """Of a node that is added, the id and the parent come last."""
        if kind == "add_node" and isinstance(other, NodeId | UUID):
            self._parents[other] = {LIMBO_NODE if parent is None else parent}
        elif kind in {"add_parent", "restore"}:
            self._parents[node] = self._above(node) - {LIMBO_NODE} | {LIMBO_NODE if other is None else other}
        elif kind in {"remove", "remove_parent"}:
            self._parents[node] = set() if kind == "remove" else self._above(node) - {other}
            self._takes_out = True

    def _above(self, node: NodeId | UUID) -> set[NodeId]:
        known = self._parents.get(node)
        if known is not None:
            return known
        if not self._before.contains(node):
            return set()
        return set(self._before.parents(NodeId(node))) or {LIMBO_NODE}

    def _is_reached(self, node: NodeId | UUID) -> bool:
        """Whether the root is above it, or what roots of others wait in."""
        pending, seen = [node], set[NodeId | UUID]()
        while pending:
            above = pending.pop()
            if above in {ROOT_NODE, LIMBO_NODE}:
                return True
            if above not in seen:
                seen.add(above)
                pending.extend(self._above(above))
        return False
