"""What stands inside every expression: a casadi expression, its variables' symbols and its atoms.

There is no table of symbols. A term brings the symbols of its variables along, and where two terms meet that were
built apart, the symbols of equal variables become one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._casadi import SX, casadi, stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from armillary._core import Tape
    from armillary.articulation.expressions._atoms import Atom
    from armillary.articulation.variables import Variable

    Symbols = dict[Variable, Any]
    Atoms = dict[Atom, None]

__all__ = ["Term", "build", "number_term", "replaced", "term_of", "united"]


class Term:
    """A casadi expression that knows its variables. Never changed once it is made; its dictionaries are shared.

    `symbols` holds the variables that may stand in `sx` itself; those inside an atom are the atom's own.
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
        """Rows and columns."""
        return self.sx.size1(), self.sx.size2()

    @property
    def expanded(self) -> Term:
        """The value alone: every atom replaced by what it is worth."""
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
        """The variables and atoms that stand in the casadi expression itself; others may have cancelled out."""
        if self._occurring is None:
            self._occurring = _occurring(self)
        return self._occurring

    def with_sx(self, sx: Any) -> Term:
        """Another expression of the same variables and atoms."""
        return Term(sx, self.symbols, self.atoms)


def build(operation: Callable[..., Any], *terms: Term) -> Term:
    """What the operation makes of the terms, all over the same symbols."""
    parts, symbols, atoms = united(terms)
    return Term(operation(*parts), symbols, atoms)


def united(terms: Sequence[Term]) -> tuple[list[Any], Symbols, Atoms]:
    """The casadi expressions of several terms over one set of symbols."""
    symbols: Symbols = {}
    atoms: Atoms = {}
    parts = []
    for term in terms:
        renamed: list[tuple[Any, Any]] = []
        symbols = _joined(symbols, term.symbols, renamed)
        parts.append(replaced(term.sx, renamed))
        if term.atoms and term.atoms is not atoms:
            atoms = {**atoms, **term.atoms} if atoms else term.atoms
    return parts, symbols, atoms


def replaced(sx: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """`sx` with new expressions for old symbols, all at once."""
    if not pairs:
        return sx
    return casadi.substitute(sx, stacked([old for old, _ in pairs]), stacked([new for _, new in pairs]))


def _joined(mine: Symbols, other: Symbols, renamed: list[tuple[Any, Any]]) -> Symbols:
    """Both together; `renamed` is told which symbols of the other gave way."""
    if not other or other is mine:
        return mine
    if not mine:
        return other
    new = {}
    for variable, symbol in other.items():
        known = mine.get(variable)
        if known is None:
            new[variable] = symbol
        elif known is not symbol:
            renamed.append((symbol, known))
    return {**mine, **new} if new else mine


def _without_atoms(term: Term) -> Term:
    atoms = list(term.atoms)
    parts, symbols, _ = united([Term(term.sx, term.symbols), *(atom.value.expanded for atom in atoms)])
    pairs = [(atom.symbol, value) for atom, value in zip(atoms, parts[1:], strict=True)]
    return Term(replaced(parts[0], pairs), symbols)


def _occurring(term: Term) -> tuple[list[Variable], list[Atom]]:
    present = {symbol.element_hash() for symbol in casadi.symvar(term.sx)}
    variables = [variable for variable, symbol in term.symbols.items() if symbol.element_hash() in present]
    return variables, [atom for atom in term.atoms if atom.symbol.element_hash() in present]


def number_term(value: float) -> Term:
    """A number as a term."""
    return Term(SX(value))


def term_of(expression: Any) -> Term:
    """The term inside a variable or an expression of any kind."""
    term: Term = expression._term  # noqa: SLF001  (private to this package, as casadi is)
    return term
