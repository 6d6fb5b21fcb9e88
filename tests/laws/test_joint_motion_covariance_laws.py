"""Covariances of motions of joints, and of poses at two instants, against first order in every number of a sample."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.scene import AddJoints, ClosedForm, Drive
from laws.test_joint_covariance_laws import NAMES, angles, arm, roots
from strategies import assert_psd

STEP = 1e-5
CLOSE_TO_NUMERIC = 1e-6
AT = seconds(0.3)
pairs = st.sampled_from([("l4", "l0"), ("l1", "l4"), ("l4", "l2")])
speed_roots = st.lists(st.floats(-0.3, 0.3), min_size=36, max_size=36).map(lambda v: np.reshape(v, (6, 6)))


def with_samples(world, numbers, covariances=None):
    """Two samples, of three joints each."""
    for i, at in enumerate((0, seconds(1))):
        sure = {} if covariances is None else {"covariance": covariances[i]}
        world.set_joints(dict(zip(NAMES, numbers[3 * i : 3 * i + 3], strict=True)), at=at, **sure)
    return world


def with_speeds(world, numbers, covariances=None):
    """Two samples of positions and velocities."""
    for i, at in enumerate((0, seconds(1))):
        q, v = numbers[6 * i : 6 * i + 3], numbers[6 * i + 3 : 6 * i + 6]
        sure = {} if covariances is None else {"covariance": covariances[i]}
        speeds = dict(zip(NAMES, v, strict=True))
        world.set_joints(dict(zip(NAMES, q, strict=True)), at=at, velocities=speeds, **sure)
    return world


def moving(world, frames, at=AT, **more):
    twist = world.twist(of=frames[0], relative_to=frames[1], at=at, **more)
    return np.array([*twist.linear, *twist.angular])


def jacobian(answer, numbers):
    numbers = np.asarray(numbers, dtype=float)
    ends = [[answer(numbers + sign * STEP * one) for sign in (1, -1)] for one in np.eye(len(numbers))]
    return np.transpose([(ahead - behind) / (2 * STEP) for ahead, behind in ends])


def blocks(first, second):
    n = len(first)
    S = np.zeros((2 * n, 2 * n))
    S[:n, :n], S[n:, n:] = first, second
    return S


class TestTheMotionOfAnArm:
    @given(angles, angles, roots, roots, pairs)
    def test_is_as_sure_as_the_two_samples_it_is_between(self, first, second, root, other, frames):
        numbers, covariances = [*first, *second], (root @ root.T, other @ other.T)
        covariance = (
            with_samples(arm(), numbers, covariances).twist(of=frames[0], relative_to=frames[1], at=AT).covariance
        )
        J = jacobian(lambda x: moving(with_samples(arm(), x), frames), numbers)
        assert np.abs(covariance - J @ blocks(*covariances) @ J.T).max() < CLOSE_TO_NUMERIC
        assert_psd(covariance)

    @given(angles, angles, speed_roots, speed_roots, pairs)
    def test_is_as_sure_as_the_velocities_that_are_given(self, q, v, root, second, frames):
        numbers, covariances = [*q, *v, *v, *q], (root @ root.T, second @ second.T)
        world = with_speeds(arm(), numbers, covariances)
        covariance = world.twist(of=frames[0], relative_to=frames[1], at=AT).covariance
        J = jacobian(lambda x: moving(with_speeds(arm(), x), frames), numbers)
        assert np.abs(covariance - J @ blocks(*covariances) @ J.T).max() < CLOSE_TO_NUMERIC

    @given(angles, angles, roots, st.sampled_from(["l0", "l2", "l4"]))
    def test_is_turned_by_joints_that_are_no_surer(self, first, second, root, axes):
        numbers, covariances = [*first, *second], (root @ root.T, root @ root.T)
        asked = {"expressed_in": axes}
        world = with_samples(arm(), numbers, covariances)
        covariance = world.twist(of="l4", relative_to="l1", at=AT, **asked).covariance
        J = jacobian(lambda x: moving(with_samples(arm(), x), ("l4", "l1"), **asked), numbers)
        assert np.abs(covariance - J @ blocks(*covariances) @ J.T).max() < CLOSE_TO_NUMERIC

    def test_is_unknown_for_velocities_without_one(self):
        world = arm()
        for at in (0, seconds(1)):
            world.set_joints(
                dict.fromkeys(NAMES, 0.1), at=at, velocities=dict.fromkeys(NAMES, 0.5), covariance=[0.1] * 3
            )
        assert world.twist(of="l4", relative_to="l0", at=AT).covariance is None
        assert world.pose(of="l4", in_frame="l0", at=AT).covariance is not None


class TestAPoseAtTwoInstants:
    @given(angles, angles, roots, roots)
    def test_is_no_surer_than_any_tie_between_its_joints_makes_it(self, first, second, root, other):
        numbers, covariances = np.array([*first, *second]), (root @ root.T, other @ other.T)
        world = with_samples(arm(), numbers, covariances)
        asked = {"of": "l2", "of_at": 0, "in_frame": "l4", "at": seconds(1), "fixed_frame": "l0"}
        covariance = world.pose(**asked).covariance
        middle = world.pose(**asked).transform.inverse().matrix
        J = jacobian(lambda x: _log(middle @ with_samples(arm(), x).pose(**asked).transform.matrix), numbers)
        for sign in (-1.0, 0.0, 1.0):
            S = blocks(*covariances)
            S[:3, 3:] = sign * root @ other.T
            S[3:, :3] = S[:3, 3:].T
            assert np.linalg.eigvalsh(covariance - J @ S @ J.T).min() > -CLOSE_TO_NUMERIC

    @given(angles, roots)
    def test_at_one_instant_twice_is_that_at_one(self, q, root):
        world = with_samples(arm(), [*q, *q], (root @ root.T, root @ root.T))
        once = world.pose(of="l2", in_frame="l4", at=0).covariance
        twice = world.pose(of="l2", of_at=0, in_frame="l4", at=0, fixed_frame="l0").covariance
        assert np.abs(once - twice).max() < 1e-9

    def test_counts_a_joint_that_drives_two_edges_once(self):
        """A twin that follows the first: whatever its joint is, both are the same."""
        world = World()
        form = ClosedForm(kind="revolute", origin=Transform.identity(), axes=((0, 0, 1),), variables=("hinge",))
        drives = [Drive(of=frame, in_frame="wall", form=form) for frame in ("door", "twin")]
        world.apply([AddJoints({"hinge": "linear"}), *drives])
        world.set_joints({"hinge": 0.4}, at=0, covariance=[0.01])
        pose = world.pose(of="door", of_at=0, in_frame="twin", at=0, fixed_frame="wall")
        assert np.abs(pose.covariance).max() < 1e-12


def _log(matrix):
    return np.array(Transform.from_matrix(matrix).log())
