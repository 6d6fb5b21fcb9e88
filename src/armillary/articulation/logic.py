"""Conditions as numbers between 0 (false) and 1 (true), and choices between expressions.

The gradient of a condition is not the derivative of its value, which is zero nearly everywhere. It is what eq. 3.18
and 3.19 of the Kineverse thesis define, so that a controller can find its way to a true condition.

A choice is an atom whose gradient is selected as its value is. casadi itself multiplies the derivative of the branch
that is not taken with zero, and zero times infinity is not a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from armillary.articulation._terms import (
    Term,
    add,
    atom_term,
    binary,
    build,
    casadi,
    in_rows,
    number_term,
    term_of,
    unary,
)
from armillary.articulation.expressions._gradients import directions, gradient_of
from armillary.articulation.expressions.base import Expression, Symbolic
from armillary.articulation.functions import tanh
from armillary.articulation.variables import apply_binary, is_scalar, scalar_term
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary.articulation._terms import Gradient
    from armillary.articulation.functions import Scalar

    Guidance = Literal["all", "unmet"]

__all__ = ["greater", "if_else", "less", "logical_and", "logical_not", "logical_or"]

STEEPNESS = 1e10
_GUIDANCES = ("all", "unmet")
_TRUE_ABOVE = 0.5


def less(a: Scalar, b: Scalar, *, steepness: float = STEEPNESS) -> Expression:
    """Whether a is less than b: 1, 0, and one half where they are equal.

    It becomes true as b grows and a shrinks: its gradient is that of `b - a` (eq. 3.18).

    Args:
        a: What should be less.
        b: Than what.
        steepness: The condition is undecided while the two differ by less than a few of its inverse.
    """
    difference = apply_binary(casadi.OP_SUB, b, a)
    value = (1.0 + tanh(difference * steepness)) / 2.0
    return _condition(value, lambda: gradient_of(term_of(difference)))


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
            a condition that is met does not contribute, even where it could be broken.
    """
    _check(conditions, guidance)
    terms = [scalar_term(condition, "A condition") for condition in conditions]
    value = Expression.of_term(build(_product, *terms))
    return _condition(value, lambda: _sum([_contribution(term, guidance) for term in terms]))


def logical_or(*conditions: Scalar, guidance: Guidance = "all") -> Expression:
    """True where one of them is: not all of them are not."""
    return logical_not(logical_and(*(logical_not(condition) for condition in conditions), guidance=guidance))


def _condition(value: Expression, compute: Callable[[], Gradient]) -> Expression:
    return Expression.of_term(atom_term(term_of(value), compute))


def _contribution(condition: Term, guidance: Guidance) -> Gradient:
    gradient = gradient_of(condition)
    if guidance == "all":
        return gradient
    return {key: build(_while_unmet, condition, entry) for key, entry in gradient.items()}


def _while_unmet(condition: Any, entry: Any) -> Any:
    return binary(casadi.OP_IF_ELSE_ZERO, binary(casadi.OP_LT, condition, 1.0), entry)


def _product(first: Any, *others: Any) -> Any:
    for other in others:
        first = binary(casadi.OP_MUL, first, other)
    return first


def _sum(gradients: Sequence[Gradient]) -> Gradient:
    found: Gradient = {}
    for gradient in gradients:
        for key, entry in gradient.items():
            found[key] = build(add, found[key], entry) if key in found else entry
    return found


def _check(conditions: Sequence[Scalar], guidance: str) -> None:
    if not conditions:
        raise InvalidArgument("A conjunction of nothing was asked. Give at least one condition.", conditions)
    if guidance not in _GUIDANCES:
        raise InvalidArgument(f"guidance must be 'all' or 'unmet', got {guidance!r}.", guidance)


def if_else(condition: Scalar, then: Any, otherwise: Any) -> Any:
    """`then` where the condition is true, that is above one half; its gradient is that of the one it takes.

    Both may be scalars, or two expressions of one kind and shape.
    """
    truth = term_of(apply_binary(casadi.OP_LT, _TRUE_ABOVE, condition))
    if is_scalar(then) and is_scalar(otherwise):
        return Expression.of_term(_choice(truth, scalar_term(then), scalar_term(otherwise)))
    if not isinstance(then, Symbolic) or type(then) is not type(otherwise) or then.shape != otherwise.shape:
        raise InvalidArgument(f"if_else chooses between two of one kind and shape, got {then!r}, {otherwise!r}.", then)
    return then.of_term(_choices(truth, term_of(then), term_of(otherwise)))


def _choices(truth: Term, then: Term, otherwise: Term) -> Term:
    rows, columns = then.shape
    places = [(row, column) for row in range(rows) for column in range(columns)]
    chosen = [_choice(truth, *(term.with_sx(term.sx[place]) for term in (then, otherwise))) for place in places]
    return build(lambda *parts: in_rows(parts, columns), *chosen)


def _choice(truth: Term, then: Term, otherwise: Term) -> Term:
    if then.sx.is_constant() and otherwise.sx.is_constant() and float(then.sx) == float(otherwise.sx):
        return then
    return atom_term(build(_chosen, truth, then, otherwise), lambda: _gradient(truth, then, otherwise))


def _chosen(truth: Any, then: Any, otherwise: Any) -> Any:
    yes = binary(casadi.OP_IF_ELSE_ZERO, truth, then)
    return binary(casadi.OP_ADD, yes, binary(casadi.OP_IF_ELSE_ZERO, unary(casadi.OP_NOT, truth), otherwise))


def _gradient(truth: Term, then: Term, otherwise: Term) -> Gradient:
    """What the condition depends on is listed too: it does not move the value, except where it switches."""
    one, other, nothing = gradient_of(then), gradient_of(otherwise), number_term(0.0)
    keys = dict.fromkeys([*directions(truth), *one, *other])
    return {key: _choice(truth, one.get(key, nothing), other.get(key, nothing)) for key in keys}
