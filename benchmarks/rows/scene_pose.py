"""Where a node is in another, through a chain of transforms of the scene that all move; the chain of `pose`.

Looking up the frames of both nodes counts. tf2 has the same chain as plain frames.
"""

from collections.abc import Iterator
from time import process_time_ns

from armillary import Transform, World
from armillary.scene import NodeId
from context import OURS, Bench
from peers import SPARK, TF2_PYTHON
from scenario import HISTORY_NS, Scenario
from table import Row

COUNT = 2_000
CHAIN = "jittered"


def rows(bench: Bench) -> Iterator[Row]:
    world, nodes = chain_scene(bench.scenario)
    for depth in (5, 10):
        best = bench.race(
            lambda repeat, depth=depth: _pose_ns(world, nodes[depth], nodes[0], bench.times(COUNT, repeat)),
            {
                TF2_PYTHON: lambda repeat, depth=depth: f"lookup {CHAIN} {depth} {COUNT} {bench.offset(COUNT, repeat)}",
                SPARK: lambda _: f"position 100 {COUNT}",
            },
        )
        what = f"scene: pose of a node {depth} transforms deep"
        yield Row.faster(what, best[OURS], best[TF2_PYTHON], TF2_PYTHON)
        yield Row.faster("  against a difference of positions", best[OURS], best[SPARK], SPARK)


def chain_scene(scenario: Scenario) -> tuple[World, list[NodeId]]:
    """The root, and each node of the chain in the one before it."""
    world, chain = World(history=HISTORY_NS), scenario.chains[CHAIN]
    scene, nodes = world.scene, [world.scene.root]
    for stamps, values in zip(chain.stamps, chain.rows, strict=True):
        first = Transform.from_xyz_wxyz(xyz=values[0, :3], wxyz=values[0, 3:])
        nodes.append(scene.add_transform(parent=nodes[-1], transform=first, at=int(stamps[0])))
        frame, parent_frame = scene.frame(nodes[-1]), scene.frame(nodes[-2])
        world.set_poses(of=frame, in_frame=parent_frame, transforms=values, at=stamps)
    return world, nodes


def _pose_ns(world: World, of: NodeId, in_node: NodeId, times: list[int]) -> float:
    pose, frame = world.pose, world.scene.frame
    started = process_time_ns()
    for at in times:
        pose(of=frame(of), in_frame=frame(in_node), at=at)
    return (process_time_ns() - started) / len(times)
