"""Coordinates of every kind: kept as given, converted only on request, and there and back."""

from __future__ import annotations

import itertools
import math
import pickle
import sys
from unittest import mock

import numpy as np
import pytest

from armillary import Rotation, Transform, relations
from armillary.errors import InvalidArgument, MissingExtra, NotRepresentable, RepresentationDiffers
from armillary.relations import Orientation, Pose, Position, Twist, representations
from armillary.relations.representations import (
    HOMOGENEOUS_MATRIX,
    NATIVE,
    POSITION_QUATERNION,
    EulerAngles,
    HomogeneousMatrix,
    LinearAngular,
    PositionEuler,
    PositionQuaternion,
    Representation,
    RotationMatrix,
    position_euler,
)
from unit.kit import run_python
from unit.relations import kit

CLOSE = 1e-12
ORDERS = [a + b + c for a, b, c in itertools.product("XYZ", repeat=3) if b not in (a, c)]
CONVENTIONS = [f"{kind} {order}" for kind in ("intrinsic", "extrinsic") for order in ORDERS]
FREE = [POSITION_QUATERNION, position_euler("intrinsic ZYX"), position_euler("extrinsic ZXZ")]
NUMERIC = [NATIVE, HOMOGENEOUS_MATRIX, *FREE]
each_numeric = pytest.mark.parametrize("representation", NUMERIC, ids=lambda r: r.name)
LOCKED = [(0.3, math.pi / 2, 0.2), (0.3, -math.pi / 2, 0.2), (0.0, 0.0, 0.0), (0.7, math.pi, -0.4), (1e-9, 0.0, 1e-9)]


def of_scipy():
    pytest.importorskip("scipy")
    return representations.SCIPY


def of_pinocchio():
    pytest.importorskip("pinocchio")
    return representations.PINOCCHIO


class TestWhatIsGiven:
    def test_is_kept(self):
        coordinates = PositionEuler((1, 2, 3), (0.1, 0.2, 0.3), "intrinsic ZYX")
        assert kit.pose(transform=None, coordinates=coordinates).coordinates is coordinates
        assert kit.pose().coordinates == kit.SOME

    def test_as_a_matrix_is_a_homogeneous_matrix(self):
        given = kit.pose(transform=None, coordinates=kit.SOME.matrix)
        assert isinstance(given.coordinates, HomogeneousMatrix)
        assert np.array_equal(given.coordinates, kit.SOME.matrix)
        assert isinstance(kit.orientation(coordinates=np.eye(3)).coordinates, RotationMatrix)

    def test_may_be_of_any_type_that_has_the_methods(self):
        with pytest.raises(InvalidArgument, match="or a type that has representation, frame_form, position"):
            kit.pose(transform=None, coordinates=object())


@each_numeric
class TestEachRepresentation:
    def test_has_the_protocol(self, representation):
        assert isinstance(representation, Representation)

    def test_converts_there_and_back(self, representation):
        there = kit.pose().converted(representation)
        assert there.is_close(kit.pose(), m=CLOSE, rad=CLOSE)
        assert there.converted(NATIVE).is_close(kit.pose(), m=CLOSE, rad=CLOSE)
        assert kit.orientation().converted(representation).converted(NATIVE).is_close(kit.orientation(), rad=CLOSE)
        assert kit.position().converted(representation) == kit.position()
        assert kit.twist().converted(representation) == kit.twist()
        assert kit.wrench().converted(representation) == kit.wrench()

    def test_composes_and_inverts_like_the_native_one(self, representation):
        native = kit.pose(), Pose(of="cup", in_frame="base", reference_body="gun", transform=kit.OTHER)
        a, b = (pose.converted(representation) for pose in native)
        product = a @ b
        assert product.is_close(native[0] @ native[1], m=CLOSE, rad=CLOSE)
        assert type(product.coordinates) is type(a.coordinates)
        there_and_back = a @ a.inverse()
        assert np.abs(there_and_back.xyz).max() < CLOSE
        assert there_and_back.rotation.is_close(Rotation.identity(), rad=CLOSE)

    def test_survives_a_pickle(self, representation):
        pose = kit.pose().converted(representation)
        assert pickle.loads(pickle.dumps(pose)) == pose
        assert pose.coordinates == pickle.loads(pickle.dumps(pose.coordinates))
        assert hash(pose.coordinates) == hash(pickle.loads(pickle.dumps(pose.coordinates)))

    def test_does_not_mix_with_others(self, representation):
        other = NATIVE if representation is HOMOGENEOUS_MATRIX else HOMOGENEOUS_MATRIX
        with pytest.raises(RepresentationDiffers, match="converted"):
            kit.pose().converted(representation) @ kit.pose().inverse().converted(other)


