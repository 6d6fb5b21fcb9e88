"""Function blocks on point clouds: cropping and subsampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from armillary.errors import InvalidArgument
from armillary.scene.blocks._block import REQUIRED, FunctionBlock, Port, check_outside, check_positive_m
from armillary.shapes import Box, PointCloud
from armillary.stamps import LATEST
from armillary.store.changes import NOW, AddGeometry
from armillary.store.nodes import CONTAINER_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeId
    from armillary.scene.blocks._transaction import Transaction

__all__ = ["CropToBox", "VoxelSubsample", "subsampled"]

_MAX_CELLS = 2**62


class CropToBox(FunctionBlock):
    """Keeps the points of a cloud that are in a box, where both are at the stamp of the cloud.

    Takes the node to put the result into, the cloud, and the box; returns the new cloud, with the stamp and the fields
    of the old one, in the frame of the node that it is put into.

    Parameters: `outside`, as for `world.pose`, where the poses do not cover the stamp of the cloud.
    """

    name: ClassVar[str] = "crop_to_box"
    inputs: ClassVar[tuple[Port, ...]] = (
        Port("into", kinds=CONTAINER_KINDS),
        Port("cloud", kinds=("geometry",), shapes=(PointCloud,)),
        Port("box", kinds=("geometry",), shapes=(Box,)),
    )
    outputs: ClassVar[tuple[Port, ...]] = (Port("cropped", kinds=("geometry",), shapes=(PointCloud,)),)
    parameters: ClassVar[Mapping[str, Any]] = {"outside": "raise"}

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: D102
        if name == "outside":
            check_outside(value)

    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:  # noqa: D102
        (into,), (cloud,), (box,) = data["into"], data["cloud"], data["box"]
        outside, scene = self.settings["outside"], self.scene
        is_inside = scene.geometry(box).contains(_points_in(scene, cloud, scene.frame(box), outside))
        points = _points_in(scene, cloud, scene.frame(into), outside)
        rows = np.flatnonzero(is_inside)
        fields = {name: values[rows] for name, values in _cloud_of(scene, cloud).fields.items()}
        cropped = PointCloud(points[rows], copy=False, **fields)
        stamp = scene.stamp(cloud)
        return [scene.plan(AddGeometry(parent=into, shape=cropped, at=NOW if stamp is None else stamp))]


class VoxelSubsample(FunctionBlock):
    """One point, the mean, for each cube of space that holds points of a cloud.

    Takes the node to put the result into, and the cloud; returns the new cloud, with the stamp of the old one, in the
    frame of the node that it is put into, whose axes the cubes are along. Fields of floats are averaged as well, of
    others the value of the first point is kept.

    Parameters: `voxel_size_m`; `outside`, as for `world.pose`.
    """

    name: ClassVar[str] = "voxel_subsample"
    inputs: ClassVar[tuple[Port, ...]] = (
        Port("into", kinds=CONTAINER_KINDS),
        Port("cloud", kinds=("geometry",), shapes=(PointCloud,)),
    )
    outputs: ClassVar[tuple[Port, ...]] = (Port("subsampled", kinds=("geometry",), shapes=(PointCloud,)),)
    parameters: ClassVar[Mapping[str, Any]] = {"voxel_size_m": REQUIRED, "outside": "raise"}

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: D102
        if name == "voxel_size_m":
            check_positive_m(name, value)
        if name == "outside":
            check_outside(value)

    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:  # noqa: D102
        (into,), (cloud,) = data["into"], data["cloud"]
        points = _points_in(self.scene, cloud, self.scene.frame(into), self.settings["outside"])
        shape = subsampled(points, _cloud_of(self.scene, cloud).fields, self.settings["voxel_size_m"])
        stamp = self.scene.stamp(cloud)
        return [self.scene.plan(AddGeometry(parent=into, shape=shape, at=NOW if stamp is None else stamp))]


def subsampled(points: NDArray[Any], fields: Mapping[str, NDArray[Any]], voxel_size_m: float) -> PointCloud:
    """One point for each cube that holds points, in the order of their first points."""
    if len(points) == 0:
        return PointCloud(points, copy=True, **fields)
    first, cell_of_point = _cells(points, voxel_size_m)
    kept = {name: _of_cells(values, first, cell_of_point) for name, values in fields.items()}
    return PointCloud(_of_cells(points, first, cell_of_point), copy=False, **kept)


def _cells(points: NDArray[Any], voxel_size_m: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first point of each cell, and the cell of each point."""
    cells = np.floor(np.asarray(points, dtype=np.float64) / voxel_size_m)
    span = cells.max(axis=0) - cells.min(axis=0) + 1.0
    if not np.prod(span) < _MAX_CELLS:
        raise InvalidArgument(f"Points {span.max():g} cells apart are too far for voxel_size_m={voxel_size_m}.", span)
    strides = np.array([span[1] * span[2], span[2], 1.0]).astype(np.int64)
    along = (cells - cells.min(axis=0)).astype(np.int64) @ strides
    _, first, cell_of_point = np.unique(along, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[cell_of_point]


def _of_cells(values: NDArray[Any], first: NDArray[np.int64], cell_of_point: NDArray[np.int64]) -> NDArray[Any]:
    if values.dtype.kind != "f":
        return values[first]
    columns = np.asarray(values, dtype=np.float64).reshape(len(values), -1).T
    counts = np.bincount(cell_of_point)
    means = np.stack([np.bincount(cell_of_point, weights=column) / counts for column in columns], axis=-1)
    return means.reshape(len(counts), *values.shape[1:]).astype(values.dtype)


def _cloud_of(scene: Transaction, node: NodeId) -> PointCloud:
    """The shape of a geometry that a port accepted as a point cloud."""
    return cast("PointCloud", scene.geometry(node))


def _points_in(scene: Transaction, node: NodeId, frame: str, outside: str) -> NDArray[Any]:
    """The points of a cloud in another frame, at the stamp of the cloud."""
    points, own = _cloud_of(scene, node).points, scene.frame(node)
    if own == frame:
        return points
    seen_at = scene.stamp(node)  # a geometry has one
    mapped: NDArray[Any] = scene.store.map_points(
        points, from_frame=own, to_frame=frame, at=LATEST if seen_at is None else seen_at, outside=outside
    )
    return mapped.astype(points.dtype, copy=False)
