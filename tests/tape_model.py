"""The meaning of tapes in plain Python, number by number, and random tapes to compare with."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from armillary._core import TAPE_OPS, Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Row = tuple[int, int, int, int]

_LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def _of_libm(name: str, arguments: int) -> Callable[..., float]:
    """The C function itself: Python's `math` raises where C answers, and numpy has sines of its own."""
    function = getattr(_LIBM, name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arguments
    return function


def _divided(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def _multiplied(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(a) * np.float64(b))


def _sign(a: float) -> float:
    return -1.0 if a < 0 else 1.0 if a > 0 else a


class Unclear(Exception):
    """What comes out is not decided by what went in: the sign of NaN."""


def _copysign(a: float, b: float) -> float:
    if math.isnan(b):
        raise Unclear
    return math.copysign(a, b)


UNARY: dict[str, Callable[[float], float]] = {
    "assign": lambda a: a,
    "neg": lambda a: -a,
    "sq": lambda a: _multiplied(a, a),
    "twice": lambda a: 2.0 * a,
    "inv": lambda a: _divided(1.0, a),
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
    "abs": abs,
    "sign": _sign,
    "not": lambda a: float(a == 0),
    **{name: _of_libm(name, 1) for name in ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh")},
    **{name: _of_libm(name, 1) for name in ("tanh", "asinh", "acosh", "atanh", "floor", "ceil", "log1p", "expm1")},
}
BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": _multiplied,
    "div": _divided,
    "min": lambda a, b: b if b < a or math.isnan(a) else a,
    "max": lambda a, b: b if b > a or math.isnan(a) else a,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "eq": lambda a, b: float(a == b),
    "ne": lambda a, b: float(a != b),
    "and": lambda a, b: float(a != 0 and b != 0),
    "or": lambda a, b: float(a != 0 or b != 0),
    "if_else_zero": lambda a, b: b if a != 0 else 0.0,
    "copysign": _copysign,
    **{name: _of_libm(name, 2) for name in ("pow", "atan2", "fmod", "hypot")},
}
NAMES = {number: name for name, number in TAPE_OPS.items()}


def interpret(
    tape: Tape, values: Sequence[float], own: Mapping[str, Callable[[float], float]] | None = None
) -> list[float]:
    """The outputs of a tape; `own` are functions to use instead of those above."""
    functions = UNARY | dict(own or {})
    registers: dict[int, float] = {}
    outputs = [math.nan] * tape.outputs
    for op, target, a, b in tape.code.tolist():
        name = NAMES[op]
        if name == "constant":
            registers[target] = float(tape.constants[a])
        elif name == "input":
            registers[target] = float(values[a])
        elif name == "output":
            outputs[target] = registers[a]
        elif name in BINARY:
            registers[target] = BINARY[name](registers[a], registers[b])
        else:
            registers[target] = functions[name](registers[a])
    return outputs


def same_numbers(left: object, right: object) -> bool:
    """Bit by bit, zeros with their sign; one NaN is like another."""
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    known = ~np.isnan(a)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a[known]), np.signbit(b[known]))


NASTY = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    math.pi / 2,
    -math.pi,
    1e-300,
    5e-324,
    1e5,
    1e22,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
)
numbers = st.sampled_from(NASTY) | st.floats(-10, 10) | st.floats()


@st.composite
def tapes(draw: st.DrawFn, *, computing: Collection[str] = (*UNARY, *BINARY), most: int = 40) -> Tape:
    """Any tape: registers are used again, outputs are written anywhere, dead code is left."""
    inputs = draw(st.integers(0, 3))
    constants = draw(st.lists(numbers, min_size=1, max_size=3))
    code: list[Row] = [(TAPE_OPS["constant"], 0, 0, 0)]
    written, outputs = [0], 0
    for at in range(1, draw(st.integers(1, most))):
        kind = draw(st.sampled_from(["constant", "input", "output", *["compute"] * 5]))
        target, register = draw(st.integers(0, at)), st.sampled_from(written)
        if kind == "output":
            code.append((TAPE_OPS["output"], outputs, draw(register), 0))
            outputs += 1
            continue
        if kind == "constant" or (kind == "input" and inputs == 0):
            code.append((TAPE_OPS["constant"], target, draw(st.integers(0, len(constants) - 1)), 0))
        elif kind == "input":
            code.append((TAPE_OPS["input"], target, draw(st.integers(0, inputs - 1)), 0))
        else:
            code.append((TAPE_OPS[draw(st.sampled_from(sorted(computing)))], target, draw(register), draw(register)))
        written.append(target)
    code.append((TAPE_OPS["output"], outputs, draw(st.sampled_from(written)), 0))
    return Tape(np.array(code, dtype=np.uint32), constants, inputs=inputs, outputs=outputs + 1)
