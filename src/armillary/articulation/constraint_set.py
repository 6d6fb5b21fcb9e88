"""The constraints of a model as arrays for a controller: bounds on the rates of expressions, evaluated in one call.

Each constraint becomes a row, lower <= row @ speeds <= upper. A constraint on positions becomes one on their rate, so
that it holds one step later (thesis eq. 3.23); one on velocities is taken as it is. Bounds may be infinite, and may be
conditions: how these change along the controls, their guidance, is evaluated in the same call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation._terms import term_of
from armillary.articulation.compiled_arrays import Block, CompiledArrays
from armillary.articulation.controls import Controls
from armillary.articulation.expressions import Expression, MatrixExpression
from armillary.articulation.variables import Order
from armillary.errors import NotFinite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.compiled import Backend
    from armillary.articulation.constraints import Constraint
    from armillary.articulation.variables import Variable

    Array = NDArray[np.float64]

__all__ = ["ConstraintRows", "ConstraintSet"]

_SIDES = 16  # of the polygon inside a circle of speeds: its sides are 2 % inside at most


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintRows:
    """The constraints at one configuration: lower <= matrix @ speeds <= upper.

    Attributes:
        names: Of the rows: the paths of the constraints.
        lower: (m,) per row; minus infinity does not bound.
        upper: (m,) likewise.
        matrix: (m, n), a column for each control.
        conditional: The numbers of the rows whose bounds depend on conditions.
        lower_guidance: (c, n) how the lower bound of each of these changes along the controls, as a condition guides.
        upper_guidance: (c, n) likewise.
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array
    matrix: Array
    conditional: tuple[int, ...]
    lower_guidance: Array
    upper_guidance: Array

    def row(self, name: str) -> tuple[float, Array, float]:
        """Return lower, coefficients and upper of the row of this name."""
        place = self.names.index(name)
        return float(self.lower[place]), self.matrix[place], float(self.upper[place])


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    name: str
    lower: Expression
    upper: Expression
    coefficients: dict[int, Expression]
    bounds: tuple[Expression, Expression] | None = None  # as written, where they are conditions
    is_position: bool = False


