"""How the robot turns its head to look at something."""

from __future__ import annotations

import math

from armillary import Transform

# From base_link to head_pan with the lift down, and from there to head_tilt; as in the robot's description.
_BASE_P_PAN = (-0.05, 0.0, 0.98)
_PAN_P_TILT = (0.12, 0.0, 0.06)
_MOST_PAN_RAD = 1.4
_LEAST_TILT_RAD, _MOST_TILT_RAD = -0.6, 1.2


def pan_tilt_rad(map_T_base: Transform, lift_m: float, map_p_target: tuple[float, float, float]) -> tuple[float, float]:
    """The joints of the head that point the camera at a place."""
    x, y, z = map_T_base.inverse() @ map_p_target
    x, y, z = x - _BASE_P_PAN[0], y - _BASE_P_PAN[1], z - _BASE_P_PAN[2] - lift_m
    pan = math.atan2(y, x)
    tilt = math.atan2(_PAN_P_TILT[2] - z, math.hypot(x, y) - _PAN_P_TILT[0])
    return (
        max(-_MOST_PAN_RAD, min(_MOST_PAN_RAD, pan)),
        max(_LEAST_TILT_RAD, min(_MOST_TILT_RAD, tilt)),
    )
