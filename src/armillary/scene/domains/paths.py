"""Which ways lead to a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from armillary.scene.traversal import Direction, Once, VisitedNode, Visitor, Walk

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["PathCollector", "SubgraphChecker"]


class PathCollector(Visitor):
    """Every way from the root to the node where the walk begins, whole, wherever ways part and meet.

    Attributes:
        paths: The root first; the node itself is not among them, so that of the root there is one empty path.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self) -> None:
        self.paths: list[tuple[NodeId, ...]] = []

    def visit(self, node: VisitedNode) -> None:
        """Nothing is above a root: there a way is complete."""
        if not node.parents:
            self.paths.append(whole_path(node)[:-1])


def whole_path(root: VisitedNode) -> tuple[NodeId, ...]:
    """From a root, met on the way up, down to where the walk began."""
    return (root.id, *reversed(root.path))


class SubgraphChecker(Visitor):
    """Whether the node where the walk begins is in another one, and in how many ways; a node is in itself, in one.

    Args:
        of: The other one; a text names a frame.

    Attributes:
        number_of_paths: In how many ways.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, of: NodeId | str) -> None:
        self.of, self.number_of_paths = of, 0

    @property
    def is_contained(self) -> bool:
        """Whether some way leads there."""
        return self.number_of_paths > 0

    def visit(self, node: VisitedNode) -> Walk | None:
        """Above it, it cannot come again."""
        if node.id != (node.scene.node(self.of) if isinstance(self.of, str) else self.of):
            return None
        self.number_of_paths += 1
        return Walk.SKIP
