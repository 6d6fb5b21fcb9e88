"""What truly happens: ten seconds there, and the same ten seconds back, again and again.

The robot drives to the cupboard and opens its door, takes the cup from the worktop, turns and sets it down on the
island. Then everything runs backwards. A phase is where in the ten seconds an instant is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from armillary.cli._kitchen.driving import ARRIVE_S, TURNED_S, base_track, wheel_tracks
from armillary.cli._kitchen.gaze import pan_tilt_rad
from armillary.cli._kitchen.names import ARM, CUP_RADIUS_M, DOOR_JOINT, LIFT, MAP_T_CUP_FIRST, robot_joint, upright
from armillary.cli._kitchen.postures import (
    AT_CUP_S,
    GRASP_S,
    LET_GO_S,
    OPENED_S,
    RELEASE_S,
    Postures,
    door_track,
    lift_track,
)
from armillary.cli._kitchen.tracks import LENGTH_S, PHASES_S, at, columns, rates, smooth, track

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary import Transform
    from armillary.cli._kitchen.kinematics import Kinematics

_CHAPTERS = (
    # until when, what the robot does there, and on the way back
    (ARRIVE_S, "drives to the cupboard", "drives away"),
    (OPENED_S, "opens the cupboard", "closes the cupboard"),
    (GRASP_S, "reaches for the cup", "reaches for the cupboard"),
    (TURNED_S, "takes the cup and turns", "brings the cup back"),
    (RELEASE_S, "sets the cup down on the island", "takes the cup again"),
    (math.inf, "lets go", "reaches for the cup"),
)
_MAP_P_DOOR_EDGE = np.array([0.5, 0.75, 1.5])
_OPEN_M, _ON_DOOR_M, _ON_CUP_M = 0.045, 0.001, CUP_RADIUS_M - 0.009  # of a finger


def phase_s(time_s: float) -> float:
    """Where in the story an instant is: there in ten seconds, and back."""
    return LENGTH_S - abs(time_s % (2.0 * LENGTH_S) - LENGTH_S)


def is_way_back(time_s: float) -> bool:
    """Whether everything runs backwards then."""
    return time_s % (2.0 * LENGTH_S) > LENGTH_S


def chapter(time_s: float) -> str:
    """What the robot does at an instant, in words."""
    phase = phase_s(time_s)
    return next(back if is_way_back(time_s) else there for until, there, back in _CHAPTERS if phase < until)


class Script:
    """The truth about the robot, the door and the cup, by phase.

    Attributes:
        names: Of the joints that move.

    Args:
        robot: Finds the joints for what the fingers shall do.
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
        """Where the robot stands."""
        x_m, y_m, yaw_rad = at(phase, self._base)
        return upright(x_m, y_m, 0.0, yaw_rad)

    def map_T_tool(self, phase: float) -> Transform:
        """Where its fingers are."""
        base_T_tool = self._robot.base_T_tool(float(at(phase, self._lift_m)), at(phase, self._arms))
        return self.map_T_base(phase) @ base_T_tool

    def map_T_cup(self, phase: float) -> Transform:
        """Where the cup is: on the worktop, in the hand, on the island."""
        if phase < GRASP_S:
            return MAP_T_CUP_FIRST
        return self.map_T_tool(min(phase, RELEASE_S)) @ self._tool_T_cup

    def map_T_camera(self, phase: float) -> Transform:
        """Where the camera of its head is."""
        return self.map_T_base(phase) @ self._robot.base_T_camera(self.joints(phase))

    def joints(self, phase: float) -> dict[str, float]:
        """By name in the world, the position of everything that moves."""
        return dict(zip(self.names, at(phase, self._joints).tolist(), strict=True))

    def speeds(self, time_s: float) -> dict[str, float]:
        """The velocities of the same at an instant."""
        speeds = at(phase_s(time_s), self._speeds) * (-1.0 if is_way_back(time_s) else 1.0)
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
        """(N, 2): it looks at the cup, between door and cup while the door moves, and at the cup again."""
        at_door = 0.6 * (smooth(PHASES_S, 1.6, 2.6) - smooth(PHASES_S, OPENED_S, AT_CUP_S))
        rows = []
        for phase, share in zip(PHASES_S, at_door, strict=True):
            map_p_cup = self.map_T_cup(phase).translation
            map_p_target = map_p_cup + share * (_MAP_P_DOOR_EDGE - map_p_cup)
            rows.append(pan_tilt_rad(self.map_T_base(phase), float(at(phase, self._lift_m)), map_p_target))
        return np.array(rows)


def holds_cup(phase: float) -> bool:
    """Whether the cup is in the hand."""
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
