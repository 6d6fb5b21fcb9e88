"""Coordinates of every kind: the library's own, matrices, angles, other libraries' types, or yours.

A *representation* makes coordinates: `NATIVE`, `POSITION_QUATERNION`, `HOMOGENEOUS_MATRIX`,
`position_euler(convention)`. `SCIPY` and `PINOCCHIO` import their library when they are first touched; so does a
relation that is given one of their values. Types with the methods of the protocols are taken as they are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armillary.errors import MissingExtra
from armillary.relations.representations._homogeneous import HOMOGENEOUS_MATRIX, HomogeneousMatrix, RotationMatrix
from armillary.relations.representations._native import NATIVE, POSITION_QUATERNION, NumpyVector, PositionQuaternion
from armillary.relations.representations._protocols import (
    PoseCoordinates,
    Representation,
    RotationCoordinates,
    TwistCoordinates,
    VectorCoordinates,
)
from armillary.relations.representations._twists import (
    BodyTwist,
    HybridTwist,
    LinearAngular,
    ScrewTwist,
    SpatialTwist,
)

if TYPE_CHECKING:
    from armillary.relations.representations._euler import EulerAngles, PositionEuler, position_euler
    from armillary.relations.representations._wrenches import ForceTorque

__all__ = [
    "HOMOGENEOUS_MATRIX",
    "NATIVE",
    "POSITION_QUATERNION",
    "BodyTwist",
    "EulerAngles",
    "ForceTorque",
    "HomogeneousMatrix",
    "HybridTwist",
    "LinearAngular",
    "NumpyVector",
    "PoseCoordinates",
    "PositionEuler",
    "PositionQuaternion",
    "Representation",
    "RotationCoordinates",
    "RotationMatrix",
    "ScrewTwist",
    "SpatialTwist",
    "TwistCoordinates",
    "VectorCoordinates",
    "position_euler",
]

# The module that has it, and the package that module needs.
_ON_DEMAND = {
    "EulerAngles": ("_euler", ""),
    "ForceTorque": ("_wrenches", ""),
    "PINOCCHIO": ("pinocchio_se3", "pinocchio"),
    "PositionEuler": ("_euler", ""),
    "PositionScipy": ("scipy_rotation", "scipy"),
    "SCIPY": ("scipy_rotation", "scipy"),
    "position_euler": ("_euler", ""),
}


def __getattr__(name: str) -> Any:
    """What most programs never touch, imported when it is first asked for."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'armillary.relations.representations' has no attribute {name!r}")
    module, package = _ON_DEMAND[name]
    try:
        value = getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        if not package:
            raise
        raise MissingExtra(package, package) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ON_DEMAND})
