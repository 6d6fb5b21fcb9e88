"""Whole expressions without casadi: tapes for their values and for the gradients of their atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from armillary._core import Tape
from armillary.articulation.expressions._atoms import Atom
from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.expressions._casadi import casadi
from armillary.articulation.expressions._flattening import sx_of_tape, tape_of_sx
from armillary.articulation.expressions._terms import Term, occurring, term_of
from armillary.articulation.variables import Variable

__all__ = ["Portable", "PortableAtom", "PortableTerm", "from_portable", "to_portable"]


@dataclass(frozen=True, slots=True)
class PortableTerm:
    """A tape and what goes into it: variables first, then atoms, as indices into those of the whole."""

    tape: Tape
    variables: tuple[int, ...]
    atoms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PortableAtom:
    """A scalar with a gradient of its own, by index of the variable that it changes along."""

    value: PortableTerm
    gradient: tuple[tuple[int, PortableTerm], ...]


@dataclass(frozen=True, slots=True)
class Portable:
    """All of an expression; each atom depends only on those before it."""

    rows: int
    columns: int
    variables: tuple[Variable, ...]
    atoms: tuple[PortableAtom, ...]
    term: PortableTerm


def to_portable(expression: Symbolic[Any]) -> Portable:
    """What `from_portable` makes the same expression of."""
    writer, term = _Writer(), term_of(expression)
    body = writer.term(term)
    return Portable(*term.shape, tuple(writer.variables), tuple(writer.atoms), body)


def from_portable(said: Portable) -> Term:
    """The term of the expression. Indices and numbers of inputs and outputs have to fit."""
    atoms: list[Atom] = []
    for atom in said.atoms:
        atoms.append(_atom(said, atom, tuple(atoms)))
    outputs, term = _parts(said, said.term, atoms)
    rows = [outputs[i * said.columns : (i + 1) * said.columns] for i in range(said.rows)]
    return term.with_sx(casadi.vertcat(*(casadi.horzcat(*row) for row in rows)))


class _Writer:
    """Gives each variable and each atom its index, when it is first met."""

    def __init__(self) -> None:
        self.variables: dict[Variable, int] = {}
        self.atoms: list[PortableAtom] = []
        self._indices: dict[Atom, int] = {}

    def term(self, term: Term) -> PortableTerm:
        variables, atoms = occurring(term)
        inner = tuple(self._atom(atom) for atom in atoms)
        symbols = [*(term.symbols[variable] for variable in variables), *(atom.symbol for atom in atoms)]
        return PortableTerm(tape_of_sx(term.sx, symbols), tuple(self._variable(v) for v in variables), inner)

    def _variable(self, variable: Variable) -> int:
        return self.variables.setdefault(variable, len(self.variables))

    def _atom(self, atom: Atom) -> int:
        if atom not in self._indices:
            value = self.term(atom.value)
            gradient = tuple((self._variable(along), self.term(entry)) for along, entry in atom.gradient.items())
            self._indices[atom] = len(self.atoms)
            self.atoms.append(PortableAtom(value, gradient))
        return self._indices[atom]


def _atom(whole: Portable, said: PortableAtom, known: Sequence[Atom]) -> Atom:
    value = _scalar(whole, said.value, known)
    gradient = {whole.variables[along]: _scalar(whole, entry, known) for along, entry in said.gradient}
    return Atom(value, lambda: gradient)


def _scalar(whole: Portable, said: PortableTerm, known: Sequence[Atom]) -> Term:
    (output,), term = _parts(whole, said, known)
    return term.with_sx(output)


def _parts(whole: Portable, said: PortableTerm, known: Sequence[Atom]) -> tuple[list[Any], Term]:
    """The outputs of the tape, and a term with the symbols and atoms that are in them."""
    symbols = {whole.variables[i]: term_of(whole.variables[i]).sx for i in said.variables}
    atoms = [known[i] for i in said.atoms]
    outputs = sx_of_tape(said.tape, [*symbols.values(), *(atom.symbol for atom in atoms)])
    return outputs, Term(None, symbols, dict.fromkeys(atoms))
