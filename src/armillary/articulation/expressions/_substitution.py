"""Numbers, variables and expressions in place of variables; gradients follow by the chain rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._atoms import Atom
from armillary.articulation.expressions._casadi import binary, casadi
from armillary.articulation.expressions._gradients import gradient_of
from armillary.articulation.expressions._terms import Term, build, replaced, united

if TYPE_CHECKING:
    from collections.abc import Mapping

    from armillary.articulation.variables import Variable

__all__ = ["Substitution"]


class Substitution:
    """What stands for which variable, all at once; an atom that is met twice becomes one atom again."""

    def __init__(self, values: Mapping[Variable, Term]) -> None:
        self._values = dict(values)
        self._gradients: dict[Variable, dict[Variable, Term]] = {}
        self._atoms: dict[Atom, Atom] = {}

    def of(self, term: Term) -> Term:
        """The term with the values in place."""
        given = {variable: value for variable, value in self._values.items() if variable in term.symbols}
        if not given and not term.atoms:
            return term
        left = {variable: symbol for variable, symbol in term.symbols.items() if variable not in given}
        own, symbols, inner = united([Term(term.sx, left), *given.values()])
        pairs: list[tuple[Any, Any]] = [(term.symbols[v], part) for v, part in zip(given, own[1:], strict=True)]
        atoms = {atom: self._atom(atom) for atom in term.atoms}
        pairs += [(atom.symbol, new.symbol) for atom, new in atoms.items()]
        return Term(replaced(own[0], pairs), symbols, {**inner, **dict.fromkeys(atoms.values())})

    def _atom(self, atom: Atom) -> Atom:
        if atom not in self._atoms:
            self._atoms[atom] = Atom(self.of(atom.value), lambda: self._gradient(atom))
        return self._atoms[atom]

    def _gradient(self, atom: Atom) -> dict[Variable, Term]:
        found: dict[Variable, Term] = {}
        for direction, entry in atom.gradient.items():
            here = self.of(entry)
            for along, rate in self._rates(direction).items():
                change = here if rate is None else build(casadi.times, here, rate)
                found[along] = build(_plus, found[along], change) if along in found else change
        return found

    def _rates(self, direction: Variable) -> dict[Variable, Term | None]:
        """How the variable behind a direction changes now; None: as before."""
        variable = direction.integral
        if variable not in self._values:
            return {direction: None}
        if variable not in self._gradients:
            self._gradients[variable] = gradient_of(self._values[variable])
        return dict(self._gradients[variable])


def _plus(left: Any, right: Any) -> Any:
    return binary(casadi.OP_ADD, left, right)
