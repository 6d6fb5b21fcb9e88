"""Arithmetic of scalars: numbers, variables and expressions mix."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation.expressions._casadi import binary, casadi, unary
from armillary.articulation.expressions._terms import Term, build, number_term, term_of
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.articulation.expressions.scalar import Expression

__all__ = ["ScalarOperators", "combined", "is_scalar", "mapped", "scalar_term"]


def is_scalar(value: object) -> bool:
    """Whether it is a number, a variable or a scalar expression."""
    return isinstance(value, ScalarOperators) or _is_number(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def scalar_term(value: Any, name: str = "A scalar") -> Term:
    """The term of a number, a variable or a scalar expression."""
    if isinstance(value, ScalarOperators):
        return term_of(value)
    if _is_number(value):
        return number_term(float(value))
    raise InvalidArgument(f"{name} is a number, a variable or an expression, got {value!r}.", value)


def combined(operation: int, left: Any, right: Any) -> Expression:
    """A binary operation of casadi on two scalars."""
    from armillary.articulation.expressions.scalar import Expression  # noqa: PLC0415  (an expression has operators)

    return Expression.of_term(build(lambda a, b: binary(operation, a, b), scalar_term(left), scalar_term(right)))


def mapped(operation: int, argument: Any) -> Expression:
    """A unary operation of casadi on a scalar."""
    from armillary.articulation.expressions.scalar import Expression  # noqa: PLC0415  (an expression has operators)

    term = scalar_term(argument)
    return Expression.of_term(term.with_sx(unary(operation, term.sx)))


class ScalarOperators:
    """What can be calculated with: a variable or a scalar expression."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves the operators to us

    def __add__(self, other: Any) -> Expression:
        return combined(casadi.OP_ADD, self, other) if is_scalar(other) else NotImplemented

    def __radd__(self, other: Any) -> Expression:
        return combined(casadi.OP_ADD, other, self) if is_scalar(other) else NotImplemented

    def __sub__(self, other: Any) -> Expression:
        return combined(casadi.OP_SUB, self, other) if is_scalar(other) else NotImplemented

    def __rsub__(self, other: Any) -> Expression:
        return combined(casadi.OP_SUB, other, self) if is_scalar(other) else NotImplemented

    def __mul__(self, other: Any) -> Expression:
        return combined(casadi.OP_MUL, self, other) if is_scalar(other) else NotImplemented

    def __rmul__(self, other: Any) -> Expression:
        return combined(casadi.OP_MUL, other, self) if is_scalar(other) else NotImplemented

    def __truediv__(self, other: Any) -> Expression:
        return combined(casadi.OP_DIV, self, other) if is_scalar(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Expression:
        return combined(casadi.OP_DIV, other, self) if is_scalar(other) else NotImplemented

    def __pow__(self, other: Any) -> Expression:
        return combined(casadi.OP_POW, self, other) if is_scalar(other) else NotImplemented

    def __rpow__(self, other: Any) -> Expression:
        return combined(casadi.OP_POW, other, self) if is_scalar(other) else NotImplemented

    def __neg__(self) -> Expression:
        return mapped(casadi.OP_NEG, self)

    def __pos__(self) -> Expression:
        return mapped(casadi.OP_ASSIGN, self)

    def __abs__(self) -> Expression:
        return mapped(casadi.OP_FABS, self)

    def __bool__(self) -> bool:
        raise InvalidArgument(
            f"{self} has no truth value before its variables have numbers. "
            "Use if_else(...), logical_and(...), or float(...) of a grounded expression.",
            self,
        )
