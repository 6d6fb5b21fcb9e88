"""A moving scanner's cloud: every point has its own stamp.

A scanner measures one point after the other, so the stamps are in order, for the peer too;
a last row shuffles them. tf2 has no such call, so its user writes a loop. The asked row counts only the lookup of
each point (no arithmetic at all on the peer's side); the next adds it in plain Python.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from context import OURS, Bench, cpu_ns
from peers import TF2_PYTHON
from scenario import TIMES
from table import Row

EDGES = 3
PEER_COUNT = 2_000


def rows(bench: Bench) -> Iterator[Row]:
    in_order = np.sort(bench.scenario.times)
    scan, applied = (_race(bench, command, in_order) for command in ("scan", "points"))
    shuffled = _race(bench, "lookup", bench.scenario.times)
    what = f"map_points, 100k stamps, {EDGES} edges, a point"
    yield Row.faster(what, scan[OURS], scan[TF2_PYTHON], f"{TF2_PYTHON} lookup", asked=100, goal=200)
    yield Row.faster("  the same, and applied by hand", applied[OURS], applied[TF2_PYTHON], TF2_PYTHON)
    yield Row.faster("  the same, stamps in random order", shuffled[OURS], shuffled[TF2_PYTHON], f"{TF2_PYTHON} lookup")


def _race(bench: Bench, command: str, times: NDArray[np.int64]) -> dict[str, float | None]:
    world = bench.chain_world("jittered")
    points = np.random.default_rng(1).normal(size=(TIMES, 3))

    def ours(_: int) -> float:
        return cpu_ns(lambda: world.map_points(points, from_frame=f"f{EDGES}", to_frame="f0", at=times), TIMES)

    return bench.race(
        ours, {TF2_PYTHON: lambda repeat: f"{command} jittered {EDGES} {PEER_COUNT} {bench.offset(PEER_COUNT, repeat)}"}
    )
