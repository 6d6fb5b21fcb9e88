"""The peers as long-lived processes, so that their repeats can alternate with ours.

A peer reads one command a line (`lookup jittered 10 2000 0`) and answers one line of
JSON (`{"ns": 5123.4}`: CPU nanoseconds per operation). The C++ peer is compiled on
first use; the Python peer of tf2 runs under the system's interpreter.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / ".build"
OWN_VENV = HERE.parent / ".peers" / "bin" / "python"
SYSTEM_PYTHON = "/usr/bin/python3"

TF2_CPP, TF2_PYTHON = "tf2 C++", "tf2 Py"
SCHIEBUNG, PYTRANSFORM3D, SPARK = "schiebung", "pytr3d", "spark_dsg"

INSTALL_TF2 = (
    "apt-get install -y libtf2-dev python3-tf2 python3-tf python3-geometry-msgs python3-rospy "
    "libboost-thread-dev libconsole-bridge-dev"
)
INSTALL_PYPI = (
    "python3.12 -m venv benchmarks/.peers && benchmarks/.peers/bin/pip install schiebung pytransform3d spark-dsg"
)


class PeerFailed(RuntimeError):
    """A peer process died or refused a command; carries what it printed."""


class Peer:
    """One running peer; `close` it."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [*command, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command: str) -> dict[str, Any]:
        """Runs one command in the peer and returns its answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        stdin.write(command + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise PeerFailed(f"{self._process.args} died on '{command}'.")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerFailed(f"'{command}': {answer['error']}")
        return answer

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=10)


def start_peers(folder: Path) -> tuple[dict[str, Peer], list[str]]:
    """All peers found on this machine, and one line for each that is absent."""
    commands = {
        TF2_CPP: _tf2_cpp(),
        TF2_PYTHON: _tf2_python(),
        SCHIEBUNG: _pypi("schiebung"),
        PYTRANSFORM3D: _pypi("pytransform3d"),
        SPARK: _pypi("spark_dsg"),
    }
    running = {name: Peer(command, folder) for name, command in commands.items() if command}
    absent = [_absent_line(name) for name, command in commands.items() if not command]
    return running, absent


def has_tf() -> bool:
    """Whether the system has the older tf beside tf2: it is a package of its own, python3-tf."""
    return _succeeds(SYSTEM_PYTHON, "-c", "import tf")


def _absent_line(name: str) -> str:
    install = INSTALL_TF2 if name in (TF2_CPP, TF2_PYTHON) else INSTALL_PYPI
    return f"{name} is absent, its rows are skipped. Install it: {install}"


def _tf2_cpp() -> list[str] | None:
    source, program = HERE / "tf2_bench.cpp", BUILD / "tf2_bench"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        BUILD.mkdir(exist_ok=True)
        # ROS 1 headers are not valid C++20.
        compiled = _succeeds(
            "g++",
            "-std=c++17",
            "-O2",
            "-DNDEBUG",
            "-o",
            str(program),
            str(source),
            "-ltf2",
            "-lrostime",
            "-lconsole_bridge",
            "-lboost_thread",
            "-lboost_system",
            "-lpthread",
        )
        if not compiled:
            return None
    return [str(program)]


def _tf2_python() -> list[str] | None:
    if not _succeeds(SYSTEM_PYTHON, "-c", "import tf2_py, rospy, geometry_msgs.msg"):
        return None
    return [SYSTEM_PYTHON, str(HERE / "tf2_bench.py")]


def _pypi(package: str) -> list[str] | None:
    chosen = os.environ.get("ARMILLARY_BENCH_PYTHON")
    for python in filter(None, (chosen, str(OWN_VENV), sys.executable)):
        if _succeeds(python, "-c", f"import numpy, {package}"):
            return [python, str(HERE / f"{package}_bench.py")]
    return None


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
