"""Flat faces of shapes, and the order in which they are painted.

Large faces split the others at their planes (binary space partitioning: Fuchs, Kedem and Naylor, "On visible surface
generation by a priori tree structures", 1980), and a face that crosses a plane is cut. Small faces are sorted by depth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from armillary.scene import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere, VoxelGrid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import float64
    from numpy.typing import NDArray

    Face = NDArray[float64]
    from collections.abc import Iterable

    from numpy import float64
    from numpy.typing import NDArray


_SIDES = 20
_RINGS = 10
_AROUND = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
_THIN = 1e-9  # [m]: a corner closer to a plane lies in it


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


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Flat convex piece of a surface that faces the viewer, or a single point.

    Attributes:
        corners: (K, 3) [m], counter-clockwise seen from the viewer.
        color: Colour as `#rrggbb`.
        opacity: From 0 to 1.
    """

    corners: NDArray[float64]
    color: str
    opacity: float

    @property
    def extent_m(self) -> float:
        """Longest side of the bounding box."""
        return float(np.ptp(self.corners, axis=0).max())


def normal_of(corners: NDArray[float64]) -> NDArray[float64]:
    """Return the unit normal of a face by Newell's method, which allows corners that coincide."""
    normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(normal)
    return np.asarray(normal / length if length > 0.0 else normal)


def back_to_front(pieces: Iterable[Piece], eye: NDArray[float64], small_m: float) -> list[Piece]:
    """Sort pieces by depth along the direction `eye` to the viewer; cut intersecting ones larger than `small_m`."""
    waiting, painted = [(False, list(pieces))], []
    while waiting:
        is_ordered, group = waiting.pop()
        widest = None if is_ordered else max(group, key=lambda piece: piece.extent_m, default=None)
        if widest is None or widest.extent_m <= small_m:
            painted += group if is_ordered else sorted(group, key=lambda piece: float((piece.corners @ eye).mean()))
            continue
        behind, within, before = _split(group, widest, small_m)
        waiting += [(False, before), (True, within), (False, behind)]
    return painted


def _split(group: list[Piece], splitter: Piece, small_m: float) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Split a group at the plane of one of its pieces: pieces behind the plane, in it, and in front of it."""
    normal = normal_of(splitter.corners)
    offset, thin_m = float(normal @ splitter.corners[0]), _THIN + 1e-6 * splitter.extent_m
    behind, within, before = [], [], []
    for piece in group:
        heights = piece.corners @ normal - offset
        low, high = heights.min(), heights.max()
        if piece is splitter or (low >= -thin_m and high <= thin_m):
            within.append(piece)
        elif low >= -thin_m or (high > thin_m and piece.extent_m <= small_m and heights.mean() > 0.0):
            before.append(piece)
        elif high <= thin_m or piece.extent_m <= small_m:
            behind.append(piece)
        else:
            before.append(_cut(piece, heights))
            behind.append(_cut(piece, -heights))
    return behind, within, before


def _cut(piece: Piece, heights: NDArray[float64]) -> Piece:
    """Return the part of a piece whose heights are positive."""
    kept = []
    for i, (corner, height) in enumerate(zip(piece.corners, heights, strict=True)):
        before, height_before = piece.corners[i - 1], heights[i - 1]
        if (height > 0.0) != (height_before > 0.0):
            kept.append(before + (corner - before) * height_before / (height_before - height))
        if height > 0.0:
            kept.append(corner)
    return replace(piece, corners=np.array(kept))
