"""A source that gives twists: odometry whose poses, after the last one that it sets, are their integral."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, ArmillaryError
from unit.kit import STILL, Mailbox, drive, moved, x_of

ASK = {"of": "base", "in_frame": "odom"}


def roll(world: World, *seconds_s: float, speed: float = 1.0, turn: float = 0.0, **more) -> None:
    for t in seconds_s:
        world.set_twist(of="base", relative_to="odom", expressed_in="base", linear=(speed, 0, 0), angular=(0, 0, turn),
                        at=seconds(t), **more)  # fmt: skip


@pytest.fixture
def world() -> World:
    world = World()
    world.set_pose(**ASK, transform=STILL, at=0)
    return world


class TestASourceThatGivesOnlyTwists:
    def test_moves_its_frame(self, world):
        roll(world, *np.linspace(0.1, 1.0, 10), turn=0.5)
        pose = world.pose(**ASK, at=seconds(1))
        expected = Transform.exp([1.0, 0, 0, 0, 0, 0.5])
        np.testing.assert_allclose(pose.transform.matrix, expected.matrix, atol=1e-9)
        assert (pose.method, world.relations()[0].kind) == ("integrated", "integrated")
        assert world.pose(**ASK, at=0).method == "sampled"

    def test_may_be_late(self, world):
        roll(world, 1.0, 3.0)
        roll(world, 2.0, speed=5.0)
        assert x_of(world.pose(**ASK, at=seconds(3))) == pytest.approx(1.0 + 3.0 + 3.0)

    def test_may_get_its_first_pose_last(self):
        world = World()
        roll(world, 1.0)
        world.set_pose(**ASK, transform=moved(4.0), at=0)
        assert x_of(world.pose(**ASK, at=seconds(1))) == 5.0

    def test_wakes_who_waits(self, world):
        poses = Mailbox()
        world.on_pose(poses, **ASK, at=seconds(0.5))
        roll(world, 1.0)
        assert x_of(poses.wait()[0]) == 0.5

    def test_grows_uncertain(self):
        world = World()
        world.set_pose(**ASK, transform=STILL, at=0, covariance=0.01 * np.eye(6))
        roll(world, 0.5, speed=0.0, covariance=0.04 * np.eye(6))
        np.testing.assert_allclose(world.pose(**ASK, at=seconds(0.5)).covariance, 0.02 * np.eye(6), atol=1e-12)

    def test_is_not_another_source(self, world):
        roll(world, 1.0, source="imu")
        assert world.relations()[0].samples == 1

    def test_starts_again_after_a_clear(self, world):
        roll(world, 1.0)
        world.clear()
        roll(world, 2.0)
        drive(world, 1.0, of="base", in_frame="odom")
        assert x_of(world.pose(**ASK, at=seconds(2))) == 2.0


class TestAPoseThatWasSet:
    def test_is_integrated_from(self, world):
        roll(world, 1.0, 2.0, 3.0)
        world.set_pose(**ASK, transform=moved(100.0), at=seconds(4))
        roll(world, 5.0, 6.0)
        assert [x_of(world.pose(**ASK, at=seconds(t))) for t in (3, 4, 5, 6)] == pytest.approx(
            [75.0, 100.0, 101.0, 102.0]
        )
        methods = [world.pose(**ASK, at=seconds(t)).method for t in (0, 3, 4, 4.5, 6)]
        assert methods == ["sampled", "sampled", "sampled", "integrated", "integrated"]

    def test_rules_what_lies_between_it_and_another(self, world):
        roll(world, 1.0, 2.0, 3.0)
        world.set_pose(**ASK, transform=moved(100.0), at=seconds(4))
        roll(world, 2.5)
        assert x_of(world.pose(**ASK, at=seconds(2.5))) == pytest.approx(62.5)
        assert world.relations()[0].samples == 2

    def test_leaves_what_followed_from_a_pose_that_is_removed(self):
        world = World(history=seconds(2))
        world.set_pose(**ASK, transform=STILL, at=0)
        roll(world, 1.0, 2.0, 3.0)
        world.set_pose(**ASK, transform=moved(100.0), at=seconds(4))
        assert [x_of(world.pose(**ASK, at=seconds(t))) for t in (2, 3, 4)] == [2.0, 3.0, 100.0]
        assert [world.pose(**ASK, at=seconds(t)).method for t in (3, 3.5, 4)] == ["integrated", "integrated", "sampled"]

    def test_that_is_set_in_another_frame_is_integrated_from_no_more(self, world):
        world.set_pose(**ASK, transform=moved(9.0), at=seconds(2))
        roll(world, 1.0, 3.0)
        world.set_pose(of="base", in_frame="dock", transform=STILL, at=seconds(2))
        assert x_of(world.pose(**ASK, at=seconds(1))) == 1.0
        with pytest.raises(ArmillaryError):
            world.pose(**ASK, at=seconds(3))

    def test_is_integrated_from_when_twists_come_with_the_poses(self):
        world = World()
        for t in (0.0, 1.0, 2.0):
            drive(world, t, of="base", in_frame="odom")
            roll(world, t)
        assert (world.pose(**ASK, at=seconds(1.5)).method, world.relations()[0].kind) == ("sampled", "sampled")
        roll(world, 3.0, 4.0)
        assert x_of(world.pose(**ASK, at=seconds(3))) == 3.0
        assert world.relations()[0].kind == "integrated"

    def test_takes_back_what_was_integrated_after_it(self, world):
        roll(world, 1.0, 2.0, 3.0)
        world.set_pose(**ASK, transform=moved(10.0), at=seconds(1.5))
        assert [x_of(world.pose(**ASK, at=seconds(t))) for t in (1.5, 2, 3)] == [10.0, 10.5, 11.5]

    def test_moves_with_the_twist_of_its_own_stamp(self, world):
        roll(world, 1.0)
        roll(world, 0.0, speed=3.0)
        assert x_of(world.pose(**ASK, at=seconds(1))) == 2.0
        assert (world.pose(**ASK, at=0).method, world.relations()[0].samples) == ("sampled", 2)

    def test_moves_with_an_older_twist_that_came_late(self):
        world = World()
        drive(world, 2.0, of="base", in_frame="odom")
        roll(world, 3.0)
        roll(world, 1.0, speed=3.0)
        assert x_of(world.pose(**ASK, at=seconds(3))) == 4.0

    def test_in_a_batch_is_integrated_from(self, world):
        roll(world, 1.0, 2.0, 3.0, 4.0)
        stamps = [seconds(t) for t in (1.5, 3.5)]
        world.set_poses(**ASK, transforms=[[10.0, 0, 0, 1, 0, 0, 0], [20.0, 0, 0, 1, 0, 0, 0]], at=stamps)
        assert [x_of(world.pose(**ASK, at=seconds(t))) for t in (1.5, 2.5, 3.5, 4)] == pytest.approx(
            [10.0, 15.0, 20.0, 20.5]
        )


class TestWhatCannotBeIntegrated:
    @pytest.fixture
    def world(self) -> World:
        """A twist that is absurd, for long enough: numbers do not reach that far."""
        world = World(history=seconds(1e6))
        world.set_pose(**ASK, transform=STILL, at=0)
        roll(world, 1e5, 3e5)
        roll(world, 2e5, speed=9e99, turn=9e99)
        return world

    def test_is_not_stored(self, world):
        assert x_of(world.pose(**ASK, at=seconds(1e5))) == pytest.approx(1e5)
        for t in (2e5, 3e5):
            with pytest.raises(AfterHistory):
                world.pose(**ASK, at=seconds(t))

    def test_is_mended_by_a_better_twist(self, world):
        roll(world, 2e5)
        assert x_of(world.pose(**ASK, at=seconds(3e5))) == pytest.approx(3e5)

    def test_continues_where_a_frame_was_inverted_once(self):
        world = World()
        drive(world, 0.0, 1.0, of="base", in_frame="odom")
        world.set_pose(of="odom", in_frame="base", transform=STILL, at=seconds(-5))
        roll(world, 2.0)
        assert x_of(world.pose(**ASK, at=seconds(2))) == 2.0

    def test_closes_no_loop(self):
        world = World()
        drive(world, 0.0, of="base", in_frame="odom")
        world.set_pose(of="odom", in_frame="base", transform=STILL, at=seconds(3))
        roll(world, 1.0, 2.0, 3.0, 4.0)
        assert world.relations()[0].last == seconds(2)


Event = Callable[[World], object]


def said_pose(t: float, x: float, in_frame: str = "odom") -> Event:
    return lambda world: world.set_pose(of="base", in_frame=in_frame, transform=moved(x), at=seconds(t))


def said_fix(t: float, in_frame: str) -> Event:
    return lambda world: world.fix(of="base", in_frame=in_frame, transform=moved(7.0), at=seconds(t))


def said_twist(t: float) -> Event:
    return lambda world: roll(world, t, speed=1.0 + t, turn=0.5, covariance=0.1 * np.eye(6))


def answers(events: tuple[Event, ...]) -> list:
    """Return the answers of a world that got these events, in this order."""
    world = World()
    for say in events:
        say(world)
    found: list = []
    for t, frame in itertools.product((0, 0.5, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5), ("odom", "dock")):
        try:
            pose = world.pose(of="base", in_frame=frame, at=seconds(t))
            found.append((t, frame, pose.method, pose.transform.xyz_wxyz.round(9).tolist()))
        except ArmillaryError as error:
            found.append((t, frame, type(error).__name__))
    return found


class TestTheOrderOfArrival:
    @pytest.mark.parametrize(
        "extra",
        [
            pytest.param(said_pose(1.5, 10.0), id="pose"),
            pytest.param(said_pose(2.0, 10.0), id="pose-at-a-twist"),
            pytest.param(said_pose(1.5, 0.0, "dock"), id="move"),
            pytest.param(said_pose(2.0, 0.0, "dock"), id="move-at-a-twist"),
            pytest.param(said_fix(1.5, "dock"), id="fix-elsewhere"),
            pytest.param(said_fix(1.5, "odom"), id="fix"),
            pytest.param(said_twist(1.5), id="twist"),
            pytest.param(said_twist(-1.0), id="twist-before"),
            pytest.param(said_pose(3.5, 10.0), id="pose-behind"),
        ],
    )
    def test_does_not_matter(self, extra):
        events = (said_pose(0.0, 0.0), said_twist(1.0), said_twist(2.0), said_twist(3.0), extra)
        expected = answers(events)
        for order in itertools.permutations(events):
            assert answers(order) == expected

    def test_does_not_matter_with_a_move_and_back(self):
        there, back = said_pose(1.5, 5.0, "dock"), said_pose(2.5, 9.0)
        events = (said_pose(0.0, 0.0), said_twist(1.0), there, back, said_twist(3.0))
        expected = answers(events)
        for order in itertools.permutations(events):
            assert answers(order) == expected
