"""The order in which flat pieces are painted so that what is nearer covers what is behind it.

Large pieces part the others at their planes (binary space partitioning: Fuchs, Kedem and Naylor, "On visible surface
generation by a priori tree structures", 1980), and what reaches through a plane is cut. Small ones are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Piece", "back_to_front", "normal_of"]

_THIN = 1e-9  # of the picture: what is so near to a plane lies in it


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A flat convex piece that is seen from its front, or a single point.

    Attributes:
        corners: (K, 3) [m], counter-clockwise seen from the eye.
        color: As `#rrggbb`.
        opacity: From 0 to 1.
    """

    corners: NDArray[float64]
    color: str
    opacity: float

    @property
    def extent_m(self) -> float:
        """Its longest side along x, y or z."""
        return float(np.ptp(self.corners, axis=0).max())


def normal_of(corners: NDArray[float64]) -> NDArray[float64]:
    """Newell's: also of faces with corners that coincide."""
    normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(normal)
    return np.asarray(normal / length if length > 0.0 else normal)


def back_to_front(pieces: Iterable[Piece], eye: NDArray[float64], small_m: float) -> list[Piece]:
    """All of them, seen along parallel rays from where `eye` points to; only those larger than `small_m` are cut."""
    waiting, painted = [(False, list(pieces))], []
    while waiting:
        is_ordered, group = waiting.pop()
        widest = None if is_ordered else max(group, key=lambda piece: piece.extent_m, default=None)
        if widest is None or widest.extent_m <= small_m:
            painted += group if is_ordered else sorted(group, key=lambda piece: float((piece.corners @ eye).mean()))
            continue
        behind, within, before = _parted(group, widest, small_m)
        waiting += [(False, before), (True, within), (False, behind)]
    return painted


def _parted(group: list[Piece], splitter: Piece, small_m: float) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Those behind the plane of one of them, those in it, and those before it."""
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
    """The part whose heights are positive."""
    kept = []
    for i, (corner, height) in enumerate(zip(piece.corners, heights, strict=True)):
        before, height_before = piece.corners[i - 1], heights[i - 1]
        if (height > 0.0) != (height_before > 0.0):
            kept.append(before + (corner - before) * height_before / (height_before - height))
        if height > 0.0:
            kept.append(corner)
    return replace(piece, corners=np.array(kept))
