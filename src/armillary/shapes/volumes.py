"""Bounding volumes: simple volumes around shapes, by which a search rules out most of a scene."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armillary.errors import InvalidShape
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from armillary.transforms import Transform

__all__ = ["BoundingBox", "BoundingSphere", "enclosing_sphere"]

Floats = NDArray[np.float64]

CLOSE_M = 1e-9

_STEPS = 16
_ROUNDS = 4
_FEW = 64
_ROUNDING = 1e-12  # of a sum of squares; a sphere that is larger by it contains the outermost point
_DIRECTIONS = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if d > (0.0, 0.0, 0.0)])
_OUTWARD = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)
"""One of each pair of opposite directions to the corners, edges and faces of a cube."""


def _locked_vector(value: ArrayLike, name: str) -> Floats:
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InvalidShape(f"{name} is {short_repr(value)}. Give three finite numbers (x, y, z) in metres.", value)
    vector.setflags(write=False)
    return vector


def _as_radius(value: float, name: str) -> float:
    if not isinstance(value, Real) or not 0.0 <= value < math.inf:
        raise InvalidShape(f"{name} is {short_repr(value)}. Give a finite length in metres, not below zero.", value)
    return float(value)


@dataclass(frozen=True, slots=True, eq=False)
class BoundingSphere:
    """A sphere that contains something, in the frame of that thing.

    Attributes:
        center: Shape (3,) [m], read-only.
        radius_m: Not below zero.

    >>> BoundingSphere((0, 0, 0), 1.0).union(BoundingSphere((3, 0, 0), 1.0))
    BoundingSphere(center=(1.5, 0, 0), radius_m=2.5)
    """

    center: Floats
    radius_m: float

    def __init__(self, center: ArrayLike, radius_m: float) -> None:
        object.__setattr__(self, "center", _locked_vector(center, "The centre of a sphere"))
        object.__setattr__(self, "radius_m", _as_radius(radius_m, "The radius of a sphere"))

    @staticmethod
    def around(spheres: Iterable[BoundingSphere]) -> BoundingSphere | None:
        """A sphere that contains all of these, a few per cent larger than the smallest; None around nothing."""
        given = list(spheres)
        if len(given) <= 1:
            return given[0] if given else None
        centers = np.array([sphere.center for sphere in given])
        radii_m = np.array([sphere.radius_m for sphere in given])
        return BoundingSphere(*enclosing_sphere(centers, radii_m))

    @staticmethod
    def around_points(points: ArrayLike) -> BoundingSphere | None:
        """A sphere that contains these points, shape (N, 3); see `around`."""
        array = np.asarray(points, dtype=np.float64)
        if len(array) == 0:
            return None
        return BoundingSphere(*enclosing_sphere(array, np.zeros(len(array))))

    def union(self, other: BoundingSphere) -> BoundingSphere:
        """The smallest sphere that contains both."""
        towards = other.center - self.center
        apart_m = float(np.linalg.norm(towards))
        if apart_m + other.radius_m <= self.radius_m:
            return self
        if apart_m + self.radius_m <= other.radius_m:
            return other
        radius_m = (apart_m + self.radius_m + other.radius_m) / 2.0
        return BoundingSphere(self.center + towards * ((radius_m - self.radius_m) / apart_m), radius_m)

    def moved(self, transform: Transform) -> BoundingSphere:
        """This sphere in another frame: `transform` is `other_T_this`."""
        return BoundingSphere(transform @ self.center, self.radius_m)

    def contains(self, other: BoundingSphere | ArrayLike, *, tolerance_m: float = CLOSE_M) -> bool:
        """Whether a sphere, a point or all points of shape (N, 3) are inside, or stick out by at most `tolerance_m`."""
        points, radius_m = (other.center, other.radius_m) if isinstance(other, BoundingSphere) else (other, 0.0)
        offsets = np.atleast_2d(np.asarray(points, dtype=np.float64)) - self.center
        furthest_m = float(np.linalg.norm(offsets, axis=1).max(initial=0.0))
        return furthest_m + radius_m <= self.radius_m + tolerance_m

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundingSphere):
            return NotImplemented
        return self.radius_m == other.radius_m and bool((self.center == other.center).all())

    def __hash__(self) -> int:
        return hash((*self.center.tolist(), self.radius_m))

    def __reduce__(self) -> tuple[object, ...]:
        return BoundingSphere, (self.center, self.radius_m)

    def __repr__(self) -> str:
        return f"BoundingSphere(center={_text(self.center)}, radius_m={self.radius_m:g})"


@dataclass(frozen=True, slots=True, eq=False)
class BoundingBox:
    """A box along the axes of a frame that contains something.

    Attributes:
        low: Its least x, y and z [m], shape (3,), read-only.
        high: Its largest x, y and z [m], shape (3,), read-only.
    """

    low: Floats
    high: Floats

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        object.__setattr__(self, "low", _locked_vector(low, "The low corner of a box"))
        object.__setattr__(self, "high", _locked_vector(high, "The high corner of a box"))
        if (self.low > self.high).any():
            raise InvalidShape(f"The low corner {_text(self.low)} is beyond the high one. Swap the two.", low)

    @property
    def center(self) -> Floats:
        """The centre of the box, shape (3,) [m]."""
        middle: Floats = (self.low + self.high) / 2.0
        return middle

    @property
    def half_size(self) -> Floats:
        """From the centre to each of its faces [m], shape (3,)."""
        half: Floats = (self.high - self.low) / 2.0
        return half

    def moved(self, transform: Transform) -> BoundingBox:
        """The box along the axes of another frame that contains this one: `transform` is `other_T_this`."""
        center, half = transform @ self.center, np.abs(transform.rotation.matrix) @ self.half_size
        return BoundingBox(center - half, center + half)

    def contains(self, points: ArrayLike, *, tolerance_m: float = CLOSE_M) -> bool:
        """Whether a point, or all points of shape (N, 3), are inside or stick out by at most `tolerance_m`."""
        array = np.asarray(points, dtype=np.float64)
        return bool(((array >= self.low - tolerance_m) & (array <= self.high + tolerance_m)).all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundingBox):
            return NotImplemented
        return bool((self.low == other.low).all() and (self.high == other.high).all())

    def __hash__(self) -> int:
        return hash((*self.low.tolist(), *self.high.tolist()))

    def __reduce__(self) -> tuple[object, ...]:
        return BoundingBox, (self.low, self.high)

    def __repr__(self) -> str:
        return f"BoundingBox(low={_text(self.low)}, high={_text(self.high)})"


def _text(vector: Floats) -> str:
    return f"({', '.join(f'{number:g}' for number in vector.tolist())})"


def enclosing_sphere(centers: Floats, radii_m: Floats) -> tuple[Floats, float]:
    """Centre and radius of a sphere that contains all of these spheres, of which there is at least one.

    It is a few per cent larger than the smallest one. Takes time in proportion to the number of spheres.
    """
    chosen = _outermost(centers, radii_m)
    for _ in range(_ROUNDS):
        center = _center(centers[chosen], radii_m[chosen])
        reach_m = _reaches_m(center, centers, radii_m)
        furthest = int(np.argmax(reach_m))
        if furthest in chosen:
            break
        chosen = np.append(chosen, furthest)
    size = float(np.abs(center).max()) + float(reach_m[furthest])
    return center, float(reach_m[furthest]) + _ROUNDING * size


def _outermost(centers: Floats, radii_m: Floats) -> NDArray[np.intp]:
    """The rows that reach furthest in some direction: the smallest sphere around these is almost that around all."""
    if len(centers) <= _FEW:
        return np.arange(len(centers))
    along = centers @ _OUTWARD.T
    reach = radii_m[:, None]
    return np.unique(np.concatenate([np.argmax(along + reach, axis=0), np.argmin(along - reach, axis=0)]))


def _center(centers: Floats, radii_m: Floats) -> Floats:
    """The centre after steps towards the furthest sphere, each shorter than the last (Badoiu and Clarkson, 2003)."""
    low, high = (centers - radii_m[:, None]).min(axis=0), (centers + radii_m[:, None]).max(axis=0)
    center: Floats = (low + high) / 2.0
    best = center
    smallest_m = np.inf
    for step in range(_STEPS):
        reach_m = _reaches_m(center, centers, radii_m)
        furthest = int(np.argmax(reach_m))
        if reach_m[furthest] < smallest_m:
            smallest_m, best = reach_m[furthest], center
        if len(centers) == 1 or reach_m[furthest] <= radii_m[furthest]:
            break
        towards = centers[furthest] - center
        far_point = centers[furthest] + towards * (radii_m[furthest] / (reach_m[furthest] - radii_m[furthest]))
        center = center + (far_point - center) / (step + 4)
    return best


def _reaches_m(center: Floats, centers: Floats, radii_m: Floats) -> Floats:
    offsets = centers - center
    reaches: Floats = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) + radii_m
    return reaches
