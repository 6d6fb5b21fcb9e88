"""A mount is a change of structure: notified, undone, and merged elsewhere without the model."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary._core import ChangeRecord
from armillary.articulation import ArticulationModel, FixedJoint
from armillary.articulation.history import Apply
from armillary.articulation.mechanisms import four_bar
from armillary.articulation.operations import AddJoint, AddLink, Connect
from armillary.errors import (
    InvalidArgument,
    MountOutdated,
    NotConnected,
    UndoneAtModel,
    UnknownVariable,
)
from armillary.scene import AddGeometry, AddJoints, ClosedForm, Drive, Fix, Release, RemoveJoints, SetAttributes

TOOL = [
    Apply("tool", AddLink(path="bar/links/tool")),
    Apply("grip", AddJoint(path="bar/joints/grip", joint=FixedJoint())),
    Apply("gripped", Connect(child="bar/links/tool", joint="bar/joints/grip", parent="bar/links/rocker")),
]
TURN = ClosedForm(kind="revolute", origin=Transform.identity(), axes=((0, 0, 1),), variables=("hinge",))


def new_world(name="robot"):
    ticks = count(seconds(1), 1000)
    return World(name, clock=lambda: next(ticks))


@pytest.fixture
def model():
    model = ArticulationModel()
    model.edit(four_bar("bar"))
    return model


@pytest.fixture
def world():
    return new_world()


class TestAMount:
    def test_is_notified_to_observers_as_changes(self, world, model):
        notified = []
        world.scene.attach(notified.extend)
        world.mount(model, in_frame="map")
        kinds = {type(change) for change in notified}
        assert kinds >= {AddJoints, Drive, Fix, SetAttributes, AddGeometry}
        assert notified[0] == AddJoints({"bar/crank": "wrap", "bar/coupler": "wrap", "bar/rocker": "wrap"})

    def test_is_undone_as_a_whole(self, world, model):
        before = world.digest()
        world.mount(model, in_frame="map")
        world.undo()
        assert (world.digest(), world.joints(), world.mounts) == (before, (), ())
        assert "bar/crank" not in world.frames()
        with pytest.raises(UnknownVariable):
            world.set_joints({"bar/crank": 1.0}, at=seconds(1))

    def test_comes_back_with_its_samples_and_follows_again(self, world, model):
        mount = world.mount(model, in_frame="map")
        world.set_joints({"bar/crank": 0.5}, at=seconds(1))
        after = world.digest()
        world.undo()
        world.redo()
        assert (world.digest(), world.mounts) == (after, (mount,))
        assert world.joint("bar/crank").value == 0.5
        model.edit(TOOL)
        assert "bar/tool" in world.frames()

    def test_is_redone_where_it_added_its_own_parent_frame(self, world, model):
        world.fix(of="bar/ground", in_frame="bar/crank", transform=Transform.identity())
        world.mount(model, in_frame="map", at=seconds(1))
        after = world.digest()
        world.undo()
        world.redo()
        assert world.digest() == after
        assert world.pose(of="bar/ground", in_frame="map", at=seconds(1)).transform == Transform.identity()

    def test_that_was_undone_asks_for_no_joints(self, world, model):
        world.mount(model, in_frame="map")
        world.undo()
        world.set_joint_series([], positions=np.zeros((1, 0)), at=[seconds(1)])
        assert world.joints() == ()

    def test_is_not_redone_where_the_model_was_edited(self, world, model):
        world.mount(model, in_frame="map")
        world.undo()
        model.edit(TOOL)
        before = world.digest()
        with pytest.raises(MountOutdated, match="Mount it with"):
            world.redo()
        assert world.digest() == before
        world.mount(model, in_frame="map")
        assert "bar/tool" in world.frames()

    def test_that_is_refused_changes_nothing(self, world, model):
        world.fix(of="map", in_frame="bar/rocker", transform=Transform.identity())
        before = world.digest()
        with pytest.raises(ValueError, match="bar"):
            world.mount(model, in_frame="map")
        assert (world.digest(), world.joints(), world.mounts) == (before, (), ())

    def test_may_add_undone_joints_with_another_kind(self, world):
        world.apply([AddJoints({"hinge": "wrap"})])
        world.undo()
        world.apply([AddJoints({"hinge": "linear"}), Drive(of="door", in_frame="map", form=TURN)])
        world.set_joints({"hinge": 0.3}, at=seconds(1))
        assert world.pose(of="door", in_frame="map").transform.rotation.rpy[2] == pytest.approx(0.3)
        assert world.copy().joint("hinge").value == 0.3


class TestAnEditOfAMountedModel:
    def test_is_undone_at_the_model(self, world, model):
        world.mount(model, in_frame="map")
        before = world.digest()
        model.edit(TOOL)
        with pytest.raises(UndoneAtModel, match=r"mount\.model\.undo"):
            world.undo()
        model.undo()
        with pytest.raises(NotConnected):
            world.pose(of="bar/tool", in_frame="map")
        assert world.digest() != before  # where the tool was for a while is known
        world.undo()
        assert world.mounts == ()

    def test_that_removes_a_link_is_notified(self, world, model):
        world.mount(model, in_frame="map")
        model.edit(TOOL)
        notified = []
        world.scene.attach(notified.extend)
        model.remove("gripped", "grip", "tool")
        assert [type(change) for change in notified] == [Release]


class TestAReplicaOfAWorldWithAMount:
    @pytest.fixture
    def other(self, world, model):
        world.mount(model, in_frame="map")
        other = new_world("other")
        records = world.scene.changes()
        other.merge([ChangeRecord.from_json(record.to_json(), record.content_object) for record in records])
        return other

    def test_has_its_structure(self, world, other):
        assert other.digest() == world.digest()
        assert other.joints() == world.joints()
        assert other.mounts == ()

    def test_answers_as_the_one_that_mounted_it(self, world, other):
        world.set_joints({"bar/crank": 0.5}, at=seconds(1))
        other.set_joints({name: world.joint(name).value for name in world.joints()}, at=seconds(1))
        mine, theirs = (w.pose(of="bar/rocker", in_frame="map").transform.matrix for w in (world, other))
        assert np.abs(mine - theirs).max() < 1e-12

    def test_follows_edits(self, world, model, other):
        model.edit(TOOL)
        other.merge(world.scene.changes())
        assert other.digest() == world.digest()
        assert "bar/tool" in other.frames()

    def test_can_be_saved_without_the_model(self, other, tmp_path):
        other.save(tmp_path / "other.json")
        assert World.load(tmp_path / "other.json").digest() == other.digest()


class TestConcurrentMounts:
    def test_drives_by_the_last_change_in_any_order(self):
        worlds = [new_world("one"), new_world("two")]
        slide = ClosedForm(kind="prismatic", origin=Transform.identity(), axes=((1, 0, 0),), variables=("hinge",))
        for world, form in zip(worlds, (TURN, slide), strict=True):
            world.apply([AddJoints({"hinge": "linear"}), Drive(of="door", in_frame="map", form=form, source="model")])
        changes = [record for world in worlds for record in world.scene.changes()]
        for world in worlds:
            world.merge(changes)
            world.set_joints({"hinge": 0.5}, at=seconds(1))
        places = [world.pose(of="door", in_frame="map").transform.matrix.tolist() for world in worlds]
        assert places[0] == places[1]
        assert worlds[0].digest() == worlds[1].digest()

    def test_a_joint_is_of_the_kind_of_the_last_change(self):
        worlds = [new_world("one"), new_world("two")]
        for world, kind in zip(worlds, ("linear", "wrap"), strict=True):
            world.apply([AddJoints({"hinge": kind}), Drive(of="door", in_frame="map", form=TURN, source="model")])
        changes = [record for world in worlds for record in world.scene.changes()]
        for world in worlds:
            world.merge(changes)
            for t, q in ((1, 3.0), (2, -3.0)):
                world.set_joints({"hinge": q}, at=seconds(t))
        turns = [world.joint("hinge", at=seconds(1.5)).value for world in worlds]
        assert turns[0] == turns[1]
        assert worlds[0].digest() == worlds[1].digest()


class TestChangesOfJoints:
    def test_are_refused_for_unknown_joints(self, world):
        with pytest.raises(UnknownVariable):
            world.apply([Drive(of="door", in_frame="map", form=TURN)])
        assert world.frames() == ("map",)

    def test_are_refused_for_another_kind(self, world):
        world.apply([AddJoints({"hinge": "linear"})])
        with pytest.raises(InvalidArgument, match="another kind"):
            world.apply([AddJoints({"drawer": "hold", "hinge": "wrap"})])
        assert world.joints() == ("hinge",)

    def test_are_refused_for_strange_kinds(self, world):
        with pytest.raises(InvalidArgument, match="kind is 'linear'"):
            world.apply([AddJoints({"hinge": "cubic"})])

    def test_are_taken_back(self, world):
        before = world.digest()
        world.apply([AddJoints({"hinge": "linear"})])
        world.apply([RemoveJoints(["hinge"])])
        assert (world.joints(), world.digest()) == ((), before)
        world.undo()
        assert world.joints() == ("hinge",)

    def test_release_ends_what_drives_a_frame(self, world):
        world.apply([AddJoints({"hinge": "linear"}), Drive(of="door", in_frame="map", form=TURN)])
        for t in (0, 10):
            world.set_joints({"hinge": 0.1}, at=seconds(t))
        world.apply([Release(of="door", at=seconds(5))])
        assert [world.can_pose(of="door", in_frame="map", at=seconds(t)) for t in (4, 6)] == [True, False]
        world.undo()
        assert world.can_pose(of="door", in_frame="map", at=seconds(6))
