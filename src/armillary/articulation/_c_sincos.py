"""Sines and cosines of many angles at once, in C that compilers vectorise.

The joints of a robot rotate by their own values, and the sine of one after the other is most of what its poses cost.
The angle is reduced to within an eighth of a turn by subtracting quarter turns in three pieces, of which the first two
have so few digits that their multiples are exact; there both series end below the last digit. Angles that are too large
for that, or not a number, go to the C library.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

from armillary._core import TAPE_OPS

if TYPE_CHECKING:
    from armillary._core import Tape

__all__ = ["SINCOS_SOURCE", "sincos_inputs"]

_FEWEST = 4
_INPUT, _OUTPUT, _SIN, _COS = (TAPE_OPS[name] for name in ("input", "output", "sin", "cos"))
_PI = Fraction(314159265358979323846264338327950288419716939937510582097494459, 10**62)
_DIGITS = 33


def sincos_inputs(tape: Tape) -> dict[int, int]:
    """Return the inputs whose sine or cosine is used, each with its index among them; none where they are few."""
    holds: dict[int, int] = {}  # by register, the input it holds
    found: dict[int, int] = {}
    for number, target, a, _ in tape.code.tolist():
        if number in {_SIN, _COS} and a in holds:
            found.setdefault(holds[a], len(found))
        if number == _OUTPUT:
            continue
        holds.pop(target, None)
        if number == _INPUT:
            holds[target] = a
    return found if len(found) >= _FEWEST else {}


def _half_pi_in_pieces() -> tuple[float, float, float]:
    """Split half of pi: twice as many digits as can be multiplied exactly, and the rest."""
    rest, pieces = _PI / 2, []
    for digits in (_DIGITS, 2 * _DIGITS):
        piece = Fraction(int(rest * 2**digits), 2**digits)
        pieces.append(float(piece))
        rest -= piece
    return pieces[0], pieces[1], float(rest)


def _series(first: int, last: int) -> str:
    """Write the terms of degree `first` to `last` over the power before, as nested products of the square z."""
    terms = [float(Fraction((-1) ** (degree // 2), factorial(degree))) for degree in range(first, last + 1, 2)]
    text = terms[-1].hex()
    for term in reversed(terms[:-1]):
        text = f"({term.hex()} + z * {text})"
    return text


def _source() -> str:
    first, second, third = (piece.hex() for piece in _half_pi_in_pieces())
    return f"""
#define LARGEST 1e5
__attribute__((optimize("O3")))
static void sincos_of(int count, const double* restrict angle, double* restrict sine, double* restrict cosine) {{
  for (int i = 0; i < count; ++i) {{
    const double x = fabs(angle[i]) <= LARGEST ? angle[i] : 0.0;
    const double quarters = (x * {float(2 / _PI).hex()} + 0x1.8p52) - 0x1.8p52;
    const double r = ((x - quarters * {first}) - quarters * {second}) - quarters * {third};
    const double z = r * r;
    const double s = copysign(r + r * (z * {_series(3, 17)}), r);
    const double half = 0.5 * z, w = 1.0 - half;
    const double c = w + (((1.0 - w) - half) + z * z * {_series(4, 18)});
    const int n = (int)quarters;
    const double across = n & 1 ? c : s, along = n & 1 ? s : c;
    sine[i] = n & 2 ? -across : across;
    cosine[i] = (n + 1) & 2 ? -along : along;
  }}
  for (int i = 0; i < count; ++i) {{
    if (fabs(angle[i]) <= LARGEST) continue;
    sine[i] = sin(angle[i]);
    cosine[i] = cos(angle[i]);
  }}
}}
"""


SINCOS_SOURCE = _source()
