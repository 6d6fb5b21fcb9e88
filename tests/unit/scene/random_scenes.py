"""Shapes of every kind, and scenes of them, for the laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, VoxelGrid
from strategies import transforms
from unit.scene.kit import ROOT, SketchScene, at_xyz

if TYPE_CHECKING:
    from armillary import Transform

LENGTHS_M = st.sampled_from([0.0, 1e-6, 1.0]) | st.floats(0.01, 3.0)
SEEDS = st.integers(0, 2**32 - 1)
CUBE_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
CUBE_TRIANGLES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


def cube(size_m: float = 1.0) -> Mesh:
    """Closed."""
    return Mesh(CUBE_CORNERS * size_m, CUBE_TRIANGLES)


def _cloud(seed: int, number: int) -> PointCloud:
    return PointCloud(np.random.default_rng(seed).normal(size=(number, 3)))


def _open_mesh(seed: int, number: int) -> Mesh:
    generator = np.random.default_rng(seed)
    return Mesh(generator.normal(size=(number + 3, 3)), generator.integers(0, number + 3, (number, 3)))


def _grid(seed: int, number: int) -> VoxelGrid:
    generator = np.random.default_rng(seed)
    return VoxelGrid(generator.random((number, 2, 3)) < 0.5, 0.4, generator.normal(size=3))


boxes = st.builds(Box, st.tuples(LENGTHS_M, LENGTHS_M, LENGTHS_M))
spheres = st.builds(Sphere, LENGTHS_M)
cylinders = st.builds(Cylinder, LENGTHS_M, LENGTHS_M)
capsules = st.builds(Capsule, LENGTHS_M, LENGTHS_M)
solids = st.one_of(spheres, boxes, cylinders, capsules)
clouds = st.builds(_cloud, SEEDS, st.integers(0, 20))
meshes = st.builds(_open_mesh, SEEDS, st.integers(0, 6)) | st.builds(cube, st.floats(0.1, 2.0))
grids = st.builds(_grid, SEEDS, st.integers(0, 3))
shapes = st.one_of(solids, clouds, meshes, grids)


@st.composite
def scenes(draw: st.DrawFn) -> SketchScene:
    """Fixed and moving frames, groups, things nowhere, several parents."""
    scene = SketchScene()
    for _ in range(draw(st.integers(0, 12))):
        _grow(draw, scene)
    return scene


def _grow(draw: st.DrawFn, scene: SketchScene) -> None:
    nodes = list(scene.below(ROOT))
    parent, kind = draw(st.sampled_from(nodes)), draw(st.sampled_from(["group", "fixed", "moving", "lost", "parent"]))
    if kind == "parent":
        _share(draw, scene, nodes, parent)
        return
    place = draw(transforms()) if kind in {"fixed", "moving"} else None
    node = scene.add(parent, at=_drifting(place) if kind == "moving" else place, lost=kind == "lost")
    if draw(st.booleans()):
        scene.add(node, shape=draw(shapes))


def _drifting(place: Transform):
    return lambda at: place @ at_xyz(float(at))


def _share(draw: st.DrawFn, scene: SketchScene, nodes: list[int], parent: int) -> None:
    """One more parent, where that closes no loop and is new."""
    others = [node for node in nodes if parent not in scene.below(node) and node not in scene.children(parent)]
    if others:
        scene.add_parent(draw(st.sampled_from(others)), parent)
