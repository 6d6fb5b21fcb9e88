"""Triangles of a unit box, ball and pillar, and of three axes: everything solid is one of them, stretched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["Triangles", "axes_cross", "unit_ball", "unit_box", "unit_pillar"]

_SIDES = 32
_RINGS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """A surface.

    Attributes:
        vertices: (V, 3) [m].
        faces: (F, 3) rows of `vertices`, counter-clockwise seen from outside.
    """

    vertices: NDArray[float64]
    faces: NDArray[int64]


@cache
def unit_box() -> Triangles:
    """Edges of length 1 around the origin. Each face has corners of its own, so that its edges are sharp."""
    corners: list[NDArray[float64]] = []
    faces: list[tuple[int, int, int]] = []
    for axis, sign in product(range(3), (-1.0, 1.0)):
        first = len(corners)
        around = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
        corners += [np.roll((sign / 2, u, v), axis) for u, v in (around if sign > 0 else around[::-1])]
        faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Triangles(np.array(corners), np.array(faces))


@cache
def unit_ball() -> Triangles:
    """Of radius 1 around the origin."""
    polar = np.linspace(0.0, np.pi, _RINGS + 1)
    heights, radii = np.cos(polar), np.sin(polar)
    rings = [_ring(radius, height) for radius, height in zip(radii, heights, strict=True)]
    return Triangles(np.concatenate(rings), np.concatenate([_band(i) for i in range(_RINGS)]))


@cache
def unit_pillar() -> Triangles:
    """Of radius 1 and length 1 around the origin, along z, with sharp rims."""
    low, high = _ring(1.0, -0.5), _ring(1.0, 0.5)
    ends = np.array([(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)])
    i = np.arange(_SIDES)
    after = (i + 1) % _SIDES
    top, bottom = 2 * _SIDES + i, 3 * _SIDES + i
    upper, lower = np.full(_SIDES, 4 * _SIDES), np.full(_SIDES, 4 * _SIDES + 1)
    lids = [
        np.stack([upper, top, 2 * _SIDES + after], axis=1),
        np.stack([lower, 3 * _SIDES + after, bottom], axis=1),
    ]
    return Triangles(np.concatenate([high, low, high, low, ends]), np.concatenate([_band(0), *lids]))


@cache
def axes_cross() -> Triangles:
    """Three arms of length 1 along x, y and z, to be drawn in one colour."""
    box = unit_box()
    along = np.eye(3)
    arms = [box.vertices * np.where(axis == 1.0, 1.0, 0.09) + axis / 2.0 for axis in along]
    faces = [box.faces + i * len(box.vertices) for i in range(3)]
    return Triangles(np.concatenate(arms), np.concatenate(faces))


def _ring(radius: float, height: float) -> NDArray[float64]:
    angles = np.linspace(0.0, 2 * np.pi, _SIDES, endpoint=False)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(_SIDES, height)], axis=1)


def _band(ring: int) -> NDArray[int64]:
    """Between a ring and the one below it."""
    i = np.arange(_SIDES)
    upper, lower, after = ring * _SIDES, (ring + 1) * _SIDES, (i + 1) % _SIDES
    halves = ((upper + i, lower + i, lower + after), (upper + i, lower + after, upper + after))
    return np.concatenate([np.stack(half, axis=1) for half in halves])
