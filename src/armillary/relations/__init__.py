"""Relations that know what they mean: poses, velocities, forces and their algebra."""

from armillary.relations import representations
from armillary.relations._acceleration import AngularAcceleration, LinearAcceleration
from armillary.relations._compose_any import compose_any
from armillary.relations._force import Force, Torque
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations._wrench import Wrench

__all__ = [
    "AngularAcceleration",
    "AngularVelocity",
    "Force",
    "LinearAcceleration",
    "LinearVelocity",
    "Orientation",
    "Pose",
    "Position",
    "Torque",
    "Twist",
    "Wrench",
    "compose_any",
    "representations",
]
