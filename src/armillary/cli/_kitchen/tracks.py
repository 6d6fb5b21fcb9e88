"""Numbers that change over the ten seconds of the story: still, or smoothly from one value to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

LENGTH_S = 10.0
STEP_S = 0.01
PHASES_S = np.arange(0.0, LENGTH_S + STEP_S / 2, STEP_S)


def smooth(phases_s: ArrayLike, begin_s: float, end_s: float) -> NDArray[float64]:
    """From 0 to 1 while the phase runs through an interval, beginning and ending at rest."""
    share = np.clip((np.asarray(phases_s, dtype=float) - begin_s) / (end_s - begin_s), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def track(*knots: tuple[float, ArrayLike]) -> NDArray[float64]:
    """(N, ...): at every phase, from knot (phase, value) to knot, at rest in each."""
    values = [np.asarray(value, dtype=float) for _, value in knots]
    result = np.broadcast_to(values[0], (len(PHASES_S), *values[0].shape)).copy()
    for (begin_s, _), (end_s, _), before, after in zip(knots, knots[1:], values, values[1:], strict=False):
        share = smooth(PHASES_S, begin_s, end_s).reshape(-1, *[1] * before.ndim)
        result += share * (after - before)
    return result


def at(phase_s: float, table: NDArray[float64]) -> NDArray[float64]:
    """One row of a table over all phases, between two of its rows where need be."""
    place = min(max(phase_s / STEP_S, 0.0), len(table) - 1.0)
    row = min(int(place), len(table) - 2)
    return np.asarray(table[row] + (place - row) * (table[row + 1] - table[row]))


def rates(table: NDArray[float64]) -> NDArray[float64]:
    """How fast a table changes, per second."""
    return np.asarray(np.gradient(table, STEP_S, axis=0))


def columns(names: Sequence[str], table: NDArray[float64]) -> dict[str, NDArray[float64]]:
    """The columns of a table by name."""
    return dict(zip(names, table.T, strict=True))
