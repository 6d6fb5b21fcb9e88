"""A measured motion may change what it is relative to, as a pose its parent; and C6b holds within a body too."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.errors import ConstraintViolation
from unit.kit import STILL, drive


def say(world: World, relative_to: str, *instants_s: float, speed: float = 1.0) -> None:
    for t in instants_s:
        world.set_twist(of="cup", relative_to=relative_to, expressed_in="cup", linear=(speed, 0, 0), angular=(0, 0, 0),
                        at=seconds(t))  # fmt: skip


@pytest.fixture
def world() -> World:
    """A cup on a table, then in a gripper that stands still."""
    world = World()
    world.set_pose(of="cup", in_frame="table", transform=STILL, at=0)
    for t in (0.0, 9.0):
        world.set_pose(of="gripper", in_frame="table", transform=STILL, at=seconds(t))
    say(world, "table", 0.0, 1.0, 2.0)
    world.set_pose(of="cup", in_frame="gripper", transform=STILL, at=seconds(3))
    say(world, "gripper", 3.0, 4.0, 5.0, speed=3.0)
    return world


class TestAMeasuredMotion:
    def test_changes_its_reference(self, world):
        def speed(relative_to: str, t: float) -> float:
            return float(world.twist(of="cup", relative_to=relative_to, at=seconds(t)).linear[0])

        assert [speed("table", 1.5), speed("gripper", 4.0), speed("table", 4.0)] == [1.0, 3.0, 3.0]

    def test_has_the_newest_reference_for_the_latest_question(self, world):
        assert world.twist(of="cup", relative_to="table").linear[0] == 3.0

    @pytest.mark.parametrize("t", [4.5, 5.0])
    def test_has_one_reference_at_a_time(self, world, t):
        with pytest.raises(ConstraintViolation, match="C8a"):
            say(world, "shelf", t)

    def test_may_be_told_of_an_earlier_reference_late(self):
        world = World()
        world.set_pose(of="cup", in_frame="table", transform=STILL, at=0)
        say(world, "gripper", 3.0, 4.0)
        say(world, "table", 0.0, 1.0)
        assert world.twist(of="cup", relative_to="table", at=seconds(0.5)).linear[0] == 1.0


class TestAPoseWithinABody:
    def test_does_not_join_two_trees_that_share_another_body(self):
        world = World()
        world.add_body("x", frames=["x1", "x2"])
        world.add_body("y", frames=["y1", "y2"])
        drive(world, 0.0, 1.0, of="y1", in_frame="x1")
        for t in (0.0, 1.0):
            world.set_pose(of="y2", in_frame="x2", transform=STILL, at=seconds(t))
        with pytest.raises(ConstraintViolation, match="C6b"):
            world.fix(of="x2", in_frame="x1", transform=STILL)

    def test_joins_two_trees_that_share_no_other(self):
        world = World()
        world.add_body("x", frames=["x1", "x2"])
        drive(world, 0.0, 1.0, of="y1", in_frame="x1")
        world.fix(of="x2", in_frame="x1", transform=STILL)
