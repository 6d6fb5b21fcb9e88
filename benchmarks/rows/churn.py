"""Costs that do not grow with the past: short-lived frames and nodes, moves, late samples, reading what is new."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from armillary import Transform, World, seconds
from context import OURS, Bench, cpu_ns, race
from table import Row

HERE = Path(__file__).resolve()
COUNT, QUICK_COUNT = 200_000, 50_000
SHORT, LONG = 10_000, 1_000_000
CALLS = 500
MOVES, SOME = 1_000, 50
PERIOD_NS = 10_000_000
ASKED_BYTES, ASKED_GROWTH = 16, 1.5


def rows(bench: Bench) -> Iterator[Row]:
    for kind, what in (("frames", "frame, new names"), ("again", "frame, one name"), ("nodes", "node")):
        found = _measured(kind, QUICK_COUNT if bench.quick else COUNT)
        yield Row.at_most(f"a {what}: made and removed", found["late_ns"], "ns")
        growth = found["late_ns"] / found["early_ns"]
        yield Row.at_most("  late against early", growth, "x", asked=ASKED_GROWTH)
        yield Row.at_most("  memory that each leaves", max(found["bytes"], 0.0), "B", asked=ASKED_BYTES)
    for kind, what in (("move", "scene.move of one node"), ("parents", "add_parent and remove_parent of one node")):
        early, late = _moved(kind, MOVES)
        yield Row.at_most(f"{what}, the {MOVES}th", late, "ns")
        yield Row.at_most("  late against early", late / early, "x", asked=2.0)
    worlds = {size: _filled(size) for size in (SHORT, LONG)}
    for what, call in (("a late sample", _late), ("samples(start=), the last ten", _newest)):
        best = race({str(size): _timed(world, size, call) for size, world in worlds.items()}, bench.repeats)
        yield Row.at_most(
            f"{what}, of {LONG}", best[str(LONG)], "ns", peer=best[str(SHORT)], peer_name=f"{OURS}, {SHORT}"
        )


def _moved(kind: str, count: int) -> tuple[float, float]:
    """The first and the last moves of one node to and fro, a second apart [ns each]."""
    world = World()
    scene = world.scene
    there, here = (scene.add_group(parent=scene.root, at=0) for _ in range(2))
    cup = scene.add_transform(parent=here, transform=Transform.identity(), at=0)

    def move(k: int) -> None:
        if kind == "move":
            scene.move(cup, to=(here, there)[k % 2], at=seconds(k))
        else:
            scene.add_parent(cup, there, at=seconds(k))
            scene.remove_parent(cup, there, at=seconds(k) + PERIOD_NS)

    def some_from(first: int) -> float:
        return cpu_ns(lambda: [move(k) for k in range(first, first + SOME)], SOME)

    found = [some_from(first) for first in range(1, count + 1, SOME)]
    return min(found[:2]), min(found[-2:])


def _measured(kind: str, count: int) -> dict[str, float]:
    """Runs `measured_churn.py` in a process of its own."""
    program = HERE.parent / "measured_churn.py"
    done = subprocess.run([sys.executable, str(program), kind, str(count)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _filled(size: int) -> World:
    world, rows_in = World(history=None), np.tile([0.0, 0, 0, 1, 0, 0, 0], (size, 1))
    world.set_poses(of="w", in_frame="f0", transforms=rows_in, at=PERIOD_NS * np.arange(size))
    return world


def _timed(world: World, size: int, call):
    random = np.random.default_rng(size)
    return lambda _: cpu_ns(lambda: call(world, size, random), CALLS)


def _late(world: World, size: int, random: np.random.Generator) -> None:
    still = Transform.identity()
    for at in random.integers(0, PERIOD_NS * size, CALLS).tolist():
        world.set_pose(of="w", in_frame="f0", transform=still, at=at)


def _newest(world: World, size: int, _: np.random.Generator) -> None:
    start = PERIOD_NS * (size - 10)
    for _ in range(CALLS):
        world.samples(of="w", in_frame="f0", start=start)