@pytest.mark.parametrize("representation", FREE, ids=lambda r: r.name)
class TestFreeRepresentations:
    """The position is from `edge` to `tip`, along the axes of the map; the frames are elsewhere."""

    def free(self, representation):
        pose = Pose.from_parts(kit.free_pose().position, kit.free_pose().orientation)
        return pose.converted(representation)

    def test_move_the_point(self, representation):
        moved = self.free(representation).change_point(kit.position())
        assert moved.point == "tip"
        np.testing.assert_allclose(moved.xyz, kit.SOME.translation + np.array((1, 2, 3)), atol=CLOSE)

    def test_move_the_reference_point(self, representation):
        helper = Position(
            point="corner",
            body="table",
            reference_point="edge",
            reference_body="table",
            expressed_in="map",
            coordinates=(1, 0, 0),
        )
        moved = self.free(representation).change_reference_point(helper)
        assert moved.reference_point == "edge"
        np.testing.assert_allclose(moved.xyz, kit.SOME.translation + np.array((1, 0, 0)), atol=CLOSE)

    def test_change_the_axes(self, representation):
        helper = kit.orientation().converted(representation)
        turned = self.free(representation).change_orientation_frame(helper)
        assert turned.of == "tip"
        assert turned.rotation.is_close(kit.SOME.rotation @ kit.QUARTER, rad=CLOSE)

    def test_change_the_reference_axes(self, representation):
        helper = kit.orientation(of="corner", in_frame="edge", body="table", reference_body="table")
        turned = self.free(representation).change_reference_orientation_frame(helper.converted(representation))
        assert (turned.in_frame, turned.expressed_in) == ("edge", "map")
        assert turned.rotation.is_close(kit.QUARTER @ kit.SOME.rotation, rad=CLOSE)

    def test_change_the_axes_of_the_position(self, representation):
        turned = self.free(representation).change_coordinate_frame(kit.orientation(of="map", in_frame="sky"))
        assert turned.expressed_in == "sky"
        np.testing.assert_allclose(turned.xyz, kit.QUARTER @ kit.SOME.translation, atol=CLOSE)

    def test_invert_along_the_same_axes(self, representation):
        back = self.free(representation).inverse()
        assert (back.of, back.point, back.reference_point, back.expressed_in) == ("corner", "corner", "base", "map")
        np.testing.assert_allclose(back.xyz, -kit.SOME.translation, atol=CLOSE)

    def test_compose_along_equal_axes(self, representation):
        whole = self.free(representation) @ self.free(representation).inverse()
        np.testing.assert_allclose(whole.xyz, 0.0, atol=CLOSE)
        assert whole.expressed_in == "map"


class TestIndivisibleRepresentations:
    @pytest.mark.parametrize("representation", [NATIVE, HOMOGENEOUS_MATRIX], ids=lambda r: r.name)
    def test_move_nothing_alone(self, representation):
        pose = kit.pose().converted(representation)
        for call in (
            lambda: pose.change_point(kit.position(expressed_in="corner")),
            lambda: pose.change_coordinate_frame(kit.orientation(of="corner", in_frame="sky")),
            lambda: pose.change_orientation_frame(kit.orientation().converted(representation)),
        ):
            with pytest.raises(NotRepresentable, match="always have the points and axes of the two frames"):
                call()

    def test_cannot_be_made_of_other_points(self):
        with pytest.raises(NotRepresentable, match="point='tip'"):
            kit.pose(transform=None, coordinates=np.eye(4), point="tip")

    def test_move_a_whole_frame_by_composing(self):
        tip = Pose(of="tip", in_frame="base", body="gun", reference_body="gun", coordinates=kit.OTHER.matrix)
        whole = kit.pose().converted(HOMOGENEOUS_MATRIX) @ tip
        np.testing.assert_allclose(whole.coordinates, kit.SOME.matrix @ kit.OTHER.matrix, atol=CLOSE)


