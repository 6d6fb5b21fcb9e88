"""The spatial domain: transforms multiply from the root to a node, one product for each path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from armillary.scene.domains._steps import latest_common, step_poses
from armillary.scene.domains.paths import whole_path
from armillary.scene.traversal import Direction, Once, VisitedNode, Visitor
from armillary.stamps import LATEST, Latest
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["PlacedPath", "SpatialDomain"]


@dataclass(frozen=True, slots=True)
class PlacedPath:
    """Where a node is by one path.

    Attributes:
        nodes: From the root to the node, both included.
        transform: `root_T_node`.
        stamp: The instant [ns]; None where every step is fixed.
    """

    nodes: tuple[NodeId, ...]
    transform: Transform
    stamp: int | None


class SpatialDomain(Visitor):
    """Where the node at which the walk begins is, by each of its paths. Nothing is chosen: `world.pose` does that.

    Args:
        at: The instant; `LATEST`, for each path the newest that all of it covers.

    Attributes:
        paths: One `PlacedPath` for each.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, *, at: int | Latest = LATEST) -> None:
        self.at = at
        self.paths: list[PlacedPath] = []

    def visit(self, node: VisitedNode) -> None:
        """Nothing is above a root: there a path is complete."""
        if not node.parents:
            self.paths.append(self._placed(node, whole_path(node)))

    def _placed(self, root: VisitedNode, nodes: tuple[NodeId, ...]) -> PlacedPath:
        poses = step_poses(root.scene, nodes, self.at)
        root_T_node = Transform.identity()
        for pose in poses:
            root_T_node = root_T_node @ pose.transform
        return PlacedPath(nodes, root_T_node, latest_common(poses))
