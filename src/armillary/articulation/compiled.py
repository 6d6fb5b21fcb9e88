"""Compiled expressions: arrays of numbers go in, arrays of numbers come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from armillary._core import TapeFunction
from armillary.articulation._machine_code import machine_code
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import Tape
    from armillary.articulation.variables import Variable

    Backend = Literal["vm", "c"]

__all__ = ["Compiled"]

_BACKENDS = ("vm", "c")


class Compiled:
    """An expression as a function of arrays. Calls do not disturb one another, whatever thread they come from.

    `order` are its variables, as their values are given; `shape` is that of one answer; `tape` is what is run.

    >>> from armillary.articulation import position, sin
    >>> q, p = position("q"), position("p")
    >>> f = (q + 2.0 * p).compile(order=[q, p])
    >>> f([1.0, 2.0])
    np.float64(5.0)
    >>> f([[1.0, 2.0], [0.0, 1.0]])
    array([5., 2.])
    """

    __slots__ = ("_run", "order", "shape", "tape")

    def __init__(self, tape: Tape, order: Sequence[Variable], shape: tuple[int, ...], backend: Backend = "vm") -> None:
        if backend not in _BACKENDS:
            raise InvalidArgument(f"backend must be 'vm' or 'c', got {backend!r}.", backend)
        self.tape, self.order, self.shape = tape, tuple(order), shape
        self._run = TapeFunction(tape if backend == "vm" else machine_code(tape), shape).run

    def __call__(self, values: ArrayLike, out: NDArray[float64] | None = None) -> Any:
        """The value for one configuration, or for many.

        Args:
            values: (n,), or (N, n) for N configurations; n numbers in the order of `order`.
            out: Where the answer is put: float64 in C order, of the answer's shape, apart from `values`.

        Returns:
            A new array, or `out`: of `shape`, with N before it for many.
        """
        return self._run(values, out)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.order))
        return f"Compiled(({names}) -> shape {self.shape}, {self.tape.instructions} instructions)"
