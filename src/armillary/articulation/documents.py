"""Expressions in files: plain lists, numbers and text, with a checksum over all of it.

Values are written as tapes. The tape of an expression with atoms takes them as inputs beside the variables; the atoms
follow with their values and gradients, each after those it uses. A pose that is a chain is written link by link, so
that it is differentiated as fast after reading as before. Nothing in a document is executed, and no class is looked up
by its name.
"""

from __future__ import annotations

import copyreg
import hashlib
import json
import math
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING, Any

from armillary._core import Tape
from armillary.articulation._terms import Atom, Term, casadi, stacked, term_of
from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
from armillary.articulation.expressions._chains import AxisRotation, Chain, Product, links_of, product_of
from armillary.articulation.expressions._tapes import sx_of_tape, tape_of_sx
from armillary.articulation.expressions.base import Symbolic
from armillary.articulation.variables import Order, Variable, as_variables
from armillary.errors import InvalidArgument, InvalidExpression, InvalidName, InvalidTape

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["expression_from_document", "expression_from_tape", "expression_to_document"]

Document = dict[str, Any]

_VERSION = 1
_DEEPEST = 64
"""How deep chains may be nested in chains."""

KINDS: dict[str, tuple[type[Symbolic[Any]], tuple[int | None, int | None]]] = {
    "Expression": (Expression, (1, 1)),
    "VectorExpression": (VectorExpression, (None, 1)),
    "PointExpression": (PointExpression, (3, 1)),
    "DirectionExpression": (DirectionExpression, (3, 1)),
    "MatrixExpression": (MatrixExpression, (None, None)),
    "RotationExpression": (RotationExpression, (3, 3)),
    "PoseExpression": (PoseExpression, (4, 4)),
}
"""By name: the class, and its rows and columns where those are fixed."""


