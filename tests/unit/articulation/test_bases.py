"""Motion in a plane: planar joints, omnidirectional bases, differential drives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary.articulation.bases import DifferentialDrive, OmniBase, PlanarJoint
from armillary.errors import InvalidArgument
from strategies import axes

CLOSE_M = 1e-12


class TestAPlanarJoint:
    @given(axes(), st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))
    def test_stays_in_its_plane_and_turns_about_its_normal(self, normal, x, y, yaw):
        joint = PlanarJoint(variable="base", axis=tuple(normal))
        moved = joint.motion.evaluate(dict(zip(joint.variables, (x, y, yaw), strict=True)))
        assert abs(np.dot(normal, moved.translation)) < 1e-11
        np.testing.assert_allclose(moved.rotation.matrix @ normal, normal, atol=1e-12)
        assert math.hypot(*moved.translation) == pytest.approx(math.hypot(x, y), abs=1e-11)


class TestAnOmniBase:
    def test_limits_its_speed(self):
        base = OmniBase(variable="base", speed_limit_m_s=1.0, turn_limit_rad_s=2.0)
        x, y, yaw = (variable.velocity for variable in base.variables)
        assert base.constraints["speed_squared"].is_kept({x: 0.6, y: 0.8}, tolerance=1e-12)
        assert not base.constraints["speed_squared"].is_kept({x: 0.8, y: 0.8})
        assert not base.constraints["turn"].is_kept({yaw: -2.1})


RADIUS_M, DISTANCE_M = 0.06, 0.3748
SPEEDS = {
    "both": (5, 5),
    "right": (0, 5),
    "left": (5, 0),
    "back": (-5, -5),
    "right back": (0, -5),
    "left back": (-5, 0),
}


class TestADifferentialDrive:
    drive = DifferentialDrive(
        variable="base", wheel_radius_m=RADIUS_M, wheel_distance_m=DISTANCE_M, wheel_limit_rad_s=17.4
    )

    def velocity(self, yaw: float, left: float, right: float) -> np.ndarray:
        """Of the base, in its own frame."""
        values = dict(zip(self.drive.variables, (1.0, 2.0, yaw), strict=True))
        jacobian = self.drive.parent_T_child.body_jacobian(self.drive.wheels).evaluate(values)
        return jacobian @ [left, right]

    @pytest.mark.parametrize(("left", "right"), SPEEDS.values(), ids=SPEEDS)
    @pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
    def test_goes_where_its_wheels_turn(self, left, right, yaw):
        forward, turn = RADIUS_M / 2 * (left + right), RADIUS_M / DISTANCE_M * (right - left)
        np.testing.assert_allclose(self.velocity(yaw, left, right), [forward, 0, 0, 0, 0, turn], atol=CLOSE_M)

    def test_turns_left_when_the_right_wheel_is_faster(self):
        assert self.velocity(0.0, 0.0, 1.0)[5] > 0.0

    def test_moves_by_its_wheels_alone_in_a_world(self):
        form = self.drive.tape_form
        assert form.velocities == ("base/left_wheel", "base/right_wheel")
        assert form.positions == ("base/x", "base/y", "base/yaw")
        assert self.drive.closed_form is None

    def test_limits_its_wheels(self):
        left, _ = self.drive.wheels
        assert not self.drive.constraints["left_wheel"].is_kept({left: 18.0})

    @pytest.mark.parametrize(
        "wrong", [{"wheel_radius_m": 0.0}, {"wheel_distance_m": math.inf}, {"axis": (1.0, 0.0, 0.0)}]
    )
    def test_is_refused_where_it_could_not_drive(self, wrong):
        with pytest.raises(InvalidArgument):
            DifferentialDrive(**{"variable": "base", "wheel_radius_m": 0.1, "wheel_distance_m": 0.3, **wrong})
