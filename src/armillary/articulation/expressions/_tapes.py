"""Conversion between terms and tapes, the bytecode that the C++ core runs, and evaluation of a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import TAPE_OPS, Tape
from armillary.articulation._terms import SX, binary, casadi, flat, stacked, unary
from armillary.articulation.variables import as_numbers
from armillary.errors import NotGrounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from armillary.articulation._terms import Term
    from armillary.articulation.variables import Numbers, Variable

__all__ = ["BINARY", "casadi_function_of_term", "evaluated", "sx_of_tape", "tape_of_sx", "tape_of_term"]

_UNARY = "assign neg sq twice inv sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()  # noqa: SIM905
_UNARY += "abs sign floor ceil not log1p expm1".split()  # noqa: SIM905
BINARY = frozenset(
    "add sub mul div pow atan2 min max lt le eq ne and or if_else_zero fmod copysign hypot".split()  # noqa: SIM905
)
_CASADI_NAMES = {"abs": "FABS", "min": "FMIN", "max": "FMAX"}
_NAMES = {getattr(casadi, f"OP_{_CASADI_NAMES.get(name, name.upper())}"): name for name in (*_UNARY, *BINARY)}
_NAMES[casadi.OP_CONSTPOW] = "pow"
_NUMBERS = {operation: TAPE_OPS[name] for operation, name in _NAMES.items()}
_OPERATIONS = {TAPE_OPS[name]: operation for operation, name in reversed(_NAMES.items())}
_BINARY_NUMBERS = frozenset(TAPE_OPS[name] for name in BINARY)
_CONSTANT, _INPUT, _OUTPUT = (TAPE_OPS[name] for name in ("constant", "input", "output"))


def tape_of_term(term: Term, order: Sequence[Variable]) -> Tape:
    """Make the tape of the value of a term, row after row, from the values of these variables.

    Raises:
        NotGrounded: A variable that occurs is not among them.
    """
    return tape_of_sx(term.expanded.sx, _inputs(term, order))


def casadi_function_of_term(term: Term, order: Sequence[Variable], name: str) -> Any:
    """Make a `casadi.Function` of the value of a term, from a column with the values of these variables.

    Raises:
        NotGrounded: A variable that occurs is not among them.
    """
    inputs = _inputs(term, order)
    return casadi.Function(name, [stacked(inputs)], [casadi.densify(term.expanded.sx)], ["q"], ["value"])


def _inputs(term: Term, order: Sequence[Variable]) -> list[Any]:
    missing = term.variables.difference(order)
    if missing:
        raise NotGrounded(sorted(map(repr, missing)))
    symbols = term.expanded.symbols
    return [symbols[variable] if variable in symbols else SX.sym("unused") for variable in order]


def tape_of_sx(sx: Any, inputs: Sequence[Any]) -> Tape:
    """Make the tape of a casadi expression, row after row, from its symbols."""
    outputs = casadi.densify(flat(sx))
    function = casadi.Function("flat", [stacked(inputs)], [outputs])
    code = np.zeros((function.n_instructions(), 4), dtype=np.uint32)
    constants: dict[float, int] = {}
    for k, row in enumerate(code):
        row[:] = _instruction(function, k, constants)
    return Tape(code, np.array(list(constants), dtype=np.float64), inputs=len(inputs), outputs=outputs.size1())


def sx_of_tape(tape: Tape, inputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a tape as casadi expressions of its inputs."""
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


def evaluated(term: Term, values: Numbers) -> NDArray[np.float64]:
    """Evaluate a term: its entries, row after row. The tape is kept, so that evaluating again is cheap."""
    numbers = as_numbers(values)
    if term.tape is None:
        order = tuple(term.variables)
        term.tape = order, tape_of_term(term, order)
    order, tape = term.tape
    missing = [repr(variable) for variable in order if variable not in numbers]
    if missing:
        raise NotGrounded(sorted(missing))
    return tape.run(np.array([numbers[variable] for variable in order]))
