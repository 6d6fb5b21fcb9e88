"""Armillary: one world model for robots. Where everything is, in time, and how sure we are."""

from armillary import errors
from armillary._world import World
from armillary.relations import Pose
from armillary.stamps import LATEST, Latest, now, seconds, stamp
from armillary.transforms import Rotation, StampedQueue, Transform

__version__ = "0.1.0"

__all__ = [
    "LATEST",
    "Latest",
    "Pose",
    "Rotation",
    "StampedQueue",
    "Transform",
    "World",
    "errors",
    "now",
    "seconds",
    "stamp",
]
