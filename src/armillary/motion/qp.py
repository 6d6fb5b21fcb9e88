"""The quadratic program of a velocity controller: built once, updated in place, solved by daqp from where it was.

It minimises 1/2 v' H v + f' v over speeds v that keep lower <= v <= upper and row_lower <= A v <= row_upper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InfeasibleMotion, MissingExtra, SolverFailed

try:
    import daqp
except ModuleNotFoundError as missing:
    raise MissingExtra("motion", "daqp") from missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["VelocityProgram"]

_INFINITE = 1e30
_ROUNDING = 1e-9


class VelocityProgram:
    """A QP of fixed size whose arrays are written to and solved again and again.

    Attributes:
        hessian: (n, n) H.
        linear: (n,) f.
        lower: (n + m,) of the speeds, then of the rows; infinite where there is no bound.
        upper: (n + m,) likewise.
        rows: (m, n) A.

    Args:
        controls: The names of the speeds.
        rows: The names of the rows of A.
    """

    def __init__(self, controls: Sequence[str], rows: Sequence[str]) -> None:
        width, count = len(controls), len(rows)
        self._controls, self._rows = tuple(controls), tuple(rows)
        self.hessian, self.linear = np.eye(width), np.zeros(width)
        self.rows = np.zeros((count, width))
        self.lower, self.upper = np.full(width + count, -np.inf), np.full(width + count, np.inf)
        self._solver: daqp.Model | None = None

    def solve(self) -> tuple[Array, int]:
        """Return the speeds and the number of iterations.

        Raises:
            InfeasibleMotion: No speeds keep all bounds; with those that contradict each other.
            SolverFailed: The solver returned no finite speeds.
        """
        speeds, flag, iterations = self._solved()
        if flag < 0:
            self._solver = None
            speeds, flag, iterations = self._solved()  # from scratch: a warm start can be a bad one
        if flag < 0 and (bounds := self.contradiction()):
            self._solver = None
            raise InfeasibleMotion(bounds)
        if flag < 0 or not math.isfinite(speeds.dot(speeds)):
            self._solver = None
            raise SolverFailed(flag)
        return speeds, iterations

    def _solved(self) -> tuple[Array, int, int]:
        lower, upper = self.lower, self.upper
        if self._solver is None:
            self._solver = daqp.Model()
            flag, _ = self._solver.setup(
                self.hessian, self.linear, self.rows, upper, lower, np.zeros(len(upper), dtype=np.int32)
            )
        else:
            rows = self.rows if len(self.rows) else None
            flag = self._solver.update(H=self.hessian, f=self.linear, A=rows, bupper=upper, blower=lower)
        if flag < 0:
            return self.linear, flag, 0
        speeds, _, flag, info = self._solver.solve()
        return speeds, flag, info["iterations"]

    def contradiction(self) -> Mapping[str, tuple[float, float]]:
        """Return bounds that cannot be kept together, by name; any one of them less and they can. Empty: they can."""
        width = len(self._controls)
        matrix = np.vstack([np.eye(width), self.rows])
        lower, upper = np.maximum(self.lower, -_INFINITE), np.minimum(self.upper, _INFINITE)
        names = [*(f"the limits of '{name}'" for name in self._controls), *(f"'{name}'" for name in self._rows)]
        kept = [i for i in range(len(names)) if lower[i] > -_INFINITE or upper[i] < _INFINITE]
        if _is_feasible(matrix[kept], lower[kept], upper[kept]):
            return {}
        for i in list(kept):
            fewer = [j for j in kept if j != i]
            if not _is_feasible(matrix[fewer], lower[fewer], upper[fewer]):
                kept = fewer
        return {names[i]: (float(self.lower[i]) + 0.0, float(self.upper[i]) + 0.0) for i in kept}


def _is_feasible(matrix: Array, lower: Array, upper: Array) -> bool:
    if not len(matrix):
        return True
    if (lower > upper + _ROUNDING).any():
        return False
    width = matrix.shape[1]
    bounds = np.ascontiguousarray(np.minimum(lower, upper))
    _, _, flag, _ = daqp.solve(
        np.eye(width),
        np.zeros(width),
        np.ascontiguousarray(matrix),
        upper,
        bounds,
        np.zeros(len(upper), dtype=np.int32),
    )
    return int(flag) > 0
