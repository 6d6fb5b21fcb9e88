"""Points among points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAMPLE = 64


def coincide(points: Floats, others: Floats, within_m: float) -> NDArray[np.bool_]:
    """Which of the points have one of the others so near."""
    order = np.argsort(others[:, 0], kind="stable")
    sorted_x = others[order, 0]
    first = np.searchsorted(sorted_x, points[:, 0] - within_m, side="left")
    last = np.searchsorted(sorted_x, points[:, 0] + within_m, side="right")
    found = np.zeros(len(points), dtype=np.bool_)
    for row in np.flatnonzero(last > first).tolist():
        near = others[order[first[row] : last[row]]]
        found[row] = bool((np.linalg.norm(near - points[row], axis=1) <= within_m).any())
    return found


def typical_spacing_m(points: Floats) -> float:
    """The median distance to the nearest other point, over a sample spread through the array; 0 for fewer than two."""
    if len(points) < 2:  # noqa: PLR2004
        return 0.0
    rows = np.unique(np.linspace(0, len(points) - 1, _SAMPLE).astype(np.intp))
    return float(np.median([_nearest_other_m(points, row) for row in rows.tolist()]))


def _nearest_other_m(points: Floats, row: int) -> float:
    offsets = points - points[row]
    squares = np.einsum("ij,ij->i", offsets, offsets)
    squares[row] = np.inf
    return float(np.sqrt(squares.min()))
