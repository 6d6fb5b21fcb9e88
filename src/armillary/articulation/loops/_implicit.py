"""Derivatives of what a loop determines, by the implicit function theorem.

A loop says r(q, d) = 0. Where its drivers q move, the dependents d move along so that it stays so:
dr/dd * d' + dr/dq * q' = 0. A dependent variable is therefore an atom: its value is the variable itself, its gradient
is along the drivers alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions import VectorExpression
from armillary.articulation.expressions._atoms import Atom
from armillary.articulation.expressions._casadi import casadi
from armillary.articulation.expressions._gradients import directions, jacobian_of
from armillary.articulation.expressions._terms import Term, build, term_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from armillary.articulation.variables import Variable

__all__ = ["following"]


def following(residual: VectorExpression, dependents: Sequence[Variable]) -> Mapping[Variable, Any]:
    """By dependent variable, an expression of the same value that changes with the drivers."""
    rates = _Rates(residual, dependents)
    atoms = [Atom(term_of(variable), _entry_of(rates, row)) for row, variable in enumerate(dependents)]
    kind = type(residual[0])
    made = {v: kind.of_term(Term(atom.symbol, None, {atom: None})) for v, atom in zip(dependents, atoms, strict=True)}
    rates.closed_with(made)
    return made


def _entry_of(rates: _Rates, row: int) -> Any:
    return lambda: rates.of(row)


class _Rates:
    """How each dependent changes along each driver: the solution of one linear system, made when first asked."""

    def __init__(self, residual: VectorExpression, dependents: Sequence[Variable]) -> None:
        self._residual, self._dependents = residual, dependents
        self._atoms: Mapping[Variable, Any] = {}
        self._along: list[Variable] = []
        self._solution: Term | None = None

    def closed_with(self, atoms: Mapping[Variable, Any]) -> None:
        """The atoms themselves, so that also the second derivative knows that dependents move."""
        self._atoms = atoms

    def of(self, row: int) -> dict[Variable, Term]:
        solution = self._solved()
        return {key: solution.with_sx(solution.sx[row, column]) for column, key in enumerate(self._along)}

    def _solved(self) -> Term:
        if self._solution is None:
            own = {variable.derivative for variable in self._dependents}
            term = term_of(self._residual)
            self._along = [direction for direction in directions(term) if direction not in own]
            sides = [jacobian_of(term, [v.derivative for v in self._dependents]), jacobian_of(term, self._along)]
            kind = type(self._residual)
            moving = [term_of(kind.of_term(side).substitute(self._atoms)) for side in sides]
            self._solution = build(_least_squares, *moving)
        return self._solution


def _least_squares(left: Any, right: Any) -> Any:
    """-left^+ right. A loop in space may say the same thing twice, so that there are more rows than unknowns."""
    if left.size1() == left.size2():
        return -casadi.solve(left, right)
    return -casadi.solve(casadi.mtimes(left.T, left), casadi.mtimes(left.T, right))
