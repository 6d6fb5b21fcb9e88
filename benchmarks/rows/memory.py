"""Bytes per plain stored transform, in a fresh process: sixty frames, ten thousand samples each.

What the process grew by (resident memory), so allocator slack and bookkeeping count.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from context import Bench
from peers import TF2_CPP
from table import Row

HERE = Path(__file__).resolve()


def rows(bench: Bench) -> Iterator[Row]:
    tf2 = bench.peers[TF2_CPP].ask("memory")["bytes"] if TF2_CPP in bench.peers else None
    for how, what in (("bulk", "set_poses"), ("stream", "streamed 20 s")):
        ours = _measured(how)
        yield Row.at_most(
            f"bytes a transform, {what}", ours["resident"], "B", asked=80, goal=68, peer=tf2, peer_name=TF2_CPP
        )
        yield Row.at_most("  the same, as malloc counts", ours["malloc"], "B", peer=tf2, peer_name=TF2_CPP)


def _measured(how: str) -> dict[str, float]:
    """Runs `measured_world.py` in a process of its own."""
    program = HERE.parent / "measured_world.py"
    done = subprocess.run([sys.executable, str(program), how], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
