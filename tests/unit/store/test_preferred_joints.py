"""Which of several sources of a joint is preferred, and when: rivals among variables follow the rules of poses."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import ContestedJoint, InvalidArgument, InvalidStamp, UnknownVariable
from armillary.scene import AddJoints, ClosedForm, Drive, PreferJoint
from unit.kit import moved

LEFT, RIGHT = 1.0, 2.0


def told(world: World, last_s: int = 9) -> World:
    world.apply([AddJoints({"hinge": "linear"})])
    for t in range(last_s + 1):
        world.set_joints({"hinge": LEFT}, at=seconds(t), source="left")
        world.set_joints({"hinge": RIGHT}, at=seconds(t), source="right")
    return world


def value_at(world: World, t: float) -> float | None:
    try:
        return world.joint("hinge", at=seconds(t)).value
    except ContestedJoint:
        return None


def values(world: World) -> list[float | None]:
    return [value_at(world, t) for t in (1, 2, 3, 4, 5, 6, 7)]


@pytest.fixture
def world() -> World:
    return told(World("robot", history=None))


class TestAPreferenceForAJoint:
    def test_holds_from_its_start_until_before_its_end(self, world):
        world.prefer_joint("hinge", source="left", start=seconds(3), end=seconds(5))
        assert values(world) == [None, None, LEFT, LEFT, None, None, None]

    def test_gives_way_to_a_newer_one_in_its_interval(self, world):
        world.prefer_joint("hinge", source="left")
        world.prefer_joint("hinge", source="right", start=seconds(3), end=seconds(5))
        world.prefer_joint("hinge", source=None, start=seconds(6), end=seconds(7))
        assert values(world) == [LEFT, LEFT, RIGHT, RIGHT, LEFT, None, LEFT]

    def test_lapses_while_its_source_is_silent(self, world):
        world.prefer_joint("hinge", source="left")
        for t in (10, 11, 12, 13):
            world.set_joints({"hinge": RIGHT}, at=seconds(t), source="right")
        assert (value_at(world, 9), value_at(world, 10.5), value_at(world, 12)) == (LEFT, RIGHT, RIGHT)

    def test_is_undone_and_made_again(self, world):
        world.prefer_joint("hinge", source="right")
        world.prefer_joint("hinge", source="left", start=seconds(3), end=seconds(5))
        report = world.undo()
        assert report.changes == (PreferJoint("hinge", "left", seconds(3), seconds(5)),)
        assert values(world) == [RIGHT] * 7
        world.redo()
        assert values(world) == [RIGHT, RIGHT, LEFT, LEFT, RIGHT, RIGHT, RIGHT]
        world.undo()
        world.undo()
        assert values(world) == [None] * 7

    def test_holds_for_all_parts_of_a_rotation(self):
        world, names = World(), ("w", "x", "y", "z")
        world.apply([AddJoints(dict.fromkeys(names, "unit_quaternion"))])
        for source, turned in (("a", (1.0, 0, 0, 0)), ("b", (0, 1.0, 0, 0))):
            world.set_joints(dict(zip(names, turned, strict=True)), at=0, source=source)
        world.prefer_joint("y", source="b")
        assert [world.joint(name, at=0).value for name in names] == [0, 1, 0, 0]
        assert world.store.joint_preferences() == [("w", "b", None, None)]

    def test_decides_about_poses_that_the_joint_drives(self, world):
        form = ClosedForm(kind="revolute", origin=moved(1), axes=(np.array([0, 0, 1.0]),), variables=("hinge",))
        world.apply([Drive(of="door", in_frame="frame", form=form)])
        world.prefer_joint("hinge", source="left", start=seconds(3), end=seconds(5))
        asked = {"of": "door", "in_frame": "frame"}
        assert [world.can_pose(**asked, at=seconds(t)) for t in (2, 3, 4, 5)] == [False, True, True, False]
        assert world.pose(**asked, at=seconds(4)).transform.log()[5] == pytest.approx(LEFT)

    def test_stays_through_a_new_time_epoch(self, world):
        world.prefer_joint("hinge", source="left")
        world.reset_time()
        told(world)
        assert values(world) == [LEFT] * 7


class TestAReplicaOfAPreference:
    @pytest.mark.parametrize("is_reversed", [False, True])
    def test_agrees_in_any_order(self, world, is_reversed):
        world.prefer_joint("hinge", source="left")
        world.prefer_joint("hinge", source="right", start=seconds(3), end=seconds(5))
        twin = World("twin", history=None)
        changes = world.scene.changes()
        for change in reversed(changes) if is_reversed else changes:
            twin.merge([change])
        for source, value in (("left", LEFT), ("right", RIGHT)):
            for t in range(9):
                twin.set_joints({"hinge": value}, at=seconds(t), source=source)
        assert values(twin) == values(world) == [LEFT, LEFT, RIGHT, RIGHT, LEFT, LEFT, LEFT]
        assert twin.digest() == world.digest()

    def test_takes_the_newest_of_two(self):
        one, other = told(World("one", history=None)), told(World("other", history=None))
        one.prefer_joint("hinge", source="left")
        other.prefer_joint("hinge", source="right", start=seconds(3))
        for world, peer in ((one, other), (other, one)):
            world.merge(peer.scene.changes())
        assert values(one) == values(other) == [LEFT, LEFT, *[RIGHT] * 5]
        assert one.digest() == other.digest()

    def test_is_named_with_a_prefix(self, world):
        world.prefer_joint("hinge", source="left", start=seconds(3))
        team = World("team")
        team.merge(world.scene.changes(), prefix="r1/")
        assert team.store.joint_preferences() == [("r1/hinge", "left", seconds(3), None)]

    def test_comes_with_a_file_and_is_in_the_digest(self, world, tmp_path):
        before = world.digest()
        world.prefer_joint("hinge", source="left", start=seconds(3), end=seconds(5))
        assert world.digest() != before
        world.save(tmp_path / "world.json")
        again = World.load(tmp_path / "world.json")
        assert again.store.joint_preferences() == world.store.joint_preferences()
        assert again.digest() == world.digest()

    def test_is_in_a_copy(self, world):
        world.prefer_joint("hinge", source="left", start=seconds(3), end=seconds(5))
        copied = world.copy()
        world.prefer_joint("hinge", source=None)
        assert values(copied) == [None, None, LEFT, LEFT, None, None, None]


class TestAPreferenceThatCannotBe:
    def test_of_an_unknown_source_names_the_known_ones(self, world):
        with pytest.raises(InvalidArgument, match=r"No source 'lft'.*'left' and 'right'"):
            world.prefer_joint("hinge", source="lft")

    def test_of_an_unknown_joint_is_refused(self, world):
        with pytest.raises(UnknownVariable):
            world.prefer_joint("hing", source="left")

    def test_ends_after_it_begins(self, world):
        with pytest.raises(InvalidArgument, match="ends after it begins"):
            world.prefer_joint("hinge", source="left", start=seconds(5), end=seconds(5))

    def test_takes_no_floats(self, world):
        with pytest.raises(InvalidStamp):
            world.prefer_joint("hinge", source="left", start=3.0)
