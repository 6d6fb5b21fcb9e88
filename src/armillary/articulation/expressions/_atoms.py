"""Scalars whose gradient is not the derivative of their value.

The speed of a wheel moves a robot, and no position of the wheel says where the robot is. A condition is flat almost
everywhere, and still it is known which way it becomes true. Such a scalar is an atom: a symbol of its own, with a
value and a gradient. Above it everything is an ordinary expression that casadi differentiates; where a derivative
arrives at an atom, the atom's gradient takes over (`_gradients.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._casadi import SX
from armillary.articulation.expressions._terms import Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary.articulation.variables import Variable

    Gradient = dict[Variable, Term]

__all__ = ["Atom", "atom_term"]


class Atom:
    """One of them. `gradient` is complete: what it does not list has no effect on this scalar.

    It is computed when somebody first asks: most conditions are never differentiated.
    """

    __slots__ = ("_compute", "_gradient", "symbol", "value")

    def __init__(self, value: Term, compute: Callable[[], Gradient]) -> None:
        self.symbol: Any = SX.sym("atom")
        self.value = value
        self._compute = compute
        self._gradient: Gradient | None = None

    @property
    def gradient(self) -> Gradient:
        """By the variable whose change it is multiplied with, as a scalar term."""
        if self._gradient is None:
            self._gradient = self._compute()
        return self._gradient


def atom_term(value: Term, compute: Callable[[], Gradient]) -> Term:
    """A term that is one new atom."""
    atom = Atom(value, compute)
    return Term(atom.symbol, None, {atom: None})
