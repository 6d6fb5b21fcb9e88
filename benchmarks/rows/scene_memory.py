"""Bytes a node of a scene, in a fresh process: a hundred thousand groups under the root.

What the process grew by (resident memory), with all that the scene keeps beside its nodes: the changes for other
copies, what can be undone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from context import Bench
from peers import SPARK
from scene_scenario import THINGS
from table import Row

HERE = Path(__file__).resolve()
ASKED_B = 1_000


def rows(bench: Bench) -> Iterator[Row]:
    spark = bench.peers[SPARK].ask(f"memory {THINGS}")["bytes"] if SPARK in bench.peers else None
    for how in ("one by one", "at once"):
        for what, asked in (("plain", ASKED_B), ("named", None)):
            ours = _measured(how.replace(" ", "_"), what)
            name = f"bytes a {what} node, added {how}"
            yield Row.at_most(name, ours["resident"], "B", asked=asked, peer=spark, peer_name=SPARK)
            yield Row.at_most("  the same, as malloc counts", ours["malloc"], "B", peer=spark, peer_name=SPARK)


def _measured(how: str, what: str) -> dict[str, float]:
    """Runs `measured_scene.py` in a process of its own."""
    program = [sys.executable, str(HERE.parent / "measured_scene.py"), how, what]
    found = os.pathsep.join(filter(None, (str(HERE.parents[1]), os.environ.get("PYTHONPATH"))))
    usual = os.environ | {"PYTHONPATH": found}
    return json.loads(subprocess.run(program, capture_output=True, text=True, check=True, env=usual).stdout)
