"""Flat faces and points of shapes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from armillary.scene import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere, VoxelGrid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import float64
    from numpy.typing import NDArray

    Face = NDArray[float64]


_SIDES = 20
_RINGS = 10
_AROUND = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)


def faces_of(shape: Shape) -> Iterator[Face]:
    """Yield the faces of a shape, each (K, 3) [m], counter-clockwise seen from outside; points and voxels have none."""
    match shape:
        case Box(size_m=size_m):
            yield from _box(np.array(size_m))
        case Sphere(radius_m=radius_m):
            yield from _sphere(radius_m, 0.0)
        case Cylinder(radius_m=radius_m, length_m=length_m):
            yield from _cylinder_side(radius_m, length_m)
            yield from _cylinder_caps(radius_m, length_m)
        case Capsule(radius_m=radius_m, length_m=length_m):
            yield from _cylinder_side(radius_m, length_m)
            yield from _sphere(radius_m, length_m)
        case Mesh():
            yield from np.asarray(shape.vertices, dtype=float)[np.asarray(shape.triangles)]


def triangles_of(shape: Shape) -> NDArray[float64]:
    """Return the faces of a shape as triangles, shape (N, 3, 3) [m]."""
    if isinstance(shape, Mesh):
        return np.asarray(np.asarray(shape.vertices, dtype=float)[np.asarray(shape.triangles).reshape(-1, 3)])
    fans = [
        np.stack([np.broadcast_to(face[0], face[2:].shape), face[1:-1], face[2:]], axis=1) for face in faces_of(shape)
    ]
    return np.concatenate(fans) if fans else np.zeros((0, 3, 3))


def points_of(shape: Shape) -> NDArray[float64]:
    """Return the points of a cloud, or the centres of occupied voxels, shape (N, 3) [m]."""
    match shape:
        case PointCloud():
            return np.asarray(shape.points, dtype=float)
        case VoxelGrid():
            cells = np.argwhere(shape.occupied)
            return np.asarray(np.asarray(shape.origin) + (cells + 0.5) * shape.voxel_size_m)
    return np.zeros((0, 3))


def _box(size: NDArray[float64]) -> Iterator[Face]:
    around = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    for axis, sign in product(range(3), (-0.5, 0.5)):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        face = np.empty((4, 3))
        face[:, axis] = sign * size[axis]
        face[:, [u, v]] = (around if sign > 0 else around[::-1]) * size[[u, v]]
        yield face


def _cylinder_side(radius_m: float, length_m: float) -> Iterator[Face]:
    outline = radius_m * np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=1)
    low, high = (np.column_stack([outline, np.full(len(outline), z)]) for z in (-length_m / 2, length_m / 2))
    for i in range(_SIDES):
        yield np.array([low[i], low[i + 1], high[i + 1], high[i]])


def _cylinder_caps(radius_m: float, length_m: float) -> Iterator[Face]:
    outline = radius_m * np.stack([np.cos(_AROUND[:-1]), np.sin(_AROUND[:-1])], axis=1)
    yield np.column_stack([outline, np.full(_SIDES, length_m / 2)])
    yield np.column_stack([outline, np.full(_SIDES, -length_m / 2)])[::-1]


def _sphere(radius_m: float, apart_m: float) -> Iterator[Face]:
    """Yield the faces of two half spheres whose centres are `apart_m` from each other along z."""
    polar = np.linspace(0.0, np.pi, _RINGS + 1)
    lift = np.where(polar <= np.pi / 2, apart_m / 2, -apart_m / 2)
    z, radii = radius_m * np.cos(polar) + lift, radius_m * np.sin(polar)
    for i, k in product(range(_RINGS), range(_SIDES)):
        corners = ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1))
        yield np.array([(radii[a] * np.cos(_AROUND[b]), radii[a] * np.sin(_AROUND[b]), z[a]) for a, b in corners])
