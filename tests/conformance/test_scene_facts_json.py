"""Scenes in files, held against the facts of the paper's library about its JSON."""

import json

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import InvalidSceneFile, NodeExists
from armillary.scene import Box, Capsule, Cylinder, Mesh, NodeId, PointCloud, Sphere, VoxelGrid
from conformance.scenes import shifted
from conformance.things import RecordedChanges, covariance_of

TRIANGLE = Mesh(np.eye(3), [[0, 1, 2]])
CELLS = VoxelGrid(np.ones((2, 2, 2), dtype=bool), voxel_size_m=0.1)
SOLIDS = [Sphere(1.0), Box((1, 2, 3)), Cylinder(1.0, 2.0), Capsule(1.0, 2.0)]
SHAPES = [*SOLIDS, TRIANGLE, PointCloud(np.eye(3)), CELLS]


@pytest.fixture
def reloaded(scene, tmp_path):
    """What a new world makes of the file."""

    def load():
        scene.save(tmp_path / "scene.json")
        world = World("reader")
        world.scene.load(tmp_path / "scene.json")
        return world

    return load


class TestAFile:
    @pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
    def test_keeps_every_shape_and_its_stamp(self, scene, reloaded, shape):
        node = scene.add_geometry(parent=scene.root, shape=shape, at=seconds(7))
        loaded = reloaded().scene
        assert loaded.geometry(node) == shape
        assert loaded.stamp(node) == seconds(7)

    def test_keeps_everything_else(self, scene, reloaded):
        group = scene.add_group(parent=scene.root, attributes={"name": "group"})
        moving = scene.add_transform(parent=group, transform=shifted(1), at=seconds(1))
        sure = covariance_of(1, 2, 3, 4, 5, 6)
        other = scene.add_uncertain_transform(parent=group, transform=shifted(2), covariance=sure, at=None)
        scene.add_parent(other, moving)
        scene.add_connection(parent=group, sources=[moving], targets=[other], start=1, end=2)
        loaded = reloaded().scene
        assert loaded.digest() == scene.digest()
        assert [loaded.kind(node) for node in loaded.children(group)] == [
            "transform",
            "uncertain_transform",
            "connection",
        ]

    def test_keeps_values_within_values(self, scene, reloaded):
        value = ["a", [1, [2.5, True]], []]
        scene.set_attributes(scene.root, {"nested": value})
        assert reloaded().scene.attributes(scene.root) == {"nested": value}

    def test_names_attributes_in_the_order_of_the_alphabet(self, scene, tmp_path):
        scene.set_attributes(scene.root, {"b": 1, "c": 2, "a": 3})
        scene.save(tmp_path / "scene.json")
        written = json.loads((tmp_path / "scene.json").read_text(encoding="utf-8"))
        assert list(written["root"]["attributes"]) == ["a", "b", "c"]


class TestSearchingBelowANode:
    @pytest.fixture
    def family(self, scene):
        """Below the root 1, 2 and 4; 3 is in 1."""
        one, two = (scene.add_group(parent=scene.root) for _ in range(2))
        three, four = scene.add_group(parent=one), scene.add_group(parent=scene.root)
        return one, two, three, four

    def test_goes_no_further(self, scene, family):
        one, two, three, _ = family
        assert scene.find({}, under=one) == [one, three]
        assert scene.find({}, under=two) == [two]
        assert scene.find({}) == [scene.root, *family]


class TestAFileDiffers:
    def test_by_being_read_into_a_scene_that_lacks_it_j1(self, scene, tmp_path):
        """The library went over to setting attributes where a node was there."""
        scene.add_group(parent=scene.root, attributes={"name": "cup"})
        scene.save(tmp_path / "scene.json")
        before = scene.digest()
        with pytest.raises(NodeExists):
            scene.load(tmp_path / "scene.json")
        assert scene.digest() == before

    def test_by_reading_all_of_it_or_nothing_j2(self, scene, tmp_path):
        scene.add_group(parent=scene.root, id=NodeId.random())
        scene.add_group(parent=scene.root, id=NodeId.random())
        scene.save(tmp_path / "scene.json")
        written = json.loads((tmp_path / "scene.json").read_text(encoding="utf-8"))
        written["nodes"][1]["kind"] = "grupe"
        (tmp_path / "scene.json").write_text(json.dumps(written), encoding="utf-8")
        fresh = World("reader")
        with pytest.raises(InvalidSceneFile) as refused:
            fresh.scene.load(tmp_path / "scene.json")
        assert refused.value.field.startswith("nodes[1]")
        assert len(fresh.scene) == 1

    def test_by_notifying_observers_of_what_was_read_j3(self, scene, tmp_path):
        """Who wants a part of a file reads it into a world of its own, and takes that part."""
        scene.add_geometry(parent=scene.root, shape=CELLS)
        scene.save(tmp_path / "scene.json")
        fresh = World("reader")
        recorded = RecordedChanges(fresh.scene)
        fresh.scene.load(tmp_path / "scene.json")
        assert recorded.counts()["AddGeometry"] == 1
        assert recorded.batches == 1
