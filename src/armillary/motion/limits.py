"""The constraints of a model in the form of the QP: bounds of single controls, and rows of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.constraint_set import ConstraintSet

    Array = NDArray[np.float64]

__all__ = ["Limits"]


class Limits:
    """A compiled constraint set, of which each row on one control alone is folded into the bounds of that control.

    Where a position is beyond its limits, it may come back as fast as its velocity limits allow: the bounds never
    contradict each other for that reason. A row of several controls that is broken may not become worse, and is
    listed in `broken`, so that the controller can lead it back.

    Attributes:
        names: The names of the rows of several controls.
        lower: (n,) of the controls.
        upper: (n,) likewise.
        row_lower: (m,) of the rows of several controls.
        row_upper: (m,) likewise.
        broken: (m,) the rate at which each of these rows comes back; 0 where it is kept.
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        self._set = constraints
        width = len(constraints.controls)
        is_alone, is_position = constraints.alone >= 0, constraints.is_position
        self._velocities = _Folded(constraints, np.flatnonzero(is_alone & ~is_position), width)
        self._positions = _Folded(constraints, np.flatnonzero(is_alone & is_position), width)
        self._several = np.flatnonzero(~is_alone)
        self._are_positions = is_position[self._several]
        self.names = tuple(constraints.names[i] for i in self._several)
        self.lower, self.upper = np.full(width, -np.inf), np.full(width, np.inf)
        self.row_lower, self.row_upper = np.zeros(len(self._several)), np.zeros(len(self._several))
        self.broken = np.zeros(len(self._several))

    def update(self, configuration: Mapping[Any, float]) -> None:
        """Write all arrays anew."""
        self._set.update(configuration)
        lower, upper = self._velocities.bounds()
        if self._positions.is_empty:
            self.lower[:], self.upper[:] = lower, upper
        else:
            self._within(lower, upper, *self._positions.bounds())
        if len(self._several):
            self._update_rows()

    def _within(self, lower: Array, upper: Array, low: Array, high: Array) -> None:
        """Take what positions allow, as far as velocities can."""
        np.maximum(np.minimum(low, upper), lower, out=self.lower)
        np.minimum(np.maximum(high, lower), upper, out=self.upper)

    def rows(self) -> Array:
        """Return the rows of several controls."""
        return self._set.matrix[self._several]

    def _update_rows(self) -> None:
        lower, upper = self._set.lower[self._several], self._set.upper[self._several]
        self.broken[:] = np.where(self._are_positions, np.maximum(lower, 0.0) + np.minimum(upper, 0.0), 0.0)
        self.row_lower[:] = np.where(self._are_positions, np.minimum(lower, 0.0), lower)
        self.row_upper[:] = np.where(self._are_positions, np.maximum(upper, 0.0), upper)


class _Folded:
    """Rows on one control each, as bounds of the controls."""

    def __init__(self, constraints: ConstraintSet, rows: NDArray[np.intp], width: int) -> None:
        columns = constraints.alone[rows]
        by_column = np.argsort(columns, kind="stable")
        self._rows = rows[by_column]
        self._set = constraints
        sorted_columns = columns[by_column]
        self._columns, self._begin = np.unique(sorted_columns, return_index=True)
        coefficients = constraints.matrix[self._rows, sorted_columns]
        self._scale, self._is_turned = 1.0 / coefficients, coefficients < 0.0
        self._is_plain = bool(np.all(coefficients == 1.0))
        self._is_single = len(self._columns) == len(self._rows)
        self._is_known = False
        self._is_constant = constraints.are_constant(self._rows)
        self.is_empty = not len(self._rows)
        self._lower, self._upper = np.full(width, -np.inf), np.full(width, np.inf)

    def bounds(self) -> tuple[Array, Array]:
        """Return the intervals of all controls: for each that of its rows together."""
        if self.is_empty or self._is_known:
            return self._lower, self._upper
        self._is_known = self._is_constant
        if not self.is_empty:
            lower, upper = self._set.lower[self._rows], self._set.upper[self._rows]
            if not self._is_plain:
                lower, upper = lower * self._scale, upper * self._scale
                lower, upper = np.where(self._is_turned, upper, lower), np.where(self._is_turned, lower, upper)
            if not self._is_single:
                lower, upper = np.maximum.reduceat(lower, self._begin), np.minimum.reduceat(upper, self._begin)
            self._lower[self._columns], self._upper[self._columns] = lower, upper
        return self._lower, self._upper