class TestEulerAngles:
    @pytest.mark.parametrize("convention", CONVENTIONS)
    @pytest.mark.parametrize("angles", [(0.3, -0.7, 1.9), *LOCKED])
    def test_go_there_and_back_in_every_convention(self, convention, angles):
        turn = EulerAngles(angles, convention).numbers()
        assert EulerAngles.from_rotation(turn, convention).numbers().is_close(turn, rad=CLOSE)

    def test_turn_about_axes_that_move_along_or_stand_still(self):
        yaw, pitch, roll = 0.3, -0.7, 1.9
        expected = Rotation.from_rpy((roll, pitch, yaw))
        assert EulerAngles((yaw, pitch, roll), "intrinsic ZYX").numbers().is_close(expected)
        assert EulerAngles((roll, pitch, yaw), "extrinsic XYZ").numbers().is_close(expected)

    def test_agree_with_scipy(self):
        foreign = pytest.importorskip("scipy.spatial.transform").Rotation
        for convention in CONVENTIONS:
            kind, order = convention.split()
            theirs = foreign.from_euler(order if kind == "intrinsic" else order.lower(), (0.3, -0.7, 1.9))
            ours = EulerAngles((0.3, -0.7, 1.9), convention).numbers()
            assert ours.is_close(Rotation.from_xyzw(theirs.as_quat()), rad=CLOSE)

    def test_are_kept_as_given(self):
        coordinates = PositionEuler((1, 2, 3), (7.0, 0.0, 0.0), "intrinsic ZYX")
        assert coordinates.angles.tolist() == [7.0, 0.0, 0.0]
        assert coordinates != PositionEuler((1, 2, 3), (7.0 - 2 * math.pi, 0.0, 0.0), "intrinsic ZYX")

    @pytest.mark.parametrize("convention", ["ZYX", "intrinsic", "intrinsic ZZX", "intrinsic zyx", "both ZYX", 5, ""])
    def test_without_a_convention_mean_nothing(self, convention):
        with pytest.raises(InvalidArgument, match="Pass 'intrinsic ZYX'"):
            PositionEuler((1, 2, 3), (0, 0, 0), convention)

    def test_of_two_conventions_do_not_mix(self):
        a = kit.pose().converted(position_euler("intrinsic ZYX"))
        with pytest.raises(RepresentationDiffers, match="PositionEuler of extrinsic XYZ"):
            a @ a.inverse().converted(position_euler("extrinsic XYZ"))


class TestScipy:
    def test_rotations_are_used_as_they_are(self):
        foreign = pytest.importorskip("scipy.spatial.transform").Rotation
        given = foreign.from_quat(kit.QUARTER.xyzw)
        turn = Orientation(of="tip", in_frame="base", coordinates=given)
        assert turn.coordinates is given
        twice = turn @ Orientation(of="end", in_frame="tip", coordinates=given)
        assert isinstance(twice.coordinates, foreign)
        assert twice.rotation.is_close(kit.QUARTER @ kit.QUARTER, rad=CLOSE)
        assert turn.inverse().inverse().is_close(turn, rad=CLOSE)
        assert pickle.loads(pickle.dumps(turn)) == turn

    def test_rotations_are_called_by_their_library_where_one_of_ours_is_meant(self):
        given = pytest.importorskip("scipy.spatial.transform").Rotation.identity()
        with pytest.raises(InvalidArgument, match="must be a Rotation, got a scipy Rotation"):
            Orientation(of="a", in_frame="b", rotation=given)

    def test_a_stack_of_rotations_is_refused(self):
        foreign = pytest.importorskip("scipy.spatial.transform").Rotation
        with pytest.raises(InvalidArgument, match="a stack of 2"):
            Orientation(of="tip", in_frame="base", coordinates=foreign.random(2))

    def test_poses_compose(self):
        scipy = of_scipy()
        a, b = kit.pose(), kit.pose().inverse()
        assert (a.converted(scipy) @ b.converted(scipy)).is_close(a @ b, m=CLOSE, rad=CLOSE)
        assert a.converted(scipy).change_point(kit.position(expressed_in="corner")).point == "tip"


