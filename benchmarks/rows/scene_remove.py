"""A group removed with the ten thousand nodes that are in it: a hundred groups of things."""

from collections.abc import Iterator

from context import OURS, Bench, cpu_ns
from peers import SPARK
from scene_scenario import nested_scene
from table import Row

GROUPS, THINGS_EACH = 100, 99


def rows(bench: Bench) -> Iterator[Row]:
    best = bench.race(_cost, {SPARK: lambda _: f"remove_subtree {GROUPS} {THINGS_EACH}"}, repeats=min(bench.repeats, 5))
    nodes = GROUPS * (THINGS_EACH + 1)
    yield Row.faster(f"scene: remove a subtree of {nodes}", best[OURS], best[SPARK], SPARK)


def _cost(_: int) -> float:
    world, top = nested_scene(GROUPS, THINGS_EACH)
    return cpu_ns(lambda: world.scene.remove(top))
