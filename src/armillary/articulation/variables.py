"""Typed variables: a name and an order of differentiation, as a value, and the arithmetic of scalars.

>>> hinge = position("door/hinge")
>>> hinge.velocity
velocity('door/hinge')
>>> hinge.velocity.integral == position("door/hinge")
True
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from enum import IntEnum
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from armillary.articulation._terms import SX, Term, binary, build, casadi, number_term, term_of, unary
from armillary.errors import InvalidArgument, InvalidName, NoSuchOrder

if TYPE_CHECKING:
    from armillary.articulation.expressions import Expression

__all__ = [
    "ByVariable",
    "Numbers",
    "Order",
    "ScalarOperators",
    "Variable",
    "VariableLike",
    "acceleration",
    "apply_binary",
    "apply_unary",
    "as_direction",
    "as_numbers",
    "as_values",
    "as_variable",
    "as_variables",
    "by_name",
    "is_scalar",
    "jerk",
    "position",
    "scalar_term",
    "velocity",
]

V = TypeVar("V")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class _Result:
    """The class of the results of arithmetic, `Expression`: it has this arithmetic itself, and is defined above."""

    kind: ClassVar[type[Expression]]


class ScalarOperators:
    """The arithmetic of variables and scalar expressions; numbers mix with both."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves the operators to us

    def __init_subclass__(cls, *, is_result_kind: bool = False) -> None:
        if is_result_kind:
            _Result.kind = cls  # type: ignore[assignment]

    def __add__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_ADD, self, other) if is_scalar(other) else NotImplemented

    def __radd__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_ADD, other, self) if is_scalar(other) else NotImplemented

    def __sub__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_SUB, self, other) if is_scalar(other) else NotImplemented

    def __rsub__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_SUB, other, self) if is_scalar(other) else NotImplemented

    def __mul__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_MUL, self, other) if is_scalar(other) else NotImplemented

    def __rmul__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_MUL, other, self) if is_scalar(other) else NotImplemented

    def __truediv__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_DIV, self, other) if is_scalar(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_DIV, other, self) if is_scalar(other) else NotImplemented

    def __pow__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_POW, self, other) if is_scalar(other) else NotImplemented

    def __rpow__(self, other: Any) -> Expression:
        return apply_binary(casadi.OP_POW, other, self) if is_scalar(other) else NotImplemented

    def __neg__(self) -> Expression:
        return apply_unary(casadi.OP_NEG, self)

    def __pos__(self) -> Expression:
        return apply_unary(casadi.OP_ASSIGN, self)

    def __abs__(self) -> Expression:
        return apply_unary(casadi.OP_FABS, self)

    def __bool__(self) -> bool:
        raise InvalidArgument(
            f"{self} has no truth value before its variables have numbers. "
            "Use if_else(...), logical_and(...), or float(...) of a grounded expression.",
            self,
        )


