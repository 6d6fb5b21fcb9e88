"""Functions of scalars: numbers, variables and expressions go in, an expression comes out.

Some have the names of Python's own, which take numbers only: import this module, or import them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.articulation._terms import casadi
from armillary.articulation.expressions.base import Expression
from armillary.articulation.variables import apply_binary, apply_unary

if TYPE_CHECKING:
    from armillary.articulation.variables import Variable

    Scalar = float | Variable | Expression

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "exp",
    "floor",
    "log",
    "max",
    "min",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def sin(x: Scalar) -> Expression:
    """The sine of an angle in radians."""
    return apply_unary(casadi.OP_SIN, x)


def cos(x: Scalar) -> Expression:
    """The cosine of an angle in radians."""
    return apply_unary(casadi.OP_COS, x)


def tan(x: Scalar) -> Expression:
    """The tangent of an angle in radians."""
    return apply_unary(casadi.OP_TAN, x)


def asin(x: Scalar) -> Expression:
    """The angle whose sine this is, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
    return apply_unary(casadi.OP_ASIN, x)


def acos(x: Scalar) -> Expression:
    """The angle whose cosine this is, in [0, pi]; NaN outside [-1, 1]."""
    return apply_unary(casadi.OP_ACOS, x)


def atan(x: Scalar) -> Expression:
    """The angle whose tangent this is, in (-pi/2, pi/2)."""
    return apply_unary(casadi.OP_ATAN, x)


def atan2(y: Scalar, x: Scalar) -> Expression:
    """The angle of the point (x, y), in [-pi, pi]."""
    return apply_binary(casadi.OP_ATAN2, y, x)


def sinh(x: Scalar) -> Expression:
    """The hyperbolic sine."""
    return apply_unary(casadi.OP_SINH, x)


def cosh(x: Scalar) -> Expression:
    """The hyperbolic cosine."""
    return apply_unary(casadi.OP_COSH, x)


def tanh(x: Scalar) -> Expression:
    """The hyperbolic tangent."""
    return apply_unary(casadi.OP_TANH, x)


def asinh(x: Scalar) -> Expression:
    """The inverse of `sinh`."""
    return apply_unary(casadi.OP_ASINH, x)


def acosh(x: Scalar) -> Expression:
    """The inverse of `cosh`; NaN below 1."""
    return apply_unary(casadi.OP_ACOSH, x)


def atanh(x: Scalar) -> Expression:
    """The inverse of `tanh`; NaN outside [-1, 1]."""
    return apply_unary(casadi.OP_ATANH, x)


def exp(x: Scalar) -> Expression:
    """The exponential function."""
    return apply_unary(casadi.OP_EXP, x)


def log(x: Scalar) -> Expression:
    """The natural logarithm; NaN below 0."""
    return apply_unary(casadi.OP_LOG, x)


def sqrt(x: Scalar) -> Expression:
    """The square root; NaN below 0."""
    return apply_unary(casadi.OP_SQRT, x)


def abs(x: Scalar) -> Expression:  # noqa: A001  (what it is called)
    """The absolute value; its derivative is the sign, 0 at 0."""
    return apply_unary(casadi.OP_FABS, x)


def sign(x: Scalar) -> Expression:
    """-1, 0 or 1; its derivative is 0."""
    return apply_unary(casadi.OP_SIGN, x)


def floor(x: Scalar) -> Expression:
    """The largest whole number that is not above; its derivative is 0."""
    return apply_unary(casadi.OP_FLOOR, x)


def ceil(x: Scalar) -> Expression:
    """The smallest whole number that is not below; its derivative is 0."""
    return apply_unary(casadi.OP_CEIL, x)


def min(first: Scalar, *others: Scalar) -> Expression:  # noqa: A001  (what it is called)
    """The least; its derivative is that of the least, the mean of both where two are equal."""
    return _folded(casadi.OP_FMIN, first, others)


def max(first: Scalar, *others: Scalar) -> Expression:  # noqa: A001  (what it is called)
    """The greatest; its derivative is that of the greatest, the mean of both where two are equal."""
    return _folded(casadi.OP_FMAX, first, others)


def clip(x: Scalar, lower: Scalar, upper: Scalar) -> Expression:
    """Not below `lower`, not above `upper`."""
    return min(max(x, lower), upper)


def _folded(operation: int, first: Scalar, others: tuple[Scalar, ...]) -> Expression:
    found = Expression(first)
    for other in others:
        found = apply_binary(operation, found, other)
    return found
