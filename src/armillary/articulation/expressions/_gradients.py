"""Differentiation: the one path for every kind of expression.

casadi differentiates by the symbols that stand in an expression. What is left is one product with the gradients of the
atoms among them: dy/dk = sum over variables v of dy/dv [k is the change of v] + sum over atoms z of dy/dz * gradient
of z along k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._casadi import SX, casadi, flat, stacked
from armillary.articulation.expressions._terms import Term, build, term_of, united

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation.expressions._atoms import Atom
    from armillary.articulation.variables import Variable

__all__ = ["directions", "gradient_of", "jacobian_of", "velocity_of"]


def directions(term: Term) -> list[Variable]:
    """The variables, one order higher, along which the term can change: the keys of its gradient."""
    variables, atoms = term.occurring
    found = {variable.derivative: None for variable in variables}
    for atom in atoms:
        found.update(dict.fromkeys(atom.gradient))
    return list(found)


def gradient_of(term: Term) -> dict[Variable, Term]:
    """By direction, a term of the same shape."""
    along = directions(term)
    jacobian = jacobian_of(term, along)
    return {direction: _column(jacobian, i, term.shape) for i, direction in enumerate(along)}


def jacobian_of(term: Term, along: Sequence[Variable]) -> Term:
    """One row for each entry, row after row, and one column for each direction."""
    variables, atoms = term.occurring
    wanted = set(along)
    own = [variable for variable in variables if variable.derivative in wanted]
    seeds = [*(term.symbols[variable] for variable in own), *(atom.symbol for atom in atoms)]
    partial = term.with_sx(casadi.jacobian(flat(term.sx), stacked(seeds)))
    if not atoms and [variable.derivative for variable in own] == list(along):
        return partial
    return build(casadi.mtimes, partial, _closing(own, atoms, along))


def velocity_of(term: Term) -> Term:
    """The change in time: every direction times its entry, in one forward sweep."""
    variables, atoms = term.occurring
    changes = [*(term_of(variable.derivative) for variable in variables), *(_atom_velocity(atom) for atom in atoms)]
    parts, symbols, all_atoms = united([term, *changes])
    seeds = [*(term.symbols[variable] for variable in variables), *(atom.symbol for atom in atoms)]
    if not seeds:
        return Term(SX(*term.shape))
    return Term(casadi.jtimes(parts[0], stacked(seeds), stacked(parts[1:])), symbols, all_atoms)


def _closing(own: Sequence[Variable], atoms: Sequence[Atom], along: Sequence[Variable]) -> Term:
    """What each variable and each atom changes by along each direction."""
    columns = {direction: i for i, direction in enumerate(along)}
    places = [(row, columns[variable.derivative]) for row, variable in enumerate(own)]
    entries = [Term(SX(1.0)) for _ in own]
    for row, atom in enumerate(atoms, start=len(own)):
        for direction, entry in atom.gradient.items():
            if direction in columns:
                places.append((row, columns[direction]))
                entries.append(entry)
    parts, symbols, inner = united(entries)
    return Term(_filled((len(own) + len(atoms), len(along)), places, parts), symbols, inner)


def _filled(shape: tuple[int, int], places: Sequence[tuple[int, int]], parts: Sequence[Any]) -> Any:
    matrix = SX(*shape)
    for place, part in zip(places, parts, strict=True):
        matrix[place] = part
    return matrix


def _atom_velocity(atom: Atom) -> Term:
    summands = [build(casadi.times, term_of(direction), entry) for direction, entry in atom.gradient.items()]
    return build(lambda *parts: sum(parts, SX(0.0)), *summands)


def _column(jacobian: Term, index: int, shape: tuple[int, int]) -> Term:
    column = jacobian.sx[:, index]
    rows, columns = shape
    return jacobian.with_sx(column if columns == 1 else casadi.reshape(column, columns, rows).T)