def is_scalar(value: object) -> bool:
    """Whether it is a number, a variable or a scalar expression."""
    return isinstance(value, ScalarOperators) or _is_number(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def scalar_term(value: Any, name: str = "A scalar") -> Term:
    """Return the term of a number, a variable or a scalar expression."""
    if isinstance(value, ScalarOperators):
        return term_of(value)
    if _is_number(value):
        return number_term(float(value))
    raise InvalidArgument(f"{name} is a number, a variable or an expression, got {value!r}.", value)


def apply_binary(operation: int, left: Any, right: Any) -> Expression:
    """Apply a binary operation of casadi to two scalars."""
    term = build(lambda a, b: binary(operation, a, b), scalar_term(left), scalar_term(right))
    return _Result.kind.of_term(term)


def apply_unary(operation: int, argument: Any) -> Expression:
    """Apply a unary operation of casadi to a scalar."""
    term = scalar_term(argument)
    return _Result.kind.of_term(term.with_sx(unary(operation, term.sx)))


class Order(IntEnum):
    """How often the position of a variable is differentiated."""

    POSITION = 0
    VELOCITY = 1
    ACCELERATION = 2
    JERK = 3

    def __str__(self) -> str:
        """The name in small letters, as in sentences."""
        return self.name.lower()


class Variable(ScalarOperators):
    """A quantity that changes in time: a name and an order. Equal by value, hashable, usable in arithmetic.

    Args:
        name: Such as `robot/torso_lift`. The same name and order is the same variable, wherever it was made.
        order: Position, unless given.
    """

    __slots__ = ("_hash", "_name", "_order", "_terms")

    def __init__(self, name: str, order: Order = Order.POSITION) -> None:
        self._set(_as_name(name), _as_order(order), {})

    def _set(self, name: str, order: Order, terms: dict[Order, Term]) -> None:
        self._name, self._order, self._terms = name, order, terms
        self._hash = hash((name, int(order)))

    @property
    def name(self) -> str:
        """The name, whatever the order."""
        return self._name

    @property
    def order(self) -> Order:
        """Position, velocity, acceleration or jerk."""
        return self._order

    @property
    def velocity(self) -> Variable:
        """The velocity of this name."""
        return self._of_order(Order.VELOCITY)

    @property
    def acceleration(self) -> Variable:
        """The acceleration of this name."""
        return self._of_order(Order.ACCELERATION)

    @property
    def jerk(self) -> Variable:
        """The jerk of this name."""
        return self._of_order(Order.JERK)

    @property
    def derivative(self) -> Variable:
        """The variable one order higher; a jerk has none."""
        if self._order is Order.JERK:
            raise NoSuchOrder(repr(self), "derivative")
        return self._of_order(Order(self._order + 1))

    @property
    def integral(self) -> Variable:
        """The variable one order lower; a position has none."""
        if self._order is Order.POSITION:
            raise NoSuchOrder(repr(self), "integral")
        return self._of_order(Order(self._order - 1))

    @property
    def expression(self) -> Expression:
        """The expression that is this variable alone."""
        return _Result.kind.of_term(self._term)

    @property
    def _term(self) -> Term:
        """The term, whose symbol all variables share that were derived from one another."""
        term = self._terms.get(self._order)
        if term is None:
            term = self._terms[self._order] = Term(SX.sym(self._name), {})
            term.symbols[self] = term.sx
        return term

    def _of_order(self, order: Order) -> Variable:
        other = Variable.__new__(Variable)
        Variable._set(other, self._name, order, self._terms)
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        return self._order is other._order and self._name == other._name

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Variable, (self._name, self._order)

    def __repr__(self) -> str:
        return f"{self._order}({self._name!r})"

    def __str__(self) -> str:
        return self._name + "'" * self._order


VariableLike = Variable | str
"""A variable, or its name: `door/hinge` is a position, `door/hinge'` its velocity."""
Numbers = Mapping[Variable, float] | Mapping[str, float] | Mapping[VariableLike, float]
"""Numbers of variables, which are given by themselves or by name."""
ByVariable = Mapping[Variable, Any] | Mapping[str, Any] | Mapping[VariableLike, Any]
"""Anything by variable, which is given by itself or by name."""


def position(name: str) -> Variable:
    """The position of a degree of freedom, in metres or radians."""
    return Variable(name)


def velocity(name: str) -> Variable:
    """The velocity of a degree of freedom; its position need not mean anything (a wheel)."""
    return Variable(name, Order.VELOCITY)


def acceleration(name: str) -> Variable:
    """The acceleration of a degree of freedom."""
    return Variable(name, Order.ACCELERATION)


def jerk(name: str) -> Variable:
    """The jerk of a degree of freedom: the highest order there is."""
    return Variable(name, Order.JERK)


def by_name(variables: Iterable[Variable]) -> list[Variable]:
    """Sort variables by name and order."""
    return sorted(variables, key=lambda variable: (variable.name, variable.order))


def as_variables(values: Any) -> list[Variable]:
    """Check a list of variables, in which none occurs twice."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"A list of variables is wanted, got {values!r}.", values)
    found = [as_variable(value) for value in values]
    twice = next((variable for i, variable in enumerate(found) if variable in found[:i]), None)
    if twice is not None:
        raise InvalidArgument(f"{twice!r} occurs twice in the list of variables. Name it once.", twice)
    return found


def as_direction(value: Any) -> Variable:
    """Check a key of a gradient: a variable along which another one can change."""
    variable = as_variable(value)
    if not variable.order:
        raise InvalidArgument(
            f"{variable!r} is no key of a gradient: an expression changes along velocities and higher orders. "
            f"Use {variable.derivative!r}.",
            variable,
        )
    return variable


def as_values(values: Any) -> dict[Variable, Term]:
    """Check what to substitute for which variable."""
    given = _as_mapping(values).items()
    return _each_once(values, [(as_variable(key), scalar_term(value, f"The value of {key!r}")) for key, value in given])


def as_numbers(values: Any) -> dict[Variable, float]:
    """Check numbers of variables, each given once."""
    try:
        return _each_once(values, [(as_variable(key), float(value)) for key, value in _as_mapping(values).items()])
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"The values of variables are numbers: {error}.", values) from error


def _each_once(given: Any, pairs: list[tuple[Variable, V]]) -> dict[Variable, V]:
    found = dict(pairs)
    if len(found) != len(pairs):  # by name, and once more as a variable
        twice = next(variable for i, (variable, _) in enumerate(pairs) if variable in dict(pairs[:i]))
        raise InvalidArgument(f"{twice!r} is given twice. Give it once.", given)
    return found


def _as_mapping(values: Any) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise InvalidArgument(f"Values are given by variable, as in {{q: 0.3}}, got {values!r}.", values)
    return values


def as_variable(value: Any) -> Variable:
    """Check a variable, or make it of its name, as `str(variable)` writes it: with a prime for each order."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, str):
        name = value.rstrip("'")
        order = len(value) - len(name)
        if name and order <= Order.JERK:
            return Variable(name, Order(order))
    raise InvalidArgument(f"A variable or its name is wanted, got {value!r}. Make one with position(name).", value)


def _as_order(order: object) -> Order:
    try:
        return Order(order)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(f"Order.{known.name}" for known in Order)
        raise InvalidArgument(f"The order of a variable is one of {known}, got {order!r}.", order) from None


def _as_name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidName(f"The name of a variable is a str, got {name!r}.", name)
    if not name:
        raise InvalidName("The name of a variable cannot be empty. Name it.", name)
    if name.startswith("/"):
        raise InvalidName(f"The variable {name!r} begins with '/'. Drop it: {name.lstrip('/') or 'q'!r}.", name)
    if _CONTROL.search(name):
        raise InvalidName(f"The variable {name!r} has a control character. Use letters, digits, '_' and '/'.", name)
    return unicodedata.normalize("NFC", name)
