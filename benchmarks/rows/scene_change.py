"""One thing added to a scene, asked for, and removed again, in small and large scenes.

The clock goes on with every change, so that the past is forgotten at the pace it is made: that counts.
"""

from collections.abc import Callable, Iterator

from armillary.scene import NodeId, Scene
from context import OURS, Bench, cpu_ns
from peers import SPARK
from scene_scenario import filled_scene
from table import Row

ROUNDS = 5_000  # so many that what the other left in the caches does not count
ASKED_NS = 15_000
ONE = {"name": "one", "number": -1}


def rows(bench: Bench) -> Iterator[Row]:
    for things in (10, 1_000, 100_000):
        best = _race(bench, things, Scene.attributes)
        what = f"scene of {things}: add, read, remove one"
        yield Row.at_most(what, best[OURS], "ns", asked=ASKED_NS, peer=best[SPARK], peer_name=SPARK)
    best = _race(bench, 1_000, lambda scene, _: scene.find({"name": "one"}))
    yield Row.at_most("scene of 1000: add, find, remove one", best[OURS], "ns")


def _race(bench: Bench, things: int, ask: Callable[[Scene, NodeId], object]) -> dict[str, float | None]:
    world = filled_scene(things)
    return bench.race(
        lambda _: cpu_ns(lambda: _rounds(world.scene, ask), ROUNDS), {SPARK: lambda _: f"come_and_go {things} {ROUNDS}"}
    )


def _rounds(scene: Scene, ask: Callable[[Scene, NodeId], object]) -> None:
    add_group, remove, root = scene.add_group, scene.remove, scene.root
    for _ in range(ROUNDS):
        node = add_group(parent=root, attributes=ONE)
        ask(scene, node)
        remove(node)
