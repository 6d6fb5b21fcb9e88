"""Many spheres, packed into boxes of boxes, so that a search looks at few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from armillary.scene._probes import Probe

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_WIDTH = 8
_BITS = 16
_SPREAD = ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3),
           (2, 0x1249249249249249))  # fmt: skip


class PackedTree:
    """Spheres in the order of a space-filling curve; each level has a box around every eight of the level below.

    Building takes time in proportion to n log n, a search to the number of spheres it finds and to log n.
    """

    def __init__(self, centers: Floats, radii_m: Floats) -> None:
        self._order = _along_curve(centers) if len(centers) > _WIDTH else np.arange(len(centers))
        self._centers, self._radii_m = centers[self._order], radii_m[self._order]
        self._levels = _levels(self._centers, self._radii_m)

    def __len__(self) -> int:
        return len(self._order)

    def search(self, probe: Probe) -> tuple[list[int], int]:
        """The rows of the spheres that the probe meets, ascending, and how many spheres were tested."""
        candidates: Rows = np.arange(len(self._levels[-1][0]) if self._levels else len(self))
        for level in range(len(self._levels) - 1, -1, -1):
            low, high = self._levels[level]
            met = candidates[probe.meets_boxes(low[candidates], high[candidates])]
            size = len(self._levels[level - 1][0]) if level else len(self)
            candidates = _opened(met, size)
        hit = probe.meets_spheres(self._centers[candidates], self._radii_m[candidates])
        return np.sort(self._order[candidates[hit]]).tolist(), len(candidates)


def _opened(boxes: Rows, size: int) -> Rows:
    rows = (boxes[:, None] * _WIDTH + np.arange(_WIDTH)).reshape(-1)
    return rows[rows < size]


def _levels(centers: Floats, radii_m: Floats) -> list[tuple[Floats, Floats]]:
    low, high = centers - radii_m[:, None], centers + radii_m[:, None]
    levels = []
    while len(low) > _WIDTH:
        first = np.arange(0, len(low), _WIDTH)
        low, high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
        levels.append((low, high))
    return levels


def _along_curve(centers: Floats) -> Rows:
    """The order in which a Morton curve passes the centres."""
    low, high = centers.min(axis=0), centers.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    cells = ((centers - low) / extent * (2**_BITS - 1)).astype(np.uint64)
    codes = sum(_spread(cells[:, axis]) << np.uint64(axis) for axis in range(3))
    return np.argsort(codes, kind="stable")


def _spread(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Two empty bits between each two."""
    for shift, mask in _SPREAD:
        numbers = (numbers | (numbers << np.uint64(shift))) & np.uint64(mask)
    return numbers
