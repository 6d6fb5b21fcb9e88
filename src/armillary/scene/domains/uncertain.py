"""The uncertain domain: covariances compound along each path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from armillary.errors import InvalidArgument
from armillary.scene.domains._steps import latest_common, step_poses
from armillary.scene.domains.paths import whole_path
from armillary.scene.domains.spatial import PlacedPath
from armillary.scene.traversal import Direction, Once, VisitedNode, Visitor
from armillary.stamps import LATEST, Latest
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import Pose

__all__ = ["UncertainDomain", "UncertainPath"]


@dataclass(frozen=True, slots=True, eq=False)
class UncertainPath(PlacedPath):
    """The same, with how sure that is.

    Attributes:
        covariance: (6, 6), translation then rotation, in the tangent of the node; None where a step has none.
    """

    covariance: NDArray[np.float64] | None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UncertainPath):
            return NotImplemented
        return PlacedPath.__eq__(self, other) is True and np.array_equal(_or_nothing(self), _or_nothing(other))

    def __hash__(self) -> int:
        return PlacedPath.__hash__(self)


def _or_nothing(path: UncertainPath) -> NDArray[np.float64]:
    return np.empty(0) if path.covariance is None else path.covariance


class UncertainDomain(Visitor):
    """How sure it is where a node is, by each of its paths. Paths are not merged: `policy="fuse"` of a query does that.

    Args:
        at: The instant; `LATEST`, for each path the newest that all of it covers.
        default_covariance: (6, 6) for samples that were given without one. What is fixed is exact.

    Attributes:
        paths: One `UncertainPath` for each.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, *, at: int | Latest = LATEST, default_covariance: ArrayLike | None = None) -> None:
        self.at, self._default = at, None if default_covariance is None else _as_covariance(default_covariance)
        self.paths: list[UncertainPath] = []

    def visit(self, node: VisitedNode) -> None:
        """Nothing is above a root: there a path is complete."""
        if node.parents:
            return
        nodes = whole_path(node)
        poses = step_poses(node.scene, nodes, self.at)
        root_T_node, covariance = self._compounded(poses)
        self.paths.append(UncertainPath(nodes, root_T_node, latest_common(poses), covariance))

    def _compounded(self, poses: list[Pose]) -> tuple[Transform, NDArray[np.float64] | None]:
        """For T = mean Exp(xi): what comes before is seen from the next frame through the adjoint of its inverse."""
        total, spread = Transform.identity(), np.zeros((6, 6))
        is_known = True
        for pose in poses:
            own = self._spread(pose)
            is_known &= own is not None
            seen = pose.transform.inverse().adjoint
            spread = seen @ spread @ seen.T + (0.0 if own is None else own)
            total = total @ pose.transform
        return total, spread if is_known else None

    def _spread(self, pose: Pose) -> NDArray[np.float64] | None:
        if pose.covariance is not None:
            return np.asarray(pose.covariance)
        return np.zeros((6, 6)) if pose.stamp is None else self._default


def _as_covariance(value: ArrayLike) -> NDArray[np.float64]:
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (6, 6) or not np.isfinite(matrix).all():
        raise InvalidArgument("default_covariance is (6, 6) of finite numbers, translation then rotation.", value)
    return matrix
