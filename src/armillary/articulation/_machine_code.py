"""Machine code of tapes: made by the C compiler of this machine, on threads of its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import warnings
import weakref
from collections import deque
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from armillary._core import LoadedTape
from armillary.articulation._c_source import SYMBOL, c_source
from armillary.errors import ArmillaryError, CannotCompile, MachineCodeFailed
from armillary.forks import begin_anew_in_child, new_lock
from armillary.store.dispatcher import print_error

if TYPE_CHECKING:
    from armillary._core import Tape, TapeFunction

__all__ = ["Compilation", "compilation_of"]

_LONGEST_FUNCTION = 20_000
_OPTIONS = ("-shared", "-fPIC", "-w", "-fno-math-errno", "-ffp-contract=off")
_MOST_COMPILERS = 2


@cache
def compilation_of(tape: Tape) -> Compilation:
    """Return the compilation of a tape, one for equal tapes, begun on another thread.

    Raises:
        CannotCompile: There is no C compiler.
    """
    made = Compilation(tape, _compiler())
    _compilers.add(made)
    return made


class Compilation:
    """A tape on its way to machine code. In a forked child, where no thread works on it, `wait` makes the code.

    Attributes:
        library: The machine code, once it is there.
        failure: Why there will be none.
    """

    def __init__(self, tape: Tape, compiler: str) -> None:
        self.library: LoadedTape | None = None
        self.failure: ArmillaryError | None = None
        self._tape, self._compiler, self._process_id = tape, compiler, os.getpid()
        self._functions: list[weakref.ref[TapeFunction]] = []
        self._lock, self._ended = new_lock(), threading.Event()

    def give_to(self, function: TapeFunction) -> None:
        """Let a function run the machine code, as soon as it is there."""
        with self._lock:
            if self.library is None and self._process_id != os.getpid():  # nobody works on it in a forked child
                self._process_id, self._ended = os.getpid(), threading.Event()
                _compilers.add(self)
            if self.library is None:
                self._functions = [one for one in self._functions if one() is not None] + [weakref.ref(function)]
            else:
                function.switch_to(self.library)

    def wait(self, timeout_s: float | None) -> LoadedTape | None:
        """Wait until it has ended; None where that takes longer.

        Raises:
            CannotCompile: The compiler failed.
        """
        if self._process_id != os.getpid():
            self.work()
        elif not self._ended.wait(timeout_s):
            return None
        if self.failure is not None:
            raise self.failure
        return self.library

    def work(self) -> None:
        """Compile and load; done by a thread of `_Compilers`."""
        library, failure = self.library, self.failure
        if library is None and failure is None:
            try:
                library = _loaded(self._tape, self._compiler)
            except ArmillaryError as error:
                failure = error
            except OSError as error:
                failure = CannotCompile(f"{self._compiler} could not be run ({error})", "Use backend='vm'.")
        with self._lock:
            waiting, self._functions = self._functions, []
            if library is not None:
                for function in [one() for one in waiting]:
                    if function is not None:
                        function.switch_to(library)
            self.library, self.failure = library, failure  # last: who reads them asks no lock
        try:
            if failure is not None and any(one() is not None for one in waiting):
                warnings.warn(MachineCodeFailed(str(failure)), stacklevel=2)
        finally:
            self._ended.set()


class _Compilers:
    """A few threads that compile what waits, and end when nothing does."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._waiting: deque[Compilation] = deque()
        self._threads = 0
        begin_anew_in_child(self._begin_anew)

    def add(self, compilation: Compilation) -> None:
        with self._lock:
            self._waiting.append(compilation)
            if self._threads < _MOST_COMPILERS:
                self._threads += 1
                threading.Thread(target=self._run, name="armillary compiler", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                compilation = self._waiting.popleft()
            try:
                compilation.work()
            except Exception as error:  # noqa: BLE001  (a filter of warnings may make an error of one)
                print_error(error)

    def _begin_anew(self) -> None:
        self._waiting.clear()  # who waits for them makes them itself
        self._threads = 0
        _running.clear()


_running: set[subprocess.Popen[str]] = set()
_compilers = _Compilers()


@atexit.register
def _end_compilers() -> None:
    """End the compilers that this process started and that still run."""
    for process in list(_running):
        with contextlib.suppress(OSError):
            process.kill()


@cache
def _folder() -> Path:
    """Make a folder that is private to this process and removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="armillary_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _loaded(tape: Tape, compiler: str) -> LoadedTape:
    library = _folder() / f"{tape.digest()}.so"
    if not library.exists():
        _build(tape, library, compiler)
    return LoadedTape(str(library), SYMBOL, tape.inputs, tape.outputs)


def _build(tape: Tape, library: Path, compiler: str) -> None:
    source, made = (library.with_suffix(f".{os.getpid()}.{end}") for end in ("c", "part"))
    source.write_text(c_source(tape))
    # What gcc does to very long functions at -O2 takes minutes.
    speed = "-O2" if tape.instructions <= _LONGEST_FUNCTION else "-O1"
    output = ""
    for native in (("-march=native",), ()):  # the library stays on this machine; not every compiler knows its own
        code, output = _ran([compiler, speed, *native, *_OPTIONS, str(source), "-o", str(made), "-lm"])
        if not code:
            made.rename(library)
            return
    raise CannotCompile(f"{compiler} failed with {output.strip()[-300:]!r}", "Use backend='vm'.")


def _ran(command: list[str]) -> tuple[int, str]:
    """Run a compiler on our own file; return its code and what it wrote."""
    # A copy: the environment of the process may move in memory while it is read, where another thread sets a variable.
    environment = dict(os.environ)
    with subprocess.Popen(  # noqa: S603  (our own file)
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _running.add(process)
        try:
            _, output = process.communicate()
        finally:
            _running.discard(process)
    return process.returncode, output


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "gcc", "cc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CannotCompile("no C compiler was found (CC, gcc, cc, clang)", "Install one, or use backend='vm'.")