def digest_of(document: Document) -> str:
    """Compute the checksum of everything in a document but the checksum."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def expression_to_document(expression: Symbolic[Any]) -> Document:
    """Write value and gradient as a document that JSON can hold; `expression_from_document` reads it.

    >>> from armillary.articulation import expression_from_document, position, sin
    >>> q = position("q")
    >>> str(expression_from_document(expression_to_document(2.0 * sin(q))))
    '2 * sin(q)'
    """
    writer = _Writer()
    body = writer.body(expression)
    document = {"version": _VERSION, "kind": type(expression).__name__, **body, "atoms": writer.atoms}
    return {**document, "digest": digest_of(document)}


class _Writer:
    """Writes the parts of an expression; `atoms` are those written so far, each after those it uses."""

    def __init__(self) -> None:
        self.atoms: list[Document] = []
        self.indices: dict[Atom, int] = {}

    def body(self, expression: Symbolic[Any]) -> Document:
        if isinstance(expression, PoseExpression):
            return self.chain(expression.motion)
        if isinstance(expression, RotationExpression) and expression.turn is not None:
            return self.rotation(expression.turn)
        return self.term(term_of(expression))

    def chain(self, chain: Chain) -> Document:
        if isinstance(chain.made_of, Product):
            return {"links": [self.chain(link) for link in links_of(chain)]}
        return self.rotation(chain.made_of) if isinstance(chain.made_of, AxisRotation) else self.term(chain.term)

    def rotation(self, rotation: AxisRotation) -> Document:
        return {"axis": list(rotation.axis), "angle": self.term(rotation.angle)}

    def term(self, term: Term) -> Document:
        variables, atoms = term.occurring
        symbols = [*(term.symbols[variable] for variable in variables), *(atom.symbol for atom in atoms)]
        inputs = [*map(_variable_document, variables), *map(self.index, atoms)]
        tape = b64encode(tape_of_sx(term.sx, symbols).to_bytes()).decode()
        return {"shape": list(term.shape), "inputs": inputs, "tape": tape}

    def index(self, atom: Atom) -> int:
        """Return the index of an atom in the list, to which it is added on first use."""
        if atom not in self.indices:
            gradient = [[*_variable_document(key), self.term(entry)] for key, entry in atom.gradient.items()]
            self.atoms.append({"value": self.term(atom.value), "gradient": gradient})
            self.indices[atom] = len(self.atoms) - 1
        return self.indices[atom]


def _variable_document(variable: Variable) -> list[Any]:
    return [variable.name, int(variable.order)]


_LARGEST = 1_000_000


def expression_from_tape(tape: Tape, variables: Sequence[Variable]) -> Expression | VectorExpression:
    """Make the expression that a tape calculates: a scalar if it has one output, otherwise a vector."""
    inputs = as_variables(variables)
    if len(inputs) != tape.inputs:
        raise InvalidArgument(f"The tape has {tape.inputs} inputs, got {len(inputs)} variables.", variables)
    symbols = {variable: term_of(variable).sx for variable in inputs}
    term = Term(stacked(sx_of_tape(tape, list(symbols.values()))), symbols)
    return Expression.of_term(term) if tape.outputs == 1 else VectorExpression.of_term(term)


def expression_from_document(document: Document) -> Any:
    """Read an expression that `expression_to_document` wrote.

    Raises:
        InvalidExpression: Something in it is not as it was written; `field` is the place.
    """
    _check_whole(document)
    reader = _Reader()
    for i, atom in enumerate(_field(document, "atoms", list, "")):
        reader.atoms.append(reader.atom(atom, f"atoms[{i}]"))
    return reader.expression(document)


class _Reader:
    """Reads the parts of a document; `atoms` are those read so far, so that nothing can use itself."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.variables: dict[tuple[str, int], Variable] = {}

    def expression(self, document: Document) -> Any:
        kind, shape = KINDS[document["kind"]]
        if kind is PoseExpression:
            chain = self.chain(document, "", _DEEPEST)
            return PoseExpression.of_term(_shaped(chain.term, shape, ""), chain.made_of)
        if kind is RotationExpression and "axis" in document:
            rotation = self.rotation(document, "")
            return RotationExpression.of_term(rotation.rotation(), rotation)
        return kind.of_term(_shaped(self.term(document, ""), shape, ""))

    def chain(self, document: Any, where: str, deepest: int) -> Chain:
        if not isinstance(document, dict) or not deepest:
            raise InvalidExpression(where, "a pose, not too deep in others, is wanted")
        if "links" in document:
            links = _field(document, "links", list, where)
            if not links:
                raise InvalidExpression(f"{where}.links", "a chain has links")
            return product_of([self.chain(link, f"{where}.links[{i}]", deepest - 1) for i, link in enumerate(links)])
        if "axis" in document:
            rotation = self.rotation(document, where)
            return Chain(rotation.pose(), rotation)
        return Chain(_shaped(self.term(document, where), (4, 4), where), None)

    def rotation(self, document: Document, where: str) -> AxisRotation:
        numbers = _field(document, "axis", list, where)
        if [type(number) for number in numbers] != [float] * 3 or not math.isclose(math.hypot(*numbers), 1.0):
            raise InvalidExpression(f"{where}.axis", "an axis is three numbers of length one")
        angle = self.term(_field(document, "angle", dict, where), f"{where}.angle")
        return AxisRotation((numbers[0], numbers[1], numbers[2]), _shaped(angle, (1, 1), f"{where}.angle"))

    def atom(self, document: Any, where: str) -> Atom:
        if not isinstance(document, dict):
            raise InvalidExpression(where, "an atom has a value and a gradient")
        value = _shaped(self.term(_field(document, "value", dict, where), f"{where}.value"), (1, 1), where)
        entries = _field(document, "gradient", list, where)
        gradient = dict(self.entry(entry, f"{where}.gradient[{i}]") for i, entry in enumerate(entries))
        return Atom(value, lambda: gradient)

    def entry(self, entry: Any, where: str) -> tuple[Variable, Term]:
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[2], dict):  # noqa: PLR2004
            raise InvalidExpression(where, "an entry of a gradient is a name, an order and what it changes by")
        key = self.variable(entry[:2], where)
        if not key.order:
            raise InvalidExpression(where, "a gradient goes along velocities and higher orders")
        return key, _shaped(self.term(entry[2], where), (1, 1), where)

    def term(self, document: Document, where: str) -> Term:
        rows, columns = self.shape(document, where)
        inputs = _field(document, "inputs", list, where)
        tape = _tape(_field(document, "tape", str, where), f"{where}.tape")
        if (tape.inputs, tape.outputs) != (len(inputs), rows * columns):
            raise InvalidExpression(f"{where}.tape", f"{tape!r} does not go with its inputs and its shape")
        used = [self.input(given, f"{where}.inputs[{i}]") for i, given in enumerate(inputs)]
        symbols = {variable: term_of(variable).sx for variable in used if isinstance(variable, Variable)}
        atoms = {atom: None for atom in used if isinstance(atom, Atom)}
        parts = sx_of_tape(tape, [each.symbol if isinstance(each, Atom) else symbols[each] for each in used])
        flat = stacked(parts)
        return Term(flat if columns == 1 else casadi.reshape(flat, columns, rows).T, symbols, atoms)

    def shape(self, document: Document, where: str) -> tuple[int, int]:
        shape = _field(document, "shape", list, where)
        if len(shape) != 2 or not all(type(size) is int and 0 < size <= _LARGEST for size in shape):  # noqa: PLR2004
            raise InvalidExpression(f"{where}.shape", "a shape is rows and columns")
        return shape[0], shape[1]

    def input(self, given: Any, where: str) -> Variable | Atom:
        if type(given) is not int:
            return self.variable(given, where)
        if not 0 <= given < len(self.atoms):
            raise InvalidExpression(where, f"there is no atom {given} before it")
        return self.atoms[given]

    def variable(self, given: Any, where: str) -> Variable:
        """Return one variable for each name and order, so that its symbol is the same everywhere."""
        if not isinstance(given, list) or [type(part) for part in given] != [str, int]:
            raise InvalidExpression(where, "a variable is a name and an order")
        name, order = given
        if (name, order) not in self.variables:
            try:
                self.variables[name, order] = Variable(name, Order(order))
            except (InvalidName, ValueError) as wrong:
                raise InvalidExpression(where, str(wrong)) from wrong
        return self.variables[name, order]


