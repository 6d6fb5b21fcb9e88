"""All kinds of calls from eight threads at once: no crash, no lock waited for in vain, no error but the library's."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

IS_SOAK = os.environ.get("ARMILLARY_HYPOTHESIS") == "soak"
SECONDS = 3600 if IS_SOAK else 4


def test_eight_threads_may_call_everything_at_once():
    seed = random.SystemRandom().randrange(10**6) if IS_SOAK else 1
    script = Path(__file__).with_name("hammer.py")
    done = subprocess.run(
        [sys.executable, str(script), str(SECONDS), str(seed)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "0 surprises, True\n"), f"seed {seed}\n{done.stderr[-5000:]}"
