"""The true motion of robot, door and cup: ten seconds forwards, then the same ten seconds backwards, repeated.

The robot drives to the cupboard and opens its door, takes the cup from the worktop, turns and puts it down on the
island. Then everything runs backwards. A phase is a time within the ten seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary import Transform
from armillary.demos.kitchen.kinematics import pan_tilt_rad
from armillary.demos.kitchen.names import (
    ARM,
    CUP_RADIUS_M,
    DOOR_JOINT,
    LIFT,
    MAP_T_CUP_FIRST,
    MAP_T_CUP_LAST,
    robot_joint,
    upright,
)
from armillary.demos.models import TRACK_M, WHEEL_RADIUS_M

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.demos.kitchen.kinematics import Kinematics

LENGTH_S = 10.0
STEP_S = 0.01
PHASES_S = np.arange(0.0, LENGTH_S + STEP_S / 2, STEP_S)
ARRIVE_S, TURN_S, TURNED_S, THERE_S = 2.8, 6.4, 8.1, 8.7
_CURVE_M = np.array([(1.75, -0.7), (1.6, -0.12), (1.65, 0.7), (1.3, 0.7)])  # the corners of a Bezier curve
_FORWARD_M = 0.15
OPENED_S, AT_CUP_S, GRASP_S, LIFTED_S, LOWER_S, DOWN_S, RELEASE_S, LET_GO_S = 4.4, 5.7, 5.9, 6.6, 8.1, 9.1, 9.2, 9.3
_DOOR_OPEN_RAD = 1.0
_LIFT_M = 0.35
_TUCKED = np.array([0.3, 1.2, 0.0, -1.9, 0.0, 0.8, 0.0])
_SHOULDER_AHEAD_M = 0.02
_BEYOND_CUP_M = 0.015  # the fingers reach a little further than the middle of the cup
_ARRIVED_S, _MOVES_ON_S = ARRIVE_S - STEP_S / 2, OPENED_S + STEP_S / 2
_ACTIVITIES = (
    # end of the phase, activity forwards, activity backwards
    (ARRIVE_S, "drives to the cupboard", "drives away"),
    (OPENED_S, "opens the cupboard", "closes the cupboard"),
    (GRASP_S, "reaches for the cup", "reaches for the cupboard"),
    (TURNED_S, "takes the cup and turns", "brings the cup back"),
    (RELEASE_S, "sets the cup down on the island", "takes the cup again"),
    (math.inf, "lets go", "reaches for the cup"),
)
_MAP_P_DOOR_EDGE = np.array([0.5, 0.75, 1.5])
_OPEN_M, _ON_DOOR_M, _ON_CUP_M = 0.045, 0.001, CUP_RADIUS_M - 0.009  # finger positions


def smooth(phases_s: ArrayLike, begin_s: float, end_s: float) -> NDArray[float64]:
    """Return a smooth step from 0 to 1 over an interval of the phase, with zero velocity at both ends."""
    share = np.clip((np.asarray(phases_s, dtype=float) - begin_s) / (end_s - begin_s), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def track(*knots: tuple[float, ArrayLike]) -> NDArray[float64]:
    """Interpolate smoothly between knots (phase, value) at every phase, shape (N, ...), with zero velocity at knots."""
    values = [np.asarray(value, dtype=float) for _, value in knots]
    result = np.broadcast_to(values[0], (len(PHASES_S), *values[0].shape)).copy()
    for (begin_s, _), (end_s, _), before, after in zip(knots, knots[1:], values, values[1:], strict=False):
        share = smooth(PHASES_S, begin_s, end_s).reshape(-1, *[1] * before.ndim)
        result += share * (after - before)
    return result


def at(phase_s: float, table: NDArray[float64]) -> NDArray[float64]:
    """Interpolate a table over all phases at one phase."""
    place = min(max(phase_s / STEP_S, 0.0), len(table) - 1.0)
    row = min(int(place), len(table) - 2)
    return np.asarray(table[row] + (place - row) * (table[row + 1] - table[row]))


def rates(table: NDArray[float64]) -> NDArray[float64]:
    """Return the derivative of a table, per second."""
    return np.asarray(np.gradient(table, STEP_S, axis=0))


def columns(names: Sequence[str], table: NDArray[float64]) -> dict[str, NDArray[float64]]:
    """Return the columns of a table by name."""
    return dict(zip(names, table.T, strict=True))


def base_track() -> NDArray[float64]:
    """Return x, y [m] and the heading [rad] of the robot on the map, shape (N, 3)."""
    u = smooth(PHASES_S, 0.0, ARRIVE_S)[:, None]
    weights = np.hstack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3])
    slopes = np.hstack([(1 - u) ** 2, 2 * u * (1 - u), u**2])
    ahead = slopes @ np.diff(_CURVE_M, axis=0)
    yaw = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0])) + math.pi * smooth(PHASES_S, TURN_S, TURNED_S)
    place = weights @ _CURVE_M
    place[:, 0] += _FORWARD_M * smooth(PHASES_S, TURNED_S, THERE_S)  # along the x axis of the map
    return np.column_stack([place, yaw])


def wheel_tracks(base: NDArray[float64]) -> NDArray[float64]:
    """Return the angles of the left and the right wheel [rad], shape (N, 2)."""
    dx, dy, turning = rates(base).T
    ahead = dx * np.cos(base[:, 2]) + dy * np.sin(base[:, 2])
    sides = np.column_stack([ahead - turning * TRACK_M / 2, ahead + turning * TRACK_M / 2])
    return np.asarray(np.cumsum(sides / WHEEL_RADIUS_M, axis=0) * STEP_S)


def door_track() -> NDArray[float64]:
    """Return the opening angle of the cupboard door [rad], shape (N,)."""
    return track((ARRIVE_S, 0.0), (OPENED_S, _DOOR_OPEN_RAD))


def lift_track() -> NDArray[float64]:
    """Return the height of the lift [m], shape (N,)."""
    return track((0.0, 0.2), (ARRIVE_S, _LIFT_M))


def map_T_door(angle_rad: float) -> Transform:
    """Return the pose of the cupboard door, whose origin is at its hinge."""
    return Transform.from_xyz_rpy(xyz=(0.35, 0.4, 1.45), rpy=(0.0, 0.0, -angle_rad))


def _door_T_tool() -> Transform:
    """Return the pose of the tool while two fingers hold the lower edge of the door."""
    lean = math.radians(40.0)
    sin, cos = math.sin(lean), math.cos(lean)
    matrix = np.eye(4)
    matrix[:3, :3] = [[-sin, cos, 0.0], [0.0, 0.0, 1.0], [cos, sin, 0.0]]
    matrix[:3, 3] = (0.01, 0.4, 0.03)
    return Transform.from_matrix(matrix)


@dataclass(frozen=True, slots=True)
class Postures:
    """Inverse kinematics of the arm for every phase.

    Attributes:
        robot: Kinematics of the robot.
        base: (N, 3) track of the base.
    """

    robot: Kinematics
    base: NDArray[float64]

    def arm_track(self) -> NDArray[float64]:
        """Return the joints of the arm, shape (N, 7) [rad]."""
        at_door = self._along_the_door()
        cup = self._at_cup(GRASP_S, MAP_T_CUP_FIRST, at_door[-1])
        raised = self._at_cup(GRASP_S, upright(0.0, 0.0, 0.12) @ MAP_T_CUP_FIRST, cup)
        down = self._at_cup(RELEASE_S, MAP_T_CUP_LAST, raised)
        back = self._at_cup(RELEASE_S, upright(-0.08, 0.0, 0.02) @ MAP_T_CUP_LAST, down)
        before = track((0.6, _TUCKED), (ARRIVE_S, at_door[0]))
        after = track(
            (OPENED_S, at_door[-1]),
            (AT_CUP_S, cup),
            (GRASP_S, cup),
            (LIFTED_S, raised),
            (LOWER_S, raised),
            (DOWN_S, down),
            (LET_GO_S, down),
            (LENGTH_S, back),
        )
        return np.vstack([before[PHASES_S < _ARRIVED_S], at_door, after[PHASES_S > _MOVES_ON_S]])

    def _along_the_door(self) -> NDArray[float64]:
        """Return the joints of the arm while the fingers hold the door, shape (M, 7)."""
        phases = PHASES_S[(PHASES_S > _ARRIVED_S) & (PHASES_S < _MOVES_ON_S)]
        angles, door_T_tool = door_track(), _door_T_tool()
        arm, rows = _TUCKED, []
        for phase_s in phases:
            map_T_tool = map_T_door(float(at(phase_s, angles))) @ door_T_tool
            arm = self.robot.reach(self._base_T_map(phase_s) @ map_T_tool, lift_m=_LIFT_M, start=arm)
            rows.append(arm)
        return np.array(rows)

    def _at_cup(self, phase_s: float, map_T_cup: Transform, start: NDArray[float64]) -> NDArray[float64]:
        """Return the joints of the arm with the fingers around the cup, straight ahead of the shoulder."""
        base_T_cup = self._base_T_map(phase_s) @ map_T_cup
        x_m, y_m, z_m = base_T_cup.translation
        yaw_rad = math.atan2(y_m, x_m - _SHOULDER_AHEAD_M)
        base_T_tool = upright(x_m, y_m, z_m, yaw_rad) @ upright(_BEYOND_CUP_M, 0.0, 0.0)
        return self.robot.reach(base_T_tool, lift_m=_LIFT_M, start=start)

    def _base_T_map(self, phase_s: float) -> Transform:
        x_m, y_m, yaw_rad = at(phase_s, self.base)
        return upright(x_m, y_m, 0.0, yaw_rad).inverse()


def phase_s(time_s: float) -> float:
    """Convert an instant to its phase: ten seconds forwards, then ten seconds backwards."""
    return LENGTH_S - abs(time_s % (2.0 * LENGTH_S) - LENGTH_S)


def runs_backwards(time_s: float) -> bool:
    """Whether the motion runs backwards at an instant."""
    return time_s % (2.0 * LENGTH_S) > LENGTH_S


def activity(time_s: float) -> str:
    """Describe the activity of the robot at an instant."""
    phase = phase_s(time_s)
    return next(back if runs_backwards(time_s) else there for until, there, back in _ACTIVITIES if phase < until)


class Scenario:
    """True motion of the robot, the door and the cup, by phase.

    Attributes:
        names: Names of the moving joints.

    Args:
        robot: Kinematics of the robot.
    """

    def __init__(self, robot: Kinematics) -> None:
        self._robot = robot
        self._base, self._lift_m = base_track(), lift_track()
        self._arms = Postures(robot, self._base).arm_track()
        self._tool_T_cup = self.map_T_tool(GRASP_S).inverse() @ MAP_T_CUP_FIRST
        table = self._joint_columns()
        self.names, self._joints = tuple(table), np.column_stack(list(table.values()))
        self._speeds = rates(self._joints)

    def map_T_base(self, phase: float) -> Transform:
        """Return the pose of the robot."""
        x_m, y_m, yaw_rad = at(phase, self._base)
        return upright(x_m, y_m, 0.0, yaw_rad)

    def map_T_tool(self, phase: float) -> Transform:
        """Return the pose of the gripper."""
        base_T_tool = self._robot.base_T_tool(float(at(phase, self._lift_m)), at(phase, self._arms))
        return self.map_T_base(phase) @ base_T_tool

    def map_T_cup(self, phase: float) -> Transform:
        """Return the pose of the cup: on the worktop, in the gripper, or on the island."""
        if phase < GRASP_S:
            return MAP_T_CUP_FIRST
        return self.map_T_tool(min(phase, RELEASE_S)) @ self._tool_T_cup

    def map_T_camera(self, phase: float) -> Transform:
        """Return the pose of the head camera."""
        return self.map_T_base(phase) @ self._robot.base_T_camera(self.joints(phase))

    def joints(self, phase: float) -> dict[str, float]:
        """Return the positions of all moving joints by their name in the world."""
        return dict(zip(self.names, at(phase, self._joints).tolist(), strict=True))

    def speeds(self, time_s: float) -> dict[str, float]:
        """Return the velocities of all moving joints at an instant."""
        speeds = at(phase_s(time_s), self._speeds) * (-1.0 if runs_backwards(time_s) else 1.0)
        return dict(zip(self.names, speeds.tolist(), strict=True))

    def _joint_columns(self) -> dict[str, NDArray[float64]]:
        fingers = _finger_track()
        robot = {
            **columns(("left_wheel", "right_wheel"), wheel_tracks(self._base)),
            LIFT: self._lift_m,
            "bellows": 0.5 * self._lift_m,
            **columns(("head_pan", "head_tilt"), self._head_track()),
            **columns(ARM, self._arms),
            "left_finger": fingers,
            "right_finger": fingers,
        }
        return {DOOR_JOINT: door_track()} | {robot_joint(name): column for name, column in robot.items()}

    def _head_track(self) -> NDArray[float64]:
        """Return pan and tilt, shape (N, 2): it looks at the cup, and between door and cup while the door moves."""
        at_door = 0.6 * (smooth(PHASES_S, 1.6, 2.6) - smooth(PHASES_S, OPENED_S, AT_CUP_S))
        rows = []
        for phase, share in zip(PHASES_S, at_door, strict=True):
            map_p_cup = self.map_T_cup(phase).translation
            map_p_target = map_p_cup + share * (_MAP_P_DOOR_EDGE - map_p_cup)
            rows.append(pan_tilt_rad(self.map_T_base(phase), float(at(phase, self._lift_m)), map_p_target))
        return np.array(rows)


def holds_cup(phase: float) -> bool:
    """Whether the gripper holds the cup."""
    return GRASP_S <= phase < RELEASE_S


def _finger_track() -> NDArray[float64]:
    return track(
        (ARRIVE_S - 0.3, _OPEN_M),
        (ARRIVE_S, _ON_DOOR_M),
        (OPENED_S, _ON_DOOR_M),
        (OPENED_S + 0.3, _OPEN_M),
        (AT_CUP_S, _OPEN_M),
        (GRASP_S, _ON_CUP_M),
        (RELEASE_S, _ON_CUP_M),
        (LET_GO_S, _OPEN_M),
    )
