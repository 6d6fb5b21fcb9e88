"""Newton's method on the residual of a kinematic loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armillary._core import close_loop_rows
from armillary.articulation.geometry import stack
from armillary.errors import LoopError, NotGrounded, SingularLoop, UnreachableLoop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from armillary.articulation.compiled import Compiled
    from armillary.articulation.expressions import VectorExpression
    from armillary.articulation.variables import Variable

    Array = NDArray[np.float64]

__all__ = ["LoopSolver"]

CLOSED = 1e-9
_EXACT = 1e-14
_STEPS = 100
_HALVINGS = 30
_SINGULAR = 1e-7


class LoopSolver:
    """Finds the dependents of a kinematic loop for values of its drivers.

    Every solution is the start of the next search, so that a loop stays on its branch while its drivers move; give
    `start` to begin elsewhere.
    """

    def __init__(
        self,
        residual: VectorExpression,
        drivers: Sequence[Variable],
        dependents: Sequence[Variable],
        start: Mapping[Variable, float],
    ) -> None:
        self.drivers, self.dependents = tuple(drivers), tuple(dependents)
        order = [*self.drivers, *self.dependents]
        self._rows = len(residual)
        slope = residual.jacobian(self.dependents)
        self._residual = residual
        self._along_drivers: Compiled | None = None
        self._evaluate = stack([residual, *(slope[row] for row in range(self._rows))]).compile(order=order)
        self._last = np.array([start[variable] for variable in self.dependents])

    def __repr__(self) -> str:
        found, given = (", ".join(map(str, some)) for some in (self.dependents, self.drivers))
        return f"LoopSolver({found} from {given})"

    def solve(
        self, drivers: Mapping[Variable, float], *, start: Mapping[Variable, float] | None = None
    ) -> dict[Variable, float]:
        """Return the value of each dependent.

        Raises:
            UnreachableLoop: The parts do not reach each other.
            SingularLoop: The drivers do not determine the dependents there.
        """
        given = self._driver_values(drivers)
        begin = self._last if start is None else self._dependent_values(start)
        found = self._solved(given, begin)
        self._last = found
        return dict(zip(self.dependents, map(float, found), strict=True))

    def solve_rows(self, drivers: Array, *, start: Mapping[Variable, float] | None = None) -> Array:
        """Solve for many values of the drivers, each search beginning where the one before ended.

        Args:
            drivers: (N, d), in the order of `drivers`.
            start: Where the search for the first row begins.

        Returns:
            (N, k), in the order of `dependents`.

        Raises:
            LoopError: With the first row in which the loop cannot be closed.
        """
        count = len(self.drivers)
        rows = np.empty((1 + len(drivers), count + len(self.dependents)))  # the first row is the start of the search
        rows[1:, :count] = drivers
        rows[0, count:] = self._last if start is None else self._dependent_values(start)
        done = 1
        while done < len(rows):
            rows[done, count:] = rows[done - 1, count:]
            done += close_loop_rows(self._evaluate.tape, self._rows, rows[done:])
            if done < len(rows):  # whole Newton steps diverge there
                rows[done, count:] = self._solved_row(done - 1, rows[done, :count], rows[done - 1, count:])
                done += 1
        self._last = rows[-1, count:].copy()
        return rows[1:, count:].copy()

    def _solved_row(self, row: int, given: Array, begin: Array) -> Array:
        try:
            return self._solved(given, begin)
        except LoopError as error:
            error.row = row
            raise

    def rates(
        self,
        drivers: Mapping[Variable, float],
        dependents: Mapping[Variable, float],
        velocities: Mapping[Variable, float],
    ) -> dict[Variable, float]:
        """Return the velocities of the dependents from those of the drivers."""
        if self._along_drivers is None:
            along = self._residual.jacobian(self.drivers)
            self._along_drivers = along.compile(order=[*self.drivers, *self.dependents])
        given, found = self._driver_values(drivers), self._dependent_values(dependents)
        _, slope = self._at(given, found)
        pull = self._along_drivers(np.concatenate([given, found])) @ self._driver_values(velocities)
        rates = np.linalg.lstsq(slope, -pull, rcond=1e-12)[0]
        return dict(zip(self.dependents, map(float, rates), strict=True))

    def _dependent_values(self, start: Mapping[Variable, float]) -> Array:
        return np.array([float(start[variable]) for variable in self.dependents])

    def _driver_values(self, drivers: Mapping[Variable, float]) -> Array:
        missing = [str(variable) for variable in self.drivers if variable not in drivers]
        if missing:
            raise NotGrounded(missing)
        return np.array([float(drivers[variable]) for variable in self.drivers])

    def _solved(self, given: Array, dependents: Array) -> Array:
        residual, slope = self._at(given, dependents)
        for _ in range(_STEPS):
            if np.abs(residual).max() <= _EXACT:
                break
            better = self._step(given, dependents, residual, slope)
            if better is None:
                break
            dependents, residual, slope = better
        self._check(given, residual, slope)
        return dependents

    def _step(
        self, given: Array, dependents: Array, residual: Array, slope: Array
    ) -> tuple[Array, Array, Array] | None:
        """Return the Newton step, halved until the residual becomes smaller; None where it never does."""
        towards = np.linalg.lstsq(slope, residual, rcond=1e-12)[0]
        for halving in range(_HALVINGS):
            tried = dependents - towards * 0.5**halving
            after, there = self._at(given, tried)
            if np.linalg.norm(after) < np.linalg.norm(residual):
                return tried, after, there
        return None

    def _at(self, given: Array, dependents: Array) -> tuple[Array, Array]:
        both = self._evaluate(np.concatenate([given, dependents]))
        return both[: self._rows], both[self._rows :].reshape(self._rows, len(self.dependents))

    def _check(self, given: Array, residual: Array, slope: Array) -> None:
        names = {variable.name: float(value) for variable, value in zip(self.drivers, given, strict=True)}
        size = float(np.abs(residual).max())
        if not size <= CLOSED:
            raise UnreachableLoop(names, size, CLOSED)
        strengths = np.linalg.svd(slope, compute_uv=False)
        determined = int(np.sum(strengths > _SINGULAR * max(strengths.max(), 1.0)))
        if determined < len(self.dependents):
            raise SingularLoop(names, determined, len(self.dependents))
