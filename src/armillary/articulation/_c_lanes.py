"""Several configurations side by side, in C: one lane of a vector for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from armillary._core import Tape

__all__ = ["fits_lanes", "in_lanes"]

_LANES = 8
_MOST_VECTORS = 8_192  # half a megabyte of the stack
_LONGEST = 20_000
_OF_LANES = {"constant", "input", "output", "assign", "add", "sub", "mul", "div", "neg", "sq", "twice", "inv"}


def fits_lanes(tape: Tape, names: Collection[str]) -> bool:
    """Whether vectors can do all of it: `names` are its operations, but for sines of inputs."""
    vectors = tape.inputs + tape.outputs + tape.registers
    return _OF_LANES.issuperset(names) and vectors <= _MOST_VECTORS and tape.instructions <= _LONGEST


def in_lanes(tape: Tape, body: str) -> str:
    """The function `several`: `body` is over vectors, from `in` to `out`."""
    every = ", ".join(["x"] * _LANES)
    return f"""
#define LANES {_LANES}
#define ALL(x) ((lanes){{{every}}})
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
static void several(const double* from, double* to) {{
  lanes in[{tape.inputs} + 1], out[{tape.outputs} + 1];
  for (int k = 0; k < {tape.inputs}; ++k)
    for (int lane = 0; lane < LANES; ++lane) in[k][lane] = from[lane * {tape.inputs} + k];
{body}
  for (int lane = 0; lane < LANES; ++lane)
    for (int k = 0; k < {tape.outputs}; ++k) to[lane * {tape.outputs} + k] = out[k][lane];
}}
"""
