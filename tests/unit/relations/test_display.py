"""What `print` shows: names and numbers. (`repr` shows names only: test_values.py.)"""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Rotation
from armillary.errors import InvalidArgument
from armillary.relations import (
    HOMOGENEOUS_MATRIX,
    POSITION_QUATERNION,
    Pose,
    Twist,
    position_euler,
    representations,
)
from armillary.relations.representations import (
    BodyTwist,
    EulerAngles,
    ForceTorque,
    HomogeneousMatrix,
    HybridTwist,
    LinearAngular,
    NumpyVector,
    PositionEuler,
    PositionQuaternion,
    RotationMatrix,
    SpatialTwist,
)
from unit.relations import kit

TURNED = kit.pose().converted(position_euler("intrinsic ZYX"))
MOTION = {"linear": (1.0, 0.0, 0.0), "angular": (0.0, 0.0, 0.5)}


def moving(kind, point, axes):
    return Twist(point=point, body="car", reference_body="map", expressed_in=axes, coordinates=kind(**MOTION))


class TestPrinting:
    @pytest.mark.parametrize(
        ("value", "numbers"),
        [
            (kit.position(), "(1, 2, 3) m"),
            (kit.orientation(), "rpy (0, 0, 1.5708) rad"),
            (kit.orientation().converted(position_euler("extrinsic XYZ")), "extrinsic XYZ (0, 0, 1.5708) rad"),
            (kit.pose(), "xyz (1, 2, 3) m, rpy (0.1, -0.2, 0.7) rad"),
            (
                kit.pose().converted(POSITION_QUATERNION),
                "position + quaternion, xyz (1, 2, 3) m, wxyz (0.931801, 0.0809044, -0.0766115, 0.345445)",
            ),
            (
                kit.pose().converted(HOMOGENEOUS_MATRIX),
                "homogeneous matrix, xyz (1, 2, 3) m, rpy (0.1, -0.2, 0.7) rad",
            ),
            (TURNED, "position + Euler angles, xyz (1, 2, 3) m, intrinsic ZYX (0.7, -0.2, 0.1) rad"),
            (kit.linear_velocity(), "(0.1, 0.2, 0.3) m/s"),
            (kit.angular_velocity(), "(0.5, -0.4, 0.3) rad/s"),
            (kit.twist(), "linear (0.1, 0.2, 0.3) m/s, angular (0.5, -0.4, 0.3) rad/s"),
            (moving(BodyTwist, "base", "base"), "body twist, linear (1, 0, 0) m/s, angular (0, 0, 0.5) rad/s"),
            (moving(SpatialTwist, "map", "map"), "spatial twist, linear (1, 0, 0) m/s, angular (0, 0, 0.5) rad/s"),
            (moving(HybridTwist, "base", "map"), "hybrid twist, linear (1, 0, 0) m/s, angular (0, 0, 0.5) rad/s"),
            (kit.force(), "(1, 2, 3) N"),
            (kit.torque(), "(4, 5, 6) N m"),
            (kit.wrench(), "force (1, 2, 3) N, torque (4, 5, 6) N m"),
            (kit.angular_acceleration(), "(0.7, 0.8, 0.9) rad/s^2"),
            (kit.linear_acceleration(), "(1, 2, 3) m/s^2"),
        ],
    )
    def test_shows_names_and_numbers(self, value, numbers):
        assert str(value) == f"{value!r}: {numbers}"

    def test_shows_six_digits(self):
        assert str(kit.position(coordinates=(1 / 3, 123456.789, 1e-5))).endswith(": (0.333333, 123457, 1e-05) m")

    def test_shows_rounding_noise_as_zero(self):
        turned = kit.position(coordinates=kit.QUARTER @ np.array((1.0, 0.0, -0.0)))
        assert str(turned).endswith(": (0, 1, 0) m")
        assert str(kit.orientation(coordinates=Rotation.from_rpy((1e-17, 0, -1e-17)))).endswith("rpy (0, 0, 0) rad")

    def test_keeps_what_is_small_as_a_whole(self):
        assert str(kit.position(coordinates=(1e-15, 0, -2e-15))).endswith(": (1e-15, 0, -2e-15) m")

    def test_names_the_libraries_of_others(self):
        pytest.importorskip("scipy")
        assert "scipy's Rotation, xyz (1, 2, 3) m, rpy (0.1, -0.2, 0.7)" in str(
            kit.pose().converted(representations.SCIPY)
        )


