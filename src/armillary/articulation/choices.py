"""Choices between expressions.

A choice is an atom whose gradient is chosen as its value is. casadi itself multiplies the derivative of what is not
taken with zero, and zero times infinity is no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._atoms import atom_term
from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.expressions._casadi import binary, casadi, unary
from armillary.articulation.expressions._gradients import directions, gradient_of
from armillary.articulation.expressions._operators import combined, is_scalar, scalar_term
from armillary.articulation.expressions._terms import Term, build, number_term, term_of
from armillary.articulation.expressions.scalar import Expression
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.articulation.functions import Scalar
    from armillary.articulation.variables import Variable

__all__ = ["if_else"]

_TRUE_ABOVE = 0.5


def if_else(condition: Scalar, then: Any, otherwise: Any) -> Any:
    """`then` where the condition is true, that is above one half; its gradient is that of the one it takes.

    Both may be scalars, or two expressions of one kind and shape.
    """
    truth = term_of(combined(casadi.OP_LT, _TRUE_ABOVE, condition))
    if is_scalar(then) and is_scalar(otherwise):
        return Expression.of_term(_choice(truth, scalar_term(then), scalar_term(otherwise)))
    if not isinstance(then, Symbolic) or type(then) is not type(otherwise) or then.shape != otherwise.shape:
        raise InvalidArgument(f"if_else chooses between two of one kind and shape, got {then!r}, {otherwise!r}.", then)
    return then.of_term(_choices(truth, term_of(then), term_of(otherwise)))


def _choices(truth: Term, then: Term, otherwise: Term) -> Term:
    rows, columns = then.shape
    places = [(row, column) for row in range(rows) for column in range(columns)]
    chosen = [_choice(truth, *(term.with_sx(term.sx[place]) for term in (then, otherwise))) for place in places]
    return build(lambda *parts: _arranged(parts, columns), *chosen)


def _arranged(parts: tuple[Any, ...], columns: int) -> Any:
    return casadi.vertcat(*(casadi.horzcat(*parts[i : i + columns]) for i in range(0, len(parts), columns)))


def _choice(truth: Term, then: Term, otherwise: Term) -> Term:
    if then.sx.is_constant() and otherwise.sx.is_constant() and float(then.sx) == float(otherwise.sx):
        return then
    return atom_term(build(_chosen, truth, then, otherwise), lambda: _gradient(truth, then, otherwise))


def _chosen(truth: Any, then: Any, otherwise: Any) -> Any:
    yes = binary(casadi.OP_IF_ELSE_ZERO, truth, then)
    return binary(casadi.OP_ADD, yes, binary(casadi.OP_IF_ELSE_ZERO, unary(casadi.OP_NOT, truth), otherwise))


def _gradient(truth: Term, then: Term, otherwise: Term) -> dict[Variable, Term]:
    """What the condition depends on is listed too: it does not move the value, except where it switches."""
    one, other, nothing = gradient_of(then), gradient_of(otherwise), number_term(0.0)
    keys = dict.fromkeys([*directions(truth), *one, *other])
    return {key: _choice(truth, one.get(key, nothing), other.get(key, nothing)) for key in keys}
