"""The covariance of joints in the poses that they drive, against derivatives by differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument
from armillary.scene import AddJoints, ClosedForm, Drive
from reference import log
from strategies import assert_psd, assert_same_covariance

STEP = 1e-6
CLOSE_TO_NUMERIC = 1e-6
NAMES = ["a", "b", "c"]
AXES = [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
DRIVERS = ["a", "b", "c", "b"]  # the last one mimics
angles = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3)
roots = st.lists(st.floats(-0.3, 0.3), min_size=9, max_size=9).map(lambda v: np.reshape(v, (3, 3)))


def arm():
    world = World()
    world.apply([AddJoints(dict.fromkeys(NAMES, "linear"))])
    for i, (axis, driver) in enumerate(zip(AXES, DRIVERS, strict=True)):
        kind = "prismatic" if i == 2 else "revolute"
        origin = Transform.from_xyz_rpy(xyz=(0.3, 0.1, 0.2), rpy=(0.1, 0.2, 0.3))
        factor = -1.5 if i == 3 else 1.0
        form = ClosedForm(kind=kind, origin=origin, axes=(axis,), variables=(driver,), multiplier=factor)
        world.apply([Drive(of=f"l{i + 1}", in_frame=f"l{i}", form=form)])
    return world


def numeric_jacobian(q, of, in_frame):
    world, columns = arm(), []
    world.set_joints(dict(zip(NAMES, q, strict=True)), at=0)
    T = world.pose(of=of, in_frame=in_frame, at=0).transform.inverse().matrix
    for i in range(3):
        ends = []
        for sign in (1, -1):
            world.set_joints(dict(zip(NAMES, q + sign * STEP * np.eye(3)[i], strict=True)), at=0)
            ends.append(log(T @ world.pose(of=of, in_frame=in_frame, at=0).transform.matrix))
        columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.transpose(columns)


class TestTheCovarianceOfAnArm:
    @given(angles, roots, st.sampled_from([("l4", "l0"), ("l1", "l4"), ("l4", "l2")]))
    def test_is_that_of_its_joints_seen_through_the_jacobian(self, q, root, frames):
        world, S = arm(), root @ root.T
        world.set_joints(dict(zip(NAMES, q, strict=True)), at=0, covariance=S)
        covariance = world.pose(of=frames[0], in_frame=frames[1], at=0).covariance
        J = numeric_jacobian(np.array(q), *frames)
        assert np.abs(covariance - J @ S @ J.T).max() < CLOSE_TO_NUMERIC
        assert_psd(covariance)

    @given(angles, roots, roots)
    def test_is_mixed_between_samples_and_held_after_them(self, q, first, second):
        world, mixed = arm(), arm()
        for at, root in ((0, first), (seconds(1), second)):
            world.set_joints(dict(zip(NAMES, q, strict=True)), at=at, covariance=root @ root.T)
        half = (first @ first.T + second @ second.T) / 2
        mixed.set_joints(dict(zip(NAMES, q, strict=True)), at=seconds(0.5), covariance=half)
        asked = {"of": "l4", "in_frame": "l0"}
        expected = mixed.pose(at=seconds(0.5), **asked).covariance
        assert_same_covariance(world.pose(at=seconds(0.5), **asked).covariance, expected)
        held = world.pose(at=seconds(9), outside="hold", **asked).covariance
        assert_same_covariance(held, world.pose(at=seconds(1), **asked).covariance)

    def test_grows_with_a_prediction(self):
        world, asked = arm(), {"of": "l4", "in_frame": "l0", "at": seconds(1.5), "outside": "predict"}
        for at in (0, seconds(1)):
            world.set_joints(dict.fromkeys(NAMES, 0.3), at=at, covariance=[0.01, 0.02, 0.03])
        there = world.pose(**asked).covariance - world.pose(of="l4", in_frame="l0", at=seconds(1)).covariance
        assert np.linalg.eigvalsh(there).min() > 0.0

    def test_is_unknown_where_that_of_one_joint_is(self):
        world = arm()
        world.set_joints({"a": 0.1, "b": 0.2}, at=0, covariance=[0.1, 0.2])
        world.set_joints({"c": 0.1}, at=0)
        assert world.pose(of="l4", in_frame="l0", at=0).covariance is None
        assert world.pose(of="l2", in_frame="l0", at=0).covariance is not None

    def test_adds_to_that_of_samples_and_of_fixed_poses(self):
        world = arm()
        world.fix(of="tool", in_frame="l1", transform=Transform.exp([1, 0, 0, 0, 0, 0]), covariance=0.01 * np.eye(6))
        world.set_joints({"a": 0.4}, at=0, covariance=[0.04])
        lever = np.array([0, 1.0, 0, 0, 0, 1.0])
        expected = 0.01 * np.eye(6) + 0.04 * np.outer(lever, lever)
        assert_same_covariance(world.pose(of="tool", in_frame="l0", at=0).covariance, expected)

    @pytest.mark.parametrize("wrong", [[0.1, -0.2], np.ones((3, 3)), [[1, 2], [2, 1]], "much", [np.nan, 1.0]])
    def test_is_refused_where_it_is_none(self, wrong):
        with pytest.raises(InvalidArgument, match="variances"):
            arm().set_joints({"a": 0.1, "b": 0.2}, at=0, covariance=wrong)
