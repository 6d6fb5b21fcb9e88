"""Typed variables: a name and an order of differentiation, as a value.

>>> hinge = position("door/hinge")
>>> hinge.velocity
velocity('door/hinge')
>>> hinge.velocity.integral == position("door/hinge")
True
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum

from armillary.articulation.expressions._casadi import SX
from armillary.articulation.expressions._operators import ScalarOperators
from armillary.articulation.expressions._terms import Term
from armillary.articulation.expressions.scalar import Expression
from armillary.errors import InvalidArgument, InvalidName, NoSuchOrder

__all__ = ["Order", "Variable", "acceleration", "jerk", "position", "velocity"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Order(IntEnum):
    """How often the position of a variable is differentiated."""

    POSITION = 0
    VELOCITY = 1
    ACCELERATION = 2
    JERK = 3

    def __str__(self) -> str:
        """In small letters, as in sentences."""
        return self.name.lower()


class Variable(ScalarOperators):
    """A quantity that changes in time: a name and an order. Equal by value, hashable, and calculated with.

    Args:
        name: Such as `robot/torso_lift`. The same name and order is the same variable, wherever it was made.
        order: Position, unless given.
    """

    __slots__ = ("_family", "_hash", "_name", "_order")

    def __init__(self, name: str, order: Order = Order.POSITION) -> None:
        self._settle(_checked(name), _as_order(order), {})

    def _settle(self, name: str, order: Order, family: dict[Order, Term]) -> None:
        self._name, self._order, self._family = name, order, family
        self._hash = hash((name, int(order)))

    @property
    def name(self) -> str:
        """What it is called, whatever its order."""
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
        """One order higher; a jerk has none."""
        if self._order is Order.JERK:
            raise NoSuchOrder(repr(self), "derivative")
        return self._of_order(Order(self._order + 1))

    @property
    def integral(self) -> Variable:
        """One order lower; a position has none."""
        if self._order is Order.POSITION:
            raise NoSuchOrder(repr(self), "integral")
        return self._of_order(Order(self._order - 1))

    @property
    def expression(self) -> Expression:
        """The expression that is this variable alone."""
        return Expression.of_term(self._term)

    @property
    def _term(self) -> Term:
        """Its symbol is shared by all variables that were derived from one another."""
        term = self._family.get(self._order)
        if term is None:
            term = self._family[self._order] = Term(SX.sym(self._name), {})
            term.symbols[self] = term.sx
        return term

    def _of_order(self, order: Order) -> Variable:
        other = Variable.__new__(Variable)
        other._settle(self._name, order, self._family)  # noqa: SLF001
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


def _as_order(order: object) -> Order:
    try:
        return Order(order)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(f"Order.{known.name}" for known in Order)
        raise InvalidArgument(f"The order of a variable is one of {known}, got {order!r}.", order) from None


def _checked(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidName(f"The name of a variable is a str, got {name!r}.", name)
    if not name:
        raise InvalidName("The name of a variable cannot be empty. Name it.", name)
    if name.startswith("/"):
        raise InvalidName(f"The variable {name!r} begins with '/'. Drop it: {name.lstrip('/') or 'q'!r}.", name)
    if _CONTROL.search(name):
        raise InvalidName(f"The variable {name!r} has a control character. Use letters, digits, '_' and '/'.", name)
    return unicodedata.normalize("NFC", name)
