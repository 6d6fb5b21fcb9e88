"""Relations that the tests share: a gun on an arm, over a table, on a map."""

from __future__ import annotations

import numpy as np

from armillary import Rotation, Transform
from armillary.relations import (
    AngularAcceleration,
    AngularVelocity,
    Force,
    LinearAcceleration,
    LinearVelocity,
    Orientation,
    Pose,
    Position,
    Torque,
    Twist,
    Wrench,
)
from armillary.relations.representations import POSITION_QUATERNION, PositionQuaternion
from armillary.transforms import HeldSample

QUARTER = Rotation.from_rpy((0.0, 0.0, np.pi / 2))
SOME = Transform.from_xyz_rpy(xyz=(1.0, 2.0, 3.0), rpy=(0.1, -0.2, 0.7))
OTHER = Transform.from_xyz_rpy(xyz=(-0.5, 0.3, 0.1), rpy=(-1.1, 0.4, 2.0))
COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
OLD = HeldSample(relation=("base", "corner", ""), age_s=2.0)


def position(**changes) -> Position:
    """The tip of the gun from its base, both on the gun."""
    names = {"point": "tip", "body": "gun", "reference_point": "base", "reference_body": "gun", "expressed_in": "map"}
    return Position(**(names | {"coordinates": (1.0, 2.0, 3.0)} | changes))


def orientation(**changes) -> Orientation:
    names = {"of": "tip", "body": "gun", "in_frame": "base", "reference_body": "gun"}
    return Orientation(**(names | {"coordinates": QUARTER} | changes))


def pose(**changes) -> Pose:
    """The base of the gun on the table."""
    names = {"of": "base", "body": "gun", "in_frame": "corner", "reference_body": "table"}
    return Pose(**(names | {"transform": SOME} | changes))


def free_pose(**changes) -> Pose:
    """The same, in coordinates whose points and axes can be moved."""
    names = {"of": "base", "body": "gun", "in_frame": "corner", "reference_body": "table", "expressed_in": "map"}
    coordinates = PositionQuaternion(SOME.translation, SOME.rotation)
    return Pose(**(names | {"coordinates": coordinates} | changes))


def twist(**changes) -> Twist:
    names = {"point": "base", "body": "gun", "reference_body": "table", "expressed_in": "map"}
    return Twist(**(names | {"linear": (0.1, 0.2, 0.3), "angular": (0.5, -0.4, 0.3)} | changes))


def angular_velocity(**changes) -> AngularVelocity:
    names = {"body": "gun", "reference_body": "table", "expressed_in": "map"}
    return AngularVelocity(**(names | {"coordinates": (0.5, -0.4, 0.3)} | changes))


def linear_velocity(**changes) -> LinearVelocity:
    names = {"point": "base", "body": "gun", "reference_body": "table", "expressed_in": "map"}
    return LinearVelocity(**(names | {"coordinates": (0.1, 0.2, 0.3)} | changes))


def force(**changes) -> Force:
    names = {"body": "gun", "reference_body": "table", "expressed_in": "map"}
    return Force(**(names | {"coordinates": (1.0, 2.0, 3.0)} | changes))


def torque(**changes) -> Torque:
    names = {"point": "base", "body": "gun", "reference_body": "table", "expressed_in": "map"}
    return Torque(**(names | {"coordinates": (4.0, 5.0, 6.0)} | changes))


def wrench(**changes) -> Wrench:
    names = {"point": "base", "body": "gun", "reference_body": "table", "expressed_in": "map"}
    return Wrench(**(names | {"force": (1.0, 2.0, 3.0), "torque": (4.0, 5.0, 6.0)} | changes))


def angular_acceleration(**changes) -> AngularAcceleration:
    names = {"body": "gun", "reference_body": "table", "expressed_in": "map"}
    return AngularAcceleration(**(names | {"coordinates": (0.7, 0.8, 0.9)} | changes))


def linear_acceleration(**changes) -> LinearAcceleration:
    names = {"point": "base", "body": "gun", "reference_body": "table", "expressed_in": "map"}
    return LinearAcceleration(**(names | {"coordinates": (1.0, 2.0, 3.0)} | changes))


ONE_OF_EACH = [
    position(),
    orientation(),
    pose(stamp=5, covariance=COVARIANCE, held=(OLD,), relations=(("base", "corner", ""),)),
    free_pose(point="tip", reference_point="edge"),
    angular_velocity(),
    linear_velocity(),
    twist(covariance=COVARIANCE, method="joints"),
    force(),
    torque(),
    wrench(),
    angular_acceleration(),
    linear_acceleration(),
]

__all__ = ["COVARIANCE", "ONE_OF_EACH", "OTHER", "POSITION_QUATERNION", "QUARTER", "SOME"]
