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
    from armillary.shapes import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, VoxelGrid

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
    "errors",
    "now",
    "seconds",
    "stamp",
]

_SHAPES = frozenset({"Box", "Capsule", "Cylinder", "Mesh", "PointCloud", "Sphere", "VoxelGrid"})


def __getattr__(name: str) -> _typing.Any:
    """Shapes are loaded when one is first used: a program of poses alone starts without them."""
    if name not in _SHAPES:
        raise AttributeError(f"module 'armillary' has no attribute {name!r}")
    shape = globals()[name] = getattr(_import_module("armillary.shapes"), name)
    return shape


def __dir__() -> list[str]:
    """What is promised, the shapes that are not loaded yet included, and the subpackages that are loaded."""
    from types import ModuleType  # noqa: PLC0415

    parts = (name for name, value in globals().items() if isinstance(value, ModuleType) and not name.startswith("_"))
    return sorted({*__all__, *parts, "__version__"})
