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
_CACHED = 4_000_000  # bytes of results
_OF_LANES = {"constant", "input", "output", "assign", "add", "sub", "mul", "div", "neg", "sq", "twice", "inv"}


def fits_lanes(tape: Tape, names: Collection[str]) -> bool:
    """Whether vectors can do all of it: `names` are its operations, but for sines of inputs."""
    vectors = tape.inputs + tape.outputs + tape.registers
    return _OF_LANES.issuperset(names) and vectors <= _MOST_VECTORS and tape.instructions <= _LONGEST


def in_lanes(tape: Tape, body: str) -> str:
    """The function `several`: `body` is over vectors, from `in` to `out`.

    Results that are too many for the cache go past it: fetching what they replace takes longer than computing them.
    """
    every = ", ".join(["x"] * _LANES)
    return f"""
#define LANES {_LANES}
#define ALL(x) ((lanes){{{every}}})
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
#ifdef __SSE2__
#include <emmintrin.h>
static int past_cache(long n, const double* to) {{
  return n > {_CACHED // (8 * max(tape.outputs, 1))} && {tape.outputs} % 2 == 0 && (size_t)to % 16 == 0;
}}
static void put_past(const lanes* out, int lane, double* row) {{
  for (int k = 0; k < {tape.outputs}; k += 2) _mm_stream_pd(row + k, _mm_set_pd(out[k + 1][lane], out[k][lane]));
}}
#define settle _mm_sfence
#else
#define past_cache(n, to) 0
#define put_past(out, lane, row) 0
#define settle() 0
#endif
static void put(const lanes* out, int lane, double* row) {{
  for (int k = 0; k < {tape.outputs}; ++k) row[k] = out[k][lane];
}}
static void several(const double* from, double* to, int is_past_cache) {{
  lanes in[{tape.inputs} + 1], out[{tape.outputs} + 1];
  for (int k = 0; k < {tape.inputs}; ++k)
    for (int lane = 0; lane < LANES; ++lane) in[k][lane] = from[lane * {tape.inputs} + k];
{body}
  for (int lane = 0; lane < LANES; ++lane)
    if (is_past_cache)
      put_past(out, lane, to + lane * {tape.outputs});
    else
      put(out, lane, to + lane * {tape.outputs});
}}
"""
