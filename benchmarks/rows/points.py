"""A cloud whose points each have their own stamp.

Ten edges and stamps in any order, as the single questions of other rows have them; then what a scanner gives: stamps in
order, over three edges, for the peer too. tf2 has no such call, so its user writes a loop. The first rows count only
the lookup of each point (no arithmetic at all on the peer's side); the last adds it in plain Python.
"""

from collections.abc import Iterator

import numpy as np

from context import OURS, Bench, cpu_ns
from peers import TF2_PYTHON
from scenario import TIMES
from table import Row

PEER_COUNT = 2_000


def rows(bench: Bench) -> Iterator[Row]:
    what, lookup = "map_points, 100k stamps", f"{TF2_PYTHON} lookup"
    best = _race(bench, "lookup", 10)
    yield Row.faster(f"{what}, 10 edges, a point", best[OURS], best[TF2_PYTHON], lookup, asked=100, goal=200)
    best = _race(bench, "scan", 10, in_order=True)
    yield Row.faster("  the same, stamps in order", best[OURS], best[TF2_PYTHON], lookup)
    best = _race(bench, "scan", 3, in_order=True)
    yield Row.faster(f"{what} in order, 3 edges, a point", best[OURS], best[TF2_PYTHON], lookup)
    best = _race(bench, "points", 3, in_order=True)
    yield Row.faster("  the same, and applied by hand", best[OURS], best[TF2_PYTHON], TF2_PYTHON)


def _race(bench: Bench, command: str, edges: int, *, in_order: bool = False) -> dict[str, float | None]:
    world = bench.chain_world("jittered")
    points = np.random.default_rng(1).normal(size=(TIMES, 3))

    def ours(repeat: int) -> float:
        at = bench.batch_times(repeat, in_order=in_order)
        return cpu_ns(lambda: world.map_points(points, from_frame=f"f{edges}", to_frame="f0", at=at), TIMES)

    return bench.race(
        ours, {TF2_PYTHON: lambda repeat: f"{command} jittered {edges} {PEER_COUNT} {bench.offset(PEER_COUNT, repeat)}"}
    )