class TestTheReprOfCoordinates:
    @pytest.mark.parametrize(
        ("coordinates", "text"),
        [
            (
                PositionQuaternion((1, -0.0, 3), Rotation.identity()),
                "PositionQuaternion(xyz=[1.0, 0.0, 3.0], rotation=Rotation(rpy=(0, 0, 0)))",
            ),
            (
                PositionEuler((1, -0.0, 3), (0.1, -0.0, 0.3), "intrinsic ZYX"),
                "PositionEuler(xyz=[1.0, 0.0, 3.0], angles=[0.1, 0.0, 0.3], convention='intrinsic ZYX')",
            ),
            (EulerAngles((0.1, -0.0, 0.3), "intrinsic ZYX"), "EulerAngles([0.1, 0.0, 0.3], 'intrinsic ZYX')"),
            (
                BodyTwist(linear=(1, -0.0, 3), angular=(-0.0, 0, 0)),
                "BodyTwist(linear=[1.0, 0.0, 3.0], angular=[0.0, 0.0, 0.0])",
            ),
            (
                LinearAngular(linear=(1, 0, 3), angular=(-0.0, 0, 0)),
                "LinearAngular(linear=[1.0, 0.0, 3.0], angular=[0.0, 0.0, 0.0])",
            ),
            (
                ForceTorque(force=(1, -0.0, 3), torque=(0, 0, 0)),
                "ForceTorque(force=[1.0, 0.0, 3.0], torque=[0.0, 0.0, 0.0])",
            ),
            (RotationMatrix(np.diag((1.0, -1.0, -1.0)) * -0.0 + np.eye(3)), f"RotationMatrix({np.eye(3).tolist()})"),
            (HomogeneousMatrix(np.eye(4)), f"HomogeneousMatrix({np.eye(4).tolist()})"),
            (NumpyVector(np.array((1.0, -0.0, 2.0))), "NumpyVector([1.0, 0.0, 2.0])"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_is_tidy(self, coordinates, text):
        assert repr(coordinates) == text

    def test_can_be_written_back(self):
        given = PositionQuaternion(xyz=(1, 2, 3), rotation=kit.QUARTER)
        assert given == PositionQuaternion((1, 2, 3), kit.QUARTER)
        assert given == PositionQuaternion((1, 2, 3), quaternion=kit.QUARTER)

    def test_needs_one_rotation(self):
        with pytest.raises(InvalidArgument, match=r"PositionQuaternion\(xyz, rotation\)"):
            PositionQuaternion((1, 2, 3))

    def test_of_the_parts_is_readable(self):
        pose = Pose(of="a", in_frame="b", transform=kit.SOME)
        assert repr(pose.parts) == f"NativePose({kit.SOME!r})"
        assert repr(pose.parts.rotation) == f"NativeRotation({kit.SOME.rotation!r})"


class TestZero:
    """Nobody wants to read -0."""

    def test_stays_zero_when_turned_round(self):
        back = kit.position(coordinates=(0.0, 1.0, 0.0)).inverse()
        assert [math.copysign(1.0, x) for x in back.xyz] == [1.0, -1.0, 1.0]

    def test_stays_zero_at_another_point(self):
        still = kit.twist(linear=(0, 0, 0), angular=(-1.0, 0.0, 0.0)).change_point(kit.position(coordinates=(0, 0, 0)))
        assert "-0" not in f"{still.linear} {still}"
