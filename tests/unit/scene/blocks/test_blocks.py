"""Function blocks: typed, timed, isolated, found by entry points."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from armillary import Box, PointCloud, Sphere, World, seconds
from armillary.errors import BlockFailed, InvalidArgument, PortMismatch, UnknownBlock, UnusableBlock
from armillary.scene import REQUIRED, AddGeometry, AddGroup, FunctionBlock, Port, Remove
from armillary.scene.blocks import _registry
from unit.kit import FakeClock, moved

ROOT = Path(__file__).resolve().parents[4]


class Boxed(FunctionBlock):
    """Puts the box around a ball beside it."""

    name = "boxed"
    inputs = (Port("into", kinds=("group",)), Port("ball", kinds=("geometry",), shapes=(Sphere,)))
    outputs = (Port("box", kinds=("geometry",), shapes=(Box,)),)
    parameters = MappingProxyType({"scale": 1.0, "fail_with": None})

    def compute(self, data):
        size_m = 2 * self.scene.geometry(data["ball"][0]).radius_m * self.settings["scale"]
        added = self.scene.plan(AddGeometry(parent=data["into"][0], shape=Box((size_m,) * 3)))
        if self.settings["fail_with"] is not None:
            raise self.settings["fail_with"]
        return [added]


@pytest.fixture
def scene():
    return World(clock=FakeClock(seconds(5))).scene


@pytest.fixture
def ball(scene):
    return scene.add_geometry(parent=scene.root, shape=Sphere(0.5))


def executed(block, *nodes, **parameters):
    block.configure(**parameters)
    block.set_data(nodes)
    block.execute()
    return block.get_data()


class TestABlock:
    def test_puts_its_results_into_the_scene(self, scene, ball):
        (box,) = executed(Boxed(scene), scene.root, ball, scale=2.0)
        assert scene.geometry(box) == Box((2, 2, 2))

    def test_plans_changes_and_nothing_else(self, scene, ball):
        class Vague(Boxed):
            def compute(self, data):
                return [self.scene.plan(data["ball"][0])]

        with pytest.raises(BlockFailed, match=r"A change is made by the classes of armillary\.scene, got NodeId"):
            executed(Vague(scene), scene.root, ball)

    @pytest.mark.parametrize("nodes", [None, 3, "ball"])
    def test_takes_nodes_in_a_list(self, scene, nodes):
        with pytest.raises(InvalidArgument, match=r"are nodes in a list: \[node, \.\.\.\]; got"):
            Boxed(scene).set_data(nodes)

    @pytest.mark.parametrize("name", [None, Boxed])
    def test_is_loaded_by_its_name(self, scene, name):
        with pytest.raises(InvalidArgument, match="is loaded by its name, got"):
            scene.load_block(name)

    def test_can_be_executed_again(self, scene, ball):
        block = Boxed(scene)
        first = executed(block, scene.root, ball)
        block.execute()
        assert block.get_data() != first

    def test_is_timed(self, scene, ball):
        block = Boxed(scene)
        assert block.duration_s is None
        executed(block, scene.root, ball)
        assert block.duration_s > 0.0

    def test_changes_the_scene_at_once(self, scene, ball):
        class Twice(Boxed):
            outputs = (Port("boxes", many=True),)

            def compute(self, data):
                return [*super().compute(data), *super().compute(data)]

        batches = []
        scene.attach(batches.append)
        assert len(executed(Twice(scene), scene.root, ball)) == 2
        assert [len(batch) for batch in batches] == [2]

    def test_sees_the_scene_as_it_was_when_it_began(self, scene, ball):
        class Counts(FunctionBlock):
            name = "counts"

            def compute(self, data):
                self.before = len(self.scene.find({}))
                self.scene.plan(AddGroup(parent=self.scene.root))
                self.after = len(self.scene.find({}))
                return []

        block = Counts(scene)
        block.execute()
        assert block.before == block.after == len(scene) - 1


class TestABlockThatFails:
    def test_leaves_the_scene_as_it_was(self, scene, ball):
        before = scene.digest()
        with pytest.raises(BlockFailed, match="the scene is as it was: KeyError: 'x'") as caught:
            executed(Boxed(scene), scene.root, ball, fail_with=KeyError("x"))
        assert scene.digest() == before
        assert isinstance(caught.value.reason, KeyError)

    def test_keeps_its_last_results(self, scene, ball):
        block = Boxed(scene)
        results = executed(block, scene.root, ball)
        with pytest.raises(BlockFailed):
            executed(block, scene.root, ball, fail_with=ValueError())
        assert block.get_data() == results

    def test_leaves_the_scene_where_its_changes_are_refused(self, scene, ball):
        class Removes(Boxed):
            def compute(self, data):
                self.scene.plan(Remove(self.scene.root))
                return super().compute(data)

        before = scene.digest()
        with pytest.raises(BlockFailed, match="root"):
            executed(Removes(scene), scene.root, ball)
        assert scene.digest() == before


class TestPorts:
    def test_check_the_kind(self, scene, ball):
        with pytest.raises(PortMismatch, match="Port 'into'"):
            executed(Boxed(scene), ball, ball)

    def test_check_the_shape(self, scene):
        cube = scene.add_geometry(parent=scene.root, shape=Box((1, 1, 1)))
        with pytest.raises(PortMismatch, match="is a Box"):
            executed(Boxed(scene), scene.root, cube)

    @pytest.mark.parametrize("given", [0, 1, 3])
    def test_check_the_number(self, scene, ball, given):
        with pytest.raises(PortMismatch, match="in order"):
            executed(Boxed(scene), *([scene.root, ball, ball][:given]))

    def test_are_checked_before_the_block_runs(self, scene, ball):
        block = Boxed(scene)
        block.configure(fail_with=RuntimeError("ran"))
        block.set_data([ball, ball])
        with pytest.raises(PortMismatch):
            block.execute()

    def test_hold_a_block_to_what_it_promises(self, scene, ball):
        class Liar(Boxed):
            outputs = (Port("box", kinds=("group",)),)

        before = scene.digest()
        with pytest.raises(PortMismatch, match="is a geometry"):
            executed(Liar(scene), scene.root, ball)
        assert scene.digest() == before

    def test_that_are_none_are_refused(self, scene, ball):
        class Mute(Boxed):
            outputs = ()

        with pytest.raises(PortMismatch, match="The block 'boxed': 1 node was given, and no port is declared"):
            executed(Mute(scene), scene.root, ball)

    def test_explain_how_one_takes_several(self, scene, ball):
        with pytest.raises(PortMismatch, match="many=True"):
            executed(Boxed(scene), scene.root, ball, ball)

    def test_take_nodes_and_no_changes(self, scene, ball):
        class Unplanned(Boxed):
            def compute(self, data):
                return [AddGroup(parent=data["into"][0], attributes={"name": "cup"})]

        before = scene.digest()
        with pytest.raises(BlockFailed, match=r"self\.scene\.plan\(change\)"):
            executed(Unplanned(scene), scene.root, ball)
        assert scene.digest() == before


class TestParameters:
    def test_that_do_not_exist_are_refused(self, scene):
        with pytest.raises(InvalidArgument, match="no parameter 'size'"):
            Boxed(scene).configure(size=1)

    def test_that_are_required_are_asked_for(self, scene):
        class Needs(Boxed):
            parameters = MappingProxyType({"size_m": REQUIRED})

        with pytest.raises(InvalidArgument, match=r"configure\(size_m=...\)"):
            Needs(scene).execute()


class TestFindingBlocks:
    def test_names_ours(self, scene):
        assert type(scene.load_block("crop_to_box")).__name__ == "CropToBox"

    def test_declares_ours_to_others(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        ours = project["entry-points"][_registry.GROUP]
        loaded = {
            name: importlib.metadata.EntryPoint(name, value, _registry.GROUP).load() for name, value in ours.items()
        }
        assert loaded == {name: _registry.block_class(name) for name in _registry._OURS}

    def test_refuses_a_name_that_is_not_there(self, scene):
        with pytest.raises(UnknownBlock, match="Did you mean 'crop_to_box'"):
            scene.load_block("crop_to_bix")

    def test_finds_those_of_other_packages(self, scene, monkeypatch):
        point = importlib.metadata.EntryPoint("boxed", f"{__name__}:Boxed", _registry.GROUP)
        monkeypatch.setattr(_registry, "entry_points", lambda group: [point])
        monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: Boxed)
        assert isinstance(scene.load_block("boxed"), Boxed)

    @pytest.mark.parametrize("value", ["no.such.module:Block", "json:loads"])
    def test_refuses_what_is_no_block(self, scene, monkeypatch, value):
        point = importlib.metadata.EntryPoint("strange", value, _registry.GROUP)
        monkeypatch.setattr(_registry, "entry_points", lambda group: [point])
        with pytest.raises(UnusableBlock, match="subclass"):
            scene.load_block("strange")


class TestCroppingToABox:
    @pytest.fixture
    def parts(self, scene):
        camera = scene.add_transform(parent=scene.root, transform=moved(1), at=None)
        points = np.array([(0, 0, 0), (0.2, 0, 0), (0.6, 0, 0)], dtype=np.float32)
        cloud = scene.add_geometry(parent=camera, shape=PointCloud(points, ring=[1, 2, 3]), at=seconds(2))
        region = scene.add_transform(parent=scene.root, transform=moved(1.25), at=seconds(1))
        scene.set_transform(region, moved(1.25), at=seconds(2))
        box = scene.add_geometry(parent=region, shape=Box((0.5, 0.5, 0.5)))
        return scene.add_group(parent=scene.root), cloud, box

    def test_keeps_what_is_inside_in_the_frame_it_is_put_into(self, scene, parts):
        (cropped,) = executed(scene.load_block("crop_to_box"), *parts)
        shape = scene.geometry(cropped)
        np.testing.assert_allclose(shape.points, [(1, 0, 0), (1.2, 0, 0)], atol=1e-6)
        assert (shape.points.dtype, shape.fields["ring"].tolist(), scene.stamp(cropped)) == (
            np.float32,
            [1, 2],
            seconds(2),
        )

    def test_keeps_nothing_of_what_is_outside(self, scene, parts):
        into, cloud, _ = parts
        far = scene.add_transform(parent=scene.root, transform=moved(9), at=None)
        box = scene.add_geometry(parent=far, shape=Box((1, 1, 1)))
        (cropped,) = executed(scene.load_block("crop_to_box"), into, cloud, box)
        assert scene.geometry(cropped).number_of_points == 0

    def test_fails_where_the_box_is_not_known_at_the_stamp_of_the_cloud(self, scene, parts):
        into, cloud, box = parts
        late = scene.add_geometry(parent=scene.parents(cloud)[0], shape=scene.geometry(cloud), at=seconds(3))
        with pytest.raises(BlockFailed, match="AfterHistory"):
            executed(scene.load_block("crop_to_box"), into, late, box)
        assert executed(scene.load_block("crop_to_box"), into, late, box, outside="hold")


class TestSubsamplingByVoxels:
    def test_gives_the_mean_of_each_cell(self, scene):
        cloud = PointCloud(
            [(0.1, 0, 0), (0.3, 0, 0), (5, 5, 5), (-0.1, 0, 0)], heat=[1.0, 3.0, 7.0, 9.0], ring=[4, 5, 6, 7]
        )
        node = scene.add_geometry(parent=scene.root, shape=cloud, at=seconds(1))
        (result,) = executed(scene.load_block("voxel_subsample"), scene.root, node, voxel_size_m=1.0)
        shape = scene.geometry(result)
        np.testing.assert_allclose(shape.points, [(0.2, 0, 0), (5, 5, 5), (-0.1, 0, 0)])
        assert (shape.fields["heat"].tolist(), shape.fields["ring"].tolist()) == ([2, 7, 9], [4, 6, 7])

    def test_has_as_many_points_as_there_are_cells(self, scene):
        points = np.random.default_rng(3).random((5000, 3)) * 2 - 1
        node = scene.add_geometry(parent=scene.root, shape=PointCloud(points))
        (result,) = executed(scene.load_block("voxel_subsample"), scene.root, node, voxel_size_m=0.25)
        assert scene.geometry(result).number_of_points == len(np.unique(np.floor(points / 0.25), axis=0))

    def test_of_nothing_is_nothing(self, scene):
        node = scene.add_geometry(parent=scene.root, shape=PointCloud([]))
        (result,) = executed(scene.load_block("voxel_subsample"), scene.root, node, voxel_size_m=1)
        assert scene.geometry(result).number_of_points == 0

    @pytest.mark.parametrize("size_m", [0, -1.0, float("nan"), True, "1"])
    def test_refuses_what_is_no_size(self, scene, size_m):
        with pytest.raises(InvalidArgument, match="above zero"):
            scene.load_block("voxel_subsample").configure(voxel_size_m=size_m)

    def test_refuses_points_too_far_apart(self, scene):
        node = scene.add_geometry(parent=scene.root, shape=PointCloud([(0, 0, 0), (1e20, 1e20, 1e20)]))
        with pytest.raises(BlockFailed, match="too far"):
            executed(scene.load_block("voxel_subsample"), scene.root, node, voxel_size_m=0.01)


class TestAssociatingTheNearest:
    @pytest.fixture
    def groups(self, scene):
        return scene.add_group(parent=scene.root), scene.add_group(parent=scene.root)

    @staticmethod
    def put(scene, parent, *xs, at=10**9, **more):
        return [scene.add_transform(parent=parent, transform=moved(x), at=at, **more) for x in xs]

    def test_gives_known_things_a_new_sample(self, scene, groups):
        perceived, known = groups
        self.put(scene, perceived, 0.0, 1.0, at=seconds(2))
        far, near = self.put(scene, known, 1.05, 0.05)
        assert executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1) == [near, far]
        pose = scene.store.pose(of=scene.frame(near), in_frame="map")
        assert (pose.transform.translation[0], pose.stamp) == (0.0, seconds(2))

    def test_adds_what_is_new_and_takes_its_children_over(self, scene, groups):
        (seen,) = self.put(scene, groups[0], 3.0, attributes={"class": "cup"})
        shape = scene.add_geometry(parent=seen, shape=Sphere(0.1))
        (added,) = executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1)
        assert scene.parents(added) == [groups[1]]
        assert scene.parents(shape) == [seen, added]
        assert scene.attributes(added) == {"class": "cup"}

    def test_keeps_what_it_took_over_when_the_perceived_goes(self, scene, groups):
        (seen,) = self.put(scene, groups[0], 3.0)
        shape = scene.add_geometry(parent=seen, shape=Sphere(0.1))
        (added,) = executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1)
        scene.remove(groups[0])
        assert scene.parents(shape) == [added]

    def test_takes_each_known_thing_once_the_nearest_first(self, scene, groups):
        self.put(scene, groups[0], 0.08, 0.01)
        (only,) = self.put(scene, groups[1], 0.0)
        added, nearest = executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1)
        assert nearest == only
        assert added != only

    def test_carries_the_covariance(self, scene, groups):
        scene.add_uncertain_transform(parent=groups[0], transform=moved(1), covariance=np.eye(6), at=seconds(1))
        (added,) = executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1)
        assert scene.kind(added) == "uncertain_transform"

    def test_of_nothing_gives_nothing(self, scene, groups):
        assert executed(scene.load_block("associate_nearest"), *groups, max_distance_m=0.1) == []