def _check_whole(document: Any) -> None:
    if not isinstance(document, dict):
        raise InvalidExpression("", "a document of an expression is a dict")
    if document.get("version") != _VERSION:
        raise InvalidExpression("version", f"version {_VERSION} is read here, got {document.get('version')!r}")
    if not isinstance(document.get("kind"), str) or document["kind"] not in KINDS:
        raise InvalidExpression("kind", f"the kinds are {', '.join(KINDS)}, got {document.get('kind')!r}")
    try:
        expected = digest_of(document)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise InvalidExpression("", f"it is not what JSON can hold ({wrong})") from wrong
    if document.get("digest") != expected:
        raise InvalidExpression("digest", "the checksum does not agree with the rest")


def _field(document: Document, name: str, kind: type, where: str) -> Any:
    value = document.get(name)
    if type(value) is not kind:
        raise InvalidExpression(f"{where}.{name}".lstrip("."), f"a {kind.__name__} is wanted, got {value!r:.60}")
    return value


def _shaped(term: Term, shape: tuple[int | None, int | None], where: str) -> Term:
    if any(wanted not in {None, found} for wanted, found in zip(shape, term.shape, strict=True)):
        raise InvalidExpression(f"{where}.shape".lstrip("."), f"{shape} is wanted, got {term.shape}")
    return term


def _tape(text: str, where: str) -> Tape:
    try:
        return Tape.from_bytes(b64decode(text, validate=True))
    except (InvalidTape, NotBase64, ValueError) as wrong:
        raise InvalidExpression(where, str(wrong)) from wrong


def _reduced(expression: Symbolic[Any]) -> tuple[Any, ...]:
    return expression_from_document, (expression_to_document(expression),)


for _kind, _ in KINDS.values():
    copyreg.pickle(_kind, _reduced)
