"""A hundred thousand things put into a scene: one by one, and in one batch, whose making counts."""

from collections.abc import Iterator

from armillary import World
from armillary.scene import AddGroup
from context import Bench, cpu_ns
from peers import SPARK
from scene_scenario import THINGS, Attributes, things
from table import Row


def rows(bench: Bench) -> Iterator[Row]:
    ready = things(THINGS)
    best = bench.race(
        {
            "one by one": lambda _: _cost(_one_by_one, ready),
            "one apply": lambda _: _cost(_at_once, ready),
        },
        {SPARK: lambda _: f"add {THINGS}"},
        repeats=min(bench.repeats, 5),
    )
    for how in ("one by one", "one apply"):
        yield Row.faster(f"scene: a node of {THINGS}, {how}", best[how], best[SPARK], SPARK)


def _cost(add, ready: list[Attributes]) -> float:
    world = World()
    world.scene.add_group(parent=world.scene.root)
    return cpu_ns(lambda: add(world, ready), len(ready))


def _one_by_one(world: World, ready: list[Attributes]) -> None:
    add_group, root = world.scene.add_group, world.scene.root
    for said in ready:
        add_group(parent=root, attributes=said)


def _at_once(world: World, ready: list[Attributes]) -> None:
    root = world.scene.root
    world.apply([AddGroup(parent=root, attributes=said) for said in ready])
