"""What was integrated from twists goes with them, wherever on the two bodies they were measured."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from unit.kit import moved, x_of

WAYS = {
    "of the frame": ("base", "odom", 1.0),
    "of what is fixed to it": ("imu", "odom", 1.0),
    "of the reference against it": ("odom", "imu", -1.0),
}


@pytest.mark.parametrize("way", WAYS)
class TestForgottenTwists:
    def test_take_what_was_integrated_from_them_along(self, way):
        of, relative_to, sign = WAYS[way]
        world = World(history=None)
        world.fix(of="imu", in_frame="base", transform=moved(0.1))
        world.set_pose(of="base", in_frame="odom", transform=moved(), at=0)
        for t, speed in ((0, 2.0), (0.5, 2.0), (1, 50.0), (1.2, 2.0), (1.4, 2.0)):
            numbers = {"linear": (sign * speed, 0, 0), "angular": (0, 0, 0), "expressed_in": of}
            world.set_twist(of=of, relative_to=relative_to, **numbers, at=seconds(t))
        assert x_of(world.pose(of="base", in_frame="odom", at=seconds(1.4))) > 10
        assert world.forget(of=of, in_frame=relative_to, start=seconds(1), end=seconds(1)) == 1
        assert x_of(world.pose(of="base", in_frame="odom", at=seconds(1.4))) == pytest.approx(2.8)
        assert seconds(1) not in world.samples(of="base", in_frame="odom").stamps
