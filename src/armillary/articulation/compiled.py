"""Compiled expressions: a tape, or machine code made of it by the C compiler of this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from armillary._core import LoadedTape, TapeFunction
from armillary.articulation._c_source import SYMBOL, c_source
from armillary.errors import CannotCompile, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import Tape
    from armillary.articulation.variables import Variable

    Backend = Literal["vm", "c"]

__all__ = ["Compiled", "machine_code"]

_BACKENDS = ("vm", "c")
_LONGEST_FUNCTION = 20_000
_OPTIONS = ("-shared", "-fPIC", "-w", "-fno-math-errno", "-ffp-contract=off")


class Compiled(TapeFunction):
    """An expression as a function of arrays, safe to call from several threads.

    `order` are its variables, in the order of their values; `shape` is the shape of one result; `tape` is what is run.
    A call takes n numbers in that order, or (N, n) for N configurations, and returns a new array, or writes into `out`.

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


@cache
def machine_code(tape: Tape) -> LoadedTape:
    """Compile a tape and load it as a library; done once for each tape.

    Raises:
        CannotCompile: There is no C compiler, or it failed.
    """
    library = _folder() / f"{tape.digest()}.so"
    if not library.exists():
        _build(tape, library)
    return LoadedTape(str(library), SYMBOL, tape.inputs, tape.outputs)


@cache
def _folder() -> Path:
    """Make a folder that is private to this process and removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="armillary_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _build(tape: Tape, library: Path) -> None:
    compiler = _compiler()
    source, made = library.with_suffix(".c"), library.with_suffix(f".{os.getpid()}.part")
    source.write_text(c_source(tape))
    # What gcc does to very long functions at -O2 takes minutes.
    speed = "-O2" if tape.instructions <= _LONGEST_FUNCTION else "-O1"
    output = ""
    for native in (("-march=native",), ()):  # the library stays on this machine; not every compiler knows its own
        command = [compiler, speed, *native, *_OPTIONS, str(source), "-o", str(made), "-lm"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (our own file)
        if not ran.returncode:
            made.rename(library)
            return
        output = ran.stderr.strip()[-300:]
    raise CannotCompile(f"{compiler} failed with {output!r}", "Use backend='vm'.")


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "gcc", "cc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CannotCompile("no C compiler was found (CC, gcc, cc, clang)", "Install one, or use backend='vm'.")