class TestPinocchio:
    def test_poses_are_used_as_they_are(self):
        pinocchio = pytest.importorskip("pinocchio")
        given = pinocchio.SE3(kit.SOME.matrix)
        base = kit.pose(transform=None, coordinates=given)
        assert isinstance(base.coordinates, pinocchio.SE3)
        assert base.is_close(kit.pose(), m=CLOSE, rad=CLOSE)
        whole = base @ base.inverse()
        assert isinstance(whole.coordinates, pinocchio.SE3)
        assert np.abs(whole.coordinates.homogeneous - np.eye(4)).max() < CLOSE
        assert pickle.loads(pickle.dumps(base)) == base

    def test_poses_are_a_copy(self):
        pinocchio = pytest.importorskip("pinocchio")
        given = pinocchio.SE3(kit.SOME.matrix)
        base = kit.pose(transform=None, coordinates=given)
        given.translation = np.zeros(3)
        assert base.is_close(kit.pose(), m=CLOSE, rad=CLOSE)

    def test_motions_are_used_as_they_are(self):
        pinocchio = pytest.importorskip("pinocchio")
        given = pinocchio.Motion(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
        moving = Twist(point="base", reference_body="map", coordinates=given)
        assert isinstance((moving.inverse()).coordinates, pinocchio.Motion)
        assert moving.linear.tolist() == [1.0, 2.0, 3.0]
        with pytest.raises(RepresentationDiffers):
            Twist.zero(point="base", body="map", reference_body="sky", expressed_in="map") @ moving

    def test_other_points_are_refused(self):
        with pytest.raises(NotRepresentable, match="pinocchio's SE3"):
            kit.free_pose().converted(of_pinocchio())


class TestMatrices:
    """Numpy code keeps working on what a relation of matrices holds."""

    def test_are_read_like_arrays(self):
        pose = kit.pose(transform=None, coordinates=kit.SOME.matrix)
        assert pose.coordinates[:3, 3].tolist() == [1.0, 2.0, 3.0]
        assert pose.coordinates[0, 0] == kit.SOME.matrix[0, 0]
        assert pose.orientation.coordinates[2].tolist() == kit.SOME.matrix[2, :3].tolist()
        assert np.linalg.inv(pose.coordinates).shape == (4, 4)
        np.testing.assert_allclose(pose.coordinates @ np.ones(4), kit.SOME.matrix @ np.ones(4))

    def test_are_not_written(self):
        given = HomogeneousMatrix(np.eye(4))
        with pytest.raises(TypeError):
            given[0, 3] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            given[0][3] = 1.0


class TestOtherLibraries:
    def test_are_imported_only_when_used(self):
        result = run_python(
            "import sys, armillary.relations.representations\n"
            "print({'scipy', 'pinocchio', 'casadi'} & set(sys.modules))"
        )
        assert result.stdout.strip() == "set()", result.stderr

    @pytest.mark.parametrize(("name", "package"), [("SCIPY", "scipy"), ("PINOCCHIO", "pinocchio")])
    def test_that_are_missing_are_named(self, name, package, monkeypatch):
        module = {"SCIPY": "scipy_rotation", "PINOCCHIO": "pinocchio_se3"}[name]
        hidden = {package: None, f"{package}.spatial.transform": None, f"{representations.__name__}.{module}": None}
        monkeypatch.delattr(representations, name, raising=False)
        with mock.patch.dict(sys.modules, hidden), pytest.raises(MissingExtra, match=package):
            getattr(representations, name)

    def test_are_imported_beside_the_relations(self):
        assert relations.NATIVE is NATIVE
        assert relations.POSITION_QUATERNION is POSITION_QUATERNION
        assert relations.HOMOGENEOUS_MATRIX is HOMOGENEOUS_MATRIX
        assert relations.position_euler is position_euler

    def test_are_not_invented(self):
        with pytest.raises(AttributeError, match="QUATERNIONS"):
            _ = representations.QUATERNIONS


class TestTheSmallThings:
    def test_coordinates_are_frozen(self):
        for coordinates, field in (
            (PositionEuler((1, 2, 3), (0, 0, 0), "intrinsic ZYX"), "xyz"),
            (PositionQuaternion((1, 2, 3), Rotation.identity()), "xyz"),
            (HomogeneousMatrix(np.eye(4)), "matrix"),
            (LinearAngular(linear=(1, 2, 3), angular=(0, 0, 0)), "linear"),
        ):
            with pytest.raises(AttributeError):
                setattr(coordinates, field, 5)
            with pytest.raises(ValueError, match="read-only"):
                getattr(coordinates, field)[0] = 5

    def test_a_quaternion_is_no_four_numbers(self):
        with pytest.raises(InvalidArgument, match=r"Rotation\.from_wxyz"):
            PositionQuaternion((1, 2, 3), (1, 0, 0, 0))

    def test_a_free_pose_in_frame_form_has_a_transform(self):
        free = Pose(of="a", in_frame="b", coordinates=PositionQuaternion((1, 2, 3), kit.QUARTER))
        assert free.transform == Transform.from_rotation(kit.QUARTER, xyz=(1, 2, 3))
