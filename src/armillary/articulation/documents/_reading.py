"""From documents and tapes to expressions. Nothing in a document is executed, and no class is looked up by its name."""

from __future__ import annotations

import math
from base64 import b64decode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING, Any

from armillary._core import Tape
from armillary.articulation.documents._format import DEEPEST, KINDS, VERSION, Document, digest_of
from armillary.articulation.expressions import Expression, PoseExpression, RotationExpression, VectorExpression
from armillary.articulation.expressions._atoms import Atom
from armillary.articulation.expressions._body_rates import Motion, product_of
from armillary.articulation.expressions._casadi import casadi, stacked
from armillary.articulation.expressions._checks import as_variables
from armillary.articulation.expressions._flattening import sx_of_tape
from armillary.articulation.expressions._terms import Term, term_of
from armillary.articulation.expressions._turns import Turn
from armillary.articulation.variables import Order, Variable
from armillary.errors import InvalidArgument, InvalidExpression, InvalidName, InvalidTape

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["expression_from_document", "expression_from_tape"]

_LARGEST = 1_000_000


def expression_from_tape(tape: Tape, variables: Sequence[Variable]) -> Expression | VectorExpression:
    """What the tape calculates from these variables: a scalar if it has one output, otherwise a vector."""
    inputs = as_variables(variables)
    if len(inputs) != tape.inputs:
        raise InvalidArgument(f"The tape has {tape.inputs} inputs, got {len(inputs)} variables.", variables)
    symbols = {variable: term_of(variable).sx for variable in inputs}
    term = Term(stacked(sx_of_tape(tape, list(symbols.values()))), symbols)
    return Expression.of_term(term) if tape.outputs == 1 else VectorExpression.of_term(term)


def expression_from_document(document: Document) -> Any:
    """The expression that `expression_to_document` wrote.

    Raises:
        InvalidExpression: Something in it is not as it was written; `field` says where.
    """
    _check_whole(document)
    reading = _Reading()
    for i, atom in enumerate(_field(document, "atoms", list, "")):
        reading.atoms.append(reading.atom(atom, f"atoms[{i}]"))
    return reading.expression(document)


class _Reading:
    """`atoms` are those that were read already: nothing can use itself."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.variables: dict[tuple[str, int], Variable] = {}

    def expression(self, document: Document) -> Any:
        kind, shape = KINDS[document["kind"]]
        if kind is PoseExpression:
            motion = self.motion(document, "", DEEPEST)
            return PoseExpression.of_term(_shaped(motion.term, shape, ""), motion.made_of)
        if kind is RotationExpression and "axis" in document:
            turn = self.turn(document, "")
            return RotationExpression.of_term(turn.rotation(), turn)
        return kind.of_term(_shaped(self.term(document, ""), shape, ""))

    def motion(self, document: Any, where: str, deepest: int) -> Motion:
        if not isinstance(document, dict) or not deepest:
            raise InvalidExpression(where, "a pose, not too deep in others, is wanted")
        if "links" in document:
            links = _field(document, "links", list, where)
            if not links:
                raise InvalidExpression(f"{where}.links", "a chain has links")
            return product_of([self.motion(link, f"{where}.links[{i}]", deepest - 1) for i, link in enumerate(links)])
        if "axis" in document:
            turn = self.turn(document, where)
            return Motion(turn.pose(), turn)
        return Motion(_shaped(self.term(document, where), (4, 4), where), None)

    def turn(self, document: Document, where: str) -> Turn:
        numbers = _field(document, "axis", list, where)
        if [type(number) for number in numbers] != [float] * 3 or not math.isclose(math.hypot(*numbers), 1.0):
            raise InvalidExpression(f"{where}.axis", "an axis is three numbers of length one")
        angle = self.term(_field(document, "angle", dict, where), f"{where}.angle")
        return Turn((numbers[0], numbers[1], numbers[2]), _shaped(angle, (1, 1), f"{where}.angle"))

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
        """The same one for the same name, so that its symbol is the same everywhere."""
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
    if document.get("version") != VERSION:
        raise InvalidExpression("version", f"version {VERSION} is read here, got {document.get('version')!r}")
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
