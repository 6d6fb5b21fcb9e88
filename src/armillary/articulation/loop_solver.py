"""Closing a kinematic loop: on the branch that it is on, while its drivers move."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import follow_loop_rows
from armillary.articulation.geometry import stack
from armillary.articulation.variables import as_numbers
from armillary.errors import LoopBranchUncertain, LoopError, NotGrounded, SingularLoop, UnreachableLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from armillary.articulation.compiled import Compiled
    from armillary.articulation.expressions import VectorExpression
    from armillary.articulation.variables import Numbers, Variable

    Array = NDArray[np.float64]

__all__ = ["LoopSolver"]

CLOSED = 1e-9
_EXACT = 1e-14
_STEPS = 100
_HALVINGS = 30
_SINGULAR = 1e-7
_END, _NEAR_END = 1e-3, 0.05


class LoopSolver:
    """Finds the dependents of a kinematic loop for values of its drivers.

    A loop may be assembled in several ways. Each solution is followed from the last one, along the straight way between
    the drivers, in steps small enough to stay on its branch. The first is followed from where all drivers are zero;
    `start` chooses the branch there. Where branches meet on the way, or the parts do not reach each other between, the
    warning `LoopBranchUncertain` says so.
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
        self._start = np.array([start[variable] for variable in self.dependents])
        self._anchor: Array | None = None
        self._last: Array | None = None

    def __repr__(self) -> str:
        found, given = (", ".join(map(str, some)) for some in (self.dependents, self.drivers))
        return f"LoopSolver({found} from {given})"

    def solve(self, drivers: Numbers, *, start: Numbers | None = None) -> dict[Variable, float]:
        """Return the value of each dependent.

        Args:
            drivers: Their values.
            start: Search from these values of the dependents, in place of following the last solution.

        Raises:
            UnreachableLoop: The parts do not reach each other.
            SingularLoop: The drivers do not determine the dependents there, or on the way.
        """
        given = self._driver_values(drivers)
        if start is not None:
            found = self._searched(given, self._dependent_values(start))
        else:
            found = self._followed_from_any(given)
        self._last = np.concatenate([given, found])
        return dict(zip(self.dependents, map(float, found), strict=True))

    def follow(
        self,
        before: tuple[Numbers, Numbers] | None,
        drivers: Numbers,
    ) -> dict[Variable, float]:
        """Return the dependents, followed from a closed configuration of drivers and dependents.

        Args:
            before: None: from where all drivers are zero. What was solved here before does not matter.
            drivers: The values to go to.

        Raises:
            UnreachableLoop, SingularLoop: As for `solve`.
        """
        given = self._driver_values(drivers)
        found = self._followed_from_anchor(given) if before is None else self._followed(self._closed(before), given)
        return dict(zip(self.dependents, map(float, found), strict=True))

    def solve_rows(
        self,
        drivers: Array,
        *,
        start: Numbers | None = None,
        before: tuple[Numbers, Numbers] | None = None,
        is_first: bool = False,
    ) -> Array:
        """Solve for many values of the drivers, each followed from the one before.

        Args:
            drivers: (N, d), in the order of `drivers`.
            start: Where the search for the first row begins.
            before: A closed configuration that the first row is followed from, in place of `start`.
            is_first: Follow the first row from where all drivers are zero, whatever was solved here before.

        Returns:
            (N, k), in the order of `dependents`.

        Raises:
            LoopError: With the first row in which the loop cannot be closed.
        """
        count = len(self.drivers)
        rows = np.empty((len(drivers), count + len(self.dependents)))
        rows[:, :count] = drivers
        if not len(rows):
            return rows[:, count:]
        if is_first:
            rows[0, count:] = self._in_row(0, self._followed_from_anchor, rows[0, :count])
        else:
            rows[0, count:] = self._first_row(rows[0, :count], start, before)
        done = 1
        while done < len(rows):
            closed, reached, uncertain = follow_loop_rows(self._evaluate.tape, self._rows, rows[done - 1 :])
            if uncertain:
                self._warn(rows[done - 1 + uncertain[0], :count])
            done += closed - 1
            if done < len(rows):
                rows[done, count:] = self._in_row(done, self._ended, rows[done - 1], rows[done].copy(), reached)
                done += 1
        self._last = rows[-1].copy()
        return rows[:, count:].copy()

    def _first_row(
        self,
        given: Array,
        start: Numbers | None,
        before: tuple[Numbers, Numbers] | None,
    ) -> Array:
        if before is not None:
            return self._in_row(0, self._followed, self._closed(before), given)
        if start is not None:
            return self._in_row(0, self._searched, given, self._dependent_values(start))
        return self._in_row(0, self._followed_from_any, given)

    @staticmethod
    def _in_row(row: int, find: Callable[..., Array], *arguments: Any) -> Array:
        try:
            return find(*arguments)
        except LoopError as error:
            error.row = row
            raise

    # -- Following

    def _followed_from_any(self, given: Array) -> Array:
        """Follow the last solution; where that ends, the one at zero."""
        if self._last is not None:
            try:
                return self._followed(self._last, given)
            except LoopError:
                pass
        return self._followed_from_anchor(given)

    def _followed_from_anchor(self, given: Array) -> Array:
        """Follow from where all drivers are zero; where the parts do not reach each other there, search at once."""
        if self._anchor is None:
            zero = np.zeros(len(self.drivers))
            try:
                self._anchor = np.concatenate([zero, self._searched(zero, self._start)])
            except LoopError:
                return self._searched(given, self._start)
        try:
            return self._followed(self._anchor, given)
        except LoopError:
            return self._searched(given, self._start)

    def _closed(self, before: tuple[Numbers, Numbers]) -> Array:
        """Return a configuration as an array, closed where it was given with errors."""
        given, found = self._driver_values(before[0]), self._dependent_values(before[1])
        if np.abs(self._at(given, found)[0]).max() > CLOSED:
            found = self._searched(given, found)
        return np.concatenate([given, found])

    def _followed(self, begin: Array, given: Array) -> Array:
        rows = np.stack([begin, begin])
        rows[1, : len(given)] = given
        closed, reached, uncertain = follow_loop_rows(self._evaluate.tape, self._rows, rows)
        if uncertain:
            self._warn(given)
        if closed == len(rows):
            return rows[1, len(given) :]
        return self._ended(begin, rows[1], reached)

    def _ended(self, begin: Array, left: Array, reached: float) -> Array:
        """Search from where the way could not be followed further: what is found may be on another branch."""
        count = len(self.drivers)
        try:
            found = self._searched(left[:count], left[count:])
        except LoopError:  # where branches meet steps are as good as random: another one may succeed
            found = self._searched(left[:count], begin[count:])
        if reached < 1.0 - _END or float(np.abs(found - left[count:]).max()) > _NEAR_END:
            self._warn(left[:count])
        return found

    def _warn(self, given: Array) -> None:
        names = {variable.name: float(value) for variable, value in zip(self.drivers, given, strict=True)}
        warnings.warn(LoopBranchUncertain(names), stacklevel=4)

    def rates(
        self,
        drivers: Numbers,
        dependents: Numbers,
        velocities: Numbers,
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

    def _dependent_values(self, start: Numbers) -> Array:
        return _in_order(self.dependents, start)

    def _driver_values(self, drivers: Numbers) -> Array:
        return _in_order(self.drivers, drivers)

    # -- Searching

    def _searched(self, given: Array, dependents: Array) -> Array:
        """Newton's method from any values of the dependents: it may end on any branch."""
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


def _in_order(variables: Sequence[Variable], values: Numbers) -> Array:
    try:
        return np.array([float(values[variable]) for variable in variables])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):  # given by name, or not at all
        numbers = as_numbers(values)
    missing = [str(variable) for variable in variables if variable not in numbers]
    if missing:
        raise NotGrounded(missing)
    return np.array([numbers[variable] for variable in variables])
