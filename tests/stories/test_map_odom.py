"""The tf paper's story of map and odometry (Foote, 2013, section V), with numbers.

A robot drives at 0.5 m/s. At 2 s it sees a door post 1.5 m ahead and 0.45 m to its right. At 3 s localisation comes
back: the correction `map_T_odom` jumps. What is kept in `odom` stays put relative to the robot, what is kept in `map`
does not.
"""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9
SPEED_M_PER_S = 0.5
STEP_S = 0.02
SEEN_S, JUMP_S, END_S = 2.0, 3.0, 5.0
ROBOT_HALF_WIDTH_M = 0.33


def planar(x: float, y: float, yaw: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, 0.0), rpy=(0.0, 0.0, yaw))


LOST = Transform.identity()
FOUND = planar(0.1, -0.3, 0.05)  # the correction after the jump
BASE_T_POST = planar(1.5, -0.45)


def odom_T_base(t_s: float) -> Transform:
    return planar(SPEED_M_PER_S * t_s, 0.0)


@pytest.fixture
def world() -> World:
    world = World(history=seconds(60))
    for t_s in np.arange(0.0, END_S + STEP_S / 2, STEP_S):
        at = seconds(round(t_s, 6))
        correction = LOST if t_s < JUMP_S - STEP_S / 2 else FOUND
        world.set_pose(of="base", in_frame="odom", transform=odom_T_base(t_s), at=at, source="wheels")
        world.set_pose(of="odom", in_frame="map", transform=correction, at=at, source="localisation")
    for keeper in ("map", "odom"):
        keeper_T_base = world.pose(of="base", in_frame=keeper, at=seconds(SEEN_S)).transform
        world.fix(of=f"post_in_{keeper}", in_frame=keeper, transform=keeper_T_base @ BASE_T_POST)
    world.fix(of="goal", in_frame="map", transform=planar(8.0, 0.0))
    return world


def seen_from_base(world: World, of: str, t_s: float) -> np.ndarray:
    return world.pose(of=of, in_frame="base", at=seconds(t_s)).transform.translation


class TestWhatIsKeptInTheOdometryFrame:
    @pytest.mark.parametrize("t_s", [2.0, 2.51, 2.98, 3.0, 3.01, 4.0, 5.0])
    def test_moves_only_as_the_robot_drives(self, world, t_s):
        driven_m = SPEED_M_PER_S * (t_s - SEEN_S)
        np.testing.assert_allclose(
            seen_from_base(world, "post_in_odom", t_s), [1.5 - driven_m, -0.45, 0.0], atol=CLOSE_M
        )

    def test_does_not_notice_the_jump(self, world):
        before, after = (seen_from_base(world, "post_in_odom", t_s) for t_s in (JUMP_S - STEP_S, JUMP_S))
        assert np.linalg.norm(after - before) == pytest.approx(SPEED_M_PER_S * STEP_S, abs=CLOSE_M)

    def test_is_passed_without_touching(self, world):
        assert abs(seen_from_base(world, "post_in_odom", END_S)[1]) > ROBOT_HALF_WIDTH_M


class TestWhatIsKeptOnTheMap:
    def test_is_right_until_the_jump(self, world):
        np.testing.assert_allclose(seen_from_base(world, "post_in_map", 2.98), [1.01, -0.45, 0.0], atol=CLOSE_M)

    def test_jumps_into_the_robot(self, world):
        """base_T_map after the jump, applied to the post as it was mapped before: worked out by hand."""
        map_p_post = np.array([1.0 + 1.5, -0.45, 0.0])
        expected = (FOUND @ odom_T_base(JUMP_S)).inverse() @ map_p_post
        np.testing.assert_allclose(seen_from_base(world, "post_in_map", JUMP_S), expected, atol=CLOSE_M)
        np.testing.assert_allclose(expected, [0.889504, -0.269763, 0.0], atol=1e-6)
        assert abs(expected[1]) < ROBOT_HALF_WIDTH_M


class TestTheCorrection:
    def test_lets_the_robot_leap_on_the_map(self, world):
        before, after = (world.pose(of="base", in_frame="map", at=seconds(t_s)) for t_s in (JUMP_S - STEP_S, JUMP_S))
        leap_m = np.linalg.norm(after.transform.translation - before.transform.translation)
        assert leap_m == pytest.approx(0.24966, abs=1e-5)

    def test_and_not_in_the_odometry_frame(self, world):
        at = np.arange(seconds(0), seconds(END_S), seconds(0.005))
        x_m = world.transforms(of="base", in_frame="odom", at=at)[:, 0, 3]
        assert np.diff(x_m).max() == pytest.approx(SPEED_M_PER_S * 0.005, abs=CLOSE_M)

    def test_takes_the_goal_along(self, world):
        """Given on the map, wanted in the frame in which the obstacles do not move."""
        early, late = (world.pose(of="goal", in_frame="odom", at=seconds(t_s)).transform for t_s in (SEEN_S, END_S))
        assert early.is_close(planar(8.0, 0.0), m=CLOSE_M, rad=CLOSE_RAD)
        assert late.is_close(FOUND.inverse() @ planar(8.0, 0.0), m=CLOSE_M, rad=CLOSE_RAD)

    def test_is_known_as_far_as_it_was_published(self, world):
        world.set_pose(of="base", in_frame="odom", transform=odom_T_base(6.0), at=seconds(6.0), source="wheels")
        assert world.pose(of="base", in_frame="odom", at=LATEST).stamp == seconds(6.0)
        assert world.pose(of="base", in_frame="map", at=LATEST).stamp == seconds(END_S)

    def test_has_its_sources(self, world):
        pose = world.pose(of="base", in_frame="map", at=seconds(1.0))
        assert pose.relations == (("base", "odom", "wheels"), ("odom", "map", "localisation"))


class TestAPostSeenOnce:
    def test_can_be_handed_to_the_odometry_frame_by_name(self):
        """The same without arithmetic: place it in the camera's frame, then let it go into `odom`."""
        world = World(history=seconds(60))
        for t_s in (0.0, 10.0):
            world.set_pose(of="base", in_frame="odom", transform=odom_T_base(t_s), at=seconds(t_s))
        world.set_pose(of="post", in_frame="base", transform=BASE_T_POST, at=seconds(SEEN_S))
        world.detach(of="post", to="odom", at=seconds(SEEN_S))
        np.testing.assert_allclose(seen_from_base(world, "post", 4.0), [0.5, -0.45, 0.0], atol=CLOSE_M)
