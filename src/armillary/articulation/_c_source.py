"""Tapes as C."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from armillary._core import TAPE_OPS
from armillary.articulation._c_lanes import fits_lanes, in_lanes
from armillary.articulation._c_turns import TURNS, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary._core import Tape

__all__ = ["SYMBOL", "c_source"]

SYMBOL = "armillary_tape"
_NAMES = {number: name for name, number in TAPE_OPS.items()}
_FORMS = {
    "assign": "{a}",
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "div": "{a} / {b}",
    "neg": "-{a}",
    "sq": "{a} * {a}",
    "twice": "{a} + {a}",
    "inv": "1.0 / {a}",
    "abs": "fabs({a})",
    "sign": "({a} > 0.0 ? 1.0 : {a} < 0.0 ? -1.0 : {a})",
    "min": "fmin({a}, {b})",
    "max": "fmax({a}, {b})",
    "lt": "(double)({a} < {b})",
    "le": "(double)({a} <= {b})",
    "eq": "(double)({a} == {b})",
    "ne": "(double)({a} != {b})",
    "and": "(double)({a} != 0.0 && {b} != 0.0)",
    "or": "(double)({a} != 0.0 || {b} != 0.0)",
    "not": "(double)({a} == 0.0)",
    "if_else_zero": "({a} != 0.0 ? {b} : 0.0)",
}
_TURNED = {"sin": "sine", "cos": "cosine"}
_OF_TWO = ("pow", "atan2", "fmod", "copysign", "hypot")


def c_source(tape: Tape) -> str:
    """C99: one function for one configuration, one for many."""
    turned = turns_of(tape)
    return (
        f"#include <math.h>\n#include <stddef.h>\n{TURNS if turned else ''}"
        f"static inline void one(const double* in, double* out) {{\n{_body(tape, turned, 'double')}}}\n"
        f"void {SYMBOL}(const double* in, double* out) {{ one(in, out); }}\n"
        f"{_batch(tape, turned)}"
    )


def _batch(tape: Tape, turned: dict[int, int]) -> str:
    """As many at once as a vector has lanes, where it can do all of it; the rest one by one."""
    several = some = ""
    rows = f"in + i * {tape.inputs}, out + i * {tape.outputs}"
    if fits_lanes(tape, {name for name, _ in _values(tape, turned, "lanes")}):
        several = in_lanes(tape, _body(tape, turned, "lanes"))
        some = (
            "  const int is_past_cache = past_cache(n, out);\n"
            f"  for (; i + LANES <= n; i += LANES) several({rows}, is_past_cache);\n"
            "  if (is_past_cache) settle();\n"
        )
    return (
        f"{several}void {SYMBOL}_batch(long n, const double* in, double* out) {{\n  long i = 0;\n{some}"
        f"  for (; i < n; ++i) one({rows});\n}}\n"
    )


def _body(tape: Tape, turned: dict[int, int], kind: str) -> str:
    registers = "".join(f"  {kind} r{i};\n" for i in range(tape.registers))
    return registers + _turning(turned, kind) + "".join(text for _, text in _values(tape, turned, kind))


def _turning(turned: dict[int, int], kind: str) -> str:
    """The sines and cosines of all inputs that turn something, side by side."""
    if not turned:
        return ""
    count = len(turned)
    gathered = " ".join(f"angle[{place}] = in[{index}];" for index, place in turned.items())
    arrays = f"{kind} angle[{count}], sine[{count}], cosine[{count}];"
    numbers = f"{count} * sizeof({kind}) / sizeof(double)"
    return f"  {arrays}\n  {gathered}\n  turns({numbers}, (double*)angle, (double*)sine, (double*)cosine);\n"


def _values(tape: Tape, turned: dict[int, int], kind: str) -> Iterator[tuple[str, str]]:
    """Each instruction: the operation that is left to do, and its statement."""
    constants = tape.constants.tolist()
    holds: dict[int, int] = {}  # the input that a register is
    for number, target, a, b in tape.code.tolist():
        name = _NAMES[number]
        if name == "output":
            yield name, f"  out[{target}] = r{a};\n"
            continue
        if name == "constant":
            value = _literal(constants[a], kind)
        elif name == "input":
            value = f"in[{a}]"
        elif name in _TURNED and holds.get(a) in turned:
            name, value = "assign", f"{_TURNED[name]}[{turned[holds[a]]}]"
        else:
            value = _form(name).format(a=f"r{a}", b=f"r{b}")
        holds.pop(target, None)
        if name == "input":
            holds[target] = a
        yield name, f"  r{target} = {value};\n"


def _form(name: str) -> str:
    return _FORMS.get(name) or (f"{name}({{a}}, {{b}})" if name in _OF_TWO else f"{name}({{a}})")


def _literal(value: float, kind: str) -> str:
    if math.isfinite(value):
        text = value.hex()
    else:
        text = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return text if kind == "double" else f"ALL({text})"
