"""How sure a prediction is: no surer than the velocity it goes on with. Checked by drawing errors."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.scene import AddJoints, ClosedForm, Drive
from unit.kit import moved

DRAWS = 200
LEAST, MOST = 5.0, 7.5  # of the mean squared error in standard deviations, for six degrees of freedom
HORIZONS_S = (0.1, 0.5, 1.0)
SPEED = np.array([0.8, 0.1, -0.05, 0.1, -0.2, 0.6])
POSE = np.diag([1e-5] * 3 + [4e-6] * 3)
TWIST = np.diag([4e-4] * 3 + [9e-4] * 3)


def exp(six) -> Transform:
    return Transform.exp(np.asarray(six, dtype=float))


def adjoint(transform: Transform) -> np.ndarray:
    R, (x, y, z) = transform.matrix[:3, :3], transform.matrix[:3, 3]
    return np.block([[R, np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ R], [np.zeros((3, 3)), R]])


def draw(rng, covariance):
    return rng.multivariate_normal(np.zeros(6), covariance)


def truth(t: float) -> Transform:
    return exp([0.3, -0.2, 0.5, 0.1, 0.2, -0.3]) @ exp(SPEED * t)


def nees(world: World, frames, t: float, **ask) -> float:
    total = 0.0
    for frame in frames:
        pose = world.pose(of=frame, in_frame="map", at=seconds(t), outside="predict", **ask)
        error = (pose.transform.inverse() @ truth(t)).log()
        total += error @ np.linalg.solve(pose.covariance, error)
    return total / len(frames)


@cache
def noisy_world(poses_s, twists_s, *, reverse=False) -> tuple[World, list[str]]:
    rng = np.random.default_rng(5)
    world = World(process_noise=[1e-12] * 6, interpolation="screw")
    frames = [f"robot{i}" for i in range(DRAWS)]
    for frame in frames:
        for t in poses_s:
            seen = truth(t) @ exp(draw(rng, POSE))
            world.set_pose(of=frame, in_frame="map", transform=seen, at=seconds(t), covariance=POSE)
    for frame in frames:
        for t in twists_s:
            numbers = SPEED if not reverse else -adjoint(truth(t)) @ SPEED
            numbers = numbers + draw(rng, TWIST)
            of, to = ("map", frame) if reverse else (frame, "map")
            source = f"wheels of {frame}" if reverse else "wheels"
            world.set_twist(of=of, relative_to=to, expressed_in=of, linear=numbers[:3], angular=numbers[3:],
                            at=seconds(t), covariance=TWIST, source=source)  # fmt: skip
    return world, frames


class TestAPredictionIsAsSureAs:
    @pytest.mark.parametrize("ahead_s", HORIZONS_S)
    def test_the_two_poses_it_goes_on_from(self, ahead_s):
        world, frames = noisy_world((0.0, 0.2), ())
        assert LEAST < nees(world, frames, 0.2 + ahead_s) < MOST

    @pytest.mark.parametrize("ahead_s", HORIZONS_S)
    def test_the_twist_at_the_last_pose(self, ahead_s):
        world, frames = noisy_world((0.2,), (0.2,))
        assert LEAST < nees(world, frames, 0.2 + ahead_s) < MOST

    @pytest.mark.parametrize("ahead_s", HORIZONS_S)
    def test_the_twists_after_the_last_pose(self, ahead_s):
        world, frames = noisy_world((0.2,), (0.15, 0.25, 0.3, 0.4, 0.5, 0.7))
        assert LEAST < nees(world, frames, 0.2 + ahead_s) < MOST

    @pytest.mark.parametrize("ahead_s", HORIZONS_S)
    def test_a_twist_of_the_other_side(self, ahead_s):
        world, frames = noisy_world((0.2,), (0.2,), reverse=True)
        assert LEAST < nees(world, frames, 0.2 + ahead_s) < MOST

    def test_the_two_poses_say(self):
        world = World(process_noise=[0.0] * 6)
        for t in (0.0, 0.1):
            world.set_pose(of="b", in_frame="m", transform=moved(t), at=seconds(t), covariance=1e-4 * np.eye(6))
        pose = world.pose(of="b", in_frame="m", at=seconds(1.1), outside="predict")
        assert np.sqrt(pose.covariance[0, 0]) == pytest.approx(0.1486606875)
        twist = world.twist(of="b", relative_to="m", at=seconds(1.1), outside="predict")
        assert np.sqrt(twist.covariance[0, 0]) == pytest.approx(np.sqrt(2.0) * 0.1)

    def test_nobody_knows_where_its_twist_has_no_covariance(self):
        world = World()
        world.set_pose(of="b", in_frame="m", transform=moved(), at=seconds(1), covariance=1e-4 * np.eye(6))
        world.set_twist(of="b", relative_to="m", expressed_in="b", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(1))
        pose = world.pose(of="b", in_frame="m", at=seconds(1.5), outside="predict")
        assert (pose.xyz[0], pose.covariance) == (0.5, None)


def standing(*twists) -> World:
    """Poses say that it stands until 1 s; wheels say how it goes on."""
    world = World()
    for t in (0.0, 1.0):
        world.set_pose(of="b", in_frame="m", transform=moved(), at=seconds(t))
    for t, speed in twists:
        world.set_twist(of="b", relative_to="m", expressed_in="b", linear=(speed, 0, 0), angular=(0, 0, 0),
                        at=seconds(t), source="wheels")  # fmt: skip
    return world


class TestAPredictionGoesOn:
    def x(self, world, t) -> float:
        return world.pose(of="b", in_frame="m", at=seconds(t), outside="predict").xyz[0]

    def test_along_the_twists_that_are_newer_than_the_last_pose(self):
        world = standing((1.0, 0.0), (1.1, 1.0), (1.2, 1.0), (1.3, 1.0), (1.4, 1.0), (1.5, 1.0))
        assert self.x(world, 1.5) == pytest.approx(0.45)
        assert self.x(world, 1.15) == pytest.approx(0.1)
        assert self.x(world, 2.5) == pytest.approx(1.45)  # a horizon of 1 s after the newest twist

    def test_with_the_first_twist_where_none_is_known_before(self):
        assert self.x(standing((1.1, 1.0)), 1.5) == pytest.approx(0.5)

    def test_with_a_twist_between_the_last_two_poses(self):
        assert self.x(standing((0.9, 1.0)), 1.5) == pytest.approx(0.5)

    def test_not_with_a_twist_older_than_both(self):
        world = World()
        for t in (0.0, 1.0, 2.0):
            world.set_pose(of="b", in_frame="m", transform=moved(t), at=seconds(t))
        world.set_twist(of="b", relative_to="m", expressed_in="b", linear=(9, 0, 0), angular=(0, 0, 0), at=seconds(0.5),
                        source="wheels")  # fmt: skip
        assert self.x(world, 2.5) == pytest.approx(2.5)

    def test_to_third_order_between_twists_that_change(self):
        world = World()
        world.set_pose(of="b", in_frame="m", transform=moved(), at=seconds(0))
        for t, v, w in ((0.1, 1.0, 0.5), (0.3, 1.2, 1.0)):
            world.set_twist(of="b", relative_to="m", expressed_in="b", linear=(v, 0, 0), angular=(0, 0, w),
                            at=seconds(t), source="w")  # fmt: skip
        pose = world.pose(of="b", in_frame="m", at=seconds(0.5), outside="predict")
        np.testing.assert_allclose(pose.xyz, [0.5471021331, 0.0993872239, 0.0], atol=1e-9)


class TestAPredictionOfJoints:
    @pytest.mark.parametrize("speed_sigma", [None, 0.03])
    def test_is_as_sure_as_the_samples_it_goes_on_from(self, speed_sigma):
        world = World(process_noise=[0.0] * 6)
        world.apply([AddJoints({"slide": "linear"})])
        form = ClosedForm(kind="prismatic", origin=moved(), axes=((1, 0, 0),), variables=("slide",))
        world.apply([Drive(of="tray", in_frame="table", form=form)])
        for t in (0.0, 0.1):
            speed = {} if speed_sigma is None else {"velocities": {"slide": 1.0}}
            S = [[1e-4]] if speed_sigma is None else np.diag([1e-4, speed_sigma**2])
            world.set_joints({"slide": t}, at=seconds(t), covariance=S, **speed)
        pose = world.pose(of="tray", in_frame="table", at=seconds(1.1), outside="predict")
        expected = 0.1486606875 if speed_sigma is None else np.hypot(1e-2, speed_sigma)
        assert np.sqrt(pose.covariance[0, 0]) == pytest.approx(expected)

    def test_nobody_knows_where_the_speed_has_no_covariance(self):
        world = World()
        world.apply([AddJoints({"slide": "linear"})])
        form = ClosedForm(kind="prismatic", origin=moved(), axes=((1, 0, 0),), variables=("slide",))
        world.apply([Drive(of="tray", in_frame="table", form=form)])
        world.set_joints({"slide": 0.0}, velocities={"slide": 1.0}, at=seconds(0), covariance=[[1e-4]])
        pose = world.pose(of="tray", in_frame="table", at=seconds(0.5), outside="predict")
        assert (pose.xyz[0], pose.covariance) == (0.5, None)
