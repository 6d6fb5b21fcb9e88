"""The inside of every expression: a casadi expression, the symbols of its variables, and its atoms.

This is the only module that imports casadi. There is no table of symbols: a term carries the symbols of its variables,
and where two terms that were built apart are combined, the symbols of equal variables are unified.

An atom is a scalar whose gradient is not the derivative of its value. The speed of a wheel moves a robot, and no
position of the wheel determines where the robot is. A condition is flat almost everywhere, and still it is known in
which direction it becomes true. Such a scalar is a symbol of its own, with a value and a gradient. Above it everything
is an ordinary expression that casadi differentiates; a derivative that arrives at an atom uses its gradient.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from armillary.errors import MissingExtra

try:
    import casadi
except ModuleNotFoundError as missing:
    raise MissingExtra("articulation", "casadi") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary._core import Tape
    from armillary.articulation.variables import Variable

    Symbols = dict[Variable, Any]
    Atoms = dict["Atom", None]
    Gradient = dict[Variable, "Term"]

__all__ = [
    "SX",
    "Atom",
    "Gradient",
    "Term",
    "add",
    "atom_term",
    "binary",
    "build",
    "casadi",
    "constant",
    "flat",
    "in_rows",
    "number_term",
    "replaced",
    "stacked",
    "term_of",
    "unary",
    "united",
]

SX = casadi.SX
# casadi's free functions search the overloads of all its matrix types at every call, which costs several times the
# work itself. These static methods do not.
binary = SX.binary
unary = SX.unary
_EMPTY_COLUMN = SX(0, 1)


def add(left: Any, right: Any) -> Any:
    """Add two casadi expressions element by element."""
    return binary(casadi.OP_ADD, left, right)


def constant(numbers: Any) -> Any:
    """Convert numbers to an expression; zeros are structural, so that nothing is ever multiplied with them."""
    return SX(casadi.sparsify(casadi.DM(numbers)))


def stacked(columns: Sequence[Any]) -> Any:
    """Stack columns into one."""
    return casadi.vertcat(*columns) if columns else _EMPTY_COLUMN


def flat(matrix: Any) -> Any:
    """Flatten a matrix into one column, row after row; casadi itself counts column after column."""
    return casadi.vec(matrix.T if matrix.size2() > 1 else matrix)


def in_rows(parts: Sequence[Any], columns: int) -> Any:
    """Arrange scalars into a matrix, row after row."""
    return casadi.vertcat(*(casadi.horzcat(*parts[i : i + columns]) for i in range(0, len(parts), columns)))


class Term:
    """A casadi expression with the symbols of its variables. Immutable; its dictionaries are shared between terms.

    `symbols` holds the variables that may occur in `sx` itself; those inside an atom belong to the atom.
    """

    __slots__ = ("_expanded", "_occurring", "_variables", "atoms", "sx", "symbols", "tape")

    def __init__(self, sx: Any, symbols: Symbols | None = None, atoms: Atoms | None = None) -> None:
        self.sx = sx
        self.symbols: Symbols = symbols or {}
        self.atoms: Atoms = atoms or {}
        self._expanded: Term | None = None
        self._occurring: tuple[list[Variable], list[Atom]] | None = None
        self._variables: frozenset[Variable] | None = None
        self.tape: tuple[tuple[Variable, ...], Tape] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.sx.size1(), self.sx.size2()

    @property
    def expanded(self) -> Term:
        """The value alone: every atom is replaced by its value."""
        if self._expanded is None:
            self._expanded = _without_atoms(self) if self.atoms else self
        return self._expanded

    @property
    def variables(self) -> frozenset[Variable]:
        """The variables that the value depends on, those inside its atoms included."""
        if self._variables is None:
            self._variables = frozenset(self.expanded.occurring[0])
        return self._variables

    @property
    def occurring(self) -> tuple[list[Variable], list[Atom]]:
        """The variables and atoms that occur in the casadi expression itself; others may have cancelled out."""
        if self._occurring is None:
            present = {symbol.element_hash() for symbol in casadi.symvar(self.sx)}
            variables = [variable for variable, symbol in self.symbols.items() if symbol.element_hash() in present]
            self._occurring = variables, [atom for atom in self.atoms if atom.symbol.element_hash() in present]
        return self._occurring

    def with_sx(self, sx: Any) -> Term:
        """Another casadi expression of the same variables and atoms."""
        return Term(sx, self.symbols, self.atoms)


class Atom:
    """A scalar with a gradient of its own, which is complete: what it does not list has no effect on the scalar.

    The gradient is computed on first use, because most conditions are never differentiated.
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
    """Make a term that is one new atom."""
    atom = Atom(value, compute)
    return Term(atom.symbol, None, {atom: None})


def number_term(value: float) -> Term:
    """Make a term of a number."""
    return Term(SX(value))


term_of: Callable[[Any], Term] = attrgetter("_term")
"""Return the term inside a variable or an expression, which is private to this package, as casadi is."""


def build(operation: Callable[..., Any], *terms: Term) -> Term:
    """Apply an operation of casadi to terms, over one set of symbols."""
    parts, symbols, atoms = united(terms)
    return Term(operation(*parts), symbols, atoms)


def united(terms: Sequence[Term]) -> tuple[list[Any], Symbols, Atoms]:
    """Return the casadi expressions of several terms over one set of symbols."""
    symbols: Symbols = {}
    atoms: Atoms = {}
    parts = []
    for term in terms:
        symbols, renamed = _unified(symbols, term.symbols)
        parts.append(replaced(term.sx, renamed))
        if term.atoms and term.atoms is not atoms:
            atoms = {**atoms, **term.atoms} if atoms else term.atoms
    return parts, symbols, atoms


def replaced(sx: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Replace old symbols by new expressions in `sx`, all at once."""
    if not pairs:
        return sx
    return casadi.substitute(sx, stacked([old for old, _ in pairs]), stacked([new for _, new in pairs]))


def _unified(mine: Symbols, other: Symbols) -> tuple[Symbols, list[tuple[Any, Any]]]:
    """Unite two tables of symbols; return also which symbols of the other are replaced by which of mine."""
    if not other or other is mine:
        return mine, []
    if not mine:
        return other, []
    renamed: list[tuple[Any, Any]] = []
    new = {}
    for variable, symbol in other.items():
        known = mine.get(variable)
        if known is None:
            new[variable] = symbol
        elif known is not symbol:
            renamed.append((symbol, known))
    return {**mine, **new} if new else mine, renamed


def _without_atoms(term: Term) -> Term:
    atoms = list(term.atoms)
    parts, symbols, _ = united([Term(term.sx, term.symbols), *(atom.value.expanded for atom in atoms)])
    pairs = [(atom.symbol, value) for atom, value in zip(atoms, parts[1:], strict=True)]
    return Term(replaced(parts[0], pairs), symbols)
