"""Several who measure one motion."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.errors import AmbiguousPath
from unit.kit import moved

AT = seconds(1)
STILL = {"angular": (0, 0, 0), "expressed_in": "cart"}


def say(world: World, speed: float, source: str, *stamps_s: float) -> None:
    for t in stamps_s:
        world.set_twist(of="cart", relative_to="road", linear=(speed, 0, 0), at=seconds(t), source=source, **STILL)


@pytest.fixture
def world() -> World:
    """A road that slides in a hall, and a cart on the road."""
    world = World()
    for t in (0, 1, 2):
        world.set_pose(of="cart", in_frame="road", transform=moved(t), at=seconds(t))
        world.set_pose(of="road", in_frame="hall", transform=moved(t), at=seconds(t))
    return world


class TestRivalTwists:
    @pytest.mark.parametrize("relative_to", ["road", "hall"])
    def test_are_not_chosen_from_on_any_path(self, world, relative_to):
        say(world, 3.0, "wheels", 0, 2)
        say(world, 4.0, "camera", 0, 2)
        with pytest.raises(AmbiguousPath, match="'wheels' and 'camera'"):
            world.twist(of="cart", relative_to=relative_to, at=AT)

    def test_are_decided_by_a_preference(self, world):
        say(world, 3.0, "wheels", 0, 2)
        say(world, 4.0, "camera", 0, 2)
        world.prefer(of="cart", source="camera")
        assert world.twist(of="cart", relative_to="hall", at=AT).linear[0] == pytest.approx(5.0)

    def test_that_have_ended_are_none_at_the_newest_instant(self, world):
        say(world, 3.0, "wheels", 0, 0.5)
        say(world, 4.0, "camera", 0, 2)
        newest = world.twist(of="cart", relative_to="road")
        assert (newest.linear[0], newest.stamp) == (pytest.approx(4.0), seconds(2))


class TestASourceThatIsOpenThoughItDoesNotReachTheInstant:
    def test_contests_as_it_does_with_poses(self, world):
        say(world, 3.0, "wheels", 0, 0.5)
        say(world, 4.0, "camera", 0, 2)
        for relative_to in ("road", "hall"):
            with pytest.raises(AmbiguousPath, match="'wheels' and 'camera'"):
                world.twist(of="cart", relative_to=relative_to, at=AT)

    def test_is_none_once_it_has_been_silent_for_the_rival_timeout(self, world):
        say(world, 3.0, "wheels", 0, 0.5)
        say(world, 4.0, "camera", 0, 2)
        assert world.twist(of="cart", relative_to="road", at=seconds(1.6)).linear[0] == pytest.approx(4.0)

    def test_is_settled_by_a_preference(self, world):
        say(world, 3.0, "wheels", 0, 0.5)
        say(world, 4.0, "camera", 0, 2)
        world.prefer(of="cart", source="camera")
        assert world.twist(of="cart", relative_to="hall", at=AT).linear[0] == pytest.approx(5.0)

    def test_leaves_the_poses_where_it_is_preferred(self, world):
        say(world, 3.0, "wheels", 0, 0.5)
        say(world, 4.0, "camera", 0, 2)
        world.prefer(of="cart", source="wheels")
        twist = world.twist(of="cart", relative_to="road", at=AT)
        assert (twist.linear[0], twist.method) == (pytest.approx(1.0), "differentiated")
