"""How far two shapes are from each other; by the spheres around them where coal or a surface is missing."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.collision.distance import Distance
from armillary.collision.solids import Piece, coal_module, is_installed, pieces_of
from armillary.errors import InvalidShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.shapes import Shape

    Floats = NDArray[np.float64]

__all__ = ["PlacedShape", "distance_between", "least_distance_m"]


class PlacedShape:
    """A shape somewhere.

    Attributes:
        name: Whose it is.
        shape: The shape.
        matrix: Its pose, (4, 4).
        center: Of the sphere around it, (3,), where it is.
        radius_m: Of that sphere.
    """

    def __init__(self, name: Hashable, shape: Shape, matrix: Floats) -> None:
        self.name, self.shape, self.matrix = name, shape, matrix
        sphere = shape.bounding_sphere()
        if sphere is None:
            raise InvalidShape(f"A {type(shape).__name__} with nothing in it is nowhere. Leave it out.", shape)
        self.center = matrix[:3, :3] @ np.asarray(sphere.center) + matrix[:3, 3]
        self.radius_m = float(sphere.radius_m)


def least_distance_m(a: PlacedShape, b: PlacedShape) -> float:
    """Return a distance that two shapes have at least, by the spheres around them."""
    return float(np.linalg.norm(b.center - a.center)) - a.radius_m - b.radius_m


def distance_between(a: PlacedShape, b: PlacedShape) -> Distance:
    """Return the distance of two shapes; a bound, and marked so, where it cannot be known exactly."""
    one, other = _pieces(a.shape), _pieces(b.shape)
    if one is None or other is None:
        return _by_spheres(a, b)
    coal = coal_module()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    placed = [coal.Transform3s(x.matrix[:3, :3].copy(), x.matrix[:3, 3].copy()) for x in (a, b)]
    found: Distance | None = None
    for first in one:
        for second in other:
            result.clear()
            distance_m = coal.distance(first.geometry, placed[0], second.geometry, placed[1], request, result)
            if found is None or distance_m < found.distance_m:
                points = result.getNearestPoint1().copy(), result.getNearestPoint2().copy()
                is_bound = distance_m <= 0.0 and not (first.is_convex and second.is_convex)
                found = Distance(a.name, b.name, distance_m, *points, result.normal.copy(), is_bound)
    return _by_spheres(a, b) if found is None else _inside(found, a, b)


def _inside(found: Distance, a: PlacedShape, b: PlacedShape) -> Distance:
    """Return the distance as it is where one shape is within the surface of another that is no convex solid."""
    if found.distance_m <= 0.0:
        return found
    for own, point in ((a, found.point_b), (b, found.point_a)):
        local = (point - own.matrix[:3, 3]) @ own.matrix[:3, :3]
        if not _are_convex(own.shape) and own.shape.contains(local[None])[0]:
            outwards = (found.point_a - found.point_b) / found.distance_m
            return Distance(found.a, found.b, -found.distance_m, found.point_a, found.point_b, outwards, is_bound=True)
    return found


def _are_convex(shape: Shape) -> bool:
    return all(piece.is_convex for piece in _pieces(shape) or ())


def _pieces(shape: Shape) -> tuple[Piece, ...] | None:
    """Return the pieces of a shape; an open mesh is its triangles."""
    if not is_installed():
        return None
    for meshes in ("exact", "surface"):
        try:
            return pieces_of(shape, meshes)
        except InvalidShape:
            continue
    return None


def _by_spheres(a: PlacedShape, b: PlacedShape) -> Distance:
    way = b.center - a.center
    length = float(np.linalg.norm(way))
    normal: Any = way / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    points = a.center + a.radius_m * normal, b.center - b.radius_m * normal
    return Distance(a.name, b.name, length - a.radius_m - b.radius_m, *points, normal, is_bound=True)
