"""Simulated measurements of the robot and two cameras: the true values with noise, and their covariances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary import Transform
from armillary.demos.kitchen.names import upright
from armillary.demos.models import TRACK_M, WHEEL_RADIUS_M

if TYPE_CHECKING:
    from numpy import float64
    from numpy.random import Generator
    from numpy.typing import NDArray

_WORN = (0.985, 1.005)  # true radius of the left and the right wheel, relative to the one that odometry uses
_BASE_SIGMA = np.array([0.003, 0.003, 1e-4, 1e-4, 1e-4, 0.002])  # [m, rad], of the localisation
_ODOMETRY_SIGMA = np.array([1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 5e-4])  # since the last correction
ENCODER_SIGMA = 3e-4  # [rad], or [m] for the lift


@dataclass(frozen=True, slots=True)
class Measurement:
    """Measured transform with its covariance.

    Attributes:
        transform: Measured transform.
        covariance: (6, 6), as `World.set_pose` takes it.
    """

    transform: Transform
    covariance: NDArray[float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """Camera with errors that grow with distance, and are larger along the line of sight.

    Attributes:
        sideways: Standard deviation across the line of sight, per metre of distance.
        along: Standard deviation along the line of sight, per square metre.
        turned_rad: Standard deviation of the orientation.
        half_angle_rad: Half the field of view.
    """

    sideways: float
    along: float
    turned_rad: float
    half_angle_rad: float

    def sees(self, camera_T_object: Transform) -> bool:
        """Whether an object is in the field of view; z points ahead."""
        x_m, y_m, z_m = camera_T_object.translation
        return math.atan2(math.hypot(x_m, y_m), z_m) < self.half_angle_rad

    def measure(self, camera_T_object: Transform, noise: Generator) -> Measurement:
        """Measure the pose of an object, with noise."""
        covariance = self._covariance(camera_T_object)
        error = noise.multivariate_normal(np.zeros(6), covariance)
        return Measurement(camera_T_object @ Transform.exp(error), covariance)

    def _covariance(self, camera_T_object: Transform) -> NDArray[float64]:
        """Return the covariance in the tangent of the object."""
        distance_m = float(np.linalg.norm(camera_T_object.translation))
        sight = camera_T_object.rotation.matrix.T @ camera_T_object.translation / distance_m
        across = (self.sideways * distance_m) ** 2
        covariance = np.diag([across] * 3 + [self.turned_rad**2] * 3)
        covariance[:3, :3] += ((self.along * distance_m**2) ** 2 - across) * np.outer(sight, sight)
        return covariance


HEAD_CAMERA_MODEL = Camera(sideways=0.003, along=0.012, turned_rad=0.02, half_angle_rad=math.radians(40))

WALL_CAMERA_MODEL = Camera(sideways=0.002, along=0.003, turned_rad=0.03, half_angle_rad=math.radians(60))


class Odometry:
    """Integrates wheel angles with slightly wrong radii, so that it drifts."""

    def __init__(self) -> None:
        self.odom_T_base = Transform.identity()
        self._turned = np.zeros(2)

    def turn(self, left_rad: float, right_rad: float) -> Measurement:
        """Update with the total angles of the wheels, and return the new pose."""
        turned = np.array([left_rad, right_rad]) / _WORN
        left_m, right_m = WHEEL_RADIUS_M * (turned - self._turned)
        self._turned = turned
        yaw_rad, ahead_m = (right_m - left_m) / TRACK_M, (left_m + right_m) / 2
        self.odom_T_base = self.odom_T_base @ upright(
            ahead_m * math.cos(yaw_rad / 2), ahead_m * math.sin(yaw_rad / 2), 0.0, yaw_rad
        )
        return Measurement(self.odom_T_base, np.diag(_ODOMETRY_SIGMA**2))


def look_at(from_m: tuple[float, float, float], *, towards: tuple[float, float, float]) -> Transform:
    """Return the pose of a camera at one position that looks at another: z ahead, y down."""
    ahead = np.subtract(towards, from_m)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    axes = [right, np.cross(ahead, right), ahead]
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([axis / np.linalg.norm(axis) for axis in axes])
    matrix[:3, 3] = from_m
    return Transform.from_matrix(matrix)


def localise(map_T_base: Transform, odom_T_base: Transform, noise: Generator) -> Measurement:
    """Measure `map_T_odom`, as a laser localisation would."""
    error = noise.normal(0.0, _BASE_SIGMA)
    carry = odom_T_base.adjoint
    covariance = carry @ np.diag(_BASE_SIGMA**2) @ carry.T
    return Measurement(map_T_base @ Transform.exp(error) @ odom_T_base.inverse(), (covariance + covariance.T) / 2)
