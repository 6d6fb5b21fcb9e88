"""All points below a node, in one frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.scene.traversal import VisitedNode, Visitor
from armillary.shapes import PointCloud

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeId
    from armillary.fusion.policies import AnyPolicy

__all__ = ["AccumulatedCloud", "PointCloudAccumulator"]


@dataclass(frozen=True, slots=True, eq=False)
class AccumulatedCloud:
    """One cloud, seen from the frame that was asked for.

    Attributes:
        node: Whose it is.
        stamp: The instant it shows, and at which it was mapped [ns].
        points: Shape (N, 3) [m].
    """

    node: NodeId
    stamp: int
    points: NDArray[np.float64]


class PointCloudAccumulator(Visitor):
    """The point clouds at or under a node, each mapped with the pose at its own stamp.

    Args:
        in_frame: The frame in which the points are wanted.
        outside: As of `world.pose`, where the poses do not reach a stamp.
        policy: As of `world.pose`, where several ways lead to a cloud.

    Attributes:
        clouds: In the order of the walk.
    """

    def __init__(self, *, in_frame: str, outside: str = "raise", policy: AnyPolicy = "unique") -> None:
        self.in_frame, self._asked = in_frame, {"outside": outside, "policy": policy}
        self.clouds: list[AccumulatedCloud] = []

    def visit_geometry(self, node: VisitedNode) -> None:
        """Shapes that are no clouds are passed over."""
        cloud, stamp = node.levels[0], node.stamp
        if not isinstance(cloud, PointCloud) or stamp is None:
            return
        points = node.scene.world.map_points(
            cloud.points, from_frame=node.frame, to_frame=self.in_frame, at=stamp, **self._asked
        )
        self.clouds.append(AccumulatedCloud(node.id, stamp, points))

    @property
    def points(self) -> NDArray[np.float64]:
        """All of them, shape (N, 3) [m]."""
        return np.concatenate([np.zeros((0, 3)), *(cloud.points for cloud in self.clouds)])
