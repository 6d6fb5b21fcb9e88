"""Fixed mounts: what is fixed to something for always moves with it, for every question about motion."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ConstraintViolation
from unit.kit import STILL, drive, moved, x_of

TURN = (0.0, 0.0, 1.0)


def say(world: World, of: str, to: str, *instants_s: float, linear=(2.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0), **more):
    for t in instants_s:
        world.set_twist(of=of, relative_to=to, expressed_in=of, linear=linear, angular=angular, at=seconds(t), **more)


def speed(world: World, of: str, to: str, t: float, **more) -> float:
    return float(world.twist(of=of, relative_to=to, at=seconds(t), **more).linear[0])


@pytest.fixture
def world() -> World:
    """A base that is seen moving at 1 m/s, with a sensor on it that measures 2 m/s."""
    world = World()
    drive(world, 0.0, 1.0, of="base", in_frame="odom")
    world.fix(of="imu", in_frame="base", transform=moved(0.5))
    say(world, "imu", "odom", 0.0, 1.0)
    return world


class TestATwistOnAFixedMount:
    def test_is_that_of_what_carries_it(self, world):
        assert [speed(world, *pair, 0.5) for pair in (("imu", "odom"), ("imu", "base"), ("base", "odom"))] == [2, 0, 2]

    def test_counts_where_the_mount_is_given_last(self):
        world = World()
        say(world, "imu", "odom", 0.0, 1.0)
        drive(world, 0.0, 1.0, of="base", in_frame="odom")
        assert speed(world, "base", "odom", 0.5) == 1.0
        world.fix(of="imu", in_frame="base", transform=moved(0.5))
        assert speed(world, "base", "odom", 0.5) == 2.0

    def test_counts_where_the_reference_is_on_a_mount(self, world):
        world.fix(of="odom", in_frame="map", transform=moved(3.0))
        assert speed(world, "base", "map", 0.5) == 2.0

    def test_counts_no_more_once_the_mount_may_move(self, world):
        world.set_pose(of="imu", in_frame="odom", transform=moved(), at=seconds(0.5), source="camera")
        assert speed(world, "base", "odom", 0.5) == 1.0

    def test_is_refused_within_what_is_fixed(self, world):
        world.fix(of="lamp", in_frame="imu", transform=moved())
        with pytest.raises(ConstraintViolation, match="fixed to one another for always"):
            say(world, "lamp", "base", 0.5)

    def test_is_zero_within_what_was_fixed_later(self):
        world = World()
        say(world, "lamp", "base", 0.0, 1.0)
        world.fix(of="lamp", in_frame="base", transform=moved())
        assert speed(world, "lamp", "base", 0.5) == 0.0

    def test_is_predicted_with(self):
        world = World()
        drive(world, 0.0, 1.0, of="base", in_frame="odom")
        world.fix(of="imu", in_frame="base", transform=STILL)
        say(world, "imu", "odom", 1.0, source="imu")
        assert x_of(world.pose(of="base", in_frame="odom", at=seconds(1.5), outside="predict")) == pytest.approx(2.0)


class TestWhatIsIntegrated:
    def test_comes_from_any_frame_of_the_body(self):
        world = World()
        world.fix(of="imu", in_frame="base", transform=moved(1.0))
        world.set_pose(of="base", in_frame="odom", transform=STILL, at=seconds(0))
        say(world, "imu", "odom", 0.0, 0.5, 1.0, linear=(1.0, 1.0, 0.0), angular=TURN)
        expected = Transform.exp(np.array([1.0, 0.0, 0.0, *TURN]))  # the base itself goes straight on along its arc
        np.testing.assert_allclose(
            world.pose(of="base", in_frame="odom", at=seconds(1)).transform.matrix, expected.matrix, atol=1e-12
        )

    @pytest.mark.parametrize("mounted_first", [True, False])
    def test_does_not_depend_on_when_the_mount_was_given(self, mounted_first):
        world = World()
        steps = [
            lambda: world.fix(of="imu", in_frame="base", transform=moved(1.0)),
            lambda: world.set_pose(of="base", in_frame="odom", transform=STILL, at=seconds(0)),
            lambda: say(world, "imu", "odom", 0.0, 0.5, 1.0),
        ]
        for step in steps if mounted_first else steps[::-1]:
            step()
        assert x_of(world.pose(of="base", in_frame="odom", at=seconds(1))) == pytest.approx(2.0)

    def test_may_be_said_the_other_way_round(self):
        world = World()
        world.set_pose(of="base", in_frame="odom", transform=moved(1.0), at=seconds(0))
        say(world, "odom", "base", 0.0, 0.5, 1.0, linear=(-1.0, 0.0, 0.0), angular=(0.0, 0.0, -1.0))
        expected = Transform.exp(np.array([1.0, 0.0, 0.0, *TURN])) @ moved(1.0)
        np.testing.assert_allclose(
            world.pose(of="base", in_frame="odom", at=seconds(1)).transform.matrix, expected.matrix, atol=1e-12
        )

    def test_is_gone_with_the_mount(self):
        world = World()
        world.fix(of="imu", in_frame="base", transform=STILL)
        world.set_pose(of="base", in_frame="odom", transform=STILL, at=seconds(0))
        say(world, "imu", "odom", 0.0, 1.0)
        world.fix(of="imu", in_frame="wall", transform=STILL, at=seconds(5))
        assert not world.can_pose(of="base", in_frame="odom", at=seconds(1))
