"""What a viewer costs the program that it looks at: 200 frames that each move at 60 Hz, while somebody looks.

The looker is another process that takes every message as a browser does, and counts those that bring new places. What
is measured is the CPU time of the whole process of the world: the viewer's thread, the web server's, and the 12 000
poses a second that are set.
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

NAMES = [f"link_{i}" for i in range(200)]
LOOKER = Path(__file__).resolve().parent.parent / "looker.py"
FRAMES, RATE_HZ = len(NAMES), 60.0
FEWEST_HZ = 50.0  # pictures that came
WARM_UP_S, MEASURED_S, QUICK_S = 4.0, 20.0, 5.0


def rows(bench: Bench) -> Iterator[Row]:
    try:
        share, seen_hz = _share_of_a_core(QUICK_S if bench.quick else MEASURED_S)
    except (armillary.errors.MissingExtra, subprocess.SubprocessError, OSError) as problem:
        print(f"The viewer was not looked at: {problem}")
        share = seen_hz = None
    yield Row.at_most(f"viewer, {FRAMES} frames at 60 Hz, of one core", share, "%", asked=10)
    yield Row.at_least("  pictures that came", seen_hz, "/s", asked=FEWEST_HZ)


def _share_of_a_core(measured_s: float) -> tuple[float, float]:
    with World() as world:
        _move(world, 0.0)
        viewer = world.view(quiet=True, rate_hz=RATE_HZ)
        command = [sys.executable, str(LOOKER), viewer.url, str(WARM_UP_S), str(measured_s)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looker:
            _move(world, WARM_UP_S)
            before_s = time.process_time()
            elapsed_s = _move(world, measured_s)
            spent_s = time.process_time() - before_s
            seen, _ = looker.communicate(timeout=60.0)
        if looker.returncode:
            raise subprocess.CalledProcessError(looker.returncode, command, seen)
    return 100.0 * spent_s / elapsed_s, int(seen) / measured_s


def _move(world: World, for_s: float) -> float:
    """How long it took [s]."""
    started_s = due_s = time.monotonic()
    while True:
        elapsed_s, at = time.monotonic() - started_s, world.now()
        for i, name in enumerate(NAMES):
            map_T_link = Transform.from_xyz_rpy(
                xyz=(0.1 * (i % 20) + np.cos(elapsed_s), 0.1 * (i // 20), 0.0), rpy=(0.0, 0.0, elapsed_s + 0.1 * i)
            )
            world.set_pose(of=name, in_frame="map", transform=map_T_link, at=at)
        if elapsed_s >= for_s:
            return elapsed_s
        due_s += 1.0 / RATE_HZ
        time.sleep(max(0.0, due_s - time.monotonic()))
