"""Adapters from what a user gave as coordinates to an object with the methods of the protocol, and back.

Types with the methods of the protocol are used as they are. Arrays, `Rotation`, `Transform` and the types of scipy and
pinocchio get a thin adapter; what a relation stores and returns is always what was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_vector3, tidy
from armillary.relations.representations._homogeneous import HomogeneousMatrix, RotationMatrix
from armillary.relations.representations._native import NativePose, NativeRotation, NumpyVector
from armillary.transforms import Rotation, Transform

Adapter = Callable[[Any], Any]

_ARRAYS = (np.ndarray, list, tuple)
_VECTOR = ("__add__", "__neg__", "cross", "numbers")
_ROTATION = ("representation", "compose", "inverse", "rotate", "numbers")
_POSE = ("representation", "frame_form", "position", "rotation", "compose", "inverse")
_TWIST = ("form", "linear", "angular", "with_parts")

# Package and type of a foreign value; the module here and the class in it that adapts it.
_FOREIGN = {
    ("rotation", "scipy", "Rotation"): ("scipy_rotation", "ScipyRotation"),
    ("rotation", "coal", "Quaternion"): ("pinocchio_se3", "PinocchioRotation"),
    ("rotation", "eigenpy", "Quaternion"): ("pinocchio_se3", "PinocchioRotation"),
    ("pose", "pinocchio", "SE3"): ("pinocchio_se3", "PinocchioPose"),
    ("twist", "pinocchio", "Motion"): ("pinocchio_se3", "PinocchioTwist"),
}


def unwrap(coordinates: Any) -> Any:
    """Return the value of the user's own type that an adapter holds; other coordinates as they are."""
    return getattr(coordinates, "given", coordinates)


def adapt_vector(coordinates: Any) -> Any:
    """Return an object with the methods of `VectorCoordinates`."""
    return _vector(type(coordinates))(coordinates)  # type: ignore[arg-type]


def adapt_rotation(coordinates: Any) -> Any:
    """Return an object with the methods of `RotationCoordinates`."""
    return _rotation(type(coordinates))(coordinates)  # type: ignore[arg-type]


def adapt_pose(coordinates: Any) -> Any:
    """Return an object with the methods of `PoseCoordinates`."""
    return _pose(type(coordinates))(coordinates)  # type: ignore[arg-type]


def adapt_twist(coordinates: Any) -> Any:
    """Return an object with the methods of `TwistCoordinates`."""
    return _twist(type(coordinates))(coordinates)  # type: ignore[arg-type]


@lru_cache
def _vector(kind: Any) -> Adapter:
    if issubclass(kind, _ARRAYS):
        return _numpy_vector
    return _adapter("vector", kind, _VECTOR, "an array of shape (3,)")


def _numpy_vector(coordinates: Any) -> NumpyVector:
    is_frozen = isinstance(coordinates, np.ndarray) and coordinates.dtype == float and not coordinates.flags.writeable
    if is_frozen and coordinates.shape == (3,) and coordinates.base is None:
        return NumpyVector(coordinates)
    return NumpyVector(as_vector3(coordinates, "coordinates"))


@lru_cache
def _rotation(kind: Any) -> Adapter:
    if issubclass(kind, Rotation):
        return NativeRotation
    if issubclass(kind, _ARRAYS):
        return RotationMatrix
    return _adapter("rotation", kind, _ROTATION, "a Rotation, or an array of shape (3, 3)")


@lru_cache
def _pose(kind: Any) -> Adapter:
    if issubclass(kind, Transform):
        return NativePose
    if issubclass(kind, _ARRAYS):
        return HomogeneousMatrix
    return _adapter("pose", kind, _POSE, "a Transform, or an array of shape (4, 4)")


@lru_cache
def _twist(kind: Any) -> Adapter:
    return _adapter(
        "twist", kind, _TWIST, "LinearAngular, BodyTwist, SpatialTwist or HybridTwist, or linear= and angular="
    )


def _adapter(what: str, kind: type, protocol: tuple[str, ...], usual: str) -> Adapter:
    foreign = _FOREIGN.get((what, kind.__module__.partition(".")[0], kind.__name__))
    if foreign is not None:
        module, name = foreign
        adapter: Adapter = getattr(import_module(f"armillary.relations.representations.{module}"), name)
        return adapter
    missing = [name for name in protocol if not _has(kind, name)]
    if not missing:
        return _itself
    raise InvalidArgument(
        f"'{kind.__name__}' cannot be the coordinates of a {what}. Pass {usual}, or a type that has "
        f"{', '.join(missing)}."
    )


def _has(kind: type, name: str) -> bool:
    """Whether a class has a member, or its instances a field, of this name."""
    fields = [vars(base).get("__annotations__") for base in kind.__mro__]
    return hasattr(kind, name) or any(isinstance(each, dict) and name in each for each in fields)


def _itself(coordinates: Any) -> Any:
    return coordinates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForceTorque:
    """A force and a moment, side by side.

    Attributes:
        force: Shape (3,) [N], or any other `VectorCoordinates`.
        torque: Shape (3,) [N m], likewise.
    """

    force: Any
    torque: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", unwrap(adapt_vector(self.force)))
        object.__setattr__(self, "torque", unwrap(adapt_vector(self.torque)))

    def __repr__(self) -> str:
        force, torque = (tidy(part) if isinstance(part, np.ndarray) else part for part in (self.force, self.torque))
        return f"ForceTorque(force={force!r}, torque={torque!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForceTorque):
            return False
        is_same_force = adapt_vector(self.force) == adapt_vector(other.force)
        return bool(is_same_force and adapt_vector(self.torque) == adapt_vector(other.torque))

    def __hash__(self) -> int:
        return hash(ForceTorque)
