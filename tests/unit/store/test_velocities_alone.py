"""Gyros and Doppler logs: half of a motion is measured, and the rest follows from the poses."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, InvalidArgument, UnknownFrame
from armillary.relations import AngularVelocity, LinearVelocity
from randomness import rng, scaled

HALF = seconds(0.5)
GYRO = {"of": "gyro", "relative_to": "map"}
LOG = {"of": "log", "relative_to": "map"}
PARENTS = {"base": "map", "arm": "base", "hand": "arm", "other": "map"}
MOUNTS = {"gyro": "base", "log": "base", "wall": "map", "tool": "hand"}
FRAMES = ["map", *PARENTS, *MOUNTS]


def some(random: np.random.Generator) -> Transform:
    return Transform.exp(random.uniform(-1.0, 1.0, size=6))


def moving(random: np.random.Generator) -> World:
    world = World(name="robot", history=None)
    for of, in_frame in PARENTS.items():
        for t in (0, 1, 2):
            world.set_pose(of=of, in_frame=in_frame, transform=some(random), at=seconds(t), covariance=[1e-4] * 6)
    for of, in_frame in MOUNTS.items():
        world.fix(of=of, in_frame=in_frame, transform=some(random))
    return world


def six(twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


@pytest.fixture
def world() -> World:
    """A cart that drives at 1 m/s by its poses; its gyro says that it turns as well."""
    world = World(name="robot")
    for t in (0, 1, 2):
        placed = Transform.from_translation((t, 0, 0))
        world.set_pose(of="cart", in_frame="map", transform=placed, at=seconds(t), covariance=[1e-4] * 6)
    world.fix(of="gyro", in_frame="cart", transform=Transform.from_translation((0, 0, 0.5)))
    world.fix(of="nose", in_frame="cart", transform=Transform.from_translation((2, 0, 0)))
    for t in (0, 1):
        world.set_angular_velocity(**GYRO, xyz=(0, 0, 0.5), at=seconds(t), covariance=[0.01] * 3)
    return world


class TestAGyro:
    def test_says_how_the_body_turns_and_the_poses_how_it_moves(self, world):
        twist = world.twist(**GYRO, expressed_in="gyro", at=HALF)
        assert six(twist).round(12).tolist() == [1, 0, 0, 0, 0, 0.5]
        assert (twist.method, twist.stamp) == ("mixed", HALF)
        assert ("gyro", "map", "robot") in twist.relations
        assert six(world.twist(of="nose", relative_to="map", at=HALF)).round(12).tolist() == [1, 1, 0, 0, 0, 0.5]
        assert world.angular_velocity(of="cart", relative_to="map", at=HALF).xyz.round(12).tolist() == [0, 0, 0.5]

    def test_has_its_own_error_and_the_poses_have_theirs(self, world):
        twist = world.twist(**GYRO, expressed_in="gyro", at=HALF)
        derived = world.twist(**GYRO, expressed_in="gyro", at=HALF, measured=False)
        np.testing.assert_allclose(twist.covariance[3:, 3:], 0.01 * np.eye(3))
        np.testing.assert_allclose(twist.covariance[:3, :3], derived.covariance[:3, :3])
        assert not twist.covariance[3:, :3].any()
        assert (
            world.twist(of="nose", relative_to="map", expressed_in="nose", at=HALF).covariance[1, 1] > 0.04
        )  # the lever

    def test_does_not_count_where_it_is_not_known_or_not_asked(self, world):
        assert world.twist(**GYRO, at=seconds(1.5)).method == "differentiated"
        assert world.twist(**GYRO, at=HALF, measured=False).method == "differentiated"
        assert world.twist(**GYRO, at=seconds(1.5), outside="hold").method == "mixed"

    def test_gives_way_to_a_whole_motion_that_was_measured(self, world):
        for t in (0, 1):
            names = {"of": "cart", "relative_to": "map", "expressed_in": "cart", "at": seconds(t)}
            world.set_twist(**names, linear=(3, 0, 0), angular=(0, 0, 0))
        twist = world.twist(**GYRO, expressed_in="gyro", at=HALF)
        assert (six(twist).round(12).tolist(), twist.method) == ([3, 0, 0, 0, 0, 0], "measured")

    def test_is_asked_for_many_instants(self, world):
        at = [HALF, seconds(1.5)]
        rows = world.twists(**GYRO, expressed_in="gyro", at=at)
        assert rows.round(12).tolist() == [[1, 0, 0, 0, 0, 0.5], [1, 0, 0, 0, 0, 0]]
        values, spreads = world.twists_with_covariances(**GYRO, expressed_in="gyro", at=at)
        np.testing.assert_array_equal(values, rows)
        np.testing.assert_allclose(spreads[0], world.twist(**GYRO, expressed_in="gyro", at=HALF).covariance)
        with pytest.raises(AfterHistory) as caught:
            world.twists(**GYRO, at=[HALF, seconds(9)])
        assert caught.value.row == 1

    def test_is_taken_as_a_relation_along_any_axes(self, world):
        world.fix(of="tilted", in_frame="cart", transform=Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(np.pi / 2, 0, 0)))
        given = AngularVelocity(body="cart", reference_body="map", expressed_in="tilted", xyz=(0, 2, 0))
        for t in (0, 1):
            world.set_angular_velocity(**GYRO, velocity=given, at=seconds(t))
        np.testing.assert_allclose(world.twist(**GYRO, expressed_in="gyro", at=HALF).angular, [0, 0, 2], atol=1e-12)

    def test_is_no_joint_and_comes_along(self, world):
        assert world.joints() == ()
        assert world.copy().twist(**GYRO, at=HALF).method == "mixed"
        other = World(name="other")
        other.merge(world.scene.changes(), prefix="B/")
        for t in (0, 1):
            other.set_pose(
                of="B/cart", in_frame="B/map", transform=Transform.from_translation((t, 0, 0)), at=seconds(t)
            )
            other.set_angular_velocity(of="B/gyro", relative_to="B/map", xyz=(0, 0, 0.5), at=seconds(t))
        assert other.store.joints() == tuple(f"B/gyro relative to B/map: angular {axis}" for axis in "xyz")
        assert other.twist(of="B/gyro", relative_to="B/map", at=HALF).method == "mixed"


class TestADopplerLog:
    def test_says_how_its_origin_moves_and_the_poses_how_it_turns(self, world):
        world.fix(of="log", in_frame="cart", transform=Transform.from_translation((1, 0, 0)))
        for t in (0, 1):
            world.set_linear_velocity(**LOG, xyz=(2, 0.5, 0), at=seconds(t))
        assert six(world.twist(**LOG, at=HALF)).round(12).tolist() == [2, 0.5, 0, 0, 0, 0.5]  # the gyro counts, too
        assert six(world.twist(of="cart", relative_to="map", at=HALF)).round(12).tolist() == [2, 0, 0, 0, 0, 0.5]
        given = LinearVelocity(point="log", body="cart", reference_body="map", expressed_in="log", xyz=(4, 0, 0))
        world.set_linear_velocity(**LOG, velocity=given, at=seconds(1))
        assert world.linear_velocity(of="log", relative_to="map", at=HALF).xyz.round(12).tolist() == [3, 0.25, 0]


class TestMotionsWithVelocitiesAlone:
    def test_add_up_and_change_nothing_elsewhere(self):
        for seed in range(scaled(20, 200)):
            random = rng(seed)
            world = moving(random)
            elsewhere = {"of": "other", "relative_to": "wall", "expressed_in": "map", "point": "hand", "at": HALF}
            before = six(world.twist(**elsewhere))
            turning, driving, grasping = random.normal(size=(3, 3))
            for t in (0, 1):
                world.set_angular_velocity(of="gyro", relative_to="wall", xyz=turning, at=seconds(t))
                world.set_linear_velocity(**LOG, xyz=driving, at=seconds(t))
                world.set_angular_velocity(of="tool", relative_to="arm", xyz=grasping, at=seconds(t))
            for _ in range(30):
                a, b, c, point, axes = map(str, random.choice(FRAMES, size=5))
                ask = {"point": point, "expressed_in": axes, "at": HALF}
                near, far, whole = (six(world.twist(of=x, relative_to=y, **ask)) for x, y in ((a, b), (b, c), (a, c)))
                np.testing.assert_allclose(near + far, whole, atol=1e-9)
            asked = {of: world.twist(of=of, relative_to=to, expressed_in=of, at=HALF) for of, to in
                     (("gyro", "wall"), ("log", "map"), ("tool", "arm"))}  # fmt: skip
            np.testing.assert_allclose(asked["gyro"].angular, turning, atol=1e-9)
            np.testing.assert_allclose(asked["log"].linear, driving, atol=1e-9)
            np.testing.assert_allclose(asked["tool"].angular, grasping, atol=1e-9)
            np.testing.assert_array_equal(six(world.twist(**elsewhere)), before)


class TestRefusedVelocities:
    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"xyz": (1, 2)}, InvalidArgument),
            ({"xyz": None}, InvalidArgument),
            ({"xyz": (0, 0, np.inf)}, InvalidArgument),
            ({"velocity": AngularVelocity(body="cart", reference_body="map", xyz=(0, 0, 1))}, InvalidArgument),
            ({"xyz": None, "velocity": (0, 0, 1)}, InvalidArgument),
            ({"covariance": -np.eye(3)}, InvalidArgument),
            ({"relative_to": "cart"}, InvalidArgument),
            ({"relative_to": "nowhere"}, UnknownFrame),
            ({"expressed_in": "nowhere"}, UnknownFrame),
        ],
    )
    def test_change_nothing(self, world, given, error):
        with pytest.raises(error):
            world.set_angular_velocity(**GYRO | {"xyz": (0, 0, 1), "at": seconds(2)} | given)
        assert world.twist(**GYRO, at=seconds(1.5)).method == "differentiated"

    def test_are_named_where_a_whole_twist_is_wanted(self, world):
        with pytest.raises(InvalidArgument, match="set_angular_velocity or set_linear_velocity"):
            world.set_twist(**GYRO, expressed_in="gyro", angular=(0, 0, 1), at=0)
