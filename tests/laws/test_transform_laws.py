"""The algebra of `Transform` and `Rotation`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from armillary import Rotation, Transform
from armillary.errors import InvalidTransform
from strategies import (
    CLOSE_AT_GIMBAL_LOCK_RAD,
    CLOSE_M,
    CLOSE_RAD,
    angles,
    assert_close,
    assert_same_rotation,
    axes,
    floats,
    quaternions,
    rotation_vectors,
    rotations,
    tangents,
    transforms,
    vectors,
)

BEYOND_ROUNDING = 1e-12
CHAIN_LENGTH = 1000


def about(axis: int, angle: float) -> np.ndarray:
    """The textbook matrix of a turn about x (0), y (1) or z (2)."""
    c, s = math.cos(angle), math.sin(angle)
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


class TestComposition:
    @given(transforms(), transforms())
    def test_is_the_product_of_the_matrices(self, map_T_base, base_T_cup):
        assert_close(map_T_base @ base_T_cup, map_T_base.matrix @ base_T_cup.matrix)

    @given(transforms(), transforms(), transforms())
    def test_is_associative(self, a, b, c):
        assert_close((a @ b) @ c, a @ (b @ c))

    @given(transforms())
    def test_with_the_identity_changes_nothing(self, map_T_base):
        assert_close(map_T_base @ Transform.identity(), map_T_base)
        assert_close(Transform.identity() @ map_T_base, map_T_base)

    @given(rotations(), rotations())
    def test_of_rotations_is_the_product_of_the_matrices(self, map_R_base, base_R_cup):
        product = (map_R_base @ base_R_cup).matrix
        assert np.abs(product - map_R_base.matrix @ base_R_cup.matrix).max() < CLOSE_RAD

    @given(tangents(most=1.0))
    def test_repeated_a_thousand_times_stays_rigid(self, step):
        total, one_step = Transform.identity(), Transform.exp(step)
        for _ in range(CHAIN_LENGTH):
            total = total @ one_step
        R = total.rotation.matrix
        assert np.abs(R.T @ R - np.eye(3)).max() < CLOSE_RAD
        assert abs(np.linalg.norm(total.rotation.wxyz) - 1.0) < CLOSE_RAD


class TestTheInverse:
    @given(transforms())
    def test_undoes_a_transform_from_both_sides(self, map_T_base):
        assert_close(map_T_base @ map_T_base.inverse(), Transform.identity())
        assert_close(map_T_base.inverse() @ map_T_base, Transform.identity())

    @given(transforms())
    def test_of_the_inverse_is_the_transform(self, map_T_base):
        assert_close(map_T_base.inverse().inverse(), map_T_base)

    @given(transforms(), transforms())
    def test_of_a_product_is_the_product_of_the_inverses_turned_round(self, a, b):
        assert_close((a @ b).inverse(), b.inverse() @ a.inverse())

    @given(rotations())
    def test_of_a_rotation_is_its_transpose(self, map_R_base):
        assert np.abs(map_R_base.inverse().matrix - map_R_base.matrix.T).max() < CLOSE_RAD


class TestMappingPoints:
    @given(transforms(), vectors())
    def test_is_the_homogeneous_product(self, map_T_base, base_p):
        expected = (map_T_base.matrix @ [*base_p, 1.0])[:3]
        assert np.abs(map_T_base @ base_p - expected).max() < CLOSE_M

    @given(transforms(), st.lists(vectors(), min_size=1, max_size=5).map(np.array))
    def test_of_many_equals_mapping_one_by_one(self, map_T_base, base_points):
        mapped = map_T_base @ base_points
        assert mapped.shape == base_points.shape
        one_by_one = np.array([map_T_base @ base_p for base_p in base_points])
        assert np.abs(mapped - one_by_one).max() < CLOSE_M

    @given(transforms(), transforms(), vectors())
    def test_through_a_product_is_mapping_twice(self, a, b, point):
        assert np.abs((a @ b) @ point - a @ (b @ point)).max() < CLOSE_M * 10


class TestTheMatrixOfARotation:
    @given(rotations())
    def test_is_orthonormal_and_right_handed(self, map_R_base):
        R = map_R_base.matrix
        assert np.abs(R.T @ R - np.eye(3)).max() < BEYOND_ROUNDING
        assert np.linalg.det(R) > 0.0

    @given(rotations())
    def test_leads_back_to_the_rotation(self, map_R_base):
        assert_same_rotation(Rotation.from_matrix(map_R_base.matrix), map_R_base)

    @given(angles(), axes())
    def test_is_the_exponential_of_angle_times_axis(self, angle, axis):
        expected = reference.exp([0, 0, 0, *(angle * axis)])[:3, :3]
        assert np.abs(Rotation.exp(angle * axis).matrix - expected).max() < CLOSE_RAD


class TestAQuaternion:
    @given(quaternions())
    def test_and_its_negative_are_one_rotation(self, wxyz):
        assert_same_rotation(Rotation.from_wxyz(wxyz), Rotation.from_wxyz(-wxyz))

    @given(quaternions())
    def test_comes_back_up_to_its_sign(self, wxyz):
        stored = Rotation.from_wxyz(wxyz).wxyz
        assert min(np.abs(stored - wxyz).max(), np.abs(stored + wxyz).max()) < CLOSE_RAD

    @given(quaternions())
    def test_may_be_written_with_w_first_or_last(self, wxyz):
        rotation = Rotation.from_xyzw(np.roll(wxyz, -1))
        assert_same_rotation(rotation, Rotation.from_wxyz(wxyz))
        assert np.array_equal(rotation.xyzw, np.roll(rotation.wxyz, -1))

    @given(quaternions(), st.floats(0.996, 1.004))
    def test_slightly_off_is_normalised(self, wxyz, length):
        assert_same_rotation(Rotation.from_wxyz(wxyz * length), Rotation.from_wxyz(wxyz))

    @given(quaternions(), st.sampled_from([0.0, 0.9, 0.994, 1.006, 2.0]))
    def test_far_from_unit_length_is_refused(self, wxyz, length):
        with pytest.raises(InvalidTransform):
            Rotation.from_wxyz(wxyz * length)

    @given(quaternions(), st.integers(0, 3), st.sampled_from([math.nan, math.inf]))
    def test_that_is_not_finite_is_refused(self, wxyz, i, value):
        wxyz[i] = value
        with pytest.raises(InvalidTransform):
            Rotation.from_wxyz(wxyz)


class TestRollPitchYaw:
    @given(floats(math.pi), floats(math.pi), floats(math.pi))
    def test_turns_about_x_then_y_then_z_of_the_parent(self, roll, pitch, yaw):
        expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
        assert np.abs(Rotation.from_rpy((roll, pitch, yaw)).matrix - expected).max() < CLOSE_RAD

    @given(floats(math.pi), floats(math.pi / 2 - 1e-3), floats(math.pi))
    def test_comes_back_away_from_gimbal_lock(self, roll, pitch, yaw):
        rpy = np.array([roll, pitch, yaw])
        turns = (Rotation.from_rpy(rpy).rpy - rpy) / (2 * math.pi)
        assert np.abs(turns - np.round(turns)).max() < CLOSE_RAD * 100

    @given(rotations())
    def test_read_from_any_rotation_describes_that_rotation(self, map_R_base):
        again = Rotation.from_rpy(map_R_base.rpy)
        assert_same_rotation(again, map_R_base, within=CLOSE_AT_GIMBAL_LOCK_RAD)

    @given(floats(math.pi), floats(math.pi), st.sampled_from([-1.0, 1.0]))
    def test_describes_the_rotation_in_gimbal_lock_too(self, roll, yaw, sign):
        locked = Rotation.from_rpy((roll, sign * math.pi / 2, yaw))
        again = Rotation.from_rpy(locked.rpy)
        assert_same_rotation(again, locked, within=CLOSE_AT_GIMBAL_LOCK_RAD)


class TestTheFormsOfATransform:
    @given(transforms())
    def test_all_lead_back_to_it(self, map_T_base):
        xyz, rotation = map_T_base.translation, map_T_base.rotation
        assert_close(Transform.from_matrix(map_T_base.matrix), map_T_base)
        assert_close(Transform.from_xyz_wxyz(xyz=xyz, wxyz=rotation.wxyz), map_T_base)
        assert_close(Transform.from_xyz_xyzw(xyz=xyz, xyzw=rotation.xyzw), map_T_base)

    @given(vectors(), floats(math.pi), floats(math.pi), floats(math.pi))
    def test_from_angles_agrees_with_the_rotation_from_angles(self, xyz, roll, pitch, yaw):
        map_T_base = Transform.from_xyz_rpy(xyz=xyz, rpy=(roll, pitch, yaw))
        assert_same_rotation(map_T_base.rotation, Rotation.from_rpy((roll, pitch, yaw)))
        assert np.array_equal(map_T_base.translation, xyz)

    @given(transforms())
    def test_agree_with_one_another(self, map_T_base):
        matrix = map_T_base.matrix
        assert matrix.shape == (4, 4)
        assert np.array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0])
        assert np.array_equal(matrix[:3, 3], map_T_base.translation)
        assert np.array_equal(matrix[:3, :3], map_T_base.rotation.matrix)
        both = np.concatenate([map_T_base.translation, map_T_base.rotation.wxyz])
        assert np.array_equal(map_T_base.xyz_wxyz, both)

    @given(transforms(), st.sampled_from(["matrix", "translation", "xyz_wxyz"]))
    def test_cannot_be_written_to(self, map_T_base, form):
        with pytest.raises(ValueError, match="read-only"):
            getattr(map_T_base, form)[0] = 5.0

    @pytest.mark.parametrize(
        "R", [2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.zeros((3, 3)), np.full((3, 3), np.nan)]
    )
    def test_refuse_what_is_no_rotation(self, R):
        matrix = np.eye(4)
        matrix[:3, :3] = R
        with pytest.raises(InvalidTransform):
            Transform.from_matrix(matrix)


class TestTheLogarithm:
    @given(transforms())
    def test_is_undone_by_the_exponential_up_to_half_a_turn(self, map_T_base):
        assert_close(Transform.exp(map_T_base.log()), map_T_base)

    @given(tangents())
    def test_undoes_the_exponential(self, xi):
        assert np.abs(Transform.exp(xi).log() - xi).max() < CLOSE_M * 100

    @given(tangents(most=3.0))
    def test_agrees_with_the_reference(self, xi):
        T = Transform.exp(xi)
        assert_close(T, reference.exp(xi))
        assert np.abs(T.log() - reference.log(T.matrix)).max() < CLOSE_M

    @given(transforms())
    def test_never_turns_more_than_half_a_turn(self, map_T_base):
        assert np.linalg.norm(map_T_base.log()[3:]) <= math.pi + BEYOND_ROUNDING

    @given(axes(), vectors())
    def test_of_half_a_turn_has_length_pi(self, axis, xyz):
        T = Transform.from_xyz_wxyz(xyz=xyz, wxyz=(0.0, *axis))
        assert abs(np.linalg.norm(T.log()[3:]) - math.pi) < CLOSE_RAD
        assert_close(Transform.exp(T.log()), T)

    @given(axes(), st.sampled_from([1e-9, 1e-12, 1e-15]))
    def test_keeps_all_digits_of_a_tiny_turn(self, axis, angle):
        assert np.abs(Rotation.exp(angle * axis).log() - angle * axis).max() < angle * CLOSE_RAD

    @given(rotation_vectors())
    def test_of_a_rotation_is_the_turning_part(self, v):
        T = Transform.exp(np.concatenate([np.zeros(3), v]))
        assert np.abs(T.log()[3:] - Rotation.exp(v).log()).max() < CLOSE_RAD
        assert_same_rotation(Rotation.exp(Rotation.exp(v).log()), Rotation.exp(v))


class TestTheAdjoint:
    @given(transforms(), tangents(most=1.0))
    def test_carries_a_motion_into_the_other_frame(self, map_T_base, base_xi):
        expected = map_T_base @ Transform.exp(base_xi) @ map_T_base.inverse()
        assert_close(Transform.exp(map_T_base.adjoint @ base_xi), expected)

    @given(transforms(), transforms())
    def test_of_a_product_is_the_product_of_the_adjoints(self, a, b):
        assert np.abs((a @ b).adjoint - a.adjoint @ b.adjoint).max() < CLOSE_M * 100

    @given(transforms())
    def test_agrees_with_the_reference(self, map_T_base):
        expected = reference.adjoint(map_T_base.matrix)
        assert np.abs(map_T_base.adjoint - expected).max() < CLOSE_M


class TestCloseness:
    @given(transforms(), axes())
    def test_sees_turns_of_a_billionth_of_a_radian(self, map_T_base, axis):
        def turned(angle):
            return map_T_base @ Transform.exp([0, 0, 0, *(angle * axis)])

        assert map_T_base.is_close(turned(0.5e-9), m=1.0, rad=1e-9)
        assert not map_T_base.is_close(turned(2e-9), m=1.0, rad=1e-9)

    @given(transforms(), axes())
    def test_sees_a_shift(self, map_T_base, axis):
        def shifted(distance):
            return map_T_base @ Transform.exp([*(distance * axis), 0, 0, 0])

        assert map_T_base.is_close(shifted(0.5e-6), m=1e-6, rad=1e-9)
        assert not map_T_base.is_close(shifted(2e-6), m=1e-6, rad=1e-9)

    @given(quaternions())
    def test_does_not_depend_on_the_sign_of_the_quaternion(self, wxyz):
        rotation = Rotation.from_wxyz(wxyz)
        assert rotation.is_close(Rotation.from_wxyz(-wxyz), rad=CLOSE_RAD)
