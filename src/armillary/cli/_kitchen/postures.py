"""How the arm moves: to the door, along its arc, to the cup, and with the cup to the island."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary import Transform
from armillary.cli._kitchen.driving import ARRIVE_S
from armillary.cli._kitchen.names import MAP_T_CUP_FIRST, MAP_T_CUP_LAST, upright
from armillary.cli._kitchen.tracks import LENGTH_S, PHASES_S, STEP_S, at, track

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.cli._kitchen.kinematics import Kinematics

OPENED_S, AT_CUP_S, GRASP_S, LIFTED_S, LOWER_S, DOWN_S, RELEASE_S, LET_GO_S = 4.4, 5.7, 5.9, 6.6, 8.1, 9.1, 9.2, 9.3

_DOOR_OPEN_RAD = 1.0
_LIFT_M = 0.35
_TUCKED = np.array([0.3, 1.2, 0.0, -1.9, 0.0, 0.8, 0.0])
_SHOULDER_AHEAD_M = 0.02
_BEYOND_CUP_M = 0.015  # the fingers reach a little further than the middle of the cup
_ARRIVED_S, _MOVES_ON_S = ARRIVE_S - STEP_S / 2, OPENED_S + STEP_S / 2


def door_track() -> NDArray[float64]:
    """(N,): how far the door of the cupboard is open [rad]."""
    return track((ARRIVE_S, 0.0), (OPENED_S, _DOOR_OPEN_RAD))


def lift_track() -> NDArray[float64]:
    """(N,): the height of the lift [m]."""
    return track((0.0, 0.2), (ARRIVE_S, _LIFT_M))


def map_T_door(angle_rad: float) -> Transform:
    """The frame of the cupboard's door, in its hinge."""
    return Transform.from_xyz_rpy(xyz=(0.35, 0.4, 1.45), rpy=(0.0, 0.0, -angle_rad))


def _door_T_tool() -> Transform:
    """Two fingers around the lower edge of the door, from the front and from below."""
    lean = math.radians(40.0)
    sin, cos = math.sin(lean), math.cos(lean)
    matrix = np.eye(4)
    matrix[:3, :3] = [[-sin, cos, 0.0], [0.0, 0.0, 1.0], [cos, sin, 0.0]]
    matrix[:3, 3] = (0.01, 0.4, 0.03)
    return Transform.from_matrix(matrix)


@dataclass(frozen=True, slots=True)
class Postures:
    """Finds the joints of the arm for every phase.

    Attributes:
        robot: Finds joints for poses.
        base: (N, 3), where the robot drives.
    """

    robot: Kinematics
    base: NDArray[float64]

    def arm_track(self) -> NDArray[float64]:
        """(N, 7) [rad]."""
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
        """(M, 7): while the fingers hold the door."""
        phases = PHASES_S[(PHASES_S > _ARRIVED_S) & (PHASES_S < _MOVES_ON_S)]
        angles, door_T_tool = door_track(), _door_T_tool()
        arm, rows = _TUCKED, []
        for phase_s in phases:
            map_T_tool = map_T_door(float(at(phase_s, angles))) @ door_T_tool
            arm = self.robot.reach(self._base_T_map(phase_s) @ map_T_tool, lift_m=_LIFT_M, start=arm)
            rows.append(arm)
        return np.array(rows)

    def _at_cup(self, phase_s: float, map_T_cup: Transform, start: NDArray[float64]) -> NDArray[float64]:
        """The fingers around the cup, straight ahead of the shoulder."""
        base_T_cup = self._base_T_map(phase_s) @ map_T_cup
        x_m, y_m, z_m = base_T_cup.translation
        yaw_rad = math.atan2(y_m, x_m - _SHOULDER_AHEAD_M)
        base_T_tool = upright(x_m, y_m, z_m, yaw_rad) @ upright(_BEYOND_CUP_M, 0.0, 0.0)
        return self.robot.reach(base_T_tool, lift_m=_LIFT_M, start=start)

    def _base_T_map(self, phase_s: float) -> Transform:
        x_m, y_m, yaw_rad = at(phase_s, self.base)
        return upright(x_m, y_m, 0.0, yaw_rad).inverse()
