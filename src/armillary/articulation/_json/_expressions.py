"""Expressions in files: tapes, in base64, with the variables that go into them."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from armillary._core import Tape
from armillary.articulation._json._fields import ModelField
from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
from armillary.articulation.expressions._portable import (
    Portable,
    PortableAtom,
    PortableTerm,
    from_portable,
    to_portable,
)
from armillary.articulation.variables import Order, Variable
from armillary.errors import ArmillaryError

__all__ = ["EXPRESSIONS", "decoded_expression", "encoded_expression"]

EXPRESSIONS = (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
_SHAPES = {
    DirectionExpression: (3, 1),
    Expression: (1, 1),
    PointExpression: (3, 1),
    PoseExpression: (4, 4),
    RotationExpression: (3, 3),
}
_LARGEST = 1_000_000


def encoded_expression(expression: Any) -> dict[str, Any]:
    """Its form in JSON."""
    said = to_portable(expression)
    found: dict[str, Any] = {
        "shape": [said.rows, said.columns],
        "variables": [[variable.name, int(variable.order)] for variable in said.variables],
        "term": _encoded_term(said.term),
    }
    if said.atoms:
        found["atoms"] = [
            {
                "value": _encoded_term(atom.value),
                "gradient": [[along, _encoded_term(entry)] for along, entry in atom.gradient],
            }
            for atom in said.atoms
        ]
    return found


def decoded_expression(field: ModelField, kind: type[Any]) -> Any:
    """The expression of this kind, or what is wrong with the field."""
    said = field.members(("shape", "variables", "term"), ("atoms",))
    shape = _shape(said["shape"], kind)
    variables = tuple(_variable(one) for one in said["variables"].items())
    if len(set(variables)) != len(variables):
        raise said["variables"].refused("a variable stands here twice")
    atoms: list[PortableAtom] = []
    for one in said["atoms"].items() if "atoms" in said else []:
        atoms.append(_atom(one, variables, len(atoms)))
    term = _term(said["term"], len(variables), len(atoms), shape[0] * shape[1])
    return kind.of_term(from_portable(Portable(*shape, variables, tuple(atoms), term)))


def _encoded_term(term: PortableTerm) -> dict[str, Any]:
    found: dict[str, Any] = {"tape": base64.b64encode(term.tape.to_bytes()).decode(), "inputs": list(term.variables)}
    return found | ({"atoms": list(term.atoms)} if term.atoms else {})


def _shape(field: ModelField, kind: type[Any]) -> tuple[int, int]:
    rows, columns = (one.integer() for one in field.items(2))
    if (rows, columns) != _SHAPES.get(kind, (rows, columns)) or (kind is VectorExpression and columns != 1):
        raise field.refused(f"this is not the shape of a {kind.__name__}")
    if rows < 1 or columns < 1 or rows * columns > _LARGEST:
        raise field.refused(f"at least one entry and at most {_LARGEST} are expected")
    return rows, columns


def _variable(field: ModelField) -> Variable:
    name, order = field.items(2)
    if order.integer() not in {int(known) for known in Order}:
        raise order.refused("0, 1, 2 or 3 is expected: how often the position is differentiated")
    try:
        return Variable(name.text(), Order(order.integer()))
    except ArmillaryError as error:
        raise name.refused(str(error).rstrip(".")) from None


def _atom(field: ModelField, variables: tuple[Variable, ...], known: int) -> PortableAtom:
    said = field.members(("value", "gradient"))
    entries = []
    for pair in said["gradient"].items():
        along, entry = pair.items(2)
        index = _index(along, len(variables))
        if not variables[index].order:
            raise along.refused(f"nothing changes along {variables[index]!r}: a velocity or higher is expected")
        entries.append((index, _term(entry, len(variables), known, 1)))
    return PortableAtom(_term(said["value"], len(variables), known, 1), tuple(entries))


def _term(field: ModelField, variables: int, atoms: int, outputs: int) -> PortableTerm:
    said = field.members(("tape", "inputs"), ("atoms",))
    inputs = tuple(_index(one, variables) for one in said["inputs"].items())
    inner = tuple(_index(one, atoms) for one in said["atoms"].items()) if "atoms" in said else ()
    tape = _tape(said["tape"])
    if len(set(inputs)) != len(inputs) or len(set(inner)) != len(inner):
        raise field.refused("an input stands here twice")
    wanted = (len(inputs) + len(inner), outputs)
    if (tape.inputs, tape.outputs) != wanted:
        raise said["tape"].refused(f"from {tape.inputs} numbers to {tape.outputs}; {wanted} are expected")
    return PortableTerm(tape, inputs, inner)


def _index(field: ModelField, count: int) -> int:
    index = field.integer()
    if not 0 <= index < count:
        raise field.refused(f"an index below {count} is expected")
    return index


def _tape(field: ModelField) -> Tape:
    try:
        return Tape.from_bytes(base64.b64decode(field.text(), validate=True))
    except (binascii.Error, ArmillaryError, ValueError) as error:
        raise field.refused(f"it is no tape ({str(error).rstrip('.')})") from None
