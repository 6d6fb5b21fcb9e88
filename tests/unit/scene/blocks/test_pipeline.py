"""Blocks that feed one another, and what is found wrong before any of them runs."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World
from armillary.errors import InvalidArgument, PortMismatch
from armillary.scene import Box, Pipeline, PointCloud, Port
from armillary.scene.blocks.point_clouds import CropToBox, VoxelSubsample

CLOUD, BOX = Port("cloud", ("geometry",), (PointCloud,)), Port("box", ("geometry",), (Box,))


@pytest.fixture
def scene():
    with World() as world:
        yield world.scene


@pytest.fixture
def pipeline(scene):
    pipeline = Pipeline(scene, inputs=(CLOUD, BOX))
    pipeline.add("crop", CropToBox(scene), into=scene.root, cloud="cloud", box="box")
    return pipeline


def thin(scene, **parameters):
    block = VoxelSubsample(scene)
    block.configure(**parameters)
    return block


class TestAPipeline:
    def test_gives_what_its_blocks_give(self, scene, pipeline):
        pipeline.add("thin", thin(scene, voxel_size_m=0.5), into=scene.root, cloud="crop.cropped")
        points = np.linspace(-2.0, 2.0, 401)[:, None] * [1.0, 0.0, 0.0]
        cloud = scene.add_geometry(parent=scene.root, shape=PointCloud(points))
        box = scene.add_geometry(parent=scene.root, shape=Box((2.0, 1.0, 1.0)))
        found = pipeline.run(cloud=cloud, box=box)
        (cropped,), (thinned,) = found["crop.cropped"], found[next(key for key in found if key.startswith("thin."))]
        assert len(scene.geometry(cropped).points) == 201
        assert len(scene.geometry(thinned).points) < 10

    def test_names_its_blocks(self, scene, pipeline):
        assert repr(pipeline) == "Pipeline(cloud, box: crop)"


class TestWiring:
    def test_to_a_port_that_is_not_there_is_refused(self, scene, pipeline):
        with pytest.raises(PortMismatch, match=r"no such input. It has: into, cloud, box"):
            pipeline.add("again", CropToBox(scene), into=scene.root, cloud="cloud", box="box", lid="box")

    def test_from_what_nobody_gives_is_refused(self, scene, pipeline):
        with pytest.raises(PortMismatch, match=r"no 'thin.cloud' to take. There is: cloud, box, crop.cropped"):
            pipeline.add("again", CropToBox(scene), into=scene.root, cloud="thin.cloud", box="box")

    def test_of_shapes_that_never_fit_is_refused(self, scene, pipeline):
        with pytest.raises(PortMismatch, match=r"'crop.cropped' gives a PointCloud. Give a Box"):
            pipeline.add("again", CropToBox(scene), into=scene.root, cloud="cloud", box="crop.cropped")

    def test_that_leaves_a_port_without_data_is_refused(self, scene, pipeline):
        with pytest.raises(PortMismatch, match="nothing is wired to it"):
            pipeline.add("again", CropToBox(scene), into=scene.root, cloud="cloud")

    def test_that_is_refused_adds_nothing(self, scene, pipeline):
        with pytest.raises(PortMismatch):
            pipeline.add("again", CropToBox(scene), into=scene.root, cloud="cloud")
        assert repr(pipeline) == "Pipeline(cloud, box: crop)"


class TestARun:
    def test_without_an_input_touches_nothing(self, scene, pipeline):
        count = len(scene)
        with pytest.raises(PortMismatch, match="it is missing"):
            pipeline.run(cloud=scene.root)
        assert len(scene) == count

    def test_with_a_node_of_another_kind_is_refused(self, scene, pipeline):
        group = scene.add_group(parent=scene.root)
        with pytest.raises(PortMismatch, match="Give a geometry"):
            pipeline.run(cloud=group, box=group)

    def test_with_a_parameter_without_value_is_refused_before_the_first_block(self, scene, pipeline):
        pipeline.add("thin", VoxelSubsample(scene), into=scene.root, cloud="crop.cropped")
        cloud = scene.add_geometry(parent=scene.root, shape=PointCloud(np.zeros((1, 3))))
        box = scene.add_geometry(parent=scene.root, shape=Box((1.0, 1.0, 1.0)))
        count = len(scene)
        with pytest.raises(InvalidArgument, match="Block 'thin' needs"):
            pipeline.run(cloud=cloud, box=box)
        assert len(scene) == count
