"""All thousand frames of a tree at one instant, against a thousand lookups.

Two shapes: `wide` (mean depth 7) and `deep` (mean depth 92). Each frame holds ten
seconds at 10 Hz; the thousand frames of 1 kHz would be a gigabyte.
"""

from collections.abc import Iterator

from armillary import World
from context import OURS, Bench, cpu_ns
from peers import TF2_CPP, TF2_PYTHON
from scenario import EDGES, HISTORY_NS, TREE_FRAMES, TREE_STRIDE, Scenario
from table import Row

SWEEPS = 30  # instants a repeat, each a new one: the first finds cold caches on every side
NAMES = [f"t{i}" for i in range(TREE_FRAMES)]


def rows(bench: Bench) -> Iterator[Row]:
    for shape, asked, goal in (("wide", 10, 30), ("deep", None, None)):
        best = _race(bench, shape)
        given = f"snapshot, 1000 Transforms, {shape} tree"
        yield Row.faster(given, best["objects"], best["lookups"], "1000 poses", asked=asked, goal=goal)
        yield Row.faster(given, best["objects"], best[TF2_PYTHON], f"1000 {TF2_PYTHON}")
        yield Row.faster(given, best["objects"], best[TF2_CPP], f"1000 {TF2_CPP}")
        what = f"snapshot as one array, {shape} tree"
        yield Row.faster(what, best[OURS], best["lookups"], "1000 poses", asked=asked, goal=goal)
        yield Row.faster(what, best[OURS], best[TF2_PYTHON], f"1000 {TF2_PYTHON}")
        yield Row.faster(what, best[OURS], best[TF2_CPP], f"1000 {TF2_CPP}")


def _race(bench: Bench, shape: str) -> dict[str, float | None]:
    world = _tree_world(bench.scenario, shape)
    ours = {
        OURS: lambda repeat: cpu_ns(lambda: _sweeps(world, bench.times(SWEEPS, repeat)), SWEEPS),
        "objects": lambda repeat: cpu_ns(lambda: _objects(world, bench.times(SWEEPS, repeat)), SWEEPS),
        "lookups": lambda repeat: cpu_ns(lambda: _lookups(world, bench.times(SWEEPS, repeat)), SWEEPS),
    }
    return bench.race(
        ours,
        dict.fromkeys((TF2_PYTHON, TF2_CPP), lambda repeat: f"tree {shape} {SWEEPS} {bench.offset(SWEEPS, repeat)}"),
    )


def _sweeps(world: World, times: list[int]) -> None:
    for at in times:
        world.snapshot(in_frame="t0", at=at).xyz_wxyz()


def _objects(world: World, times: list[int]) -> None:
    for at in times:
        list(world.snapshot(in_frame="t0", at=at).values())


def _lookups(world: World, times: list[int]) -> None:
    pose = world.pose
    for at in times:
        for name in NAMES:
            pose(of=name, in_frame="t0", at=at)


def _tree_world(scenario: Scenario, shape: str) -> World:
    world, chain, parents = World(history=HISTORY_NS), scenario.chains["jittered"], scenario.trees[shape]
    for i in range(1, TREE_FRAMES):
        kept = slice(None, None, TREE_STRIDE)
        world.set_poses(
            of=f"t{i}",
            in_frame=f"t{parents[i]}",
            transforms=chain.rows[i % EDGES, kept],
            at=chain.stamps[i % EDGES, kept],
        )
    return world
