"""What a search looks for, a shape or a ray, and a tree of spheres in which it finds what it meets."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from armillary.shapes import Shape
from armillary.shapes.volumes import BoundingBox, BoundingSphere
from armillary.transforms import Transform

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

_SLACK_M = 2e-9  # more than the gap of touching shapes, and than rounding in a scene of a thousand kilometres
_WIDTH = 8
_BITS = 16
_SPREAD = ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3),
           (2, 0x1249249249249249))  # fmt: skip


class Probe(Protocol):
    """What a search looks for, in the frame of the current node."""

    def moved(self, other_T_this: Transform) -> Self:
        """The same probe in another frame."""

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Which of these boxes it may meet; their corners have the shapes (N, 3)."""

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Which of these spheres it may meet; centres and radii have the shapes (N, 3) and (N,)."""

    def distance_m(self, shape: Shape) -> float:
        """The distance along the probe at which it meets this shape, exactly; infinity where it does not."""


class ShapeProbe:
    """Finds what has a point in common with a shape."""

    def __init__(self, shape: Shape, sphere: BoundingSphere, box: BoundingBox, here_T_shape: Transform) -> None:
        self._shape, self._sphere, self._box, self._here_T_shape = shape, sphere, box, here_T_shape
        self._center = here_T_shape @ sphere.center
        self._reach_m = sphere.radius_m + _SLACK_M

    def moved(self, other_T_this: Transform) -> ShapeProbe:
        """The same probe in another frame."""
        return ShapeProbe(self._shape, self._sphere, self._box, other_T_this @ self._here_T_shape)

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Which boxes meet the box around the shape."""
        center, half_size = self._box_here
        is_met = (low <= center + half_size) & (high >= center - half_size)
        return np.asarray(is_met.all(axis=1))

    @cached_property
    def _box_here(self) -> tuple[Floats, Floats]:
        turn = np.abs(self._here_T_shape.rotation.matrix)
        return self._here_T_shape @ self._box.center, turn @ self._box.half_size + _SLACK_M

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Which spheres meet the sphere around the shape."""
        offsets = centers - self._center
        is_met: Mask = np.einsum("ij,ij->i", offsets, offsets) <= (radii_m + self._reach_m) ** 2
        return is_met

    def distance_m(self, shape: Shape) -> float:
        """Zero where the shapes overlap, else infinity."""
        return 0.0 if self._shape.overlaps(shape, this_T_other=self._here_T_shape.inverse()) else math.inf


class RayProbe:
    """Finds what a ray meets; its direction is a unit vector."""

    def __init__(self, origin: Floats, direction: Floats, max_m: float) -> None:
        self._origin, self._direction, self._max_m = origin, direction, max_m

    def moved(self, other_T_this: Transform) -> RayProbe:
        """The same probe in another frame."""
        return RayProbe(other_T_this @ self._origin, other_T_this.rotation.matrix @ self._direction, self._max_m)

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Which boxes the ray passes through."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            first = (low - _SLACK_M - self._origin) / self._direction
            last = (high + _SLACK_M - self._origin) / self._direction
        enters, leaves = np.fmin(first, last).max(axis=1), np.fmax(first, last).min(axis=1)
        is_met: Mask = np.maximum(enters, 0.0) <= np.minimum(leaves, self._max_m)
        return is_met

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Which spheres the ray passes through."""
        offsets = centers - self._origin
        passed_m = np.clip(offsets @ self._direction, 0.0, self._max_m)
        aside = offsets - passed_m[:, None] * self._direction
        is_met: Mask = np.einsum("ij,ij->i", aside, aside) <= (radii_m + _SLACK_M) ** 2
        return is_met

    def distance_m(self, shape: Shape) -> float:
        """The distance at which the ray meets the shape; infinity beyond its range."""
        distance_m = shape.ray_distance_m(self._origin, self._direction)
        return distance_m if distance_m <= self._max_m else math.inf


class SphereTree:
    """Spheres in the order of a Morton curve; each level has a box around every eight of the level below.

    Building takes time in proportion to n log n, a search to the number of spheres it finds and to log n.
    """

    def __init__(self, centers: Floats, radii_m: Floats) -> None:
        self._order = _morton_order(centers) if len(centers) > _WIDTH else np.arange(len(centers))
        self._centers, self._radii_m = centers[self._order], radii_m[self._order]
        self._levels = _levels(self._centers, self._radii_m)

    def __len__(self) -> int:
        return len(self._order)

    def search(self, probe: Probe) -> tuple[list[int], int]:
        """The rows of the spheres that the probe meets, ascending, and how many spheres were tested."""
        candidates: Rows = np.arange(len(self._levels[-1][0]) if self._levels else len(self))
        for level in range(len(self._levels) - 1, -1, -1):
            low, high = self._levels[level]
            met = candidates[probe.meets_boxes(low[candidates], high[candidates])]
            size = len(self._levels[level - 1][0]) if level else len(self)
            candidates = _children_of(met, size)
        hit = probe.meets_spheres(self._centers[candidates], self._radii_m[candidates])
        return np.sort(self._order[candidates[hit]]).tolist(), len(candidates)


def _children_of(boxes: Rows, size: int) -> Rows:
    rows = (boxes[:, None] * _WIDTH + np.arange(_WIDTH)).reshape(-1)
    return rows[rows < size]


def _levels(centers: Floats, radii_m: Floats) -> list[tuple[Floats, Floats]]:
    low, high = centers - radii_m[:, None], centers + radii_m[:, None]
    levels = []
    while len(low) > _WIDTH:
        first = np.arange(0, len(low), _WIDTH)
        low, high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
        levels.append((low, high))
    return levels


def _morton_order(centers: Floats) -> Rows:
    """The order of the centres along a Morton curve."""
    low, high = centers.min(axis=0), centers.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    cells = ((centers - low) / extent * (2**_BITS - 1)).astype(np.uint64)
    codes = sum(_spread(cells[:, axis]) << np.uint64(axis) for axis in range(3))
    return np.argsort(codes, kind="stable")


def _spread(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of each number: two zero bits between each two."""
    for shift, mask in _SPREAD:
        numbers = (numbers | (numbers << np.uint64(shift))) & np.uint64(mask)
    return numbers
