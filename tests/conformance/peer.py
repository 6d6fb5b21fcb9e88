"""The client side of `tf2_peer.py`: the tf2 of Debian, through a pipe."""

import contextlib
import itertools
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from requirements import skip_without

SYSTEM_PYTHON = "/usr/bin/python3"
SCRIPT = Path(__file__).with_name("tf2_peer.py")
TF2_ABSENT = 3  # the exit status of tf2_peer.py when its imports failed
INSTALL = "apt-get install -y libtf2-dev python3-tf2 python3-geometry-msgs python3-rospy"


class Tf2AbsentError(RuntimeError):
    """The system Python cannot import tf2, so there is nobody to compare with."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"tf2 is not installed for {SYSTEM_PYTHON} ({detail}). Get it with: {INSTALL}")


class Tf2Peer:
    """One running `tf2_peer.py`; `ask` sends many commands in one line and returns their answers."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                [SYSTEM_PYTHON, str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # tf2 complains there about every refused insert
                text=True,
            )
        except OSError as problem:
            raise Tf2AbsentError(str(problem)) from problem
        self._names = itertools.count()
        with contextlib.suppress(BrokenPipeError):
            if self._exchange([]) == "[]\n":
                return
        self.close()
        if self._process.returncode == TF2_ABSENT:
            raise Tf2AbsentError("its imports fail")
        raise RuntimeError(f"{SCRIPT.name} ended with status {self._process.returncode}")

    def ask(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        return json.loads(self._exchange(commands))

    def buffer(self, cache_ns: int) -> "Tf2Buffer":
        name = str(next(self._names))
        self.ask([["new", name, cache_ns]])
        return Tf2Buffer(self, name)

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()

    def _exchange(self, commands: Sequence[Sequence[Any]]) -> str:
        self._process.stdin.write(json.dumps(commands) + "\n")
        self._process.stdin.flush()
        answers = self._process.stdout.readline()
        if not answers and commands:
            raise RuntimeError(f"tf2 died (status {self._process.wait()}) of one of {commands}")
        return answers


class Tf2Buffer:
    """One `tf2_py.BufferCore`. Insertions wait here until a question is asked, and are sent with it."""

    def __init__(self, peer: Tf2Peer, name: str) -> None:
        self._peer, self._name = peer, name
        self._queued: list[list[Any]] = []

    def send(self, operation: str, *arguments: Any) -> None:
        self._queued.append([operation, self._name, *arguments])

    def ask(self, operation: str, *arguments: Any) -> Any:
        return self.ask_all([[operation, *arguments]])[0]

    def ask_all(self, questions: Sequence[Sequence[Any]]) -> list[Any]:
        queued, self._queued = self._queued, []
        asked = [[operation, self._name, *arguments] for operation, *arguments in questions]
        answers = self._peer.ask(queued + asked)
        failed = [answer for answer in answers[: len(queued)] if answer is not None]
        assert not failed, f"tf2 refused an insertion: {failed[0]}"
        return answers[len(queued) :]


@pytest.fixture(scope="session")
def tf2_peer() -> Iterator[Tf2Peer]:
    """The running peer, or a skip that names how to install it."""
    try:
        peer = Tf2Peer()
    except Tf2AbsentError as absent:
        skip_without("tf2", str(absent))
    with contextlib.closing(peer):
        yield peer
