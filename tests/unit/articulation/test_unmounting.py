"""Taking a mounted model away: one change of structure, undone, merged and saved like any other."""

from __future__ import annotations

import pytest

from armillary import Transform, World
from armillary.articulation import ArticulationModel
from armillary.errors import FrameInUse, InvalidArgument, MountOutdated
from armillary.formats import LinkDescription, RobotDescription
from unit.record.kit import door

STILL = Transform.identity()


@pytest.fixture
def model():
    made = ArticulationModel()
    made.add_robot(door())
    return made


@pytest.fixture
def world():
    with World("robot") as made:
        made.fix(of="wall", in_frame="map", transform=STILL)
        yield made


class TestUnmounting:
    @pytest.mark.parametrize("how", ["mount", "model", "name"])
    def test_takes_frames_joints_and_shapes_away(self, world, model, how):
        nodes = world.scene.find({})
        mount = world.mount(model, in_frame="wall")
        assert world.unmount({"mount": mount, "model": model, "name": "door"}[how]) is mount
        assert (world.mounts, world.joints(), mount.is_mounted) == ((), (), False)
        assert set(world.frames()) == {"map", "wall"}
        assert world.scene.find({}) == nodes

    def test_is_one_step_of_undo(self, world, model):
        mount = world.mount(model, in_frame="wall")
        before = world.digest()
        world.unmount(model)
        after = world.digest()
        world.undo()
        assert (world.mounts, world.digest()) == ((mount,), before)
        world.set_joints({"door/hinge": 0.3}, at=5)
        assert world.can_pose(of="door/panel", in_frame="map", at=5)
        world.redo()
        assert (world.mounts, world.digest()) == ((), after)

    def test_is_not_undone_once_the_model_is_another(self, world, model):
        world.mount(model, in_frame="wall")
        world.unmount(model)
        model.add_robot(RobotDescription(name="lamp", root="foot", links=(LinkDescription(name="foot"),), joints=()))
        with pytest.raises(MountOutdated):
            world.undo()
        assert world.mounts == ()

    def test_refuses_to_take_what_did_not_come_with_the_model(self, world, model):
        world.mount(model, in_frame="wall")
        world.fix(of="camera", in_frame="door/panel", transform=STILL)
        before = world.digest()
        with pytest.raises(FrameInUse, match="camera"):
            world.unmount(model)
        assert world.digest() == before
        world.unmount(model, subtree=True)
        assert set(world.frames()) == {"map", "wall"}

    def test_makes_room_for_another_mount(self, world, model):
        for _ in range(120):
            world.unmount(world.mount(model, in_frame="wall"))
        world.mount(model, in_frame="map")
        assert len(world.mounts) == 1

    def test_is_merged_and_saved(self, world, model, tmp_path):
        world.mount(model, in_frame="wall")
        with World("peer") as peer:
            peer.merge(world.scene.changes())
            assert "door/panel" in peer.frames()
            world.unmount("door")
            peer.merge(world.scene.changes())
            assert (set(peer.frames()), peer.joints(), peer.digest()) == ({"map", "wall"}, (), world.digest())
        world.save(tmp_path / "world.json")
        with World.load(tmp_path / "world.json") as loaded:
            assert (loaded.mounts, set(loaded.frames()), loaded.digest()) == ((), {"map", "wall"}, world.digest())

    def test_is_about_one_mount(self, world, model):
        with pytest.raises(InvalidArgument, match="is not mounted"):
            world.unmount(model)
        world.mount(model, in_frame="wall", prefix="left/")
        world.mount(model, in_frame="wall", prefix="right/")
        with pytest.raises(InvalidArgument, match="several times"):
            world.unmount(model)
        world.unmount("left/")
        assert [mount.options.prefix for mount in world.mounts] == ["right/"]
