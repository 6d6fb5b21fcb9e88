"""Shapes that a few numbers describe, centred in their frame."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from armillary.errors import InvalidShape
from armillary.shapes._checks import Floats, as_length_m, as_triple
from armillary.shapes._convex import Convex, ConvexCylinder, Hull
from armillary.shapes._shape import TOUCH_M, Shape, as_rows
from armillary.shapes.volumes import BoundingBox, BoundingSphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Span = tuple[float, float]
"""From where to where a ray is inside something, as distances along it."""

_ORIGIN = (0.0, 0.0, 0.0)
_EVERYWHERE: Span = (-math.inf, math.inf)
_NOWHERE: Span = (math.inf, -math.inf)


class _Solid(Shape):
    """A shape of one convex part, centred in its frame."""

    @property
    @abstractmethod
    def _half_size(self) -> tuple[float, float, float]:
        """From the centre to the faces of its bounding box [m]."""

    @property
    @abstractmethod
    def convex(self) -> Convex:
        """Its only convex part."""

    def bounding_box(self) -> BoundingBox:
        half = np.array(self._half_size)
        return BoundingBox(-half, half)

    def convex_parts(self, near: BoundingBox) -> Sequence[Convex]:  # noqa: ARG002
        return (self.convex,)


@dataclass(frozen=True, eq=False)
class Sphere(_Solid):
    """A ball around the origin.

    >>> Sphere(0.5).contains([(0.0, 0.0, 0.5), (0.5, 0.5, 0.0)])
    array([ True, False])
    """

    kind: ClassVar[str] = "sphere"

    radius_m: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius_m", as_length_m(self.radius_m, "The radius of a Sphere"))

    @property
    def _half_size(self) -> tuple[float, float, float]:
        return (self.radius_m,) * 3

    @cached_property
    def convex(self) -> Convex:
        return Hull((_ORIGIN,), self.radius_m)

    def bounding_sphere(self) -> BoundingSphere:
        return BoundingSphere(_ORIGIN, self.radius_m)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = np.linalg.norm(as_rows(points), axis=1) <= self.radius_m + TOUCH_M
        return inside

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        return _entered_m(_within_round(tuple(origin.tolist()), tuple(direction.tolist()), self.radius_m))


@dataclass(frozen=True, eq=False)
class Box(_Solid):
    """A cuboid around the origin, along the axes.

    Attributes:
        size_m: Its whole lengths along x, y and z.

    >>> Box((1.0, 2.0, 3.0)).bounding_box()
    BoundingBox(low=(-0.5, -1, -1.5), high=(0.5, 1, 1.5))
    """

    kind: ClassVar[str] = "box"

    size_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        size_m = as_triple(self.size_m, "The size of a Box")
        if min(size_m) < 0.0:
            raise InvalidShape(f"The size of a Box is {size_m} m. Give lengths that are not below zero.", self.size_m)
        object.__setattr__(self, "size_m", size_m)

    @property
    def _half_size(self) -> tuple[float, float, float]:
        x, y, z = self.size_m
        return x / 2.0, y / 2.0, z / 2.0

    @cached_property
    def convex(self) -> Convex:
        x, y, z = self._half_size
        return Hull(tuple(product((-x, x), (-y, y), (-z, z))), 0.0)

    def bounding_sphere(self) -> BoundingSphere:
        return BoundingSphere(_ORIGIN, float(np.linalg.norm(self._half_size)))

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        is_within = np.abs(as_rows(points)) <= np.array(self._half_size) + TOUCH_M
        return np.asarray(is_within.all(axis=1))

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        axes = zip(origin.tolist(), direction.tolist(), self._half_size, strict=True)
        return _entered_m(*(_between_planes(start, slope, -half, half) for start, slope, half in axes))


@dataclass(frozen=True, eq=False)
class Cylinder(_Solid):
    """A round pillar around the origin, along z; flat at both ends.

    Attributes:
        radius_m: From the axis to the mantle.
        length_m: From one end to the other.
    """

    kind: ClassVar[str] = "cylinder"

    radius_m: float
    length_m: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius_m", as_length_m(self.radius_m, "The radius of a Cylinder"))
        object.__setattr__(self, "length_m", as_length_m(self.length_m, "The length of a Cylinder"))

    @property
    def _half_size(self) -> tuple[float, float, float]:
        return self.radius_m, self.radius_m, self.length_m / 2.0

    @cached_property
    def convex(self) -> Convex:
        return ConvexCylinder(_ORIGIN, (0.0, 0.0, 1.0), self.radius_m, self.length_m / 2.0)

    def bounding_sphere(self) -> BoundingSphere:
        return BoundingSphere(_ORIGIN, float(np.hypot(self.radius_m, self.length_m / 2.0)))

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        rows = as_rows(points)
        is_near_axis = np.hypot(rows[:, 0], rows[:, 1]) <= self.radius_m + TOUCH_M
        inside: NDArray[np.bool_] = is_near_axis & (np.abs(rows[:, 2]) <= self.length_m / 2.0 + TOUCH_M)
        return inside

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        (x, y, z), (dx, dy, dz), half = origin.tolist(), direction.tolist(), self.length_m / 2.0
        return _entered_m(_within_round((x, y), (dx, dy), self.radius_m), _between_planes(z, dz, -half, half))


@dataclass(frozen=True, eq=False)
class Capsule(_Solid):
    """A pillar around the origin, along z, with a half ball on each end.

    Attributes:
        radius_m: The radius of the pillar and of the balls.
        length_m: The length of the pillar; from tip to tip it is `2 * radius_m` longer.
    """

    kind: ClassVar[str] = "capsule"

    radius_m: float
    length_m: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius_m", as_length_m(self.radius_m, "The radius of a Capsule"))
        object.__setattr__(self, "length_m", as_length_m(self.length_m, "The length of a Capsule"))

    @property
    def _half_size(self) -> tuple[float, float, float]:
        return self.radius_m, self.radius_m, self.length_m / 2.0 + self.radius_m

    @cached_property
    def convex(self) -> Convex:
        half = self.length_m / 2.0
        return Hull(((0.0, 0.0, -half), (0.0, 0.0, half)), self.radius_m)

    def bounding_sphere(self) -> BoundingSphere:
        return BoundingSphere(_ORIGIN, self.length_m / 2.0 + self.radius_m)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        rows = as_rows(points)
        beyond = np.maximum(np.abs(rows[:, 2]) - self.length_m / 2.0, 0.0)
        off_axis = np.hypot(rows[:, 0], rows[:, 1])
        inside: NDArray[np.bool_] = np.hypot(off_axis, beyond) <= self.radius_m + TOUCH_M
        return inside

    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        (x, y, z), (dx, dy, dz), half = origin.tolist(), direction.tolist(), self.length_m / 2.0
        pillar = _entered_m(_within_round((x, y), (dx, dy), self.radius_m), _between_planes(z, dz, -half, half))
        balls = (_entered_m(_within_round((x, y, z - end), (dx, dy, dz), self.radius_m)) for end in (-half, half))
        return min(pillar, *balls)


# -- Rays


def _between_planes(start: float, slope: float, low: float, high: float) -> Span:
    """The span of t with low <= start + slope * t <= high."""
    if slope == 0.0:
        return _EVERYWHERE if low <= start <= high else _NOWHERE
    first, last = (low - start) / slope, (high - start) / slope
    return (first, last) if first <= last else (last, first)


def _within_round(offset: tuple[float, ...], direction: tuple[float, ...], radius_m: float) -> Span:
    """The span of t with |offset + direction * t| <= radius: a ball has three numbers each, a pillar two."""
    length = math.hypot(*direction)  # a sum of squares would vanish for a direction that does not
    if length == 0.0:
        return _EVERYWHERE if math.hypot(*offset) <= radius_m else _NOWHERE
    unit = tuple(d / length for d in direction)
    nearest_m = -sum(o * d for o, d in zip(offset, unit, strict=True))
    miss_m = math.hypot(*(o + d * nearest_m for o, d in zip(offset, unit, strict=True)))
    if miss_m > radius_m:
        return _NOWHERE
    half_m = math.sqrt((radius_m - miss_m) * (radius_m + miss_m))
    return (nearest_m - half_m) / length, (nearest_m + half_m) / length


def _entered_m(*spans: Span) -> float:
    """The distance at which a ray first is within all of these spans at once; infinity where it never is."""
    first = max(0.0, *(span[0] for span in spans))
    last = min(span[1] for span in spans)
    return first if first <= last else math.inf
