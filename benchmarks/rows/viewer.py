"""What a viewer costs the program that it looks at: 200 moving frames at 60 Hz, while somebody looks.

The looker is another process that takes every message as a browser does. What is measured is the CPU time of the whole
process of the world: the viewer's thread, the web server's, and the sixty poses a second that move everything.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import armillary
from armillary import Transform, World
from context import Bench
from table import Row

LOOKER = Path(__file__).resolve().parent.parent / "looker.py"
FRAMES, RATE_HZ = 200, 60.0
FEWEST_HZ = 30.0  # pictures that came: else nobody looked
WARM_UP_S, MEASURED_S, QUICK_S = 4.0, 20.0, 5.0


def rows(bench: Bench) -> Iterator[Row]:
    try:
        share = _share_of_a_core(QUICK_S if bench.quick else MEASURED_S)
    except (armillary.errors.MissingExtra, subprocess.SubprocessError, OSError):
        share = None
    yield Row.at_most(f"viewer, {FRAMES} frames at 60 Hz, of one core", share, "%", asked=10)


def _share_of_a_core(measured_s: float) -> float:
    with World() as world:
        for i in range(FRAMES - 1):
            base_T_link = Transform.from_xyz_rpy(xyz=(0.1 * (i % 20), 0.1 * (i // 20), 0.0), rpy=(0.0, 0.0, 0.1 * i))
            world.fix(of=f"link_{i}", in_frame="base", transform=base_T_link)
        viewer = world.view(quiet=True, rate_hz=RATE_HZ)
        command = [sys.executable, str(LOOKER), viewer.url, str(WARM_UP_S + measured_s + 2.0)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looker:
            _move(world, WARM_UP_S)
            before_s = time.process_time()
            elapsed_s = _move(world, measured_s)
            spent_s = time.process_time() - before_s
            seen, _ = looker.communicate(timeout=60.0)
        if looker.returncode or int(seen) < measured_s * FEWEST_HZ:
            raise subprocess.CalledProcessError(looker.returncode, command, seen)
    return 100.0 * spent_s / elapsed_s


def _move(world: World, for_s: float) -> float:
    """How long it took [s]."""
    started_s = time.monotonic()
    while (elapsed_s := time.monotonic() - started_s) < for_s:
        map_T_base = Transform.from_xyz_rpy(xyz=(np.cos(elapsed_s), np.sin(elapsed_s), 0.0), rpy=(0.0, 0.0, elapsed_s))
        world.set_pose(of="base", in_frame="map", transform=map_T_base, at=world.now())
        time.sleep(1.0 / RATE_HZ)
    return elapsed_s
