"""Samples of a Transform that comes, goes and moves elsewhere: at whatever instant they are, they stay with it."""

from __future__ import annotations

import pytest

from armillary import seconds
from armillary.errors import ArmillaryError, BeforeHistory
from armillary.scene import AddTransform, Remove, SetTransform
from unit.kit import FakeClock, moved


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


def x_m(world, node, at) -> float | None:
    """Where it is in the map; None: nowhere."""
    try:
        pose = world.pose(of=world.scene.frame(node), in_frame="map", at=seconds(at), outside="hold")
    except ArmillaryError:
        return None
    return pose.transform.translation[0]


class TestAFixedPoseThatWasMoved:
    @pytest.fixture
    def shelf(self, clock, scene):
        """Fixed at 1 m; from the second second on at 2 m."""
        shelf = scene.add_transform(parent=scene.root, transform=moved(1.0), at=None)
        clock.ns = seconds(3)
        scene.set_transform(shelf, moved(2.0), at=seconds(2))
        return shelf

    def test_is_where_it_was_when_its_removal_is_undone(self, clock, world, scene, shelf):
        clock.ns = seconds(4)
        scene.remove(shelf)
        clock.ns = seconds(5)
        world.undo()
        assert [x_m(world, shelf, at) for at in (1, 2, 3.5, 6)] == [1.0, 2.0, 2.0, 2.0]

    def test_is_where_it_was_when_it_gets_another_parent(self, clock, world, scene, shelf):
        hall = scene.add_group(parent=scene.root)
        clock.ns = seconds(4)
        scene.add_parent(shelf, hall, at=seconds(4))
        clock.ns = seconds(5)
        scene.remove_parent(shelf, scene.root)
        assert [x_m(world, shelf, at) for at in (1, 2, 3.5, 6)] == [1.0, 2.0, 2.0, 2.0]

    def test_is_where_it_was_in_a_copy(self, clock, world, scene, shelf):
        clock.ns = seconds(4)
        scene.remove(shelf)
        clock.ns = seconds(5)
        with world.copy() as copy:
            copy.undo()
            assert [x_m(copy, shelf, at) for at in (1, 2, 3.5, 6)] == [1.0, 2.0, 2.0, 2.0]

    def test_keeps_assertions_about_the_time_after_its_removal(self, clock, world, scene, shelf):
        scene.set_transform(shelf, moved(3.0), at=seconds(3))
        scene.remove(shelf, at=seconds(1.5))
        clock.ns = seconds(5)
        world.undo()
        assert [x_m(world, shelf, at) for at in (1, 2, 6)] == [1.0, None, 3.0]


class TestASampleFromBeforeTheThingCameBack:
    @pytest.fixture(params=[None, seconds(0.5)], ids=["fixed", "sampled"])
    def cup(self, request, clock, world, scene):
        """At 1 m; not there from the first second to the second."""
        cup = scene.add_transform(parent=scene.root, transform=moved(1.0), at=request.param)
        scene.remove(cup)
        clock.ns = seconds(2)
        world.undo()
        return cup

    def test_has_its_present_pose(self, world, scene, cup):
        scene.set_transform(cup, moved(2.0), at=seconds(1.5))
        assert [x_m(world, cup, at) for at in (1.7, 2, 5)] == [None, 2.0, 2.0]

    def test_has_its_past_pose(self, world, scene, cup):
        scene.set_transform(cup, moved(2.0), at=seconds(0.7))
        assert [x_m(world, cup, at) for at in (0.4, 0.7, 1.5, 5)] == [1.0, 2.0, None, 2.0]

    def test_is_refused_where_the_history_is_over(self, clock, world, scene, cup):
        clock.ns = seconds(100)
        scene.set_transform(cup, moved(3.0))
        with pytest.raises(BeforeHistory):
            scene.set_transform(cup, moved(2.0), at=seconds(1.5))
        assert x_m(world, cup, 100) == 3.0


@pytest.mark.parametrize("removed_s", [0.2, 0.5])
def test_samples_outlive_a_removal_from_before_there_were_any(clock, world, scene, removed_s):
    cup = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(0.5))
    scene.set_transform(cup, moved(2.0))
    scene.remove(cup, at=seconds(removed_s))
    clock.ns = seconds(2)
    world.undo()
    assert [x_m(world, cup, at) for at in (2, 3)] == [2.0, 2.0]


def test_samples_that_were_cleared_do_not_come_back(clock, world, scene):
    cup = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(0.5))
    scene.set_transform(cup, moved(2.0))
    scene.remove(cup, at=seconds(0.2))
    world.clear()
    clock.ns = seconds(2)
    world.undo()
    assert x_m(world, cup, 2) == 1.0  # as it was added


class TestAnIdThatIsUsedAgain:
    def test_leaves_the_samples_of_its_past_incarnation_alone(self, clock, world, scene):
        first = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(0.5))
        scene.remove(first)
        clock.ns = seconds(2)
        scene.add_transform(parent=scene.root, transform=moved(5.0), id=first)
        scene.set_transform(first, moved(7.0), at=seconds(0.7))
        assert [x_m(world, first, at) for at in (0.5, 0.7, 2, 3)] == [1.0, 1.0, 5.0, 5.0]

    def test_continues_from_the_sample_of_its_present_incarnation(self, clock, world, scene):
        first = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(0.5))
        scene.remove(first)
        clock.ns = seconds(2)
        scene.add_transform(parent=scene.root, transform=moved(5.0), id=first, at=None)
        scene.set_transform(first, moved(7.0), at=seconds(0.7))
        assert [x_m(world, first, at) for at in (0.7, 1.5, 3)] == [1.0, None, 7.0]

    def test_of_a_parent_changes_nothing_for_what_is_in_it(self, clock, world, scene):
        room = scene.add_group(parent=scene.root)
        scene.remove(room)
        clock.ns = seconds(2)
        scene.add_group(parent=scene.root, id=room)
        lamp = scene.add_transform(parent=room, transform=moved(1.0), at=None)
        scene.set_transform(lamp, moved(2.0), at=seconds(0.5))
        assert x_m(world, lamp, 3) == 2.0


class TestABatchThatMovesAndRemoves:
    @pytest.fixture
    def cup(self, scene):
        return scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(0.5))

    def test_leaves_the_sample_for_when_it_is_undone(self, clock, world, cup):
        world.apply([SetTransform(cup, moved(2.0)), Remove(cup)])
        assert cup not in world.scene
        clock.ns = seconds(2)
        world.undo()
        assert x_m(world, cup, 3) == 2.0

    def test_gives_the_sample_to_the_past_incarnation(self, clock, world, scene, cup):
        clock.ns = seconds(2)
        again = AddTransform(parent=scene.root, transform=moved(4.0), id=cup)
        world.apply([SetTransform(cup, moved(3.0), at=seconds(1)), Remove(cup), again])
        assert [x_m(world, cup, at) for at in (0.5, 1, 1.9, 2, 3)] == [1.0, 3.0, 3.0, 4.0, 4.0]
