"""Laws of twists: forms, telescoping and integration, against derivatives of the poses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from armillary import Transform, seconds
from armillary.errors import InvalidArgument, NotRepresentable
from armillary.relations import AngularVelocity, LinearVelocity, Orientation, Pose, Position, Twist
from armillary.relations.representations import (
    HOMOGENEOUS_MATRIX,
    NATIVE,
    BodyTwist,
    HybridTwist,
    LinearAngular,
    ScrewTwist,
    SpatialTwist,
)
from randomness import examples
from strategies import CLOSE_M, assert_same_covariance, covariances, rotations, tangents, transforms, vectors

CLOSE = 1e-8
STEP_S = 1e-4
CLOSE_NUMERIC = 1e-5
PRINTED_DIGITS = 1e-9
FEWER = examples(20)
BODY = {"point": "c", "body": "c", "reference_body": "d", "expressed_in": "c"}


def pose(transform: Transform, **more) -> Pose:
    return Pose(of="c", in_frame="d", transform=transform, **more)


def body_twist(v: np.ndarray, **more) -> Twist:
    return Twist(**BODY, coordinates=BodyTwist(linear=v[:3], angular=v[3:]), **more)


def six(twist: Twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


def assert_close(actual: np.ndarray, expected: np.ndarray, within: float = CLOSE) -> None:
    np.testing.assert_allclose(actual, expected, atol=within * max(1.0, np.abs(expected).max()))


def derivative(T_of_t) -> np.ndarray:
    """The body twist of a motion at 0 s, by central differences."""
    return (T_of_t(0).inverse() @ T_of_t(STEP_S)).log() / (2 * STEP_S) - (
        T_of_t(0).inverse() @ T_of_t(-STEP_S)
    ).log() / (2 * STEP_S)


class TestTheFormsOfATwist:
    @given(transforms(), tangents())
    def test_are_joined_by_the_adjoint(self, T, v):
        twist = body_twist(v)
        assert_close(six(twist.to_spatial(pose(T))), T.adjoint @ v)
        assert_close(six(twist.to_hybrid(pose(T))), np.concatenate([T.rotation @ v[:3], T.rotation @ v[3:]]))

    @given(transforms(), tangents(), covariances())
    def test_come_back_with_their_uncertainty(self, T, v, C):
        twist = body_twist(v, covariance=C)
        spatial = twist.to_spatial(pose(T))
        assert_same_covariance(spatial.covariance, T.adjoint @ C @ T.adjoint.T)
        for form in (spatial, twist.to_hybrid(pose(T)), spatial.to_hybrid(pose(T))):
            again = form.to_body(pose(T))
            assert_close(six(again), v)
            assert_close(again.covariance, C)

    def test_are_named_after_their_point_and_axes(self):
        twist = body_twist(np.ones(6))
        at = pose(Transform.identity())
        forms = twist, twist.to_spatial(at), twist.to_hybrid(at)
        assert [(x.point, x.expressed_in) for x in forms] == [("c", "c"), ("d", "d"), ("c", "d")]
        assert [type(x.coordinates) for x in forms] == [BodyTwist, SpatialTwist, HybridTwist]
        assert ScrewTwist is BodyTwist

    def test_stay_hybrid_along_axes_of_the_reference_only(self):
        hybrid = body_twist(np.ones(6)).to_hybrid(pose(Transform.identity()))
        turn = Transform.identity().rotation
        on_d = Orientation(of="d", in_frame="d2", body="d", reference_body="d", coordinates=turn)
        assert isinstance(hybrid.change_coordinate_frame(on_d).coordinates, HybridTwist)
        on_sky = Orientation(of="d", in_frame="sky", coordinates=turn)
        for elsewhere in (on_sky, pose(Transform.identity()).inverse().orientation):
            with pytest.raises(NotRepresentable, match="a hybrid twist"):
                hybrid.change_coordinate_frame(elsewhere)

    @given(transforms(), tangents())
    @FEWER
    def test_swap_in_the_inverse_motion(self, T, v):
        """The inverse of the body twist is the spatial twist of the inverse motion."""
        back = body_twist(v).inverse()
        assert isinstance(back.coordinates, SpatialTwist)
        of_back = derivative(lambda t: (T @ Transform.exp(t * v)).inverse())
        assert_close(six(back.to_body(pose(T).inverse())), of_back, CLOSE_NUMERIC)


class TestTwists:
    @given(transforms(), transforms(), tangents(), tangents())
    @FEWER
    def test_telescope_to_the_derivative_of_the_chain(self, T, U, v, w):
        """d moves in e by T exp(tv), c in d by U exp(tw): c in e by the product."""
        d_in_e = Twist(point="d", reference_body="e", expressed_in="d", linear=v[:3], angular=v[3:])
        c_in_d = body_twist(w).converted(NATIVE)
        c_from_d = Position(point="c", body="d", reference_point="d", reference_body="d", coordinates=U.translation)
        d_axes = Orientation(of="d", in_frame="c", coordinates=U.rotation.inverse())
        at_c = d_in_e.change_point(c_from_d).change_coordinate_frame(d_axes)
        whole = at_c @ c_in_d
        assert (whole.point, whole.body, whole.reference_body, whole.expressed_in) == ("c", "c", "e", "c")
        expected = derivative(lambda t: T @ Transform.exp(t * v) @ U @ Transform.exp(t * w))
        assert_close(six(whole), expected, CLOSE_NUMERIC)

    @given(tangents(), vectors(), rotations(), covariances())
    def test_come_back_from_another_point_and_other_axes(self, v, arm, turn, C):
        twist = Twist(point="a", body="c", reference_body="d", linear=v[:3], angular=v[3:], covariance=C)
        names = {"body": "c", "reference_body": "c", "expressed_in": "d"}
        there = Position(point="b", reference_point="a", coordinates=arm, **names)
        again = twist.change_point(there).change_point(there.inverse())
        assert again.is_close(twist, m=1e-6)
        assert_close(again.covariance, C, 1e-6)
        axes = Orientation(of="d", in_frame="e", coordinates=turn)
        turned = twist.change_coordinate_frame(axes).change_coordinate_frame(axes.inverse())
        assert turned.is_close(twist, m=CLOSE)

    @given(tangents(), vectors(), covariances())
    def test_move_their_uncertainty_along(self, v, arm, C):
        twist = Twist(point="a", body="c", reference_body="d", linear=v[:3], angular=v[3:], covariance=C)
        names = {"body": "c", "reference_body": "c", "expressed_in": "d"}
        there = Position(point="b", reference_point="a", coordinates=arm, **names)
        moved = twist.change_point(there)
        columns = []
        for e in np.eye(6):
            pushed = Twist(point="a", body="c", reference_body="d", linear=v[:3] + e[:3], angular=v[3:] + e[3:])
            columns.append(six(pushed.change_point(there)) - six(moved))
        J = np.column_stack(columns)
        assert_close(moved.covariance, J @ C @ J.T, 1e-6)

    @given(tangents(), vectors())
    def test_move_like_their_parts(self, v, arm):
        twist = Twist(point="a", body="c", reference_body="d", linear=v[:3], angular=v[3:])
        names = {"body": "c", "reference_body": "c", "expressed_in": "d"}
        there = Position(point="b", reference_point="a", coordinates=arm, **names)
        line = twist.velocity.change_point(there, angular_velocity=twist.angular_velocity)
        assert Twist.from_parts(line, twist.angular_velocity) == twist.change_point(there)

    @given(tangents(), tangents(), covariances(), covariances())
    def test_add_their_parts_and_uncertainty(self, v, w, C, D):
        first = Twist(point="c", body="d", reference_body="e", linear=v[:3], angular=v[3:], covariance=C)
        second = Twist(
            point="c", reference_body="d", expressed_in="e", linear=w[:3], angular=w[3:], covariance=D, method="joints"
        )
        whole = first @ second
        assert whole.velocity == first.velocity @ second.velocity
        assert whole.angular_velocity == first.angular_velocity @ second.angular_velocity
        assert_same_covariance(whole.covariance, C + D)
        assert whole.method == "mixed"
        assert (whole @ whole.inverse()._replace(point="c")).is_close(
            Twist.zero(point="c", body="e", reference_body="e")
        )

    def test_keep_the_form_that_the_sum_has(self):
        still = {"linear": (0, 0, 0), "angular": (0, 0, 0)}
        moving = {"point": "c", "reference_body": "d", "expressed_in": "c"}
        first = Twist(**(moving | {"body": "d", "reference_body": "e"}), coordinates=LinearAngular(**still))
        assert isinstance((first @ Twist(**moving, coordinates=BodyTwist(**still))).coordinates, BodyTwist)
        assert isinstance((first @ Twist(**moving, coordinates=SpatialTwist(**still))).coordinates, LinearAngular)


class TestVelocities:
    @given(vectors(), vectors())
    def test_are_negated_seen_from_the_other_side(self, v, w):
        line = LinearVelocity(point="a", body="c", reference_body="d", coordinates=v)
        assert line.inverse() == LinearVelocity(
            point="a", body="d", reference_body="c", expressed_in="d", coordinates=-v
        )
        turn = AngularVelocity(body="c", reference_body="d", coordinates=w)
        assert turn.inverse().inverse() == turn


class TestIntegration:
    @given(transforms(), tangents(most=1.5))
    def test_is_undone_by_differentiation(self, T, v):
        later = body_twist(v).integrate(pose(T), 0.5)
        again = Twist.between(pose(T), later, duration_s=0.5)
        assert again.method == "differentiated"
        assert_close(six(again), v)
        assert body_twist(v).integrate(later, -0.5).is_close(pose(T), m=10 * CLOSE_M, rad=CLOSE)

    @given(transforms(), tangents())
    @FEWER
    def test_does_not_depend_on_the_representation(self, T, v):
        matrix = pose(T).converted(HOMOGENEOUS_MATRIX)
        later = body_twist(v).integrate(matrix, 0.3)
        assert type(later.coordinates) is type(matrix.coordinates)
        assert later.is_close(body_twist(v).integrate(pose(T), 0.3), m=10 * CLOSE_M)

    @given(transforms(), tangents(most=2.0), covariances(), covariances())
    @FEWER
    def test_grows_the_covariance_as_the_oracle_says(self, T, v, C, D):
        later = body_twist(v, covariance=D).integrate(pose(T, covariance=C), 0.7)
        mean = later.transform.inverse()

        def moved(x, y):
            return (mean @ T @ Transform.exp(x) @ Transform.exp(0.7 * (v + y))).log()

        h = 1e-5
        A = np.column_stack([(moved(h * e, 0 * e) - moved(-h * e, 0 * e)) / (2 * h) for e in np.eye(6)])
        B = np.column_stack([(moved(0 * e, h * e) - moved(0 * e, -h * e)) / (2 * h) for e in np.eye(6)])
        assert_close(later.covariance, A @ C @ A.T + B @ D @ B.T, 1e-6)

    @given(transforms(), tangents(most=2.0), covariances(), covariances())
    @FEWER
    def test_of_two_uncertain_poses_is_as_uncertain_as_the_oracle_says(self, T, v, C, D):
        later = pose(T @ Transform.exp(v), covariance=D)
        twist = Twist.between(pose(T, covariance=C), later, duration_s=0.5)

        def rate(x, y):
            return ((T @ Transform.exp(x)).inverse() @ T @ Transform.exp(v) @ Transform.exp(y)).log() / 0.5

        h = 1e-5
        A = np.column_stack([(rate(h * e, 0 * e) - rate(-h * e, 0 * e)) / (2 * h) for e in np.eye(6)])
        B = np.column_stack([(rate(0 * e, h * e) - rate(0 * e, -h * e)) / (2 * h) for e in np.eye(6)])
        assert_close(twist.covariance, A @ C @ A.T + B @ D @ B.T, 1e-6)

    @given(transforms(), tangents(), covariances(), covariances())
    @FEWER
    def test_takes_a_twist_of_any_form(self, T, v, C, D):
        start, given = pose(T, covariance=C), body_twist(v, covariance=D)
        expected = given.integrate(start, 0.3)
        exact = pose(T, covariance=np.zeros((6, 6)))  # else the error of the pose would count there and back
        for other in (given.converted(NATIVE), given.to_spatial(exact), given.to_hybrid(exact)):
            later = other.integrate(start, 0.3)
            assert later.is_close(expected, m=1e-6, rad=1e-6)
            assert_close(later.covariance, expected.covariance, 1e-6)

    def test_of_two_poses_can_be_moved_on(self):
        T = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
        twist = Twist.between(pose(T), pose(T @ Transform.exp((0, 0, 0, 0, 0, 0.2))), duration_s=0.1)
        assert isinstance(twist.coordinates, LinearAngular)
        assert twist.point == twist.expressed_in
        arm = Position.within(twist.body, point="rim", reference_point=twist.point, xyz=(0.5, 0, 0))
        assert_close(twist.change_point(arm).linear, np.array([0.0, 1.0, 0.0]))

    def test_carries_the_stamp_along(self):
        still = pose(Transform.identity(), stamp=seconds(1))
        later = body_twist(np.zeros(6)).integrate(still, 0.5)
        assert later.stamp == seconds(1.5)
        twist = Twist.between(still, later)
        assert (twist.stamp, twist.linear.tolist()) == (seconds(1.25), [0.0, 0.0, 0.0])

    @pytest.mark.parametrize("duration_s", [None, 0.0, math.nan, math.inf, "1"])
    def test_needs_some_time(self, duration_s):
        with pytest.raises(InvalidArgument, match=r"duration_s|stamps"):
            Twist.between(pose(Transform.identity()), pose(Transform.identity()), duration_s=duration_s)


class TestTheSprayGun:
    """Numbers of the paper (spec B5), to the printed digits."""

    o1_in_c = Pose(
        of="o1", in_frame="c", transform=Transform.from_xyz_rpy(xyz=(0.1, -0.2, 0.7), rpy=(0, 0, math.pi / 6))
    )
    given = Twist(point="o1", reference_body="c", linear=(0.2, 0.1, 0.1), angular=(0.05, 0.1, 0.2))

    def test_has_this_body_twist(self):
        stored = self.given.to_body(self.o1_in_c)
        assert_close(stored.linear, np.array([0.223205081, -0.013397460, 0.1]), PRINTED_DIGITS)
        assert_close(stored.angular, np.array([0.093301270, 0.061602540, 0.2]), PRINTED_DIGITS)

    def test_is_here_a_tenth_of_a_second_later(self):
        stored = self.given.to_body(self.o1_in_c)
        later = stored.integrate(self.o1_in_c, 0.1)
        assert_close(later.xyz, np.array([0.119948586, -0.189825216, 0.709925462]), PRINTED_DIGITS)
        row = np.array([0.855822281, -0.517172348, 0.010049123])
        assert_close(later.rotation.matrix[0], row, PRINTED_DIGITS)
        assert Twist.between(self.o1_in_c, later, duration_s=0.1).is_close(stored, m=1e-12, rad=1e-12)
