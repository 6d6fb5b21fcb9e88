"""The domain of attributes: what is said of a node, of that node alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from armillary.scene.conditions import conditions_of, same_value
from armillary.scene.traversal import VisitedNode, Visitor

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["AttributeDomain"]


class AttributeDomain(Visitor):
    """The nodes of which everything in a query is true, in the order of the walk.

    It looks at every node; `scene.find` answers the same from an index.

    Args:
        query: As `scene.find` takes it.

    Attributes:
        found: The nodes.
    """

    def __init__(self, query: Mapping[str, Any]) -> None:
        self._conditions = conditions_of(query)
        self.found: list[NodeId] = []

    def visit(self, node: VisitedNode) -> None:
        """Attributes are not inherited: each node is asked for its own."""
        said = node.attributes
        if all(_holds(said, *condition) for condition in self._conditions):
            self.found.append(node.id)


def _holds(said: Mapping[str, Any], key: str, demand: str, *parts: Any) -> bool:
    if demand == "absent" or key not in said:
        return demand == "absent" and key not in said
    value = said[key]
    if demand == "exists":
        return True
    if demand == "matches":
        return bool(parts[0](value))
    return same_value(value, parts[0]) if demand == "equals" else _is_within(value, *parts)


def _is_within(value: Any, low: Any, high: Any, low_included: bool, high_included: bool) -> bool:  # noqa: FBT001
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    above = low is None or value > low or (low_included and value == low)
    below = high is None or value < high or (high_included and value == high)
    return above and below