class ConstraintSet:
    """The constraints of a model that controls can break, compiled once.

    Attributes:
        controls: The columns, in their order.
        names: The rows, in their order: paths of constraints. Where one becomes several rows, its path is repeated.
        order: The positions that are read, in the order of the values of `evaluate_values`.
        step_s: The time until speeds are chosen anew.
        conditions: By number of a row whose bounds depend on conditions, these bounds as they were written.
        ignored: By path, why a constraint that the controls influence is not among the rows.

    Args:
        constraints: By path.
        controls: Of the same model.
        step_s: The time until speeds are chosen anew.
        backend: "vm", or "c" for machine code.
    """

    def __init__(
        self, constraints: Mapping[str, Constraint], controls: Controls, step_s: float, backend: Backend = "vm"
    ) -> None:
        self.controls, self.step_s = controls, step_s
        self.ignored: dict[str, str] = {}
        rows = [row for path, one in constraints.items() for row in self._rows(path, one)]
        self.names = tuple(row.name for row in rows)
        self._conditional = tuple(i for i, row in enumerate(rows) if row.bounds is not None)
        self.conditions = {i: row.bounds for i, row in enumerate(rows) if row.bounds is not None}
        self.is_position = np.array([row.is_position for row in rows], dtype=bool)
        count, width = len(rows), len(controls)
        places = {"lower": list[Block](), "upper": list[Block](), "matrix": list[Block]()}
        for i, row in enumerate(rows):
            places["lower"].append(Block([i], row.lower))
            places["upper"].append(Block([i], row.upper))
            places["matrix"] += [Block([i * width + j], one) for j, one in row.coefficients.items()]
        guided = [rows[i].bounds for i in self._conditional]
        arrays = {
            "lower": (np.zeros(count), places["lower"]),
            "upper": (np.zeros(count), places["upper"]),
            "matrix": (np.zeros((count, width)), places["matrix"]),
        }
        for side, name in enumerate(("lower_guidance", "upper_guidance")):
            blocks = [
                block for i, pair in enumerate(guided) if pair is not None for block in self._guidance(i, pair[side])
            ]
            arrays[name] = (np.zeros((len(guided), width)), blocks)
        self._arrays = CompiledArrays(arrays, backend=backend)
        self.lower, self.upper = self._arrays.arrays["lower"], self._arrays.arrays["upper"]
        self.matrix = self._arrays.arrays["matrix"]
        self.order, self.position_names = self._arrays.order, self._arrays.names
        self.alone = _alone(rows)
        self._is_constant = np.array([row.lower.is_grounded and row.upper.is_grounded for row in rows], dtype=bool)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"ConstraintSet({len(self)} rows for {len(self.controls)} controls, {len(self.order)} positions)"

    def evaluate(self, configuration: Mapping[Any, float]) -> ConstraintRows:
        """Return the rows at a configuration, as new arrays.

        Args:
            configuration: The values of the positions, by name.

        Raises:
            NotGrounded: A position has no value.
            NotFinite: A position or a row is no finite number.
        """
        self.update(configuration)
        found = {name: array.copy() for name, array in self._arrays.arrays.items()}
        return ConstraintRows(names=self.names, conditional=self._conditional, **found)

    def are_constant(self, rows: NDArray[np.intp]) -> bool:
        """Whether the bounds of all these rows are numbers that never change."""
        return bool(self._is_constant[rows].all())

    def guidance(self, row: int) -> tuple[Array, Array]:
        """Return how the bounds of a row with conditions change along the controls, as of the last update."""
        place = self._conditional.index(row)
        arrays = self._arrays.arrays
        return arrays["lower_guidance"][place], arrays["upper_guidance"][place]

    def update(self, configuration: Mapping[Any, float]) -> None:
        """Write `lower`, `upper` and `matrix` anew, which is what `evaluate` does without the copies."""
        if not self._arrays.evaluate(self._arrays.values(configuration)):
            self._check()

    def _check(self) -> None:
        wrong = np.isnan(self.lower) | np.isnan(self.upper) | ~np.isfinite(self.matrix).all(axis=1)
        if not wrong.any():  # bounds may be infinite
            return
        raise NotFinite(
            "Constraints have no finite value here", {self.names[i]: math.nan for i in np.flatnonzero(wrong)}
        )

    def _guidance(self, row: int, bound: Expression) -> list[Block]:
        along = self.controls.along(bound)
        columns = self.controls.columns(along)
        if not columns:
            return []
        jacobian = along.jacobian([self.controls[j] for j in columns])
        return [Block([row * len(self.controls) + j for j in columns], jacobian)]

    def _rows(self, path: str, constraint: Constraint) -> list[_Row]:
        expression = self.controls.along(constraint.expression)
        highest = max((variable.order for variable in expression.free_variables), default=Order.POSITION)
        if highest > Order.VELOCITY:
            self.ignored[path] = f"it is on an {highest}, and velocities are what is chosen"
            return []
        if any(variable.order for bound in (constraint.lower, constraint.upper) for variable in bound.free_variables):
            self.ignored[path] = "its bounds depend on velocities"
            return []
        is_conditional = not (constraint.lower.is_grounded and constraint.upper.is_grounded)
        written = (constraint.lower, constraint.upper) if is_conditional else None
        if highest is Order.POSITION:
            columns = self.controls.columns(expression)
            if not columns:
                return []
            form = [_room(bound, expression, self.step_s) for bound in (constraint.lower, constraint.upper)]
            jacobian = expression.jacobian([self.controls[j] for j in columns])
            coefficients = {j: jacobian[0, i] for i, j in enumerate(columns)}
            return [_Row(path, form[0], form[1], coefficients, written, is_position=True)]
        return self._velocity_rows(path, constraint, expression, written)

    def _velocity_rows(
        self, path: str, constraint: Constraint, expression: Expression, written: tuple[Expression, Expression] | None
    ) -> list[_Row]:
        columns = self.controls.columns(expression, is_velocity=True)
        if not columns:
            return []
        speeds = [self.controls[j] for j in columns]
        jacobian = expression.jacobian(speeds)
        coefficients = {j: jacobian[0, i] for i, j in enumerate(columns)}
        still = dict.fromkeys((one for one in expression.free_variables if one.order), 0.0)
        if any(one.order for entry in coefficients.values() for one in entry.free_variables):
            return self._round_rows(path, constraint, expression, speeds)
        offset = expression.substitute(still)
        lower, upper = (_less(bound, offset) for bound in (constraint.lower, constraint.upper))
        return [_Row(path, lower, upper, coefficients, written)]

    def _round_rows(
        self, path: str, constraint: Constraint, expression: Expression, speeds: Sequence[Variable]
    ) -> list[_Row]:
        """Return the polygon inside a circle or an ellipse of two speeds; other curved limits are ignored, by name."""
        hessian = _constant_hessian(expression, speeds)
        still = dict.fromkeys((one for one in expression.free_variables if one.order), 0.0)
        offset = expression.substitute(still)
        limits = (hessian is not None, constraint.upper.is_grounded, offset.is_grounded, len(speeds) <= 2)  # noqa: PLR2004
        if hessian is None or not all(limits):
            self.ignored[path] = "it is not linear in the velocities, and no circle of two of them"
            return []
        strengths, axes = np.linalg.eigh(hessian)
        room = float(constraint.upper) - float(offset)
        if strengths.min() <= 0.0 or room < 0.0:
            self.ignored[path] = "it is not linear in the velocities, and no circle of two of them"
            return []
        reach = math.sqrt(2.0 * room) * (math.cos(math.pi / _SIDES) if len(speeds) > 1 else 1.0)
        sides = _SIDES // 2 if len(speeds) > 1 else 1
        rows = []
        for i in range(sides):
            angle = math.pi * i / sides
            towards = np.array([math.cos(angle), math.sin(angle)][: len(speeds)])
            along = axes @ (np.sqrt(strengths) * towards)
            coefficients = {
                self.controls.column_of[speed]: Expression(float(one)) for speed, one in zip(speeds, along, strict=True)
            }
            rows.append(_Row(path, Expression(-reach), Expression(reach), coefficients))
        return rows


