"""A base on wheels moves when the velocities of its wheels are set."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.articulation import ArticulationModel, DifferentialDrive
from armillary.articulation.history import Apply
from armillary.articulation.operations import AddJoint, AddLink, AddObject, Connect

RADIUS_M, TRACK_M = 0.06, 0.3748
LEFT, RIGHT = "cart/base/left_wheel", "cart/base/right_wheel"
CLOSE = 1e-12


def cart():
    drive = DifferentialDrive(variable="cart/base", wheel_radius_m=RADIUS_M, wheel_distance_m=TRACK_M)
    model = ArticulationModel()
    model.edit(
        [
            Apply("cart", AddObject(name="cart", root="cart/links/body")),
            Apply("body", AddLink(path="cart/links/body")),
            Apply("drive", AddJoint(path="cart/joints/drive", joint=drive)),
            Apply("on the ground", Connect(child="cart/links/body", joint="cart/joints/drive")),
        ]
    )
    return model


@pytest.fixture
def world():
    with World("tester", clock=lambda: 0) as world:
        world.mount(cart(), in_frame="map")
        yield world


def roll(world, left, right, *, until_s, since_s=0.0):
    for t in np.arange(since_s, until_s + 0.05, 0.1):
        world.set_joints({}, velocities={LEFT: left, RIGHT: right}, at=seconds(round(float(t), 3)))


def arc(left, right, duration_s):
    speed, turn = RADIUS_M / 2 * (left + right), RADIUS_M / TRACK_M * (right - left)
    if turn == 0.0:
        return np.array([speed * duration_s, 0.0, 0.0])
    angle, radius_m = turn * duration_s, speed / turn
    return np.array([radius_m * np.sin(angle), radius_m * (1 - np.cos(angle)), angle])


def place(world, at_s):
    transform = world.pose(of="cart/body", in_frame="map", at=seconds(at_s)).transform
    return np.array([*transform.translation[:2], transform.rotation.rpy[2]])


@pytest.mark.parametrize(("left", "right"), [(3, 3), (0, 3), (3, 0), (-3, -3), (0, -3), (-3, 0)])
def test_constant_speeds_drive_an_exact_arc(world, left, right):
    roll(world, left, right, until_s=1.0)
    for t in (0.1, 0.5, 1.0):
        assert np.allclose(place(world, t), arc(left, right, t), atol=CLOSE)


def test_its_twist_is_that_of_the_wheels(world):
    roll(world, 2.0, 4.0, until_s=1.0)
    twist = world.twist(of="cart/body", relative_to="map", expressed_in="cart/body", at=seconds(0.55))
    assert twist.method == "joints"
    assert np.allclose(twist.linear, (RADIUS_M * 3.0, 0.0, 0.0), atol=CLOSE)
    assert np.allclose(twist.angular, (0.0, 0.0, RADIUS_M / TRACK_M * 2.0), atol=CLOSE)


def test_it_continues_from_a_position_that_is_set(world):
    roll(world, 3.0, 3.0, until_s=0.5)
    world.set_joints({"cart/base/x": 5.0, "cart/base/y": 1.0, "cart/base/yaw": 0.0}, at=seconds(0.55))
    roll(world, 3.0, 3.0, since_s=0.6, until_s=1.0)
    assert np.allclose(place(world, 1.0), (5.0 + RADIUS_M * 3.0 * 0.45, 1.0, 0.0), atol=1e-9)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 3, 1, 2), (2, 0, 3, 1)])
def test_does_not_depend_on_the_order_of_arrival(world, order):
    speeds = {0.0: (0.0, 1.0), 0.4: (3.0, 5.0), 0.5: (-2.0, 4.0), 1.0: (1.0, 1.0)}
    with World("other", clock=lambda: 0) as straight:
        straight.mount(cart(), in_frame="map")
        for each, stamps in ((straight, list(speeds)), (world, [list(speeds)[i] for i in order])):
            for t in stamps:
                world_of = {LEFT: speeds[t][0], RIGHT: speeds[t][1]}
                each.set_joints({}, velocities=world_of, at=seconds(t))
        for t in (0.2, 0.45, 1.0):
            assert np.allclose(place(world, t), place(straight, t), atol=2e-6)


def test_a_late_speed_is_integrated_until_the_next_position_that_was_set(world):
    roll(world, 3.0, 3.0, until_s=0.5)
    world.set_joints({"cart/base/x": 5.0, "cart/base/y": 1.0, "cart/base/yaw": 0.0}, at=seconds(0.55))
    roll(world, 3.0, 3.0, since_s=0.6, until_s=1.0)
    after = place(world, 1.0)
    world.set_joints({}, velocities={LEFT: 30.0, RIGHT: 30.0}, at=seconds(0.35))
    assert place(world, 0.4)[0] > 0.4 * 3.0 * RADIUS_M + 0.01
    assert np.allclose(place(world, 0.55), (5.0, 1.0, 0.0))
    assert np.allclose(place(world, 1.0), after, atol=0.0)


@pytest.mark.parametrize("t", [0.1, 0.5, 1.0, 1.9])
def test_it_is_on_the_arc_between_two_speeds(world, t):
    for at in (0.0, 2.0):
        world.set_joints({}, velocities={LEFT: 0.0, RIGHT: 5.0}, at=seconds(at))
    assert np.allclose(place(world, t), arc(0.0, 5.0, t), atol=1e-3 * 0.5)
    assert np.allclose(place(world, 2.0), arc(0.0, 5.0, 2.0), atol=CLOSE)


@pytest.mark.parametrize("t", [0.03, 0.051, 0.177])
def test_its_pose_and_its_twist_agree(world, t):
    for at, right in ((0.0, 1.0), (0.1, 5.0), (0.2, 2.0)):
        world.set_joints({}, velocities={LEFT: 3.0, RIGHT: right}, at=seconds(at))
    twist = world.twist(of="cart/body", relative_to="map", at=seconds(t))
    half_s = 5e-3
    rate = (place(world, t + half_s) - place(world, t - half_s)) / (2 * half_s)
    assert np.allclose(rate, (*twist.linear[:2], twist.angular[2]), atol=2e-3)


def test_wheels_that_speed_up_are_averaged(world):
    for t, speed in ((0.0, 0.0), (1.0, 4.0)):
        world.set_joints({}, velocities={LEFT: speed, RIGHT: speed}, at=seconds(t))
    assert place(world, 1.0)[0] == pytest.approx(RADIUS_M * 2.0)


class TestWhereWheelsBroughtIt:
    def test_is_marked_as_integrated(self, world):
        roll(world, 3.0, 2.0, until_s=1.0)
        for t in (0.3, 0.35):
            pose = world.pose(of="cart/body", in_frame="map", at=seconds(t))
            assert (pose.integrated, pose.method) == (True, "integrated")
            assert world.joint("cart/base/yaw", at=seconds(t)).integrated
        through = world.pose(of="cart/body", of_at=seconds(0.3), in_frame="map", at=seconds(0.4), fixed_frame="map")
        assert through.integrated

    def test_is_not_set_where_a_position_is_set(self, world):
        roll(world, 3.0, 3.0, until_s=0.5)
        world.set_joints({"cart/base/x": 5.0, "cart/base/y": 1.0, "cart/base/yaw": 0.0}, at=seconds(0.55))
        assert not world.pose(of="cart/body", in_frame="map", at=seconds(0.55)).integrated
        assert not world.joint("cart/base/x", at=seconds(0.55)).integrated
        assert world.pose(of="cart/body", in_frame="map", at=seconds(0.52)).integrated
        assert not world.joint(LEFT, at=seconds(0.3)).integrated

    def test_is_marked_in_a_copy(self, world):
        roll(world, 3.0, 3.0, until_s=0.5)
        assert world.copy().pose(of="cart/body", in_frame="map").integrated
