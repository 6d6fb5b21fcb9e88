"""Two siblings far from the root: the path has two edges, whatever their depth."""

from collections.abc import Iterator

from armillary import World
from context import Bench, pose_ns
from peers import TF2_CPP
from scenario import EDGES, HISTORY_NS, Scenario
from table import Row

COUNT = 1_000
DEPTH = 99  # of the common parent
# "The cost of a 2-edge path": the rest is the noise of this measurement.
SAME = 1.25


def rows(bench: Bench) -> Iterator[Row]:
    best = _race(bench)
    yield Row(
        what="siblings at depth 100, against depth 1",
        ours=best["deep"],
        peer=best["shallow"],
        peer_name="at depth 1",
        figure=best["deep"] / best["shallow"],
        asked=SAME,
        less_is_better=True,
    )
    yield Row.faster("siblings at depth 100", best["deep"], best[TF2_CPP], TF2_CPP)


def _race(bench: Bench) -> dict[str, float | None]:
    world = _deep_world(bench.scenario)
    ours = {where: _asking(bench, world, where) for where in ("deep", "shallow")}
    return bench.race(ours, {TF2_CPP: lambda repeat: f"siblings deep {COUNT} {bench.offset(COUNT, repeat)}"})


def _asking(bench: Bench, world: World, where: str):
    return lambda repeat: pose_ns(world, f"left_{where}", f"right_{where}", bench.times(COUNT, repeat))


def _deep_world(scenario: Scenario) -> World:
    world, chain = World(history=HISTORY_NS), scenario.chains["jittered"]
    parents = {f"d{i + 1}": (f"d{i}", i % EDGES) for i in range(DEPTH)}
    for where, parent in (("deep", f"d{DEPTH}"), ("shallow", "d0")):
        parents |= {f"left_{where}": (parent, 3), f"right_{where}": (parent, 4)}
    for of, (in_frame, edge) in parents.items():
        world.set_poses(of=of, in_frame=in_frame, transforms=chain.rows[edge], at=chain.stamps[edge])
    return world
