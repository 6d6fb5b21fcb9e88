"""From expressions to documents."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from armillary.articulation.documents._format import VERSION, Document, digest_of
from armillary.articulation.expressions import PoseExpression, RotationExpression
from armillary.articulation.expressions._body_rates import Motion, Product, links_of
from armillary.articulation.expressions._flattening import tape_of_sx
from armillary.articulation.expressions._terms import term_of
from armillary.articulation.expressions._turns import Turn

if TYPE_CHECKING:
    from armillary.articulation.expressions._atoms import Atom
    from armillary.articulation.expressions._base import Symbolic
    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["expression_to_document"]


def expression_to_document(expression: Symbolic[Any]) -> Document:
    """Value and gradient as what JSON can hold; `expression_from_document` reads it.

    >>> from armillary.articulation import expression_from_document, position, sin
    >>> q = position("q")
    >>> str(expression_from_document(expression_to_document(2.0 * sin(q))))
    '2 * sin(q)'
    """
    writing = _Writing()
    body = writing.body(expression)
    document = {"version": VERSION, "kind": type(expression).__name__, **body, "atoms": writing.atoms}
    return {**document, "digest": digest_of(document)}


class _Writing:
    def __init__(self) -> None:
        self.atoms: list[Document] = []
        self.numbers: dict[Atom, int] = {}

    def body(self, expression: Symbolic[Any]) -> Document:
        if isinstance(expression, PoseExpression):
            return self.motion(expression.motion)
        if isinstance(expression, RotationExpression) and expression.turn is not None:
            return self.turn(expression.turn)
        return self.term(term_of(expression))

    def motion(self, motion: Motion) -> Document:
        if isinstance(motion.made_of, Product):
            return {"links": [self.motion(link) for link in links_of(motion)]}
        return self.turn(motion.made_of) if isinstance(motion.made_of, Turn) else self.term(motion.term)

    def turn(self, turn: Turn) -> Document:
        return {"axis": list(turn.axis), "angle": self.term(turn.angle)}

    def term(self, term: Term) -> Document:
        variables, atoms = term.occurring
        symbols = [*(term.symbols[variable] for variable in variables), *(atom.symbol for atom in atoms)]
        inputs = [*map(_written, variables), *map(self.number, atoms)]
        tape = b64encode(tape_of_sx(term.sx, symbols).to_bytes()).decode()
        return {"shape": list(term.shape), "inputs": inputs, "tape": tape}

    def number(self, atom: Atom) -> int:
        """Its place in the list; what it uses comes first."""
        if atom not in self.numbers:
            gradient = [[*_written(key), self.term(entry)] for key, entry in atom.gradient.items()]
            self.atoms.append({"value": self.term(atom.value), "gradient": gradient})
            self.numbers[atom] = len(self.atoms) - 1
        return self.numbers[atom]


def _written(variable: Variable) -> list[Any]:
    return [variable.name, int(variable.order)]
