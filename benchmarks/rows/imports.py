"""What `import armillary` costs, numpy included and beyond numpy; CPU time, fresh processes."""

import os
import subprocess
import sys
from collections.abc import Iterator

from context import Bench
from peers import SYSTEM_PYTHON, TF2_PYTHON
from table import Row

REPEATS = 10
TIMED = """
import time
{before}
started = time.process_time_ns()
import {module}
print(time.process_time_ns() - started)
"""


def rows(bench: Bench) -> Iterator[Row]:
    whole, beyond, tf2 = [], [], []
    for _ in range(REPEATS):
        whole.append(_import_ms(sys.executable, "armillary"))
        beyond.append(_import_ms(sys.executable, "armillary", before="import numpy"))
        if TF2_PYTHON in bench.peers:
            tf2.append(_import_ms(SYSTEM_PYTHON, "rospy, tf2_py, geometry_msgs.msg"))
    peer = min(tf2) if tf2 else None
    yield Row.at_most("import armillary, numpy included", min(whole), "ms", asked=150, peer=peer, peer_name=TF2_PYTHON)
    yield Row.at_most("import armillary, beyond numpy", min(beyond), "ms", goal=50)


def _import_ms(python: str, module: str, before: str = "pass") -> float:
    program = TIMED.format(before=before, module=module)
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, env=usual)
    return int(done.stdout) / 1e6
