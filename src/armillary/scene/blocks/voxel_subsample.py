"""A cloud with one point for each cell of space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.errors import InvalidArgument
from armillary.scene.blocks._block import REQUIRED, FunctionBlock
from armillary.scene.blocks._clouds import as_outside, as_positive_m, cloud_of, points_in
from armillary.scene.blocks._port import CONTAINERS, Port
from armillary.scene.changes import NOW, AddGeometry
from armillary.shapes import PointCloud

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeId

__all__ = ["VoxelSubsample", "subsampled"]

_MOST_CELLS = 2**62


class VoxelSubsample(FunctionBlock):
    """One point, the mean, for each cube of space that holds points of a cloud.

    Takes the node to put the result into, and the cloud; gives the new cloud, with the stamp of the old one, in the
    frame of the node that it is put into, whose axes the cubes are along. Fields of floats are averaged as well, of
    others the value of the first point is kept.

    Parameters: `voxel_size_m`; `outside`, as of `world.pose`.
    """

    name: ClassVar[str] = "voxel_subsample"
    inputs: ClassVar[tuple[Port, ...]] = (
        Port("into", kinds=CONTAINERS),
        Port("cloud", kinds=("geometry",), shapes=(PointCloud,)),
    )
    outputs: ClassVar[tuple[Port, ...]] = (Port("subsampled", kinds=("geometry",), shapes=(PointCloud,)),)
    parameters: ClassVar[Mapping[str, Any]] = {"voxel_size_m": REQUIRED, "outside": "raise"}

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: D102
        if name == "voxel_size_m":
            as_positive_m(name, value)
        if name == "outside":
            as_outside(value)

    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:  # noqa: D102
        (into,), (cloud,) = data["into"], data["cloud"]
        points = points_in(self.scene, cloud, self.scene.frame(into), self.settings["outside"])
        shape = subsampled(points, cloud_of(self.scene, cloud).fields, self.settings["voxel_size_m"])
        stamp = self.scene.stamp(cloud)
        return [self.scene.plan(AddGeometry(parent=into, shape=shape, at=NOW if stamp is None else stamp))]


def subsampled(points: NDArray[Any], fields: Mapping[str, NDArray[Any]], voxel_size_m: float) -> PointCloud:
    """One point for each cube, in the order in which they were first met."""
    if len(points) == 0:
        return PointCloud(points, copy=True, **fields)
    first, cell_of_point = _cells(points, voxel_size_m)
    kept = {name: _of_cells(values, first, cell_of_point) for name, values in fields.items()}
    return PointCloud(_of_cells(points, first, cell_of_point), copy=False, **kept)


def _cells(points: NDArray[Any], voxel_size_m: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first point of each cell, and the cell of each point."""
    cells = np.floor(np.asarray(points, dtype=np.float64) / voxel_size_m)
    span = cells.max(axis=0) - cells.min(axis=0) + 1.0
    if not np.prod(span) < _MOST_CELLS:
        raise InvalidArgument(f"Points {span.max():g} cells apart are too far for voxel_size_m={voxel_size_m}.", span)
    along = (cells - cells.min(axis=0)).astype(np.int64) @ _strides(span)
    _, first, cell_of_point = np.unique(along, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[cell_of_point]


def _strides(span: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.array([span[1] * span[2], span[2], 1.0]).astype(np.int64)


def _of_cells(values: NDArray[Any], first: NDArray[np.int64], cell_of_point: NDArray[np.int64]) -> NDArray[Any]:
    if values.dtype.kind != "f":
        return values[first]
    columns = np.asarray(values, dtype=np.float64).reshape(len(values), -1).T
    counts = np.bincount(cell_of_point)
    means = np.stack([np.bincount(cell_of_point, weights=column) / counts for column in columns], axis=-1)
    return means.reshape(len(counts), *values.shape[1:]).astype(values.dtype)
