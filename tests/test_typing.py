"""What type checkers see of the library: the types that calls take and return are exact."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "typed"
ROOT = HERE.parent.parent
PYRIGHT = shutil.which("pyright", path=Path(sys.executable).parent)


def lines_with_errors(output: str, name: str) -> set[int]:
    return {int(line) for line in re.findall(rf"{name}:(\d+)(?::\d+)?(?: -)?:? error", output)}


def mistakes() -> set[int]:
    """The lines of `refused.py` after its set-up."""
    lines = (HERE / "refused.py").read_text().splitlines()
    first = lines.index("still = Transform.identity()") + 2
    return set(range(first, len(lines) + 1))


def checked_by(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout + done.stderr


@cache
def seen_by_mypy() -> str:
    options = ("--strict", "--config-file=", "--follow-imports=silent")
    return checked_by(sys.executable, "-m", "mypy", *options, str(HERE / "everyday.py"), str(HERE / "refused.py"))


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed: make check does so")
class TestMypy:
    def test_accepts_an_everyday_program(self):
        assert lines_with_errors(seen_by_mypy(), "everyday.py") == set(), seen_by_mypy()

    def test_finds_each_mistake(self):
        assert lines_with_errors(seen_by_mypy(), "refused.py") == mistakes(), seen_by_mypy()


@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed")
class TestPyright:
    def test_accepts_an_everyday_program(self):
        output = checked_by(str(PYRIGHT), str(HERE / "everyday.py"))
        assert lines_with_errors(output, "everyday.py") == set(), output

    def test_finds_each_mistake(self):
        output = checked_by(str(PYRIGHT), str(HERE / "refused.py"))
        assert lines_with_errors(output, "refused.py") == mistakes(), output
