"""Several sources that measure one motion: what a policy makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import AmbiguousPath, UnknownCovariance
from unit.kit import STILL

ASK = {"of": "base", "relative_to": "odom", "expressed_in": "base", "at": seconds(0.5)}


def world_of(**speeds) -> World:
    world = World()
    world.set_pose(of="base", in_frame="odom", transform=STILL, at=0, source="slam")
    world.set_pose(of="base", in_frame="odom", transform=STILL, at=seconds(1), source="slam")
    for source, (speed, sigma, last_s) in speeds.items():
        covariance = None if sigma is None else sigma**2 * np.eye(6)
        for t in (0.0, last_s):
            world.set_twist(of="base", relative_to="odom", expressed_in="base", linear=(speed, 0, 0), angular=(0, 0, 0),
                            at=seconds(t), covariance=covariance, source=source)  # fmt: skip
    return world


def speed(world: World, policy: str) -> float:
    return float(world.twist(**ASK, policy=policy).linear[0])


class TestTwoSourcesThatMeasureOneMotion:
    def test_are_refused_without_a_policy(self):
        with pytest.raises(AmbiguousPath):
            speed(world_of(wheels=(1.0, 0.1, 1.0), imu=(2.0, 0.2, 1.0)), "unique")

    def test_are_fused(self):
        world = world_of(wheels=(1.0, 0.1, 1.0), imu=(2.0, 0.2, 1.0))
        twist = world.twist(**ASK, policy="fuse")
        assert twist.linear[0] == pytest.approx(1.2)
        alone = [World.twist(world_of(a=(1.0, sigma, 1.0)), **ASK).covariance[0, 0] for sigma in (0.1, 0.2)]
        assert twist.covariance[0, 0] == pytest.approx(1.0 / sum(1.0 / one for one in alone))

    def test_are_chosen_by_their_covariance(self):
        world = world_of(wheels=(1.0, 0.1, 1.0), imu=(2.0, 0.2, 1.0), magic=(3.0, None, 1.0))
        assert speed(world, "most_certain") == 1.0

    def test_are_chosen_by_the_newest_sample(self):
        assert speed(world_of(wheels=(1.0, 0.1, 0.45), imu=(2.0, 0.2, 0.5)), "latest") == 2.0

    def test_need_a_covariance_to_be_fused(self):
        with pytest.raises(UnknownCovariance):
            speed(world_of(wheels=(1.0, None, 1.0), imu=(2.0, None, 1.0)), "fuse")

    def test_answer_for_many_instants(self):
        world = world_of(wheels=(1.0, 0.1, 1.0), imu=(2.0, 0.2, 1.0))
        rows = world.twists(
            of="base", relative_to="odom", expressed_in="base", at=[seconds(0.25), seconds(0.5)], policy="fuse"
        )
        np.testing.assert_allclose(rows[:, 0], [1.2, 1.2])
