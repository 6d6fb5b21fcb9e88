"""A copy of a world has its models, too: to try things in that must not happen."""

from __future__ import annotations

from itertools import count

import pytest

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, DifferentialDrive, FixedJoint, RevoluteJoint, position
from armillary.articulation.history import Apply
from armillary.articulation.mechanisms import Parts, four_bar
from armillary.articulation.operations import AddJoint, AddLink, Connect
from armillary.errors import NothingToUndo

TOOL = [
    Apply("tool", AddLink(path="bar/links/tool")),
    Apply("grip", AddJoint(path="bar/joints/grip", joint=FixedJoint())),
    Apply("gripped", Connect(child="bar/links/tool", joint="bar/joints/grip", parent="bar/links/rocker")),
]


def new_world():
    ticks = count(seconds(1), 1000)
    return World("robot", clock=lambda: next(ticks))


def model_of(edits):
    model = ArticulationModel()
    model.edit(edits)
    return model


@pytest.fixture
def original():
    world = new_world()
    world.mount(model_of(four_bar("bar")), in_frame="map")
    world.set_joints({"bar/crank": 0.5}, at=seconds(1))
    return world


class TestACopyOfAWorldWithAModel:
    def test_has_the_model_as_a_copy(self, original):
        mount, twin = original.mounts[0], original.copy().mounts[0]
        assert twin.model is not mount.model
        assert twin.model.digest() == mount.model.digest()
        assert (twin.frames, twin.joints, twin.options) == (mount.frames, mount.joints, mount.options)

    def test_has_one_copy_of_a_model_that_is_mounted_twice(self):
        world, model = new_world(), model_of([*four_bar("left"), *four_bar("right")])
        for name in ("left", "right"):
            world.mount(model, under=name, in_frame="map")
        first, second = world.copy().mounts
        assert first.model is second.model

    def test_finds_what_follows_from_its_own_joints(self, original):
        copy = original.copy()
        copy.set_joints({"bar/crank": 0.9}, at=seconds(2))
        expected = original.mounts[0].model.solve({position("bar/crank"): 0.9})
        assert copy.joint("bar/rocker").value == pytest.approx(expected[position("bar/rocker")], abs=1e-12)
        assert original.joint("bar/crank").value == 0.5

    @pytest.mark.parametrize("edited", ["copy", "original"])
    def test_follows_its_own_edits_alone(self, original, edited):
        worlds = {"original": original, "copy": original.copy()}
        before = {name: world.digest() for name, world in worlds.items()}
        worlds[edited].mounts[0].model.edit(TOOL)
        for name, world in worlds.items():
            assert ("bar/tool" in world.frames()) is (name == edited)
            assert ("bar/links/tool" in world.mounts[0].frames) is (name == edited)
            assert (world.digest() != before[name]) is (name == edited)

    def test_rolls_on_its_own_wheels(self):
        world, parts = new_world(), Parts("cart", "body")
        drive = DifferentialDrive(variable="cart/base", wheel_radius_m=0.1, wheel_distance_m=0.5)
        parts.link("body")
        parts.joint("drive", drive, child="body", parent=None)
        world.mount(model_of(parts.edits), in_frame="map")
        copy = world.copy()
        for t in (1, 2):
            copy.set_joints({}, velocities=dict.fromkeys(copy.mounts[0].bases[0].wheels, 1.0), at=seconds(t))
        place = copy.mounts[0].bases[0].place[0]
        assert copy.joint(place).value == pytest.approx(0.1, abs=1e-12)
        assert len(world.joint_samples(place).stamps) == 0

    def test_can_be_saved(self, original, tmp_path):
        original.copy().save(tmp_path / "copy.json")
        loaded = World.load(tmp_path / "copy.json")
        assert loaded.digest() == original.digest()

    def test_shows_the_shapes_that_are_there(self, original):
        copy = original.copy()
        assert copy.mounts[0].shapes == original.mounts[0].shapes
        shape = copy.mounts[0].shapes["bar/links/rocker"][0]
        copy.mounts[0].model.apply(AddLink(path="bar/links/rocker"), tag="create bar/links/rocker")
        assert (shape in copy.scene, shape in original.scene) == (False, True)

    def test_does_not_follow_where_the_original_did_not(self, original):
        original.mounts[0].close()
        copy = original.copy()
        before = copy.digest()
        copy.mounts[0].model.edit(TOOL)
        assert copy.digest() == before


class TestACopyOfAModel:
    def test_is_edited_alone(self):
        model = model_of(four_bar("bar"))
        copy, before = model.copy(), model.digest()
        copy.edit(TOOL)
        assert (copy.tags, model.digest()) == ((*model.tags, "tool", "grip", "gripped"), before)
        model.undo()
        assert (len(model.tags), len(copy.links())) == (0, 5)

    def test_runs_what_reads_what_was_edited(self):
        model = model_of(four_bar("bar"))
        copy = model.copy()
        longer = RevoluteJoint(variable="bar/crank", parent_T_joint=Transform.exp([1.0, 0, 0, 0, 0, 0]))
        change = copy.apply(AddJoint(path="bar/joints/crank", joint=longer), tag="create bar/joints/crank")
        again = model.apply(AddJoint(path="bar/joints/crank", joint=longer), tag="create bar/joints/crank")
        assert (change.ran, change.paths) == (again.ran, again.paths)
        assert copy.digest() == model.digest()

    def test_has_nothing_to_undo(self):
        with pytest.raises(NothingToUndo):
            model_of(four_bar("bar")).copy().undo()
