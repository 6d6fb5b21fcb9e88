"""What a search looks for: what meets a shape, and what meets a ray."""

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

# More than shapes may be apart and still touch, and than rounding moves them in a scene of a thousand kilometres.
_SLACK_M = 2e-9


class Probe(Protocol):
    """Something to be met, in the frame of the node that is looked at."""

    def moved(self, other_T_this: Transform) -> Self:
        """The same in another frame."""

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Which of these boxes, shapes (N, 3), it may meet."""

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Which of these spheres, shapes (N, 3) and (N,), it may meet."""

    def distance_m(self, shape: Shape) -> float:
        """Infinity where it does not meet this shape, exactly; otherwise how far along."""


class ShapeProbe:
    """What has a point in common with a shape."""

    def __init__(self, shape: Shape, sphere: BoundingSphere, box: BoundingBox, here_T_shape: Transform) -> None:
        self._shape, self._sphere, self._box, self._here_T_shape = shape, sphere, box, here_T_shape
        self._center = here_T_shape @ sphere.center
        self._reach_m = sphere.radius_m + _SLACK_M

    def moved(self, other_T_this: Transform) -> ShapeProbe:
        """The same in another frame."""
        return ShapeProbe(self._shape, self._sphere, self._box, other_T_this @ self._here_T_shape)

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Those that meet its box."""
        center, half_size = self._box_here
        is_met = (low <= center + half_size) & (high >= center - half_size)
        return np.asarray(is_met.all(axis=1))

    @cached_property
    def _box_here(self) -> tuple[Floats, Floats]:
        turn = np.abs(self._here_T_shape.rotation.matrix)
        return self._here_T_shape @ self._box.center, turn @ self._box.half_size + _SLACK_M

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Those that meet its sphere."""
        offsets = centers - self._center
        is_met: Mask = np.einsum("ij,ij->i", offsets, offsets) <= (radii_m + self._reach_m) ** 2
        return is_met

    def distance_m(self, shape: Shape) -> float:
        """Zero where they overlap."""
        return 0.0 if self._shape.overlaps(shape, this_T_other=self._here_T_shape.inverse()) else math.inf


class RayProbe:
    """What a ray meets; its direction is a unit vector."""

    def __init__(self, origin: Floats, direction: Floats, max_m: float) -> None:
        self._origin, self._direction, self._max_m = origin, direction, max_m

    def moved(self, other_T_this: Transform) -> RayProbe:
        """The same in another frame."""
        return RayProbe(other_T_this @ self._origin, other_T_this.rotation.matrix @ self._direction, self._max_m)

    def meets_boxes(self, low: Floats, high: Floats) -> Mask:
        """Those through which it passes."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            first = (low - _SLACK_M - self._origin) / self._direction
            last = (high + _SLACK_M - self._origin) / self._direction
        enters, leaves = np.fmin(first, last).max(axis=1), np.fmax(first, last).min(axis=1)
        is_met: Mask = np.maximum(enters, 0.0) <= np.minimum(leaves, self._max_m)
        return is_met

    def meets_spheres(self, centers: Floats, radii_m: Floats) -> Mask:
        """Those through which it passes."""
        offsets = centers - self._origin
        passed_m = np.clip(offsets @ self._direction, 0.0, self._max_m)
        aside = offsets - passed_m[:, None] * self._direction
        is_met: Mask = np.einsum("ij,ij->i", aside, aside) <= (radii_m + _SLACK_M) ** 2
        return is_met

    def distance_m(self, shape: Shape) -> float:
        """How far it goes until it meets the shape."""
        distance_m = shape.ray_distance_m(self._origin, self._direction)
        return distance_m if distance_m <= self._max_m else math.inf
