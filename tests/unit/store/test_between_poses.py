"""Between two poses of a source that gives twists as well: the answer follows the twists, and meets both poses."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from randomness import rng
from unit.kit import STILL, moved

CIRCLE = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
ASK = {"of": "base", "in_frame": "odom"}
LEAST, MOST = 5.0, 7.5  # of the mean squared error in standard deviations, for six degrees of freedom
SPEED = np.array([0.8, 0.1, -0.05, 0.1, -0.2, 1.3])
POSE, TWIST = np.diag([1e-4] * 3 + [4e-5] * 3), np.diag([4e-3] * 3 + [2e-3] * 3)


def exp(six) -> Transform:
    return Transform.exp(np.asarray(six, dtype=float))


def say(world: World, instants_s, twist=CIRCLE, of="base", relative_to="odom", **more) -> None:
    for t in instants_s:
        world.set_twist(of=of, relative_to=relative_to, expressed_in=of, linear=twist[:3], angular=twist[3:],
                        at=seconds(t), **more)  # fmt: skip


def at_50_hz(last_s: float) -> list[float]:
    return [round(0.02 * i, 2) for i in range(round(50 * last_s) + 1)]


def circle(world: World | None = None) -> World:
    world = world or World(history=None)
    for t in (0.0, 1.0, 2.0):
        world.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t))
    say(world, at_50_hz(2.0))
    return world


def assert_same(actual: Transform, expected: Transform, within: float = 1e-9) -> None:
    np.testing.assert_allclose(actual.matrix, expected.matrix, atol=within)


class TestBetweenTwoPosesTheAnswer:
    @pytest.mark.parametrize("t", [0.25, 0.51, 1.0, 1.333, 1.999])
    def test_follows_the_twists(self, t):
        assert_same(circle().pose(**ASK, at=seconds(t)).transform, exp(CIRCLE * t))

    def test_is_the_same_for_many_instants(self):
        world = circle()
        at = [seconds(t) for t in (0.1, 0.505, 1.7)]
        rows = world.transforms(**ASK, at=at)
        for row, stamp in zip(rows, at, strict=True):
            np.testing.assert_allclose(row, world.pose(**ASK, at=stamp).transform.matrix, atol=1e-12)

    def test_shares_what_is_missing_as_the_errors_of_the_twists_grow(self):
        world = World()
        world.set_pose(**ASK, transform=STILL, at=0)
        world.set_pose(**ASK, transform=exp(CIRCLE) @ exp([0.02, 0.03, 0, 0, 0, 0.05]), at=seconds(1))
        say(world, at_50_hz(1.0))
        found = world.pose(**ASK, at=seconds(0.5)).transform
        np.testing.assert_allclose(found.translation, [0.4775985532, 0.1352891102, 0.0], atol=1e-7)
        assert found.rotation.log()[2] == pytest.approx(0.5263548494, abs=1e-7)

    @pytest.mark.parametrize("t", [0.0, 1.0])
    def test_meets_both_poses(self, t):
        world = World()
        for end, seen in ((0.0, STILL), (1.0, moved(5.0))):
            world.set_pose(**ASK, transform=seen, at=seconds(end))
        say(world, at_50_hz(1.0))
        near = world.pose(**ASK, at=seconds(t) + (1 if t == 0.0 else -1)).transform
        assert_same(near, world.pose(**ASK, at=seconds(t)).transform, 1e-6)

    def test_does_not_depend_on_the_order_of_arrival(self):
        late, early = World(history=None), World(history=None)
        say(late, at_50_hz(2.0)[::-1])
        for t in (2.0, 0.0, 1.0):
            late.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t))
        for t in (0.21, 1.77):
            assert_same(late.pose(**ASK, at=seconds(t)).transform, circle(early).pose(**ASK, at=seconds(t)).transform)

    def test_comes_from_a_sensor_on_the_body_and_its_other_side(self):
        for of, to in (("imu", "odom"), ("odom", "imu")):
            world = World()
            world.fix(of="imu", in_frame="base", transform=moved(1.0))
            for t in (0.0, 1.0):
                world.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t))
            twist = np.array([1.0, 1.0, 0, 0, 0, 1.0]) if of == "imu" else -CIRCLE  # the circle begins at odom
            say(world, at_50_hz(1.0), twist, of, to)
            assert_same(world.pose(**ASK, at=seconds(0.5)).transform, exp(CIRCLE * 0.5))

    def test_is_interpolated_where_the_twists_end(self):
        world = World()
        for t in (0.0, 1.0):
            world.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t))
        say(world, at_50_hz(0.3))
        halfway = world.pose(**ASK, at=seconds(0.5)).transform.translation
        np.testing.assert_allclose(halfway, exp(CIRCLE).translation / 2)

    def test_is_interpolated_for_another_source(self):
        world = World()
        for t in (0.0, 1.0):
            world.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t), source="slam")
        say(world, at_50_hz(1.0), source="wheels")
        halfway = world.pose(**ASK, at=seconds(0.5)).transform.translation
        np.testing.assert_allclose(halfway, exp(CIRCLE).translation / 2)

    @pytest.mark.parametrize("of", ["base", "odom"])
    @pytest.mark.parametrize("t", [0.21, 0.5, 0.8])
    def test_is_as_sure_as_it_says(self, t, of):
        random, total, draws = rng(7), 0.0, 150
        for _ in range(draws):
            world = World(history=None)
            for end in (0.0, 1.0):
                seen = exp(SPEED * end) @ exp(random.multivariate_normal(np.zeros(6), POSE))
                world.set_pose(**ASK, transform=seen, at=seconds(end), covariance=POSE)
            for instant in at_50_hz(1.0):
                numbers = SPEED if of == "base" else -(exp(SPEED * instant).adjoint @ SPEED)
                numbers = numbers + random.multivariate_normal(np.zeros(6), TWIST)
                say(world, [instant], numbers, of, "odom" if of == "base" else "base", covariance=TWIST)
            pose = world.pose(**ASK, at=seconds(t))
            error = (pose.transform.inverse() @ exp(SPEED * t)).log()
            total += error @ np.linalg.solve(pose.covariance, error) / draws
        assert LEAST < total < MOST

    def test_is_of_unknown_covariance_where_that_of_a_twist_is(self):
        world = World()
        for t in (0.0, 1.0):
            world.set_pose(**ASK, transform=exp(CIRCLE * t), at=seconds(t), covariance=POSE)
        say(world, at_50_hz(1.0))
        assert world.pose(**ASK, at=seconds(0.5)).covariance is None
        assert world.pose(**ASK, at=seconds(1.0)).covariance is not None


class TestWhatIsIntegrated:
    def test_lies_on_arcs_between_the_twists(self):
        world = World()
        world.set_pose(**ASK, transform=STILL, at=0)
        say(world, (0.0, 1.0, 2.0))
        for t in (0.5, 1.3):
            assert_same(world.pose(**ASK, at=seconds(t)).transform, exp(CIRCLE * t))
            twist = world.twist(of="base", relative_to="odom", expressed_in="base", at=seconds(t))
            np.testing.assert_allclose(np.concatenate([twist.linear, twist.angular]), CIRCLE)
