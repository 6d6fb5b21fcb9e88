"""Voxel grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from armillary.errors import InvalidShape
from armillary.shapes._checks import Floats, Locked, as_array, as_length_m, as_points, as_triple, locked
from armillary.shapes._convex import Convex, Hull
from armillary.shapes._shape import TOUCH_M, Shape, as_rows
from armillary.shapes.volumes import BoundingBox, BoundingSphere, enclosing_sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MAX_CELLS = 2**28
_CORNERS = np.array(list(product((0.0, 1.0), repeat=3)))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class VoxelGrid(Shape):
    """Cubes of one size side by side along the axes, of which some are occupied.

    Attributes:
        occupied: Shape (nx, ny, nz), boolean, read-only; taken as `PointCloud` takes arrays.
        voxel_size_m: The edge of a cube.
        origin: The low corner of the cube (0, 0, 0) [m].

    >>> VoxelGrid.of_points([(0.0, 0.0, 0.0), (0.25, 0.0, 0.0)], voxel_size_m=0.1)
    VoxelGrid(2 of 3 x 1 x 1 cells of 0.1 m occupied)
    """

    kind: ClassVar[str] = "voxel_grid"

    occupied: Locked
    voxel_size_m: float
    origin: tuple[float, float, float]

    def __init__(
        self,
        occupied: ArrayLike,
        voxel_size_m: float,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        *,
        copy: bool = True,
    ) -> None:
        object.__setattr__(self, "occupied", _as_cells(occupied, copy=copy))
        object.__setattr__(self, "voxel_size_m", _as_edge_m(voxel_size_m))
        object.__setattr__(self, "origin", as_triple(origin, "The origin of a VoxelGrid"))

    @staticmethod
    def of_points(points: ArrayLike, voxel_size_m: float) -> VoxelGrid:
        """Make a grid that is occupied where there is one of these points, shape (N, 3)."""
        rows, edge_m = as_points(points, "The points of a VoxelGrid", copy=True), _as_edge_m(voxel_size_m)
        if len(rows) == 0:
            return VoxelGrid(np.zeros((0, 0, 0), dtype=np.bool_), edge_m)
        with np.errstate(over="ignore", invalid="ignore"):  # what is too far apart is refused below
            cells = np.floor(rows / edge_m)
            low = cells.min(axis=0)
            size = cells.max(axis=0) - low + 1.0
        if not np.prod(size) <= _MAX_CELLS:
            is_wrong = f"Points {_by(size)} cells of {edge_m:g} m apart make too large a grid."
            raise InvalidShape(f"{is_wrong} Choose a larger voxel_size_m, or leave outliers out.", voxel_size_m)
        occupied = np.zeros(size.astype(int), dtype=np.bool_)
        occupied[tuple((cells - low).astype(int).T)] = True
        return VoxelGrid(occupied, edge_m, low * edge_m, copy=False)

    @property
    def number_of_points(self) -> int:
        return len(self._cells)

    @property
    def resolution_m(self) -> float:
        """The edge of a cell."""
        return self.voxel_size_m

    @cached_property
    def _cells(self) -> NDArray[np.intp]:
        """The indices of the occupied cells, shape (N, 3)."""
        return np.argwhere(self.occupied)

    @cached_property
    def _lows(self) -> Floats:
        """The low corners of the occupied cells [m], shape (N, 3)."""
        lows: Floats = self._cells * self.voxel_size_m + np.array(self.origin)
        return lows

    @cached_property
    def _bounding_sphere(self) -> BoundingSphere | None:
        if len(self._cells) == 0:
            return None
        half = self.voxel_size_m / 2.0
        return BoundingSphere(*enclosing_sphere(self._lows + half, np.full(len(self._cells), half * np.sqrt(3.0))))

    def bounding_sphere(self) -> BoundingSphere | None:
        return self._bounding_sphere

    @cached_property
    def _bounding_box(self) -> BoundingBox | None:
        if len(self._cells) == 0:
            return None
        return BoundingBox(self._lows.min(axis=0), self._lows.max(axis=0) + self.voxel_size_m)

    def bounding_box(self) -> BoundingBox | None:
        return self._bounding_box

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points are in an occupied cell; its faces belong to it."""
        rows = as_rows(points) - np.array(self.origin)
        inside = np.zeros(len(rows), dtype=np.bool_)
        for nudge in 2.0 * _CORNERS - 1.0:
            cells = np.floor((rows + TOUCH_M * nudge) / self.voxel_size_m)
            exists = ((cells >= 0) & (cells < self.occupied.shape)).all(axis=1)
            inside[exists] |= self.occupied[tuple(cells[exists].astype(int).T)]
        return inside

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            first = (self._lows - origin) / direction
            last = (self._lows + self.voxel_size_m - origin) / direction
        # Along a face, zero by zero: the ray is between the two planes all the way.
        enters = np.nan_to_num(np.minimum(first, last), nan=-np.inf, posinf=np.inf, neginf=-np.inf).max(axis=1)
        leaves = np.nan_to_num(np.maximum(first, last), nan=np.inf, posinf=np.inf, neginf=-np.inf).min(axis=1)
        enters = np.maximum(enters, 0.0)
        return float(enters[enters <= leaves].min(initial=np.inf))

    def convex_parts(self, near: BoundingBox) -> Sequence[Convex]:
        lows = self._lows
        is_near = (lows <= near.high).all(axis=1) & (lows + self.voxel_size_m >= near.low).all(axis=1)
        corners = lows[is_near, None] + _CORNERS * self.voxel_size_m
        return [Hull(tuple(map(tuple, cell)), 0.0) for cell in corners.tolist()]

    def __repr__(self) -> str:
        cells = f"{len(self._cells)} of {_by(self.occupied.shape)} cells"
        return f"VoxelGrid({cells} of {self.voxel_size_m:g} m occupied)"


def _as_edge_m(value: float) -> float:
    edge_m = as_length_m(value, "The cell of a VoxelGrid")
    if edge_m == 0.0:
        raise InvalidShape("The cells of a VoxelGrid have no size. Give voxel_size_m above zero.", value)
    return edge_m


def _as_cells(value: ArrayLike, *, copy: bool) -> Locked:
    array = as_array(value, "The cells of a VoxelGrid")
    if array.ndim != 3 or array.dtype != np.bool_:  # noqa: PLR2004
        is_wrong = f"The cells of a VoxelGrid are {array.dtype} of the shape {array.shape}."
        raise InvalidShape(f"{is_wrong} Give booleans of the shape (nx, ny, nz).", value)
    return locked(array, "The cells of a VoxelGrid", copy=copy)


def _by(size: Sequence[int] | Floats) -> str:
    return " x ".join(f"{number:.0f}" for number in size)
