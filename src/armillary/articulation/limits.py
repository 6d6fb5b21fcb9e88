"""How far variables may go, as far as constraints say so of one variable alone."""

from __future__ import annotations

import math
from collections.abc import Iterable

from armillary.articulation.constraints import Constraint
from armillary.articulation.variables import Order, Variable

__all__ = ["limits_of"]


def limits_of(constraints: Iterable[Constraint]) -> dict[Variable, tuple[float, float]]:
    """By position, the interval in which it keeps every constraint of it alone that is linear.

    A joint that follows another bounds that one too. Where nothing bounds a side, it is infinite.
    """
    found: dict[Variable, tuple[float, float]] = {}
    for constraint in constraints:
        told = _interval(constraint)
        if told is not None:
            variable, lower, upper = told
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
