"""From a term to a tape, the list of instructions that the native core runs, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import TAPE_OPS, Tape
from armillary.articulation.expressions._casadi import SX, binary, casadi, flat, stacked, unary
from armillary.articulation.expressions._terms import Term
from armillary.errors import NotGrounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation.variables import Variable

__all__ = ["BINARY", "flattened", "sx_of_tape"]

_NAMES = {
    casadi.OP_ASSIGN: "assign",
    casadi.OP_NEG: "neg",
    casadi.OP_SQ: "sq",
    casadi.OP_TWICE: "twice",
    casadi.OP_INV: "inv",
    casadi.OP_SQRT: "sqrt",
    casadi.OP_EXP: "exp",
    casadi.OP_LOG: "log",
    casadi.OP_SIN: "sin",
    casadi.OP_COS: "cos",
    casadi.OP_TAN: "tan",
    casadi.OP_ASIN: "asin",
    casadi.OP_ACOS: "acos",
    casadi.OP_ATAN: "atan",
    casadi.OP_SINH: "sinh",
    casadi.OP_COSH: "cosh",
    casadi.OP_TANH: "tanh",
    casadi.OP_ASINH: "asinh",
    casadi.OP_ACOSH: "acosh",
    casadi.OP_ATANH: "atanh",
    casadi.OP_FABS: "abs",
    casadi.OP_SIGN: "sign",
    casadi.OP_FLOOR: "floor",
    casadi.OP_CEIL: "ceil",
    casadi.OP_NOT: "not",
    casadi.OP_LOG1P: "log1p",
    casadi.OP_EXPM1: "expm1",
    casadi.OP_ADD: "add",
    casadi.OP_SUB: "sub",
    casadi.OP_MUL: "mul",
    casadi.OP_DIV: "div",
    casadi.OP_POW: "pow",
    casadi.OP_CONSTPOW: "pow",
    casadi.OP_ATAN2: "atan2",
    casadi.OP_FMIN: "min",
    casadi.OP_FMAX: "max",
    casadi.OP_LT: "lt",
    casadi.OP_LE: "le",
    casadi.OP_EQ: "eq",
    casadi.OP_NE: "ne",
    casadi.OP_AND: "and",
    casadi.OP_OR: "or",
    casadi.OP_IF_ELSE_ZERO: "if_else_zero",
    casadi.OP_FMOD: "fmod",
    casadi.OP_COPYSIGN: "copysign",
    casadi.OP_HYPOT: "hypot",
}
BINARY = frozenset(
    "add sub mul div pow atan2 min max lt le eq ne and or if_else_zero fmod copysign hypot".split()  # noqa: SIM905
)
_NUMBERS = {operation: TAPE_OPS[name] for operation, name in _NAMES.items()}
_OPERATIONS = {TAPE_OPS[name]: operation for operation, name in reversed(_NAMES.items())}
_BINARY_NUMBERS = frozenset(TAPE_OPS[name] for name in BINARY)
_CONSTANT, _INPUT, _OUTPUT = (TAPE_OPS[name] for name in ("constant", "input", "output"))


def flattened(term: Term, order: Sequence[Variable]) -> Tape:
    """The value of a term, row after row, from the values of these variables.

    Raises:
        NotGrounded: A variable that occurs is not among them.
    """
    missing = term.variables.difference(order)
    if missing:
        raise NotGrounded(sorted(map(repr, missing)))
    symbols = term.expanded.symbols
    inputs = [symbols[variable] if variable in symbols else SX.sym("unused") for variable in order]
    return tape_of_sx(term.expanded.sx, inputs)


def tape_of_sx(sx: Any, inputs: Sequence[Any]) -> Tape:
    """The entries of a casadi expression, row after row, from its symbols."""
    outputs = casadi.densify(flat(sx))
    function = casadi.Function("flat", [stacked(inputs)], [outputs])
    code = np.zeros((function.n_instructions(), 4), dtype=np.uint32)
    constants: dict[float, int] = {}
    for k, row in enumerate(code):
        row[:] = _instruction(function, k, constants)
    return Tape(code, np.array(list(constants), dtype=np.float64), inputs=len(inputs), outputs=outputs.size1())


def sx_of_tape(tape: Tape, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a tape as casadi expressions of its inputs."""
    registers: dict[int, Any] = {}
    outputs: dict[int, Any] = {}
    constants = tape.constants.tolist()
    for number, target, a, b in tape.code.tolist():
        if number == _OUTPUT:
            outputs[target] = registers[a]
        elif number == _INPUT:
            registers[target] = inputs[a]
        elif number == _CONSTANT:
            registers[target] = SX(constants[a])
        elif number in _BINARY_NUMBERS:
            registers[target] = binary(_OPERATIONS[number], registers[a], registers[b])
        else:
            registers[target] = unary(_OPERATIONS[number], registers[a])
    return [outputs[i] for i in range(tape.outputs)]


def _instruction(function: Any, k: int, constants: dict[float, int]) -> tuple[int, int, int, int]:
    operation = function.instruction_id(k)
    number = _NUMBERS.get(operation)
    targets = function.instruction_output(k)
    if number is not None:
        a, *b = function.instruction_input(k)
        return number, targets[0], a, b[0] if b else 0
    if operation == casadi.OP_INPUT:
        return _INPUT, targets[0], function.instruction_input(k)[1], 0
    if operation == casadi.OP_OUTPUT:
        return _OUTPUT, targets[1], function.instruction_input(k)[0], 0
    return _CONSTANT, targets[0], constants.setdefault(function.instruction_constant(k), len(constants)), 0
