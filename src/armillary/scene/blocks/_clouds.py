"""Clouds in other frames, and parts of clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from armillary.errors import InvalidArgument
from armillary.shapes import PointCloud

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeId
    from armillary.scene.blocks._transaction import Transaction

__all__ = ["as_outside", "as_positive_m", "cloud_of", "points_in", "some_of"]

_OUTSIDE = ("raise", "hold", "predict")


def cloud_of(scene: Transaction, node: NodeId) -> PointCloud:
    """The points of a geometry; the port has checked that it has some."""
    return cast("PointCloud", scene.geometry(node))


def points_in(scene: Transaction, node: NodeId, frame: str, outside: str) -> NDArray[Any]:
    """The points of a cloud, seen from a frame at the stamp of the cloud."""
    points, own = cloud_of(scene, node).points, scene.frame(node)
    if own == frame:
        return points
    mapped: NDArray[Any] = scene.world.map_points(
        points, from_frame=own, to_frame=frame, at=scene.stamp(node), outside=outside
    )
    return mapped.astype(points.dtype, copy=False)


def some_of(cloud: PointCloud, points: NDArray[Any], rows: NDArray[Any]) -> PointCloud:
    """Some rows of a cloud, with other coordinates for its points."""
    fields = {name: values[rows] for name, values in cloud.fields.items()}
    return PointCloud(points[rows], copy=False, **fields)


def as_positive_m(name: str, value: Any) -> None:
    """A length, or InvalidArgument."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value <= 0:
        raise InvalidArgument(f"{name} is a length in metres above zero, got {value!r}.", value)


def as_outside(value: Any) -> None:
    """A word that `world.pose` takes, or InvalidArgument."""
    if not isinstance(value, str) or value not in _OUTSIDE:
        raise InvalidArgument(f"outside must be 'raise', 'hold' or 'predict', got {value!r}.", value)