def _alone(rows: Sequence[_Row]) -> NDArray[np.intp]:
    """Return, per row, the column of the only control of a row with one constant coefficient, otherwise -1."""
    found = np.full(len(rows), -1, dtype=np.intp)
    for i, row in enumerate(rows):
        if len(row.coefficients) == 1:
            ((column, one),) = row.coefficients.items()
            if one.is_grounded and _number(one) != 0.0:
                found[i] = column
    return found


def _constant_hessian(expression: Expression, speeds: Sequence[Variable]) -> Array | None:
    jacobian: MatrixExpression = expression.jacobian(speeds)
    second = jacobian.jacobian(speeds)
    linear = jacobian.substitute(dict.fromkeys((one for one in jacobian.free_variables if one.order), 0.0))
    if not second.is_grounded or not linear.is_grounded or np.abs(linear.value()).max() > 0.0:
        return None
    return np.asarray(second.value(), dtype=np.float64).reshape(len(speeds), len(speeds))


def _room(bound: Expression, expression: Expression, step_s: float) -> Expression:
    """Return the distance to a bound per step; an infinite bound stays one."""
    if bound.is_grounded and math.isinf(_number(bound)):
        return bound
    return (bound - expression) / step_s


def _number(expression: Expression) -> float:
    """Return the value of a grounded expression; most are a constant already, and need no tape."""
    sx = term_of(expression).sx
    return float(sx) if sx.is_constant() else float(expression)


def _less(bound: Expression, offset: Expression) -> Expression:
    if (bound.is_grounded and math.isinf(_number(bound))) or (offset.is_grounded and _number(offset) == 0.0):
        return bound
    return bound - offset
