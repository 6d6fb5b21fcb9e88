"""Constraints, lower <= expression <= upper, and the limits of single variables that follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from armillary.articulation.expressions import Expression
from armillary.articulation.variables import Numbers, Order, Variable, as_numbers
from armillary.errors import InvalidArgument

__all__ = ["Constraint", "limits_of"]


@dataclass(frozen=True, eq=False)
class Constraint:
    """An expression between two bounds, as it was written: on positions, on velocities, or on both.

    An equation has twice the same bound; an infinite one does not bound.

    Args:
        lower: A number, a variable or an expression.
        upper: Likewise.
        expression: What is bounded.

    >>> from armillary.articulation import position
    >>> q = position("door/hinge")
    >>> Constraint(0.0, 1.5, 2.0 * q).is_kept({q: 0.5})
    True
    """

    lower: Expression
    upper: Expression
    expression: Expression

    def __init__(self, lower: Any, upper: Any, expression: Any) -> None:
        for name, value in (("lower", lower), ("upper", upper), ("expression", expression)):
            if isinstance(value, float) and math.isnan(value):
                raise InvalidArgument(f"The {name} of a constraint is not a number (NaN). Use inf for no bound.", value)
            object.__setattr__(self, name, value if isinstance(value, Expression) else Expression(value))

    @cached_property
    def free_variables(self) -> frozenset[Variable]:
        """The variables of the expression and of both bounds."""
        return self.lower.free_variables | self.upper.free_variables | self.expression.free_variables

    @cached_property
    def _parts(self) -> tuple[Expression | float, ...]:
        """Lower, upper and expression, with a number for each that is constant: most bounds are."""
        return tuple(float(p) if p.is_grounded else p for p in (self.lower, self.upper, self.expression))

    @property
    def is_on_positions(self) -> bool:
        """Whether the bounded expression depends on positions alone."""
        return all(not variable.order for variable in self.expression.free_variables)

    def is_kept(self, values: Numbers, *, tolerance: float = 0.0) -> bool:
        """Whether no two of its three parts contradict each other with these numbers (thesis eq. 3.15).

        Parts that still have free variables contradict nothing.

        Args:
            values: Of some or all variables.
            tolerance: The largest contradiction that is accepted, in the unit of the expression.
        """
        numbers = as_numbers(values)
        lower, upper, value = (_number(part, numbers) for part in self._parts)
        pairs = ((lower, upper), (lower, value), (value, upper))
        return all(low is None or high is None or low <= high + tolerance for low, high in pairs)

    def velocity_form(self, step_s: float) -> Constraint:
        """Return the constraint on velocities by which this one still holds one step later (thesis eq. 3.23).

        A constraint on positions becomes (lower - e) / step <= velocity of e <= (upper - e) / step. One that contains
        velocities already is returned as it is.

        Args:
            step_s: The time until velocities are chosen anew [s].
        """
        if not math.isfinite(step_s) or step_s <= 0.0:
            raise InvalidArgument(f"A step is a positive number of seconds, got {step_s!r}.", step_s)
        if not self.is_on_positions:
            return self
        lower, upper = (_room(bound, self.expression, step_s) for bound in (self.lower, self.upper))
        return Constraint(lower, upper, self.expression.velocity())

    def is_same(self, other: object) -> bool:
        """Whether both have the same expression and bounds, calculated in the same way."""
        return isinstance(other, Constraint) and all(
            mine.is_same(theirs)
            for mine, theirs in (
                (self.lower, other.lower),
                (self.upper, other.upper),
                (self.expression, other.expression),
            )
        )

    def __repr__(self) -> str:
        return f"Constraint({self.lower} <= {self.expression} <= {self.upper})"


def _number(part: Expression | float, values: Mapping[Variable, float]) -> float | None:
    if isinstance(part, float):
        return part
    if any(variable not in values for variable in part.free_variables):
        return None
    return part.evaluate({variable: values[variable] for variable in part.free_variables})


def _room(bound: Expression, expression: Expression, step_s: float) -> Expression:
    """Return the distance to a bound per step; an infinite bound stays a constant, which can be differentiated."""
    if bound.is_grounded and math.isinf(float(bound)):
        return bound
    return (bound - expression) / step_s


def limits_of(constraints: Iterable[Constraint]) -> dict[Variable, tuple[float, float]]:
    """Return, by position variable, the interval in which it keeps every linear constraint on it alone.

    A joint that follows another bounds that one too. Where nothing bounds a side, it is infinite.
    """
    found: dict[Variable, tuple[float, float]] = {}
    for constraint in constraints:
        interval = _interval(constraint)
        if interval is not None:
            variable, lower, upper = interval
            low, high = found.get(variable, (-math.inf, math.inf))
            found[variable] = (max(low, lower), min(high, upper))
    return found


def _interval(constraint: Constraint) -> tuple[Variable, float, float] | None:
    free = constraint.free_variables
    if len(free) != 1 or not (constraint.lower.is_grounded and constraint.upper.is_grounded):
        return None
    (variable,) = free
    if variable.order is not Order.POSITION:
        return None
    slope = constraint.expression.gradient().get(variable.velocity)
    if slope is None or not slope.is_grounded or float(slope) == 0.0:
        return None
    at_zero = constraint.expression.evaluate({variable: 0.0})
    ends = [(float(bound) - at_zero) / float(slope) for bound in (constraint.lower, constraint.upper)]
    return variable, min(ends), max(ends)
