"""Kinematics of the robot: forward and inverse for its arm, and the joints of its head that look at a point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from armillary import Transform
from armillary.articulation import position
from armillary.demos.kitchen.names import ARM, LIFT, robot_joint
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.articulation import ArticulationModel

# From base_link to head_pan with the lift down, and from there to head_tilt; as in the robot's description.
_BASE_P_PAN = (-0.05, 0.0, 0.98)
_PAN_P_TILT = (0.12, 0.0, 0.06)
_MOST_PAN_RAD = 1.4
_LEAST_TILT_RAD, _MOST_TILT_RAD = -0.6, 1.2
_MOST_STEPS = 300
_LONGEST_STEP_RAD = 0.2
_NEAR, _THERE = 1e-2, 1e-10  # m and rad that are missing
_DAMPING_FAR, _DAMPING_NEAR = 1e-2, 1e-6
_PULL = 0.1
_MARGIN_RAD = 0.02


def pan_tilt_rad(map_T_base: Transform, lift_m: float, map_p_target: tuple[float, float, float]) -> tuple[float, float]:
    """Return the joints of the head that point the camera at a position."""
    x, y, z = map_T_base.inverse() @ map_p_target
    x, y, z = x - _BASE_P_PAN[0], y - _BASE_P_PAN[1], z - _BASE_P_PAN[2] - lift_m
    pan = math.atan2(y, x)
    tilt = math.atan2(_PAN_P_TILT[2] - z, math.hypot(x, y) - _PAN_P_TILT[0])
    return (
        max(-_MOST_PAN_RAD, min(_MOST_PAN_RAD, pan)),
        max(_LEAST_TILT_RAD, min(_MOST_TILT_RAD, tilt)),
    )


class Kinematics:
    """Compiled kinematics of the robot: forward and inverse for the tool, forward for the camera.

    Args:
        model: Model that contains the robot at `robot`.
        limits: Limits by joint.
    """

    def __init__(self, model: ArticulationModel, limits: dict[str, tuple[float, float]]) -> None:
        joints = [position(robot_joint(name)) for name in (LIFT, *ARM)]
        tool = model.pose("robot/links/tool", in_frame="robot/links/base_link")
        self._tool = tool.compile(order=joints)
        self._jacobian = tool.body_jacobian(joints[1:]).compile(order=joints)
        self._camera_joints = [robot_joint(name) for name in (LIFT, "head_pan", "head_tilt")]
        camera = model.pose("robot/links/camera_optical", in_frame="robot/links/base_link")
        self._camera = camera.compile(order=[position(name) for name in self._camera_joints])
        self._limits = np.array([limits[robot_joint(name)] for name in ARM]).T

    def base_T_tool(self, lift_m: float, arm: NDArray[float64]) -> Transform:
        """Return the pose of the tool."""
        return Transform.from_matrix(self._tool([lift_m, *arm]))

    def base_T_camera(self, joints: Mapping[str, float]) -> Transform:
        """Return the pose of the head camera, for joints by their names in the world."""
        return Transform.from_matrix(self._camera([joints[name] for name in self._camera_joints]))

    def reach(self, base_T_tool: Transform, *, lift_m: float, start: NDArray[float64]) -> NDArray[float64]:
        """Return arm joints that bring the tool to a pose, near `start` as far as there is redundancy.

        Raises:
            InvalidArgument: The pose is out of reach.
        """
        arm = start.copy()
        for _ in range(_MOST_STEPS):
            missing = (self.base_T_tool(lift_m, arm).inverse() @ base_T_tool).log()
            far = float(np.abs(missing).max())
            if far < _THERE:
                return arm
            step = self._step(missing, lift_m, arm, start - arm)
            step *= min(1.0, _LONGEST_STEP_RAD / float(np.abs(step).max()))
            arm = np.clip(arm + step, self._limits[0] + _MARGIN_RAD, self._limits[1] - _MARGIN_RAD)
        raise InvalidArgument(f"The arm does not reach {base_T_tool}: {far:.2g} are missing. Drive nearer.")

    def _step(
        self, missing: NDArray[float64], lift_m: float, arm: NDArray[float64], homewards: NDArray[float64]
    ) -> NDArray[float64]:
        """Return a step of damped least squares; the null space pulls towards `homewards`."""
        is_far = np.abs(missing).max() > _NEAR
        damping = _DAMPING_FAR if is_far else _DAMPING_NEAR
        J = np.asarray(self._jacobian([lift_m, *arm])).reshape(6, len(ARM))
        inverse = J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(6))
        step = inverse @ missing
        return step + _PULL * (homewards - inverse @ (J @ homewards)) if is_far else step
