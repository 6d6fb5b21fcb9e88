"""Assertions of other sources about the frame of a node: they end with the node, and are active again with it."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.errors import ArmillaryError, FrameLoop, InvalidArgument
from armillary.scene import NodeId
from unit.kit import FakeClock, moved


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture
def cup(scene):
    return scene.add_transform(parent=scene.root, transform=moved(1.0))


def x_m(world, node, at, in_frame="hand") -> float | None:
    """Where it is in the hand; None: nowhere."""
    try:
        pose = world.pose(of=str(node), in_frame=in_frame, at=seconds(at), outside="hold", policy="latest")
    except ArmillaryError:
        return None
    return pose.transform.translation[0]


def grasp(world, node, at=None, x=0.5):
    since = None if at is None else seconds(at)
    world.fix(of=str(node), in_frame="hand", transform=moved(x), at=since, source="gripper")


class TestWhatIsFixed:
    def test_ends_with_the_node(self, clock, world, scene, cup):
        grasp(world, cup)
        clock.ns = seconds(3)
        scene.remove(cup)
        assert [x_m(world, cup, at) for at in (2, 3, 5)] == [0.5, None, None]

    def test_ends_with_what_the_node_was_in(self, clock, world, scene):
        tray = scene.add_transform(parent=scene.root, transform=moved(1.0))
        cup = scene.add_transform(parent=tray, transform=moved(1.0))
        grasp(world, cup)
        clock.ns = seconds(3)
        scene.remove(tray)
        assert [x_m(world, cup, at) for at in (2, 3, 5)] == [0.5, None, None]

    def test_holds_again_when_the_removal_is_undone(self, clock, world, scene, cup):
        grasp(world, cup)
        clock.ns = seconds(3)
        scene.remove(cup)
        clock.ns = seconds(5)
        world.undo()
        assert [x_m(world, cup, at) for at in (2, 4, 5, 6)] == [0.5, None, 0.5, 0.5]

    def test_ends_there_also_where_it_is_asserted_later(self, clock, world, scene, cup):
        clock.ns = seconds(3)
        scene.remove(cup)
        grasp(world, cup)
        assert [x_m(world, cup, at) for at in (2, 3, 5)] == [0.5, None, None]

    def test_of_a_later_instant_holds(self, clock, world, scene, cup):
        clock.ns = seconds(3)
        scene.remove(cup)
        grasp(world, cup, at=4)
        assert [x_m(world, cup, at) for at in (2, 3, 4, 5)] == [None, None, 0.5, 0.5]

    def test_between_two_incarnations_goes_on_into_the_second(self, clock, world, scene, cup):
        grasp(world, cup, x=0.5)
        clock.ns = seconds(3)
        scene.remove(cup)
        grasp(world, cup, at=4, x=0.7)
        clock.ns = seconds(5)
        scene.add_transform(parent=scene.root, transform=moved(2.0), id=cup)
        assert [x_m(world, cup, at) for at in (2, 3, 4, 6)] == [0.5, None, 0.7, 0.7]

    def test_is_saved_as_it_was_asserted(self, tmp_path, clock, world, scene, cup):
        grasp(world, cup)
        clock.ns = seconds(3)
        scene.remove(cup)
        clock.ns = seconds(5)
        world.undo()
        world.save(tmp_path / "saved")
        with World.load(tmp_path / "saved") as loaded:
            assert len(loaded.store.fixed_poses()) == len(world.store.fixed_poses()) == 1
            assert x_m(loaded, cup, 6) == 0.5


class TestWhatIsSampled:
    def test_ends_with_the_node_and_goes_on_from_the_last_sample(self, clock, world, scene, cup):
        for at in (1, 2):
            world.set_pose(of=str(cup), in_frame="hand", transform=moved(at), at=seconds(at), source="camera")
        clock.ns = seconds(3)
        scene.remove(cup)
        clock.ns = seconds(5)
        world.undo()
        assert [x_m(world, cup, at) for at in (1.5, 4, 5.5)] == [1.5, None, 2.0]
        world.set_pose(of=str(cup), in_frame="hand", transform=moved(6), at=seconds(6), source="camera")
        assert [x_m(world, cup, at) for at in (1.5, 4, 5, 6)] == [1.5, None, 5.0, 6.0]

    def test_a_late_sample_is_that_of_its_instant(self, clock, world, scene, cup):
        clock.ns = seconds(3)
        scene.remove(cup)
        for at in (4, 2, 1):
            world.set_pose(of=str(cup), in_frame="hand", transform=moved(at), at=seconds(at), source="camera")
        assert [x_m(world, cup, at) for at in (1.5, 3, 3.5, 4)] == [1.5, None, None, 4.0]


class TestInTheNameOfTheNode:
    def test_is_refused_where_it_would_be_in_itself_until_then(self, world, scene):
        node = NodeId("10000000-0000-4000-8000-000000000000")
        world.fix(of=str(node), in_frame="hand", source=world.name, transform=moved(1.0), at=seconds(1))
        world.fix(of="lid", in_frame=str(node), transform=moved(1.0), source="hinge")
        with pytest.raises(FrameLoop):
            scene.add_transform(parent="lid", id=node, transform=moved(1.0), at=None)
        assert node not in scene
        assert x_m(world, node, 2) == 1.0

    def test_for_always_is_refused_and_changes_nothing(self, world, scene, cup):
        with pytest.raises(InvalidArgument, match=r"in the name of 'tester'.*scene\.set_transform"):
            world.fix(of=scene.frame(cup), in_frame="hand", transform=moved(2.0))
        assert world.pose(of=scene.frame(cup), in_frame="map", at=seconds(1)).xyz[0] == 1.0

    @pytest.mark.parametrize("at", [None, seconds(1)])
    def test_asserted_before_the_node_is_the_same_in_a_replica(self, clock, world, scene, at):
        node = NodeId("10000000-0000-4000-8000-000000000000")
        world.fix(of=str(node), in_frame="hand", source=world.name, transform=moved(1.0), at=at)
        world.fix(of="hand", in_frame="map", transform=moved(10.0))
        clock.ns = seconds(3)
        scene.add_transform(parent=scene.root, id=node, transform=moved(5.0))
        with World("copy", clock=clock) as copy:
            copy.merge(scene.changes())
            for one in (world, copy):
                assert [x_m(one, node, at, in_frame="map") for at in (2, 3, 4)] == [11.0, 5.0, 5.0]

    def test_ends_with_the_node_which_is_back_where_the_scene_has_it(self, clock, world, scene, cup):
        world.fix(of="hand", in_frame="map", transform=moved(10.0))
        world.attach(of=scene.frame(cup), to="hand", at=seconds(1.5), outside="hold")
        clock.ns = seconds(3)
        scene.remove(cup)
        clock.ns = seconds(5)
        world.undo()
        world.fix(of="hand", in_frame="map", transform=moved(20.0), at=seconds(2))
        with World("copy", clock=clock) as copy:
            copy.merge(scene.changes())
            for one in (world, copy):
                assert [x_m(one, cup, at, in_frame="map") for at in (1.7, 2, 4, 5)] == [1.0, 11.0, None, 1.0]
