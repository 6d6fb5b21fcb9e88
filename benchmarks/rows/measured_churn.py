"""Makes and removes things and prints what one costs early and late, and how much memory each leaves. See churn.py.

.venv/bin/python benchmarks/rows/measured_churn.py frames 1000000
"""

import gc
import json
import sys
from pathlib import Path
from time import process_time_ns

from armillary import Transform, World

STILL = Transform.identity()
PERIOD_NS = 10_000_000


def frames(world: World, numbers: range) -> None:
    """A tracker: each object is seen once, under a name of its own."""
    for i in numbers:
        world.set_pose(of=f"track_{i}", in_frame="map", transform=STILL, at=PERIOD_NS * i)
        world.remove_frame(f"track_{i}")


def again(world: World, numbers: range) -> None:
    """The same frame, over and over."""
    for i in numbers:
        world.set_pose(of="track", in_frame="map", transform=STILL, at=PERIOD_NS * i)
        world.remove_frame("track")


def nodes(world: World, numbers: range) -> None:
    """Things of a scene, each with attributes."""
    scene, root = world.scene, world.scene.root
    for i in numbers:
        scene.remove(scene.add_group(parent=root, attributes={"number": i}))


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    churn, count = {"frames": frames, "again": again, "nodes": nodes}[sys.argv[1]], int(sys.argv[2])
    clock = iter(range(0, PERIOD_NS * 100 * count, PERIOD_NS))
    world, part = World(clock=clock.__next__), count // 10
    churn(world, range(part))  # what is bounded fills up
    costs, before = [], resident_bytes()
    for k in range(1, 10):
        started = process_time_ns()
        churn(world, range(k * part, (k + 1) * part))
        costs.append((process_time_ns() - started) / part)
    grown = resident_bytes() - before
    print(json.dumps({"early_ns": min(costs[:3]), "late_ns": min(costs[-3:]), "bytes": grown / (9 * part)}))


if __name__ == "__main__":
    main()
