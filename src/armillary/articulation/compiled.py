"""Compiled expressions: arrays of numbers go in, arrays of numbers come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from armillary._core import TapeFunction
from armillary.articulation._machine_code import machine_code
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import Tape
    from armillary.articulation.variables import Variable

    Backend = Literal["vm", "c"]

__all__ = ["Compiled"]

_BACKENDS = ("vm", "c")


class Compiled(TapeFunction):
    """An expression as a function of arrays. Calls do not disturb one another, whatever thread they come from.

    `order` are its variables, as their values are given; `shape` is that of one answer; `tape` is what is run. A call
    takes n numbers in that order, or (N, n) for N configurations, and gives a new array, or writes into `out`.

    >>> from armillary.articulation import position, sin
    >>> q, p = position("q"), position("p")
    >>> f = (q + 2.0 * p).compile(order=[q, p])
    >>> f([1.0, 2.0])
    np.float64(5.0)
    >>> f([[1.0, 2.0], [0.0, 1.0]])
    array([5., 2.])
    """

    __slots__ = ("order", "shape", "tape")

    def __init__(self, tape: Tape, order: Sequence[Variable], shape: tuple[int, ...], backend: Backend = "vm") -> None:
        if backend not in _BACKENDS:
            raise InvalidArgument(f"backend must be 'vm' or 'c', got {backend!r}.", backend)
        self.tape, self.order, self.shape = tape, tuple(order), shape
        super().__init__(tape if backend == "vm" else machine_code(tape), shape)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.order))
        return f"Compiled(({names}) -> shape {self.shape}, {self.tape.instructions} instructions)"
