"""Compiled expressions: a tape, or machine code made of it by the C compiler of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._core import TapeFunction
from armillary.articulation._c_source import c_source
from armillary.articulation._machine_code import Compilation, compilation_of
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    from armillary._core import Tape
    from armillary.articulation.variables import Variable

    Backend = Literal["vm", "c"]

__all__ = ["Compiled"]

_BACKENDS = ("vm", "c")


class Compiled(TapeFunction):
    """An expression as a function of arrays, safe to call from several threads. It can be pickled.

    `order` are its variables, in the order of their values; `shape` is the shape of one result; `tape` is what is run,
    or what the machine code was made of. A call takes n numbers in that order, or (N, n) for N configurations, and
    returns a new array, or writes into `out`.

    With `backend="c"` the compiler works on another thread, and the tape is run until the machine code is there; `wait`
    waits for it.

    >>> from armillary.articulation import position, sin
    >>> q, p = position("q"), position("p")
    >>> f = (q + 2.0 * p).compile(order=[q, p])
    >>> f([1.0, 2.0])
    np.float64(5.0)
    >>> f([[1.0, 2.0], [0.0, 1.0]])
    array([5., 2.])
    """

    __slots__ = ("__weakref__", "_compilation", "order", "shape", "tape")
    _compilation: Compilation | None

    def __init__(self, tape: Tape, order: Sequence[Variable], shape: tuple[int, ...], backend: Backend = "vm") -> None:
        if backend not in _BACKENDS:
            raise InvalidArgument(f"backend must be 'vm' or 'c', got {backend!r}.", backend)
        self.tape, self.order, self.shape = tape, tuple(order), shape
        super().__init__(tape, shape)
        self._compilation = compilation_of(tape) if backend == "c" else None
        if self._compilation is not None:
            self._compilation.give_to(self)

    @property
    def is_machine_code(self) -> bool:
        """Whether machine code is run, and not the tape."""
        return self._compilation is not None and self._compilation.library is not None

    def wait(self, timeout_s: float | None = None) -> Self:
        """Wait until machine code is run, where that was asked, and return the function itself.

        Args:
            timeout_s: So long at most; then `is_machine_code` says whether it is.

        Raises:
            CannotCompile: The compiler failed.
        """
        if self._compilation is not None:
            self._compilation.wait(timeout_s)
        return self

    def c_source(self) -> str:
        """Return C99 that calculates the same, and needs the C library alone.

        `void armillary_tape(const double* in, double* out)` takes the values in their `order` and writes the result row
        after row; `armillary_tape_batch(long n, const double* in, double* out)` does so for n configurations.
        """
        return c_source(self.tape)

    def __reduce__(self) -> tuple[Any, ...]:
        backend = "vm" if self._compilation is None else "c"
        return type(self), (self.tape, self.order, self.shape, backend)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.order))
        return f"Compiled(({names}) -> shape {self.shape}, {self.tape.instructions} instructions)"
