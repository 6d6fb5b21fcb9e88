"""Function blocks, held against the facts of the paper's library."""

import numpy as np
import pytest

from armillary.errors import PortMismatch, UnknownBlock
from armillary.scene import Box, PointCloud


@pytest.fixture
def data(scene):
    """A group for what comes out, a cloud, and a box: the region of interest."""
    points = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [9.0, 0.0, 0.0]])
    into = scene.add_group(parent=scene.root)
    cloud = scene.add_geometry(parent=scene.root, shape=PointCloud(points))
    return [into, cloud, scene.add_geometry(parent=scene.root, shape=Box((1, 1, 1)))]


class TestABlock:
    def test_that_is_not_installed_is_not_loaded(self, scene):
        with pytest.raises(UnknownBlock, match="Did you mean 'crop_to_box'"):
            scene.load_block("crop_to_bx")

    def test_is_executed_again_and_again(self, scene, data):
        block = scene.load_block("crop_to_box")
        found = []
        for _ in range(3):
            block.set_data(data)
            block.execute()
            found += block.get_data()
        assert scene.children(data[0]) == found
        assert len(set(found)) == 3

    def test_is_loaded_as_often_as_one_likes(self, scene):
        first, second = (scene.load_block("crop_to_box") for _ in range(2))
        assert type(first) is type(second)
        assert first is not second

    def test_puts_the_region_of_interest_under_its_hook(self, scene, data):
        block = scene.load_block("crop_to_box")
        block.set_data(data)
        block.execute()
        (cropped,) = block.get_data()
        assert scene.parents(cropped) == [data[0]]
        assert scene.geometry(cropped).points.tolist() == [[0, 0, 0], [0.4, 0, 0]]


class TestABlockDiffers:
    def test_by_being_an_object_b1(self, scene):
        """There is no name to execute before it was loaded: who has a block has loaded it."""
        assert not hasattr(scene, "execute_block")
        assert callable(scene.load_block("voxel_subsample").execute)

    def test_by_giving_what_its_ports_promise_b2(self, scene, data):
        block = scene.load_block("crop_to_box")
        block.set_data(data)
        block.execute()
        assert len(block.get_data()) == len(block.outputs) == 1

    def test_by_refusing_data_of_the_wrong_kind_b3(self, scene, data):
        block = scene.load_block("crop_to_box")
        block.set_data([data[1], data[0], data[2]])
        before = scene.digest()
        with pytest.raises(PortMismatch, match="Port 'into'"):
            block.execute()
        assert scene.digest() == before
