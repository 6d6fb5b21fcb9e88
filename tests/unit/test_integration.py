"""A source that gives only twists: odometry whose poses are their integral."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory
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

    def test_may_say_its_first_pose_last(self):
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

    def test_is_left_alone_once_it_gives_poses(self, world):
        roll(world, 1.0)
        world.set_pose(**ASK, transform=moved(9.0), at=seconds(2))
        roll(world, 3.0)
        with pytest.raises(AfterHistory):
            world.pose(**ASK, at=seconds(3))
        assert world.relations()[0].kind == "sampled"
        assert x_of(world.pose(**ASK, at=seconds(1))) == 1.0

    def test_is_not_another_source(self, world):
        roll(world, 1.0, source="imu")
        assert world.relations()[0].samples == 1

    def test_starts_again_after_a_clear(self, world):
        roll(world, 1.0)
        world.clear()
        roll(world, 2.0)
        drive(world, 1.0, of="base", in_frame="odom")
        assert x_of(world.pose(**ASK, at=seconds(2))) == 2.0
