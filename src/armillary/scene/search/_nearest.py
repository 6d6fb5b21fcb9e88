"""How far a shape is from a point."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr
from armillary.shapes import Sphere

if TYPE_CHECKING:
    from armillary.shapes import Shape
    from armillary.transforms import Transform

__all__ = ["check_nearest", "distance_to"]

_EXACT_M = 1e-7
_SMALLEST_M = 1e-9


def distance_to(shape: Shape, point_T_shape: Transform, within_m: float) -> float:
    """Return the distance of a shape from the origin, by spheres that meet it or not; `within_m` is one that does.

    Every shape answers whether it meets a sphere, and a sphere of radius r is met where the distance is at most r.
    """
    if Sphere(_SMALLEST_M).overlaps(shape, this_T_other=point_T_shape):
        return 0.0
    apart_m, met_m = 0.0, within_m
    while met_m - apart_m > max(_EXACT_M, 1e-12 * met_m):
        middle_m = 0.5 * (apart_m + met_m)
        if Sphere(middle_m).overlaps(shape, this_T_other=point_T_shape):
            met_m = middle_m
        else:
            apart_m = middle_m
    return met_m


def check_nearest(count: int, max_m: float) -> None:
    """Raise InvalidArgument for a number of nodes, or a range, that is none."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidArgument(f"count is how many nodes are wanted, at least 1; got {short_repr(count)}.", count)
    if not isinstance(max_m, Real) or isinstance(max_m, bool) or not max_m > 0.0:
        raise InvalidArgument(f"max_m is a distance in metres above zero; got {short_repr(max_m)}.", max_m)
