"""Laws of positions, orientations and poses, in every representation, with uncertainty against a numeric oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from armillary import Rotation, Transform
from armillary.relations import Orientation, Pose, Position, compose_any
from armillary.relations.representations import (
    HOMOGENEOUS_MATRIX,
    NATIVE,
    POSITION_QUATERNION,
    position_euler,
)
from armillary.transforms import HeldSample
from randomness import examples
from strategies import CLOSE_M, CLOSE_RAD, assert_same_covariance, covariances, rotations, transforms, vectors

REPRESENTATIONS = st.sampled_from(
    [NATIVE, POSITION_QUATERNION, HOMOGENEOUS_MATRIX, position_euler("intrinsic ZYX"), position_euler("extrinsic ZXZ")]
)
FEWER = examples(20)
OLD = HeldSample(relation=("c", "b", ""), age_s=2.0)
STEP = 1e-5  # of the central differences
CLOSE_NUMERIC = 1e-6


def pose(of: str, in_frame: str, transform: Transform, **more) -> Pose:
    """Each frame on a body of its own name."""
    return Pose(of=of, in_frame=in_frame, transform=transform, **more)


def exp(v: np.ndarray) -> np.ndarray:
    return reference.exp(v)


def log(matrix: np.ndarray) -> np.ndarray:
    """Of a motion so small that the first order is all there is."""
    W = 0.5 * (matrix[:3, :3] - matrix[:3, :3].T)
    return np.array([*matrix[:3, 3], W[2, 1], W[0, 2], W[1, 0]])


def jacobian(motion) -> np.ndarray:
    """Of a motion under small tangents, in the tangent of its own target, by central differences."""
    back = np.linalg.inv(motion(np.zeros(6)))
    columns = [log(back @ motion(STEP * e)) - log(back @ motion(-STEP * e)) for e in np.eye(6)]
    return np.column_stack(columns) / (2 * STEP)


def assert_close_covariance(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, atol=CLOSE_NUMERIC * max(1.0, np.abs(expected).max()))


class TestPositions:
    @given(vectors(), vectors(), vectors())
    def test_add_up_whatever_the_brackets(self, u, v, w):
        b, c, d = (
            Position(point=end, reference_point=start, expressed_in="map", coordinates=x)
            for end, start, x in (("b", "a", u), ("c", "b", v), ("d", "c", w))
        )
        assert ((b @ c) @ d).is_close(b @ (c @ d))
        np.testing.assert_allclose((b @ c @ d).xyz, u + v + w, atol=CLOSE_M)

    @given(vectors(), rotations())
    def test_come_back_from_other_axes(self, v, turn):
        tip = Position(point="tip", reference_point="base", expressed_in="map", coordinates=v)
        there = Orientation(of="map", in_frame="sky", coordinates=turn)
        assert tip.change_coordinate_frame(there).change_coordinate_frame(there.inverse()).is_close(tip)

    @given(vectors(), vectors())
    def test_move_their_ends_like_a_composition(self, v, w):
        tip = Position(point="tip", body="gun", reference_point="base", expressed_in="map", coordinates=v)
        end = Position(
            point="end",
            body="gun",
            reference_point="tip",
            reference_body="gun",
            expressed_in="map",
            coordinates=w,
        )
        assert tip.change_point(end) == tip @ end
        assert tip.inverse().change_reference_point(end.inverse()) == end.inverse() @ tip.inverse()


class TestOrientations:
    @given(rotations(), rotations())
    def test_compose_and_are_undone(self, R, S):
        a = Orientation(of="b", in_frame="a", coordinates=R)
        b = Orientation(of="c", in_frame="b", coordinates=S)
        assert (a @ b).rotation.is_close(R @ S)
        assert (a @ b).inverse().is_close(b.inverse() @ a.inverse())

    @given(rotations(), rotations())
    def test_change_their_frames_like_a_composition(self, R, S):
        turned = Orientation(of="b", body="gun", in_frame="a", coordinates=R)
        helper = Orientation(of="c", body="gun", in_frame="b", reference_body="gun", coordinates=S)
        assert turned.change_orientation_frame(helper) == turned @ helper
        back = turned.inverse()
        assert back.change_reference_orientation_frame(helper.inverse()) == helper.inverse() @ back


class TestPoses:
    @given(transforms(), transforms(), transforms(), REPRESENTATIONS)
    @FEWER
    def test_chain_whatever_the_brackets(self, T, U, V, representation):
        a, b, c = (
            pose(of, in_frame, x).converted(representation)
            for of, in_frame, x in (("b", "a", T), ("c", "b", U), ("d", "c", V))
        )
        whole = pose("d", "a", T @ U @ V)
        assert ((a @ b) @ c).is_close(whole, m=10 * CLOSE_M, rad=10 * CLOSE_RAD)
        assert (a @ (b @ c)).is_close(whole, m=10 * CLOSE_M, rad=10 * CLOSE_RAD)

    @given(transforms(), REPRESENTATIONS)
    def test_are_undone_by_the_inverse(self, T, representation):
        there = pose("b", "a", T).converted(representation)
        whole = there @ there.inverse()
        assert (whole.of, whole.in_frame, whole.body, whole.reference_body) == ("a", "a", "a", "a")
        np.testing.assert_allclose(whole.xyz, 0.0, atol=10 * CLOSE_M)
        assert whole.rotation.is_close(Rotation.identity(), rad=CLOSE_RAD)

    @given(transforms(), REPRESENTATIONS, REPRESENTATIONS)
    def test_convert_there_and_back(self, T, first, second):
        given_pose = pose("b", "a", T)
        assert given_pose.converted(first).converted(second).converted(NATIVE).is_close(given_pose)

    @given(transforms(), transforms())
    def test_compose_in_either_order_when_asked(self, T, U):
        a, b = pose("b", "a", T), pose("c", "b", U)
        assert compose_any(a, b) == compose_any(b, a) == a @ b

    @given(transforms(), REPRESENTATIONS)
    def test_are_their_parts(self, T, representation):
        whole = pose("b", "a", T).converted(representation)
        again = Pose.from_parts(whole.position, whole.orientation, representation=representation)
        assert again.is_close(whole, m=CLOSE_M, rad=CLOSE_RAD)
        assert type(again.coordinates) is type(whole.coordinates)


class TestTheCovarianceOfPoses:
    @given(transforms(), covariances())
    def test_of_an_inverse_is_that_of_the_oracle(self, T, C):
        J = jacobian(lambda x: np.linalg.inv(T.matrix @ exp(x)))
        assert_close_covariance(pose("b", "a", T, covariance=C).inverse().covariance, J @ C @ J.T)

    @given(transforms(), covariances(), transforms(), covariances())
    def test_of_a_chain_is_that_of_the_oracle(self, T, C, U, D):
        J = jacobian(lambda x: T.matrix @ exp(x) @ U.matrix)
        chain = pose("b", "a", T, covariance=C) @ pose("c", "b", U, covariance=D)
        assert_close_covariance(chain.covariance, J @ C @ J.T + D)

    @given(transforms(), covariances(), transforms(), covariances())
    @FEWER
    def test_does_not_depend_on_the_representation(self, T, C, U, D):
        a, b = pose("b", "a", T, covariance=C), pose("c", "b", U, covariance=D)
        free = a.converted(POSITION_QUATERNION) @ b.converted(POSITION_QUATERNION)
        assert_same_covariance(free.covariance, (a @ b).covariance)
        assert_same_covariance(a.converted(POSITION_QUATERNION).inverse().covariance, a.inverse().covariance)

    @given(transforms(), covariances(), vectors(), rotations())
    @FEWER
    def test_follows_a_frame_of_the_body(self, T, C, arm, turn):
        """Point and axes changed one after the other are one exact step of the chain."""
        whole = pose("b", "a", T, covariance=C).converted(POSITION_QUATERNION)
        place = Position(point="c", body="b", reference_point="b", reference_body="b", coordinates=arm)
        place = place.change_coordinate_frame(whole.orientation)
        axes = Orientation(of="c", body="b", in_frame="b", reference_body="b", coordinates=turn)
        moved = whole.change_point(place).change_orientation_frame(axes)
        step = Pose(
            of="c",
            in_frame="b",
            body="b",
            reference_body="b",
            transform=Transform.from_rotation(turn, xyz=arm),
            covariance=np.zeros((6, 6)),
        )
        exact = pose("b", "a", T, covariance=C) @ step
        assert moved.is_close(exact, m=10 * CLOSE_M)
        assert_same_covariance(moved.covariance, exact.covariance)

    def test_is_unknown_where_something_is(self):
        known = pose("b", "a", Transform.identity(), covariance=np.eye(6))
        assert (known @ pose("c", "b", Transform.identity())).covariance is None
        assert pose("b", "a", Transform.identity()).inverse().covariance is None

    def test_is_unknown_where_both_come_from_one_relation(self):
        measured = pose("b", "a", Transform.identity(), covariance=np.eye(6), relations=(("b", "a", ""),))
        assert (measured @ measured.inverse()).covariance is None

    def test_is_unknown_along_axes_that_nobody_placed(self):
        far = pose("b", "a", Transform.identity(), covariance=np.eye(6)).converted(POSITION_QUATERNION)
        sky = far.change_coordinate_frame(Orientation(of="a", in_frame="sky", coordinates=Rotation.identity()))
        assert sky.covariance is not None
        assert sky.inverse().covariance is None


class TestWhatIsKnownOfItsOrigin:
    def test_is_kept_along_a_chain(self):
        first = pose("b", "a", Transform.identity(), stamp=5, relations=(("b", "a", "left"),))
        second = pose("c", "b", Transform.identity(), held=(OLD,), relations=(("c", "b", ""),))
        chain = first @ second
        assert (chain.stamp, chain.held, chain.predicted, chain.method) == (5, (OLD,), False, "held")
        assert chain.relations == (("c", "b", ""), ("b", "a", "left"))
        assert chain.inverse().stamp == 5

    @pytest.mark.parametrize(
        ("first", "second", "expected"), [(None, None, None), (None, 3, 3), (3, None, 3), (3, 3, 3)]
    )
    def test_has_the_one_stamp_there_is(self, first, second, expected):
        chain = pose("b", "a", Transform.identity(), stamp=first) @ pose("c", "b", Transform.identity(), stamp=second)
        assert chain.stamp == expected
