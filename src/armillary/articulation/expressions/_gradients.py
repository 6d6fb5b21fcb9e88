"""Differentiation and substitution, one implementation for every kind of expression.

casadi differentiates by the symbols in an expression. What is left is one product with the gradients of the atoms among
them: dy/dk = sum over variables v of dy/dv [k is the change of v] + sum over atoms z of dy/dz * gradient of z along k.
Substitution keeps atoms and changes their gradients by the chain rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from armillary.articulation._terms import SX, Atom, Term, add, build, casadi, flat, replaced, stacked, term_of, united

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from armillary.articulation._terms import Gradient
    from armillary.articulation.variables import Variable

__all__ = [
    "Substitution",
    "along_of",
    "directions",
    "gradient_of",
    "in_columns",
    "jacobian_by_rows",
    "jacobian_of",
    "velocity_of",
]

T = TypeVar("T")


def directions(term: Term) -> list[Variable]:
    """Return the keys of the gradient: the variables, one order higher, along which the term can change."""
    variables, atoms = term.occurring
    found = {variable.derivative: None for variable in variables}
    for atom in atoms:
        found.update(dict.fromkeys(atom.gradient))
    return list(found)


def gradient_of(term: Term) -> Gradient:
    """Return the gradient: by direction, a term of the same shape."""
    along = directions(term)
    jacobian = jacobian_of(term, along)
    rows, columns = term.shape
    found = {}
    for i, direction in enumerate(along):
        column = jacobian.sx[:, i]
        found[direction] = jacobian.with_sx(column if columns == 1 else casadi.reshape(column, columns, rows).T)
    return found


def jacobian_of(term: Term, along: Sequence[Variable]) -> Term:
    """Return the Jacobian: one row for each entry, row after row, and one column for each direction."""
    variables, atoms = term.occurring
    wanted = set(along)
    own = [variable for variable in variables if variable.derivative in wanted]
    seeds = [*(term.symbols[variable] for variable in own), *(atom.symbol for atom in atoms)]
    partial = term.with_sx(casadi.jacobian(flat(term.sx), stacked(seeds)))
    if not atoms and [variable.derivative for variable in own] == list(along):
        return partial
    return build(casadi.mtimes, partial, _seed_gradients(own, atoms, along))


def along_of(term: Term, variables: Sequence[Variable]) -> list[Variable]:
    """Return the direction of each column of a Jacobian: along the variable; itself where it is a direction alone."""
    free, known = term.variables, set(directions(term))
    return [variable if variable in known and variable not in free else variable.derivative for variable in variables]


def jacobian_by_rows(term: Term, variables: Sequence[Variable]) -> Term:
    """Return the Jacobian, in which each row has the directions of its entry alone."""
    free, known = term.variables, set(directions(term))
    if free.isdisjoint(known.intersection(variables)):
        return in_columns(term, jacobian_of, along_of(term, variables))
    entries = flat(term.sx)
    rows = [term.with_sx(entries[i]) for i in range(entries.size1())]
    return build(casadi.vertcat, *(in_columns(row, jacobian_of, along_of(row, variables)) for row in rows))


def in_columns(of: T, jacobian: Callable[[T, Sequence[Variable]], Term], along: Sequence[Variable]) -> Term:
    """Return a Jacobian with a column for each of these directions, also where two of them are one."""
    once = list(dict.fromkeys(along))
    found = jacobian(of, once)
    return found if len(once) == len(along) else found.with_sx(found.sx[:, [once.index(key) for key in along]])


def velocity_of(term: Term) -> Term:
    """Return the change in time: every direction times its entry, in one forward sweep."""
    variables, atoms = term.occurring
    changes = [*(term_of(variable.derivative) for variable in variables), *(_atom_velocity(atom) for atom in atoms)]
    parts, symbols, all_atoms = united([term, *changes])
    seeds = [*(term.symbols[variable] for variable in variables), *(atom.symbol for atom in atoms)]
    if not seeds:
        return Term(SX(*term.shape))
    return Term(casadi.jtimes(parts[0], stacked(seeds), stacked(parts[1:])), symbols, all_atoms)


def _seed_gradients(own: Sequence[Variable], atoms: Sequence[Atom], along: Sequence[Variable]) -> Term:
    """Return the matrix of what each variable and each atom (rows) changes by along each direction (columns)."""
    columns = {direction: i for i, direction in enumerate(along)}
    places = [(row, columns[variable.derivative]) for row, variable in enumerate(own)]
    entries = [Term(SX(1.0)) for _ in own]
    for row, atom in enumerate(atoms, start=len(own)):
        for direction, entry in atom.gradient.items():
            if direction in columns:
                places.append((row, columns[direction]))
                entries.append(entry)
    parts, symbols, inner = united(entries)
    matrix = SX(len(own) + len(atoms), len(along))
    for place, part in zip(places, parts, strict=True):
        matrix[place] = part
    return Term(matrix, symbols, inner)


def _atom_velocity(atom: Atom) -> Term:
    summands = [build(casadi.times, term_of(direction), entry) for direction, entry in atom.gradient.items()]
    return build(lambda *parts: sum(parts, SX(0.0)), *summands)


class Substitution:
    """Values for variables, substituted all at once; an atom that is met twice becomes one atom again."""

    def __init__(self, values: Mapping[Variable, Term]) -> None:
        self._values = dict(values)
        self._gradients: dict[Variable, Gradient] = {}
        self._atoms: dict[Atom, Atom] = {}

    def of(self, term: Term) -> Term:
        """Return the term with the values in place of the variables."""
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

    def _gradient(self, atom: Atom) -> Gradient:
        found: Gradient = {}
        for direction, entry in atom.gradient.items():
            here = self.of(entry)
            for along, rate in self._rates(direction).items():
                change = here if rate is None else build(casadi.times, here, rate)
                found[along] = build(add, found[along], change) if along in found else change
        return found

    def _rates(self, direction: Variable) -> Mapping[Variable, Term | None]:
        """Return how the variable of a direction changes after the substitution; None: as before."""
        variable = direction.integral
        if variable not in self._values:
            return {direction: None}
        if variable not in self._gradients:
            self._gradients[variable] = gradient_of(self._values[variable])
        return self._gradients[variable]
