"""Tapes as machine code, through the C compiler that is there."""

from __future__ import annotations

import atexit
import math
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from armillary._core import TAPE_OPS, LoadedTape
from armillary.errors import CannotCompile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary._core import Tape

__all__ = ["c_source", "machine_code"]

SYMBOL = "armillary_tape"
_LONGEST_FUNCTION = 20_000
_NAMES = {number: name for name, number in TAPE_OPS.items()}
_OPTIONS = ("-shared", "-fPIC", "-w", "-fno-math-errno", "-ffp-contract=off")
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
}
_OF_TWO = ("pow", "atan2", "fmod", "copysign", "hypot")


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


def c_source(tape: Tape) -> str:
    """C99: one function for one configuration, one for many."""
    registers = "".join(f"  double r{i};\n" for i in range(tape.registers))
    body = "\n".join(_statements(tape))
    many = f"  for (long i = 0; i < n; ++i) one(in + i * {tape.inputs}, out + i * {tape.outputs});"
    return (
        "#include <math.h>\n"
        f"static inline void one(const double* in, double* out) {{\n{registers}{body}\n}}\n"
        f"void {SYMBOL}(const double* in, double* out) {{ one(in, out); }}\n"
        f"void {SYMBOL}_batch(long n, const double* in, double* out) {{\n{many}\n}}\n"
    )


def _statements(tape: Tape) -> Iterator[str]:
    constants = tape.constants.tolist()
    for number, target, a, b in tape.code.tolist():
        name = _NAMES[number]
        match name:
            case "constant":
                yield f"  r{target} = {_literal(constants[a])};"
            case "input":
                yield f"  r{target} = in[{a}];"
            case "output":
                yield f"  out[{target}] = r{a};"
            case _:
                yield f"  r{target} = {_form(name).format(a=f'r{a}', b=f'r{b}')};"


def _form(name: str) -> str:
    return _FORMS.get(name) or (f"{name}({{a}}, {{b}})" if name in _OF_TWO else f"{name}({{a}})")


def _literal(value: float) -> str:
    if math.isfinite(value):
        return value.hex()
    return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"


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
    command = [compiler, speed, *_OPTIONS, str(source), "-o", str(made), "-lm"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (our own file)
    if ran.returncode:
        raise CannotCompile(f"{compiler} failed with {ran.stderr.strip()[-300:]!r}", "Use backend='vm'.")
    made.rename(library)


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "gcc", "cc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CannotCompile("no C compiler was found (CC, gcc, cc, clang)", "Install one, or use backend='vm'.")
