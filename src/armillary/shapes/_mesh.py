"""Triangle meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.errors import InvalidShape
from armillary.shapes._checks import Floats, Locked, as_array, as_points, locked
from armillary.shapes._convex import Convex, Hull
from armillary.shapes._shape import Shape, as_rows
from armillary.shapes.volumes import BoundingBox, BoundingSphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CHUNK = 1_000_000
_FULL_SOLID_ANGLE = 4.0 * np.pi


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Mesh(Shape):
    """Triangles between vertices.

    A mesh whose every edge joins two triangles that turn the same way is closed: it is solid. An open one is only its
    surface, and contains no point. Vertices at the same place count as one, triangles between fewer than three as none.

    Attributes:
        vertices: Shape (N, 3) [m], float32 or float64, read-only.
        triangles: Rows of `vertices`, three for each, shape (M, 3), read-only; counter-clockwise seen from outside.
    """

    kind: ClassVar[str] = "mesh"

    vertices: Locked
    triangles: Locked

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, *, copy: bool = True) -> None:
        """Make a mesh from arrays, which are copied or kept as by `PointCloud`."""
        object.__setattr__(self, "vertices", as_points(vertices, "The vertices of a Mesh", copy=copy))
        object.__setattr__(self, "triangles", _as_triangles(triangles, len(self.vertices), copy=copy))

    @property
    def number_of_points(self) -> int:
        return len(self.vertices)

    @cached_property
    def is_closed(self) -> bool:
        """Whether it is the surface of a solid."""
        place = np.unique(self.vertices, axis=0, return_inverse=True)[1].reshape(-1)
        corners = place[self.triangles].astype(np.int64)
        has_area = (corners != np.roll(corners, -1, axis=1)).all(axis=1)
        start, end = corners[has_area].reshape(-1), np.roll(corners[has_area], -1, axis=1).reshape(-1)
        forth, back = np.sort(start * len(place) + end), np.sort(end * len(place) + start)
        return bool(len(forth) > 0 and (np.diff(forth) > 0).all() and np.array_equal(forth, back))

    @property
    def parts_are_skin(self) -> bool:  # type: ignore[override]
        """Whether it is closed: then it is more than its triangles."""
        return self.is_closed

    @cached_property
    def resolution_m(self) -> float:
        """The mean length of the edges."""
        corners = self._corners
        return float(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).mean()) if len(corners) else 0.0

    @cached_property
    def _corners(self) -> Floats:
        """The corners of the triangles, shape (M, 3, 3): triangle, corner, axis."""
        return np.asarray(self.vertices, dtype=np.float64)[self.triangles]

    @cached_property
    def _bounding_sphere(self) -> BoundingSphere | None:
        return BoundingSphere.around_points(self.vertices)

    def bounding_sphere(self) -> BoundingSphere | None:
        return self._bounding_sphere

    @cached_property
    def _bounding_box(self) -> BoundingBox | None:
        return BoundingBox(self.vertices.min(axis=0), self.vertices.max(axis=0)) if len(self.vertices) else None

    def bounding_box(self) -> BoundingBox | None:
        return self._bounding_box

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points are inside a closed mesh; on the surface itself, rounding decides."""
        rows = as_rows(points)
        if not self.is_closed:
            return np.zeros(len(rows), dtype=np.bool_)
        step = max(1, _CHUNK // len(self.triangles))
        chunks = [_winding_numbers(rows[first : first + step], self._corners) for first in range(0, len(rows), step)]
        inside: NDArray[np.bool_] = np.abs(np.concatenate([np.zeros(0), *chunks])) > 0.5  # noqa: PLR2004
        return inside

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        if self.contains(origin[None, :]).any():
            return 0.0
        return _nearest_hit_m(self._corners, origin, direction)

    def convex_parts(self, near: BoundingBox) -> Sequence[Convex]:
        corners = self._corners
        is_near = (corners.min(axis=1) <= near.high).all(axis=1) & (corners.max(axis=1) >= near.low).all(axis=1)
        return [Hull(tuple(map(tuple, corner)), 0.0) for corner in corners[is_near].tolist()]

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"


def _as_triangles(value: ArrayLike, number_of_vertices: int, *, copy: bool) -> Locked:
    array = as_array(value, "The triangles of a Mesh")
    if array.size == 0:
        array = np.zeros((0, 3), dtype=array.dtype if array.dtype.kind in "iu" else np.int64)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":  # noqa: PLR2004
        is_wrong = f"The triangles of a Mesh are {array.dtype} of the shape {array.shape}."
        raise InvalidShape(f"{is_wrong} Give integers of the shape (M, 3): three rows of the vertices each.", value)
    outside: Any = (array < 0) | (array >= number_of_vertices)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        is_wrong = f"Triangle {row} of a Mesh is {array[row].tolist()}, and there are {number_of_vertices} vertices."
        raise InvalidShape(f"{is_wrong} Count them from 0 to {number_of_vertices - 1}.", value)
    return locked(array, "The triangles of a Mesh", copy=copy)


def _winding_numbers(points: Floats, corners: Floats) -> Floats:
    """The winding number of the surface around each point (van Oosterom, Strackee, 1983): 0 outside, else 1 or -1."""
    a, b, c = (corners[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
    volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("ijk,ijk->ij", x, y) for x, y in ((a, b), (b, c), (c, a)))
    angles = 2.0 * np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
    numbers: Floats = angles.sum(axis=1) / _FULL_SOLID_ANGLE
    return numbers


def _nearest_hit_m(corners: Floats, origin: Floats, direction: Floats) -> float:
    """The distance to the first triangle that a ray meets, from either side (Moller and Trumbore, 1997)."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(direction, ac)
    scale = np.einsum("ij,ij->i", ab, across)
    start = origin - corners[:, 0]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", start, across) / scale
        turned = np.cross(start, ab)
        v = (turned @ direction) / scale
        distance_m = np.einsum("ij,ij->i", ac, turned) / scale
        hit = (scale != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance_m >= 0.0)
    return float(distance_m[hit].min(initial=np.inf))
