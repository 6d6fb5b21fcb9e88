"""Numbers with gradients, carried through every operation by hand-written rules: the oracle of augmented gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import armillary.articulation as art


@dataclass(frozen=True)
class Dual:
    """A number, and what it changes by along each key."""

    value: float
    gradient: dict = field(default_factory=dict)

    def through(self, value: float, slope: float) -> Dual:
        return Dual(value, {key: slope * entry for key, entry in self.gradient.items()})

    def __add__(self, other) -> Dual:
        other = dual(other)
        keys = {*self.gradient, *other.gradient}
        return Dual(self.value + other.value, {k: self.gradient.get(k, 0.0) + other.gradient.get(k, 0.0) for k in keys})

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return self.through(-self.value, -1.0)

    def __sub__(self, other) -> Dual:
        return self + -dual(other)

    def __rsub__(self, other) -> Dual:
        return dual(other) - self

    def __mul__(self, other) -> Dual:
        other = dual(other)
        product = self.value * other.value
        return Dual(product, (self.through(0.0, other.value) + other.through(0.0, self.value)).gradient)

    __rmul__ = __mul__

    def __truediv__(self, other) -> Dual:
        other = dual(other)
        return self * other.through(1.0 / other.value, -1.0 / other.value**2)

    def __rtruediv__(self, other) -> Dual:
        return dual(other) / self

    def __pow__(self, other) -> Dual:
        other = dual(other)
        value = self.value**other.value
        slope = other.value * self.value ** (other.value - 1.0)
        growth = value * math.log(self.value) if self.value > 0 else 0.0
        return Dual(value, (self.through(0.0, slope) + other.through(0.0, growth)).gradient)

    def __rpow__(self, other) -> Dual:
        return dual(other) ** self


def dual(value) -> Dual:
    return value if isinstance(value, Dual) else Dual(float(value))


def atan2(y, x) -> Dual:
    y, x = dual(y), dual(x)
    square = x.value**2 + y.value**2
    change = y.through(0.0, x.value / square) + x.through(0.0, -y.value / square)
    return Dual(math.atan2(y.value, x.value), change.gradient)


UNARY = {
    "sin": (art.sin, math.sin, math.cos),
    "cos": (art.cos, math.cos, lambda x: -math.sin(x)),
    "tan": (art.tan, math.tan, lambda x: 1.0 + math.tan(x) ** 2),
    "asin": (art.asin, math.asin, lambda x: 1.0 / math.sqrt(1.0 - x * x)),
    "acos": (art.acos, math.acos, lambda x: -1.0 / math.sqrt(1.0 - x * x)),
    "atan": (art.atan, math.atan, lambda x: 1.0 / (1.0 + x * x)),
    "sinh": (art.sinh, math.sinh, math.cosh),
    "cosh": (art.cosh, math.cosh, math.sinh),
    "tanh": (art.tanh, math.tanh, lambda x: 1.0 / math.cosh(x) ** 2),
    "asinh": (art.asinh, math.asinh, lambda x: 1.0 / math.sqrt(x * x + 1.0)),
    "acosh": (art.acosh, math.acosh, lambda x: 1.0 / math.sqrt(x * x - 1.0)),
    "atanh": (art.atanh, math.atanh, lambda x: 1.0 / (1.0 - x * x)),
    "exp": (art.exp, math.exp, math.exp),
    "log": (art.log, math.log, lambda x: 1.0 / x),
    "sqrt": (art.sqrt, math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "abs": (art.abs, abs, lambda x: math.copysign(1.0, x) if x else 0.0),
    "sign": (art.sign, lambda x: math.copysign(1.0, x) if x else 0.0, lambda _: 0.0),
    "floor": (art.floor, math.floor, lambda _: 0.0),
    "ceil": (art.ceil, math.ceil, lambda _: 0.0),
}
"""By name: ours, the function, its derivative."""

RANGES = {
    "tan": (-1.5, 1.5),
    "asin": (-0.999, 0.999),
    "acos": (-0.999, 0.999),
    "atanh": (-0.999, 0.999),
    "acosh": (1.001, 50.0),
    "log": (1e-3, 50.0),
    "sqrt": (1e-3, 50.0),
}
"""Where a function and its derivative are finite and tame; elsewhere (-20, 20)."""


def apply(name: str, argument) -> Dual:
    _, function, slope = UNARY[name]
    argument = dual(argument)
    return argument.through(float(function(argument.value)), slope(argument.value))
