"""Coordinate representations: the library's own, matrices, angles, other libraries' types, or the user's own.

A *representation* makes coordinates: `NATIVE`, `POSITION_QUATERNION`, `HOMOGENEOUS_MATRIX`,
`position_euler(convention)`. `SCIPY` and `PINOCCHIO` import their library when they are first used; so does a
relation that is given one of their values. Types with the methods of the protocols are used as they are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armillary.errors import MissingExtra
from armillary.relations.representations._homogeneous import HOMOGENEOUS_MATRIX, HomogeneousMatrix, RotationMatrix
from armillary.relations.representations._native import (
    NATIVE,
    POSITION_QUATERNION,
    BodyTwist,
    HybridTwist,
    LinearAngular,
    NumpyVector,
    PositionQuaternion,
    ScrewTwist,
    SpatialTwist,
)
from armillary.relations.representations._protocols import (
    PoseCoordinates,
    Representation,
    RotationCoordinates,
    TwistCoordinates,
    VectorCoordinates,
)

if TYPE_CHECKING:
    from armillary.relations.representations._euler import EulerAngles, PositionEuler, position_euler
    from armillary.relations.representations.adapters import ForceTorque

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
    "ForceTorque": ("adapters", ""),
    "PINOCCHIO": ("pinocchio_se3", "pinocchio"),
    "PositionEuler": ("_euler", ""),
    "PositionScipy": ("scipy_rotation", "scipy"),
    "SCIPY": ("scipy_rotation", "scipy"),
    "position_euler": ("_euler", ""),
}


def __getattr__(name: str) -> Any:
    """Import what most programs never use when it is first used."""
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
