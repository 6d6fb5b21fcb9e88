"""From what a user gave as coordinates to something that has the protocol, and back.

Types with the protocol's methods are used as they are. Arrays, `Rotation`, `Transform` and the types of scipy and
pinocchio get a thin face; what a relation stores and returns is always what was given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_vector3
from armillary.relations.representations._homogeneous import HomogeneousMatrix, RotationMatrix
from armillary.relations.representations._native import NativePose, NativeRotation, NumpyVector
from armillary.transforms import Rotation, Transform

Face = Callable[[Any], Any]

_ARRAYS = (np.ndarray, list, tuple)
_VECTOR = ("__add__", "__neg__", "cross", "numbers")
_ROTATION = ("representation", "compose", "inverse", "rotate", "numbers")
_POSE = ("representation", "frame_form", "position", "rotation", "compose", "inverse")
_TWIST = ("form", "linear", "angular", "with_parts")

# Package and type of a foreign value; the module here and the class in it that is its face.
_FOREIGN = {
    ("rotation", "scipy", "Rotation"): ("scipy_rotation", "ScipyRotation"),
    ("rotation", "coal", "Quaternion"): ("pinocchio_se3", "PinocchioRotation"),
    ("rotation", "eigenpy", "Quaternion"): ("pinocchio_se3", "PinocchioRotation"),
    ("pose", "pinocchio", "SE3"): ("pinocchio_se3", "PinocchioPose"),
    ("twist", "pinocchio", "Motion"): ("pinocchio_se3", "PinocchioTwist"),
}


def given(face: Any) -> Any:
    """What stands behind a face: the user's own type."""
    return getattr(face, "given", face)


def vector_face(coordinates: Any) -> Any:
    """Vector coordinates with the protocol."""
    return _vector(type(coordinates))(coordinates)  # type: ignore[arg-type]


def rotation_face(coordinates: Any) -> Any:
    """Rotation coordinates with the protocol."""
    return _rotation(type(coordinates))(coordinates)  # type: ignore[arg-type]


def pose_face(coordinates: Any) -> Any:
    """Pose coordinates with the protocol."""
    return _pose(type(coordinates))(coordinates)  # type: ignore[arg-type]


def twist_face(coordinates: Any) -> Any:
    """Twist coordinates with the protocol."""
    return _twist(type(coordinates))(coordinates)  # type: ignore[arg-type]


@lru_cache
def _vector(kind: Any) -> Face:
    if issubclass(kind, _ARRAYS):
        return _numpy_vector
    return _face("vector", kind, _VECTOR, "an array of shape (3,)")


def _numpy_vector(coordinates: Any) -> NumpyVector:
    is_ours = isinstance(coordinates, np.ndarray) and coordinates.dtype == float and not coordinates.flags.writeable
    if is_ours and coordinates.shape == (3,) and coordinates.base is None:
        return NumpyVector(coordinates)
    return NumpyVector(as_vector3(coordinates, "coordinates"))


@lru_cache
def _rotation(kind: Any) -> Face:
    if issubclass(kind, Rotation):
        return NativeRotation
    if issubclass(kind, _ARRAYS):
        return RotationMatrix
    return _face("rotation", kind, _ROTATION, "a Rotation, or an array of shape (3, 3)")


@lru_cache
def _pose(kind: Any) -> Face:
    if issubclass(kind, Transform):
        return NativePose
    if issubclass(kind, _ARRAYS):
        return HomogeneousMatrix
    return _face("pose", kind, _POSE, "a Transform, or an array of shape (4, 4)")


@lru_cache
def _twist(kind: Any) -> Face:
    return _face(
        "twist", kind, _TWIST, "LinearAngular, BodyTwist, SpatialTwist or HybridTwist, or linear= and angular="
    )


def _face(what: str, kind: type, protocol: tuple[str, ...], usual: str) -> Face:
    foreign = _FOREIGN.get((what, kind.__module__.partition(".")[0], kind.__name__))
    if foreign is not None:
        module, name = foreign
        face: Face = getattr(import_module(f"armillary.relations.representations.{module}"), name)
        return face
    missing = [name for name in protocol if not _has(kind, name)]
    if not missing:
        return _itself
    raise InvalidArgument(
        f"'{kind.__name__}' cannot be the coordinates of a {what}. Pass {usual}, or a type that has "
        f"{', '.join(missing)}."
    )


def _has(kind: type, name: str) -> bool:
    """As a member, or as a field that each instance has."""
    fields = [vars(base).get("__annotations__") for base in kind.__mro__]
    return hasattr(kind, name) or any(isinstance(each, dict) and name in each for each in fields)


def _itself(coordinates: Any) -> Any:
    return coordinates
