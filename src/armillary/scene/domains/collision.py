"""The domain of collisions: the sphere around a node contains those of everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.scene.domains._steps import step_pose
from armillary.scene.traversal import VisitedNode, Visitor
from armillary.shapes.volumes import BoundingSphere
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary._core import NodeId

__all__ = ["CollisionDomain"]


class CollisionDomain(Visitor):
    """The sphere around each node at one instant, in the frame of the node.

    Each child is placed by its own containment, so that a node with several parents is around where each of them says.
    `scene.overlapping` and `scene.raycast` prune by such spheres; they keep theirs from question to question.

    Args:
        at: The instant; `LATEST`, for each step its own newest.

    Attributes:
        spheres: By node; None where nothing at or under it has a shape.
    """

    def __init__(self, *, at: int | Latest = LATEST) -> None:
        self.at = at
        self.spheres: dict[NodeId, BoundingSphere | None] = {}

    def contains(self, outer: NodeId, inner: BoundingSphere) -> bool:
        """Whether the sphere of a node contains another, given in its frame."""
        sphere = self.spheres.get(outer)
        return sphere is not None and sphere.contains(inner)

    def leave(self, node: VisitedNode) -> None:
        """Everything under it has its sphere by now."""
        self.spheres[node.id] = BoundingSphere.around(self._parts(node))

    def _parts(self, node: VisitedNode) -> Iterator[BoundingSphere]:
        own = node.levels[0].bounding_sphere() if node.kind == "geometry" else None
        if own is not None:
            yield own
        for child in node.children:
            sphere = self.spheres.get(child)
            if sphere is not None:
                pose = step_pose(node.scene, node.id, child, self.at)
                yield sphere if pose is None else sphere.moved(pose.transform)
