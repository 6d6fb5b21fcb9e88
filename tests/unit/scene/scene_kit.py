"""Small scenes that tests of its parts share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armillary import Box, Mesh, PointCloud, VoxelGrid, World, seconds
from armillary.scene import NodeId
from unit.kit import FakeClock, moved

SPREAD = np.diag([0.1, 0.2, 0.3, 0.01, 0.02, 0.03])


class TwoWays(NamedTuple):
    """root -> (tf1 -> utf3 -> n5), (utf2 -> g4 -> n5)."""

    world: World
    tf1: NodeId
    utf2: NodeId
    utf3: NodeId
    g4: NodeId
    n5: NodeId

    @property
    def scene(self):
        return self.world.scene


def two_ways() -> TwoWays:
    world = World(clock=FakeClock(seconds(5)))
    scene = world.scene
    tf1 = scene.add_transform(parent=scene.root, transform=moved(1, 2, 3), at=seconds(1))
    utf2 = scene.add_uncertain_transform(parent=scene.root, transform=moved(6, 5, 4), covariance=SPREAD, at=seconds(2))
    utf3 = scene.add_uncertain_transform(parent=tf1, transform=moved(7, 8, 9), covariance=SPREAD, at=seconds(1))
    g4 = scene.add_group(parent=utf2)
    n5 = scene.add_geometry(parent=utf3, shape=Box((1, 1, 1)), at=seconds(3))
    scene.add_parent(n5, g4, at=seconds(3))
    return TwoWays(world, tf1, utf2, utf3, g4, n5)


def full_scene(world: World) -> dict[str, NodeId]:
    """Something of every kind; the clock of the world is past 5 s."""
    scene = world.scene
    rng = np.random.default_rng(7)
    scene.set_attributes(scene.root, {"name": "kitchen", "far": float("inf"), "list": [1, [2.0, True, "x"]]})
    ids = {"table": scene.add_group(parent=scene.root, attributes={"mass": 3, "odd key": -0.0}, at=seconds(1))}
    ids["cup"] = scene.add_transform(parent=ids["table"], transform=moved(1, 2, 3), at=seconds(1))
    scene.set_transform(ids["cup"], moved(2), covariance=SPREAD, at=seconds(2))
    ids["seen"] = scene.add_uncertain_transform(parent=scene.root, transform=moved(6), covariance=SPREAD, at=seconds(2))
    scene.set_transform(ids["seen"], moved(7), at=seconds(3))
    cloud = PointCloud(rng.random((20, 3)).astype(np.float32), intensity=rng.random(20), ring=np.arange(20))
    ids["cloud"] = scene.add_geometry(parent=ids["cup"], shape=cloud, levels=[Box((1, 1, 1))], at=seconds(1))
    scene.add_parent(ids["cloud"], ids["seen"], at=seconds(1))
    ids["mesh"] = scene.add_geometry(
        parent=ids["seen"], shape=Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), at=seconds(4)
    )
    ids["grid"] = scene.add_geometry(
        parent=ids["table"], shape=VoxelGrid.of_points(rng.random((9, 3)), 0.2), at=seconds(4)
    )
    ids["fixed"] = scene.add_transform(parent=scene.root, transform=moved(1), at=None)
    ids["gone"] = scene.add_group(parent=scene.root, at=seconds(1))
    ids["tie"] = scene.add_connection(
        parent=scene.root, sources=[ids["cup"], ids["gone"]], targets=[ids["seen"]], start=3, at=seconds(2)
    )
    scene.remove(ids.pop("gone"))
    return ids
