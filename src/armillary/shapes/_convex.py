"""Convex bodies, and whether two of them, or two shapes made of them, meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from armillary.shapes._shape import TOUCH_M
from armillary.shapes.volumes import BoundingBox

if TYPE_CHECKING:
    from armillary.shapes._shape import Shape
    from armillary.transforms import Transform

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
"""Three floats: for a few of them, numpy takes longer to call than to compute."""
Corners = tuple[Vector, ...]
Nearest = tuple[Vector, Corners]

_ORIGIN = (0.0, 0.0, 0.0)
_NO_CORNERS: Corners = ()
_MAX_STEPS = 128
_GAIN = 1e-10
_ROWS = 256


# -- Convex bodies


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

    def moved(self, other_T_this: Array) -> Convex:
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
        """The distance from the centre to the furthest vertex, and the rounding beyond it."""
        return max(math.dist(self.center, vertex) for vertex in self.vertices) + self.rounding_m

    def support(self, direction: Vector) -> Vector:
        """The vertex that is furthest in this direction."""
        x, y, z = direction
        return max(self.vertices, key=lambda v: v[0] * x + v[1] * y + v[2] * z)

    def moved(self, other_T_this: Array) -> Hull:
        """The hull of the moved vertices."""
        rows = np.array(self.vertices) @ other_T_this[:3, :3].T + other_T_this[:3, 3]
        return Hull(tuple(map(tuple, rows.tolist())), self.rounding_m)


@dataclass(frozen=True)
class ConvexCylinder:
    """A cylinder around any axis; the axis is a unit vector."""

    center: Vector
    axis: Vector
    radius_m: float
    half_length_m: float
    rounding_m: float = 0.0

    @property
    def reach_m(self) -> float:
        """The distance from the centre to the rim."""
        return math.hypot(self.radius_m, self.half_length_m)

    def support(self, direction: Vector) -> Vector:
        """A point on the rim of the end that faces in this direction."""
        lift = dot(direction, self.axis)
        end = along(self.center, self.axis, math.copysign(self.half_length_m, lift))
        outward = along(direction, self.axis, -lift)
        # Once more: of a direction along the axis only rounding is left, and that may point along the axis too.
        outward = along(outward, self.axis, -dot(outward, self.axis))
        length = math.hypot(*outward)
        return along(end, outward, self.radius_m / length) if length > 0.0 else end

    def moved(self, other_T_this: Array) -> ConvexCylinder:
        """The cylinder about the moved axis."""
        turn = other_T_this[:3, :3]
        cx, cy, cz = (turn @ self.center + other_T_this[:3, 3]).tolist()
        ax, ay, az = (turn @ self.axis).tolist()
        return ConvexCylinder((cx, cy, cz), (ax, ay, az), self.radius_m, self.half_length_m)


# -- Whether two convex bodies meet


def come_within(a: Convex, b: Convex, gap_m: float) -> bool:
    """Whether two bodies meet or leave a gap of at most `gap_m`.

    Searches the differences of their points for the one nearest to the origin (Gilbert, Johnson and Keerthi, 1988), and
    stops as soon as one of them is short enough, or a plane shows that none is. Where rounding decides, they meet.
    """
    limit_m = a.rounding_m + b.rounding_m + gap_m
    square = limit_m * limit_m
    nearest, corners = minus(a.center, b.center), _NO_CORNERS
    for _ in range(_MAX_STEPS):
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


def nearest_to_origin(corners: Corners) -> Nearest:
    """The point of a simplex that is nearest to the origin, and the fewest corners that span it.

    The simplex is a point, segment, triangle or tetrahedron. After C. Ericson, Real-Time Collision Detection (2005),
    5.1.
    """
    return _BY_NUMBER[len(corners)](*corners)


def _of_point(a: Vector) -> Nearest:
    return a, (a,)


def _of_segment(a: Vector, b: Vector) -> Nearest:
    ab = minus(b, a)
    passed, length = -dot(a, ab), dot(ab, ab)
    if passed <= 0.0:
        return a, (a,)
    if passed >= length:
        return b, (b,)
    return along(a, ab, passed / length), (a, b)


def _of_triangle(a: Vector, b: Vector, c: Vector) -> Nearest:
    ab, ac = minus(b, a), minus(c, a)
    normal = cross(ab, ac)
    square = dot(normal, normal)
    # Which side of each edge the origin is on, seen along the normal.
    beyond_c, beyond_b = dot(cross(normal, ab), a), dot(cross(ac, normal), a)
    beyond_a = dot(cross(normal, minus(c, b)), b)
    if square > 0.0 and beyond_c <= 0.0 and beyond_b <= 0.0 and beyond_a <= 0.0:
        return along(_ORIGIN, normal, dot(a, normal) / square), (a, b, c)
    return _nearest_of(_of_segment(a, b), _of_segment(b, c), _of_segment(a, c))


def _of_tetrahedron(a: Vector, b: Vector, c: Vector, d: Vector) -> Nearest:
    faces = ((a, b, c, d), (a, c, d, b), (a, d, b, c), (b, d, c, a))
    outside = [face[:3] for face in faces if _is_beyond(*face)]
    if not outside:
        return _ORIGIN, (a, b, c, d)
    return _nearest_of(*(_of_triangle(*face) for face in outside))


def _is_beyond(a: Vector, b: Vector, c: Vector, inner: Vector) -> bool:
    """Whether the plane of a face separates the origin from the fourth corner; true for a flat tetrahedron."""
    normal = cross(minus(b, a), minus(c, a))
    return -dot(normal, a) * dot(normal, minus(inner, a)) <= 0.0


def _nearest_of(*candidates: Nearest) -> Nearest:
    return min(candidates, key=lambda candidate: dot(candidate[0], candidate[0]))


_BY_NUMBER: dict[int, Callable[..., Nearest]] = {1: _of_point, 2: _of_segment, 3: _of_triangle, 4: _of_tetrahedron}


# -- Vectors


def dot(a: Vector, b: Vector) -> float:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """The vector from b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def along(a: Vector, direction: Vector, scale: float) -> Vector:
    """The point `a + scale * direction`."""
    return a[0] + direction[0] * scale, a[1] + direction[1] * scale, a[2] + direction[2] * scale


