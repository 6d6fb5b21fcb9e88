"""C source of a tape: one function for one configuration, one for many, with SIMD where the tape allows it.

casadi can generate C as well. This is kept because several configurations go through one SIMD vector, and the sines and
cosines of all joints are computed at once; benchmarks/rows/expressions.py measures it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from armillary._core import TAPE_OPS
from armillary.articulation._c_sincos import SINCOS_SOURCE, sincos_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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
    **{name: f"{name}({{a}}, {{b}})" for name in ("pow", "atan2", "fmod", "copysign", "hypot")},
}
_ARRAYS = {"sin": "sine", "cos": "cosine"}

_SIMD_WIDTH = 8
_SIMD_OPERATIONS = {"constant", "input", "output", "assign", "add", "sub", "mul", "div", "neg", "sq", "twice", "inv"}
_MOST_VECTORS = 8_192  # half a megabyte of the stack
_LONGEST = 20_000  # instructions
_CACHED = 4_000_000  # bytes of results


def c_source(tape: Tape) -> str:
    """Write C99: one function for one configuration, one for many."""
    inputs = sincos_inputs(tape)
    rows = f"in + i * {tape.inputs}, out + i * {tape.outputs}"
    simd = simd_loop = ""
    if _fits_simd(tape, {name for name, _ in _statements(tape, inputs, "simd")}):
        simd = _simd_function(tape, _body(tape, inputs, "simd"))
        simd_loop = (
            "  const int is_past_cache = past_cache(n, out);\n"
            f"  for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) several({rows}, is_past_cache);\n"
            "  if (is_past_cache) fence();\n"
        )
    return (
        f"#include <math.h>\n#include <stddef.h>\n{SINCOS_SOURCE if inputs else ''}"
        f"static inline void one(const double* in, double* out) {{\n{_body(tape, inputs, 'double')}}}\n"
        f"void {SYMBOL}(const double* in, double* out) {{ one(in, out); }}\n"
        f"{simd}void {SYMBOL}_batch(long n, const double* in, double* out) {{\n  long i = 0;\n{simd_loop}"
        f"  for (; i < n; ++i) one({rows});\n}}\n"
    )


def _body(tape: Tape, inputs: dict[int, int], kind: str) -> str:
    registers = "".join(f"  {kind} r{i};\n" for i in range(tape.registers))
    return registers + _sincos(inputs, kind) + "".join(text for _, text in _statements(tape, inputs, kind))


def _sincos(inputs: dict[int, int], kind: str) -> str:
    """Write the call that computes the sines and cosines of all inputs that are angles."""
    if not inputs:
        return ""
    count = len(inputs)
    gathered = " ".join(f"angle[{place}] = in[{index}];" for index, place in inputs.items())
    arrays = f"{kind} angle[{count}], sine[{count}], cosine[{count}];"
    numbers = f"{count} * sizeof({kind}) / sizeof(double)"
    return f"  {arrays}\n  {gathered}\n  sincos_of({numbers}, (double*)angle, (double*)sine, (double*)cosine);\n"


def _statements(tape: Tape, inputs: dict[int, int], kind: str) -> Iterator[tuple[str, str]]:
    """Yield the operation and the statement of each instruction; a precomputed sine is an assignment."""
    constants = tape.constants.tolist()
    holds: dict[int, int] = {}  # by register, the input it holds
    for number, target, a, b in tape.code.tolist():
        name = _NAMES[number]
        if name == "output":
            yield name, f"  out[{target}] = r{a};\n"
            continue
        if name == "constant":
            value = _literal(constants[a], kind)
        elif name == "input":
            value = f"in[{a}]"
        elif name in _ARRAYS and holds.get(a) in inputs:
            name, value = "assign", f"{_ARRAYS[name]}[{inputs[holds[a]]}]"
        else:
            value = _FORMS.get(name, f"{name}({{a}})").format(a=f"r{a}", b=f"r{b}")
        holds.pop(target, None)
        if name == "input":
            holds[target] = a
        yield name, f"  r{target} = {value};\n"


def _literal(value: float, kind: str) -> str:
    if math.isfinite(value):
        text = value.hex()
    else:
        text = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return text if kind == "double" else f"ALL({text})"


def _fits_simd(tape: Tape, names: Collection[str]) -> bool:
    """Whether SIMD vectors can do all of it: `names` are its operations, but for sines of inputs."""
    vectors = tape.inputs + tape.outputs + tape.registers
    return _SIMD_OPERATIONS.issuperset(names) and vectors <= _MOST_VECTORS and tape.instructions <= _LONGEST


def _simd_function(tape: Tape, body: str) -> str:
    """Write the function `several`, one configuration in each element of a vector: `body` goes from `in` to `out`.

    Results that are too many for the cache bypass it: fetching what they replace takes longer than computing them.
    """
    every = ", ".join(["x"] * _SIMD_WIDTH)
    return f"""
#define SIMD_WIDTH {_SIMD_WIDTH}
#define ALL(x) ((simd){{{every}}})
typedef double simd __attribute__((vector_size(SIMD_WIDTH * sizeof(double)), may_alias));
#ifdef __SSE2__
#include <emmintrin.h>
static int past_cache(long n, const double* to) {{
  return n > {_CACHED // (8 * max(tape.outputs, 1))} && {tape.outputs} % 2 == 0 && (size_t)to % 16 == 0;
}}
static void put_past(const simd* out, int k, double* row) {{
  for (int i = 0; i < {tape.outputs}; i += 2) _mm_stream_pd(row + i, _mm_set_pd(out[i + 1][k], out[i][k]));
}}
#define fence _mm_sfence
#else
#define past_cache(n, to) 0
#define put_past(out, k, row) 0
#define fence() 0
#endif
static void put(const simd* out, int k, double* row) {{
  for (int i = 0; i < {tape.outputs}; ++i) row[i] = out[i][k];
}}
static void several(const double* from, double* to, int is_past_cache) {{
  simd in[{tape.inputs} + 1], out[{tape.outputs} + 1];
  for (int i = 0; i < {tape.inputs}; ++i)
    for (int k = 0; k < SIMD_WIDTH; ++k) in[i][k] = from[k * {tape.inputs} + i];
{body}
  for (int k = 0; k < SIMD_WIDTH; ++k)
    if (is_past_cache)
      put_past(out, k, to + k * {tape.outputs});
    else
      put(out, k, to + k * {tape.outputs});
}}
"""
