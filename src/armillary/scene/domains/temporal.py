"""The temporal domain: a stamp belongs to one datum, and is not inherited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.scene._data_stamps import DataStamps
from armillary.scene.traversal import VisitedNode, Visitor

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["Datum", "TemporalDomain"]


@dataclass(frozen=True, slots=True)
class Datum:
    """Something of one instant: a shape, or a sample of a transform.

    Attributes:
        node: Whose it is.
        stamp: The instant [ns].
    """

    node: NodeId
    stamp: int


class TemporalDomain(Visitor):
    """The oldest and the newest datum at or under a node.

    Attributes:
        oldest: None where nothing has a stamp.
        newest: The same.
    """

    def __init__(self) -> None:
        self.oldest: Datum | None = None
        self.newest: Datum | None = None
        self._stamps: DataStamps | None = None

    def visit(self, node: VisitedNode) -> None:
        """Groups, connections and what is fixed have no datum."""
        if self._stamps is None:
            self._stamps = DataStamps(node.scene)
        span = self._stamps.span(node.id)
        if span is None:
            return
        if self.oldest is None or span[0] < self.oldest.stamp:
            self.oldest = Datum(node.id, span[0])
        if self.newest is None or span[1] > self.newest.stamp:
            self.newest = Datum(node.id, span[1])