def cross(a: Vector, b: Vector) -> Vector:
    """The cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


# -- Whether two shapes meet


def overlap(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    """Whether two shapes of any kind have a point in common, or come within a nanometre of each other."""
    if a.convex is not None and b.convex is not None:
        return come_within(a.convex, b.convex.moved(a_T_b.matrix), TOUCH_M)
    return _compounds_overlap(a, b, a_T_b)


def _compounds_overlap(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    a_box, b_box = a.bounding_box(), b.bounding_box()
    if a_box is None or b_box is None:
        return False
    b_box_in_a = _widened(b_box.moved(a_T_b))
    if (a_box.low > b_box_in_a.high).any() or (a_box.high < b_box_in_a.low).any():
        return False
    if b.loose_points is not None:
        return bool(a.contains(a_T_b @ np.asarray(b.loose_points, dtype=np.float64)).any())
    b_T_a = a_T_b.inverse()
    if a.loose_points is not None:
        return bool(b.contains(b_T_a @ np.asarray(a.loose_points, dtype=np.float64)).any())
    a_parts, b_parts = a.convex_parts(b_box_in_a), b.convex_parts(_widened(a_box.moved(b_T_a)))
    return _parts_meet(a_parts, b_parts, a_T_b) or _one_is_inside(a, b, a_T_b)


def _widened(box: BoundingBox) -> BoundingBox:
    return BoundingBox(box.low - TOUCH_M, box.high + TOUCH_M)


def _parts_meet(a_parts: Sequence[Convex], b_parts: Sequence[Convex], a_T_b: Transform) -> bool:
    if not a_parts or not b_parts:
        return False
    matrix = a_T_b.matrix
    moved = [part.moved(matrix) for part in b_parts]
    return any(come_within(a_parts[i], moved[j], TOUCH_M) for i, j in _near_pairs(a_parts, moved))


def _near_pairs(a_parts: Sequence[Convex], b_parts: Sequence[Convex]) -> Iterator[tuple[int, int]]:
    """The pairs of parts whose bounding spheres meet."""
    b_centers, b_reach = np.array([part.center for part in b_parts]), np.array([part.reach_m for part in b_parts])
    for first in range(0, len(a_parts), _ROWS):
        rows = a_parts[first : first + _ROWS]
        centers, reach = np.array([part.center for part in rows]), np.array([part.reach_m for part in rows])
        apart = np.linalg.norm(centers[:, None] - b_centers, axis=2)
        near = np.argwhere(apart <= (reach[:, None] + b_reach) * (1.0 + TOUCH_M) + TOUCH_M)
        yield from ((first + i, j) for i, j in near.tolist())


def _one_is_inside(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    """Whether one shape is inside the other, where their surfaces do not meet: then a part is inside as a whole."""
    if a.parts_are_skin and _contains_a_part_of(a, b, a_T_b):
        return True
    return b.parts_are_skin and _contains_a_part_of(b, a, a_T_b.inverse())


def _contains_a_part_of(solid: Shape, other: Shape, solid_T_other: Transform) -> bool:
    box = solid.bounding_box()
    parts = [] if box is None else other.convex_parts(_widened(box.moved(solid_T_other.inverse())))
    if not parts:
        return False
    return bool(solid.contains(solid_T_other @ np.array([part.center for part in parts])).any())
