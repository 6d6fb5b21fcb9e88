"""Point clouds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.errors import InvalidShape
from armillary.shapes._checks import Floats, Locked, as_array, as_points, locked
from armillary.shapes._convex import Convex, Hull
from armillary.shapes._shape import TOUCH_M, Shape, ShapeFields, as_rows
from armillary.shapes.volumes import BoundingBox, BoundingSphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_POINTS, _COPY = "points", "copy"
_SAMPLE = 64


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PointCloud(Shape):
    """Points without size, each with further values if wanted.

    An array that nobody can write to is kept as it is, without a copy. A writeable one is copied; with `copy=False`
    it is kept, and locked: the caller can no longer write to it either (through older views of it one could: do not).
    A list, other numbers than float32 and float64, and an array that is not contiguous are always copied.

    Args:
        points: Shape (N, 3) [m], float32 or float64; N may be 0.
        copy: Whether a writeable array stays the caller's.
        fields: Named arrays with N rows: intensity, colour, stamp, ...

    Attributes:
        points: Shape (N, 3), read-only, the array that was given where it was kept.
        fields: Names to arrays, read-only.

    >>> PointCloud([(0, 0, 0), (1, 0, 0)], intensity=[0.5, 0.7]).fields["intensity"]
    array([0.5, 0.7])
    """

    kind: ClassVar[str] = "point_cloud"

    points: Locked
    fields: Mapping[str, Locked]

    def __init__(self, points: ArrayLike, *, copy: bool = True, **fields: ArrayLike) -> None:
        kept = as_points(points, "The points of a PointCloud", copy=copy)
        named = {name: _as_field(value, name, len(kept), copy=copy) for name, value in sorted(fields.items())}
        object.__setattr__(self, "points", kept)
        object.__setattr__(self, "fields", MappingProxyType(named))

    @property
    def loose_points(self) -> Locked:
        return self.points

    @property
    def number_of_points(self) -> int:
        return len(self.points)

    @cached_property
    def resolution_m(self) -> float:
        """The median distance from a point to the next, over a sample of points."""
        return _typical_spacing_m(self._rows)

    @property
    def _rows(self) -> Floats:
        return np.asarray(self.points, dtype=np.float64)

    def to_fields(self) -> ShapeFields:
        return ShapeFields({}, {_POINTS: self.points, **self.fields})

    @classmethod
    def from_fields(cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PointCloud:
        if plain or _POINTS not in arrays or _COPY in arrays:
            given = ", ".join(f"'{name}'" for name in (*plain, *arrays)) or "nothing"
            raise InvalidShape(
                f"A 'point_cloud' has the array 'points' and others, and {given} was given.", dict(plain)
            )
        further = {name: array for name, array in arrays.items() if name != _POINTS}
        return cls(arrays[_POINTS], copy=True, **further)

    @cached_property
    def _bounding_sphere(self) -> BoundingSphere | None:
        return BoundingSphere.around_points(self.points)

    def bounding_sphere(self) -> BoundingSphere | None:
        return self._bounding_sphere

    @cached_property
    def _bounding_box(self) -> BoundingBox | None:
        return BoundingBox(self.points.min(axis=0), self.points.max(axis=0)) if len(self.points) else None

    def bounding_box(self) -> BoundingBox | None:
        return self._bounding_box

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points are at the place of one of these, to a nanometre."""
        return _coincide(as_rows(points), self._rows, TOUCH_M)

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        """Only points that are on the ray to a nanometre: to see a cloud, make a `VoxelGrid` of it."""
        offsets = self._rows - origin
        distance_m = offsets @ direction
        aside = np.linalg.norm(offsets - distance_m[:, None] * direction, axis=1)
        hit = (aside <= TOUCH_M) & (distance_m >= -TOUCH_M)
        return max(0.0, float(distance_m[hit].min(initial=np.inf)))

    def convex_parts(self, near: BoundingBox) -> Sequence[Convex]:
        rows = self._rows
        is_near = (rows >= near.low).all(axis=1) & (rows <= near.high).all(axis=1)
        return [Hull(((x, y, z),), 0.0) for x, y, z in rows[is_near].tolist()]

    def __repr__(self) -> str:
        named = f"; {', '.join(self.fields)}" if self.fields else ""
        return f"PointCloud({len(self.points)} points, {self.points.dtype}{named})"


def _as_field(value: ArrayLike, name: str, number_of_points: int, *, copy: bool) -> Locked:
    array = as_array(value, f"The field '{name}' of a PointCloud")
    if array.ndim == 0 or len(array) != number_of_points:
        is_wrong = f"The field '{name}' of a PointCloud has the shape {array.shape}, for {number_of_points} points."
        raise InvalidShape(f"{is_wrong} Give one row per point.", value)
    return locked(array, f"The field '{name}' of a PointCloud", copy=copy)


def _coincide(points: Floats, others: Floats, within_m: float) -> NDArray[np.bool_]:
    """Which of the points have one of the others within a distance: shape (N,)."""
    order = np.argsort(others[:, 0], kind="stable")
    sorted_x = others[order, 0]
    first = np.searchsorted(sorted_x, points[:, 0] - within_m, side="left")
    last = np.searchsorted(sorted_x, points[:, 0] + within_m, side="right")
    found = np.zeros(len(points), dtype=np.bool_)
    for row in np.flatnonzero(last > first).tolist():
        near = others[order[first[row] : last[row]]]
        found[row] = bool((np.linalg.norm(near - points[row], axis=1) <= within_m).any())
    return found


def _typical_spacing_m(points: Floats) -> float:
    """The median distance to the nearest other point, over a sample spread through the array; 0 for fewer than two."""
    if len(points) < 2:  # noqa: PLR2004
        return 0.0
    rows = np.unique(np.linspace(0, len(points) - 1, _SAMPLE).astype(np.intp))
    return float(np.median([_nearest_other_m(points, row) for row in rows.tolist()]))


def _nearest_other_m(points: Floats, row: int) -> float:
    offsets = points - points[row]
    squares = np.einsum("ij,ij->i", offsets, offsets)
    squares[row] = np.inf
    return float(np.sqrt(squares.min()))
