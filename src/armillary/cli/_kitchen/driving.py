"""How the robot drives: a curve to the cupboard, a turn on the spot, a little way to the island."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from armillary.cli._kitchen.tracks import PHASES_S, STEP_S, rates, smooth
from armillary.models import TRACK_M, WHEEL_RADIUS_M

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

ARRIVE_S, TURN_S, TURNED_S, THERE_S = 2.8, 6.4, 8.1, 8.7

_CURVE_M = np.array([(1.75, -0.7), (1.6, -0.12), (1.65, 0.7), (1.3, 0.7)])  # the corners of a Bezier curve
_FORWARD_M = 0.15


def base_track() -> NDArray[float64]:
    """(N, 3): x, y [m] and the heading [rad] on the map."""
    u = smooth(PHASES_S, 0.0, ARRIVE_S)[:, None]
    weights = np.hstack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3])
    slopes = np.hstack([(1 - u) ** 2, 2 * u * (1 - u), u**2])
    ahead = slopes @ np.diff(_CURVE_M, axis=0)
    yaw = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0])) + math.pi * smooth(PHASES_S, TURN_S, TURNED_S)
    place = weights @ _CURVE_M
    place[:, 0] += _FORWARD_M * smooth(PHASES_S, TURNED_S, THERE_S)  # it looks along x then
    return np.column_stack([place, yaw])


def wheel_tracks(base: NDArray[float64]) -> NDArray[float64]:
    """(N, 2): how far the left and the right wheel have turned [rad] on the way."""
    dx, dy, turning = rates(base).T
    ahead = dx * np.cos(base[:, 2]) + dy * np.sin(base[:, 2])
    sides = np.column_stack([ahead - turning * TRACK_M / 2, ahead + turning * TRACK_M / 2])
    return np.asarray(np.cumsum(sides / WHEEL_RADIUS_M, axis=0) * STEP_S)
