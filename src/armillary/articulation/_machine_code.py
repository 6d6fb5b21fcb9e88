"""Tapes as machine code, through the C compiler that is there."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from armillary._core import LoadedTape
from armillary.articulation._c_source import SYMBOL, c_source
from armillary.errors import CannotCompile

if TYPE_CHECKING:
    from armillary._core import Tape

__all__ = ["machine_code"]

_LONGEST_FUNCTION = 20_000
_OPTIONS = ("-shared", "-fPIC", "-w", "-fno-math-errno", "-ffp-contract=off")


def machine_code(tape: Tape) -> LoadedTape:
    """The tape as a loaded library; made once for each tape.

    Raises:
        CannotCompile: There is no C compiler, or it failed.
    """
    return _loaded(tape)


@cache
def _loaded(tape: Tape) -> LoadedTape:
    library = _folder() / f"{tape.digest()}.so"
    if not library.exists():
        _build(tape, library)
    return LoadedTape(str(library), SYMBOL, tape.inputs, tape.outputs)


@cache
def _folder() -> Path:
    """Private to this process, and gone with it."""
    folder = Path(tempfile.mkdtemp(prefix="armillary_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _build(tape: Tape, library: Path) -> None:
    compiler = _compiler()
    source, made = library.with_suffix(".c"), library.with_suffix(f".{os.getpid()}.part")
    source.write_text(c_source(tape))
    # What gcc does to very long functions at -O2 takes minutes.
    speed = "-O2" if tape.instructions <= _LONGEST_FUNCTION else "-O1"
    said = ""
    for native in (("-march=native",), ()):  # the library stays on this machine; not every compiler knows its own
        command = [compiler, speed, *native, *_OPTIONS, str(source), "-o", str(made), "-lm"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (our own file)
        if not ran.returncode:
            made.rename(library)
            return
        said = ran.stderr.strip()[-300:]
    raise CannotCompile(f"{compiler} failed with {said!r}", "Use backend='vm'.")


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "gcc", "cc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CannotCompile("no C compiler was found (CC, gcc, cc, clang)", "Install one, or use backend='vm'.")
