"""Armillary: one world model for robots. Where everything is, in time, and how sure we are."""

from __future__ import annotations

import typing as _typing
from importlib import import_module as _import_module

from armillary import errors
from armillary.relations import Pose
from armillary.stamps import LATEST, Latest, now, seconds, stamp
from armillary.store.stamped_queue import StampedQueue
from armillary.transforms import Rotation, Transform
from armillary.world import World

if _typing.TYPE_CHECKING:
    from armillary.playback import replay
    from armillary.shapes import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, VoxelGrid
    from armillary.share import connect

__version__ = "0.1.0"

__all__ = [
    "LATEST",
    "Box",
    "Capsule",
    "Cylinder",
    "Latest",
    "Mesh",
    "PointCloud",
    "Pose",
    "Rotation",
    "Sphere",
    "StampedQueue",
    "Transform",
    "VoxelGrid",
    "World",
    "connect",
    "errors",
    "now",
    "replay",
    "seconds",
    "stamp",
]

_SHAPES = ("Box", "Capsule", "Cylinder", "Mesh", "PointCloud", "Sphere", "VoxelGrid")
_LATER = dict.fromkeys(_SHAPES, "armillary.shapes") | {"connect": "armillary.share", "replay": "armillary.playback"}
"""What is loaded when it is first used, and from where."""


def __getattr__(name: str) -> _typing.Any:
    """Load what is used by few programs when it is first used: a program of poses alone starts without it."""
    if name not in _LATER:
        raise AttributeError(f"module 'armillary' has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    """What is promised, the shapes that are not loaded yet included, and the subpackages that are loaded."""
    from types import ModuleType  # noqa: PLC0415

    parts = (name for name, value in globals().items() if isinstance(value, ModuleType) and not name.startswith("_"))
    return sorted({*__all__, *parts, "__version__"})
