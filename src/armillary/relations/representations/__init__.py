"""Coordinates of every kind: the library's own, matrices, angles, other libraries' types, or yours.

`NATIVE`, `POSITION_QUATERNION` and `HOMOGENEOUS_MATRIX` are ready-made representations; `SCIPY` and `PINOCCHIO` import
their library when they are first touched.
"""

from __future__ import annotations

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

__all__ = [
    "HOMOGENEOUS_MATRIX",
    "NATIVE",
    "POSITION_QUATERNION",
    "BodyTwist",
    "HomogeneousMatrix",
    "HybridTwist",
    "LinearAngular",
    "NumpyVector",
    "PoseCoordinates",
    "PositionQuaternion",
    "Representation",
    "RotationCoordinates",
    "RotationMatrix",
    "ScrewTwist",
    "SpatialTwist",
    "TwistCoordinates",
    "VectorCoordinates",
]
