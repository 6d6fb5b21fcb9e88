"""All kinds of calls from eight threads at once: no crash, no lock waited for in vain, no error but the library's."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from randomness import IS_SOAK, scaled

SECONDS = scaled(4, 3600)


def test_eight_threads_may_call_everything_at_once():
    seed = random.SystemRandom().randrange(10**6) if IS_SOAK else 1
    script = Path(__file__).with_name("hammer.py")
    done = subprocess.run(
        [sys.executable, str(script), str(SECONDS), str(seed)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "0 surprises, True\n"), f"seed {seed}\n{done.stderr[-5000:]}"
