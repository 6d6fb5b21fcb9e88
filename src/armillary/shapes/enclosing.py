"""A small sphere around many."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 16
_ROUNDS = 4
_FEW = 64
# Rounding in a sum of squares is of this order; growing by it keeps the outermost point inside.
ROUNDING = 1e-12


def _outward() -> Floats:
    """One of each pair of opposite directions to the corners, edges and faces of a cube."""
    directions = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if d > (0.0, 0.0, 0.0)])
    unit: Floats = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return unit


_OUTWARD = _outward()


def enclosing_sphere(centers: Floats, radii_m: Floats) -> tuple[Floats, float]:
    """Centre and radius of a sphere that contains all of these, of which there is at least one.

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
    return center, float(reach_m[furthest]) + ROUNDING * size


def _outermost(centers: Floats, radii_m: Floats) -> NDArray[np.intp]:
    """Rows that reach furthest in some direction: the smallest sphere around these is almost that around all."""
    if len(centers) <= _FEW:
        return np.arange(len(centers))
    along = centers @ _OUTWARD.T
    reach = radii_m[:, None]
    return np.unique(np.concatenate([np.argmax(along + reach, axis=0), np.argmin(along - reach, axis=0)]))


def _center(centers: Floats, radii_m: Floats) -> Floats:
    """Steps towards the furthest sphere, each shorter than the last (Badoiu and Clarkson, 2003)."""
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
