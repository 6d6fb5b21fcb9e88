"""Convex bodies, and whether two of them meet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from armillary.shapes._simplex import Corners, nearest_to_origin
from armillary.shapes._vectors import Vector, along, dot, minus

Matrix = NDArray[np.float64]

_MOST_STEPS = 128
_GAIN = 1e-10
_NO_CORNERS: Corners = ()


class Convex(Protocol):
    """A convex core, and everything within `rounding_m` of it."""

    @property
    def center(self) -> Vector:
        """A point of the core."""

    @property
    def reach_m(self) -> float:
        """No point of the body is further from the centre."""

    @property
    def rounding_m(self) -> float:
        """How far the body goes beyond its core."""

    def support(self, direction: Vector) -> Vector:
        """The point of the core that is furthest in this direction, which has any length."""

    def moved(self, other_T_this: Matrix) -> Convex:
        """The same body in another frame; the matrix has the shape (4, 4)."""


@dataclass(frozen=True)
class Hull:
    """The convex hull of a few vertices, and everything near it: a ball has one, a capsule two, a box eight.

    Attributes:
        vertices: At least one, each (x, y, z) [m].
        rounding_m: How far the body goes beyond the hull: of a ball, its radius.
    """

    vertices: tuple[Vector, ...]
    rounding_m: float = 0.0

    @cached_property
    def center(self) -> Vector:
        """The mean of the vertices."""
        x, y, z = (math.fsum(column) / len(self.vertices) for column in zip(*self.vertices, strict=True))
        return x, y, z

    @cached_property
    def reach_m(self) -> float:
        """To the furthest vertex."""
        return max(math.dist(self.center, vertex) for vertex in self.vertices) + self.rounding_m

    def support(self, direction: Vector) -> Vector:
        """The furthest vertex."""
        x, y, z = direction
        return max(self.vertices, key=lambda v: v[0] * x + v[1] * y + v[2] * z)

    def moved(self, other_T_this: Matrix) -> Hull:
        """The hull of the moved vertices."""
        rows = np.array(self.vertices) @ other_T_this[:3, :3].T + other_T_this[:3, 3]
        return Hull(tuple(map(tuple, rows.tolist())), self.rounding_m)


@dataclass(frozen=True)
class Drum:
    """A cylinder."""

    center: Vector
    axis: Vector
    radius_m: float
    half_length_m: float
    rounding_m: float = 0.0

    @property
    def reach_m(self) -> float:
        """To the rim."""
        return math.hypot(self.radius_m, self.half_length_m)

    def support(self, direction: Vector) -> Vector:
        """On the rim of the end that faces this way."""
        lift = dot(direction, self.axis)
        end = along(self.center, self.axis, math.copysign(self.half_length_m, lift))
        outward = along(direction, self.axis, -lift)
        # Once more: of a direction along the axis only rounding is left, and that may point along the axis too.
        outward = along(outward, self.axis, -dot(outward, self.axis))
        length = math.hypot(*outward)
        return along(end, outward, self.radius_m / length) if length > 0.0 else end

    def moved(self, other_T_this: Matrix) -> Drum:
        """About the moved axis."""
        turn = other_T_this[:3, :3]
        cx, cy, cz = (turn @ self.center + other_T_this[:3, 3]).tolist()
        ax, ay, az = (turn @ self.axis).tolist()
        return Drum((cx, cy, cz), (ax, ay, az), self.radius_m, self.half_length_m)


def come_within(a: Convex, b: Convex, gap_m: float) -> bool:
    """Whether two bodies meet or leave a gap of at most `gap_m`.

    Walks over the differences of their points towards the origin (Gilbert, Johnson and Keerthi, 1988), and stops as
    soon as one of them is short enough, or a plane shows that none is. Where the last digits do not tell, they meet.
    """
    limit_m = a.rounding_m + b.rounding_m + gap_m
    square = limit_m * limit_m
    nearest, corners = minus(a.center, b.center), _NO_CORNERS
    for _ in range(_MOST_STEPS):
        length = dot(nearest, nearest)
        if length <= square or len(corners) == 4:  # noqa: PLR2004  (a tetrahedron around the origin)
            return True
        corner = minus(a.support(along((0.0, 0.0, 0.0), nearest, -1.0)), b.support(nearest))
        ahead = dot(nearest, corner)
        if ahead > 0.0 and ahead * ahead > square * length:
            return False
        if length - ahead <= _GAIN * length:
            return False
        nearest, corners = nearest_to_origin((*corners, corner))
    return True
