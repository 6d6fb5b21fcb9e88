"""Conditions as numbers between 0 (false) and 1 (true), whose gradients say which way they become true.

The gradient of a condition is not the derivative of its value, which is zero nearly everywhere. It is what eq. 3.18
and 3.19 of the Kineverse thesis define, so that a controller can find its way to a true condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from armillary.articulation.expressions._atoms import atom_term
from armillary.articulation.expressions._casadi import binary, casadi
from armillary.articulation.expressions._gradients import gradient_of
from armillary.articulation.expressions._operators import combined, scalar_term
from armillary.articulation.expressions._terms import Term, build, term_of
from armillary.articulation.expressions.scalar import Expression
from armillary.articulation.functions import tanh
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.articulation.functions import Scalar
    from armillary.articulation.variables import Variable

    Gradient = dict[Variable, Term]
    Guidance = Literal["all", "unmet"]

__all__ = ["greater", "less", "logical_and", "logical_not", "logical_or"]

STEEPNESS = 1e10
_GUIDANCES = ("all", "unmet")


def less(a: Scalar, b: Scalar, *, steepness: float = STEEPNESS) -> Expression:
    """Whether a is less than b: 1, 0, and one half where they are equal.

    It becomes true as b grows and a shrinks: its gradient is that of `b - a` (eq. 3.18).

    Args:
        a: What should be less.
        b: Than what.
        steepness: The condition is undecided while the two differ by less than a few of its inverse.
    """
    difference = combined(casadi.OP_SUB, b, a)
    value = (1.0 + tanh(difference * steepness)) / 2.0
    return _guided(value, lambda: gradient_of(term_of(difference)))


def greater(a: Scalar, b: Scalar, *, steepness: float = STEEPNESS) -> Expression:
    """Whether a is greater than b: `less(b, a)`."""
    return less(b, a, steepness=steepness)


def logical_not(condition: Scalar) -> Expression:
    """True where the condition is false; its gradient is the opposite one."""
    return 1.0 - Expression(condition)


def logical_and(*conditions: Scalar, guidance: Guidance = "all") -> Expression:
    """True where all of them are.

    Args:
        conditions: Two or more.
        guidance: "all": the sum of their gradients (eq. 3.19). "unmet": of those that are not true yet (eq. 4.21);
            a condition that is met is left in peace, also by what would break it.
    """
    _check(conditions, guidance)
    terms = [scalar_term(condition, "A condition") for condition in conditions]
    value = Expression.of_term(build(_product, *terms))
    return _guided(value, lambda: _sum([_guiding(term, guidance) for term in terms]))


def logical_or(*conditions: Scalar, guidance: Guidance = "all") -> Expression:
    """True where one of them is: not all of them are not."""
    return logical_not(logical_and(*(logical_not(condition) for condition in conditions), guidance=guidance))


def _guided(value: Expression, compute: Callable[[], Gradient]) -> Expression:
    return Expression.of_term(atom_term(term_of(value), compute))


def _guiding(condition: Term, guidance: Guidance) -> Gradient:
    gradient = gradient_of(condition)
    if guidance == "all":
        return gradient
    return {key: build(_while_unmet, condition, entry) for key, entry in gradient.items()}


def _while_unmet(condition: object, entry: object) -> object:
    return binary(casadi.OP_IF_ELSE_ZERO, binary(casadi.OP_LT, condition, 1.0), entry)


def _product(first: object, *others: object) -> object:
    for other in others:
        first = binary(casadi.OP_MUL, first, other)
    return first


def _sum(gradients: Sequence[Gradient]) -> Gradient:
    found: Gradient = {}
    for gradient in gradients:
        for key, entry in gradient.items():
            found[key] = build(_plus, found[key], entry) if key in found else entry
    return found


def _plus(left: object, right: object) -> object:
    return binary(casadi.OP_ADD, left, right)


def _check(conditions: Sequence[Scalar], guidance: str) -> None:
    if not conditions:
        raise InvalidArgument("A conjunction of nothing was asked. Give at least one condition.", conditions)
    if guidance not in _GUIDANCES:
        raise InvalidArgument(f"guidance must be 'all' or 'unmet', got {guidance!r}.", guidance)
