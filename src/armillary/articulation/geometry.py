"""Rotations and poses from scalars, and products of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation._terms import build, casadi, term_of
from armillary.articulation.expressions._chains import AxisRotation, as_axis
from armillary.articulation.expressions.base import Expression, Symbolic
from armillary.articulation.expressions.matrix import MatrixExpression, RotationExpression
from armillary.articulation.expressions.pose import PoseExpression
from armillary.articulation.expressions.vector import DirectionExpression, VectorExpression, column_term, matrix_term
from armillary.articulation.variables import scalar_term
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation.functions import Scalar

__all__ = [
    "cross",
    "diagonal",
    "dot",
    "norm",
    "pose",
    "rotation_about",
    "rotation_from_quaternion",
    "rotation_from_rpy",
    "stack",
    "trace",
    "translation",
]

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def translation(x: Scalar, y: Scalar, z: Scalar) -> PoseExpression:
    """A pose without rotation."""
    return PoseExpression(RotationExpression.identity(), [x, y, z])


def pose(rotation: RotationExpression, translation: Any) -> PoseExpression:
    """A pose of a rotation and the position of its origin."""
    return PoseExpression(rotation, translation)


def rotation_about(axis: Any, angle: Scalar) -> RotationExpression:
    """A rotation about an axis, in radians.

    Args:
        axis: Three numbers of any length but zero, or a `DirectionExpression` of length one.
        angle: Counter-clockwise, seen against the axis.
    """
    if isinstance(axis, Symbolic):
        return RotationExpression.of_term(build(_rotation_matrix, column_term(axis, "An axis", 3), scalar_term(angle)))
    made = AxisRotation(as_axis(axis), scalar_term(angle))
    return RotationExpression.of_term(made.rotation(), made)


def rotation_from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> RotationExpression:
    """Rotations about the fixed axes x, y and z, in this order: Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
    about = [rotation_about(_AXES[axis], angle) for axis, angle in (("z", yaw), ("y", pitch), ("x", roll))]
    return about[0] @ about[1] @ about[2]  # type: ignore[no-any-return]


def rotation_from_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> RotationExpression:
    """The matrix of a quaternion, which is a rotation only where the quaternion has length one."""
    terms = [scalar_term(part) for part in (w, x, y, z)]
    return RotationExpression.of_term(build(_quaternion_matrix, *terms))


def dot(left: Any, right: Any) -> Expression:
    """The sum of the products of their entries."""
    return VectorExpression(left).dot(right)


def cross(left: Any, right: Any) -> DirectionExpression:
    """The cross product of two directions."""
    return DirectionExpression.of(left).cross(right)


def norm(vector: Any) -> Expression:
    """The length of a vector. Where that is zero, its derivative does not exist (NaN)."""
    return VectorExpression(vector).norm()


def trace(matrix: Any) -> Expression:
    """The sum of the diagonal."""
    term = matrix_term(matrix)
    return Expression.of_term(term.with_sx(casadi.trace(term.sx)))


def diagonal(entries: Any) -> MatrixExpression:
    """A matrix with these on its diagonal, zero elsewhere."""
    term = column_term(entries)
    return MatrixExpression.of_term(term.with_sx(casadi.diag(term.sx)))


def stack(parts: Sequence[Any]) -> Any:
    """Stack parts one below the other: scalars and vectors make a vector, matrices, rotations and poses a matrix.

    The poses of all links in one call: `stack(poses).compile(order=joints)(q).reshape(-1, 4, 4)`.
    """
    terms = [term_of(part) if isinstance(part, Symbolic) else scalar_term(part) for part in parts]
    widths = {term.shape[1] for term in terms}
    if len(widths) != 1:
        raise InvalidArgument(f"Only what is equally wide can be stacked, got widths {sorted(widths)}.", parts)
    kind = VectorExpression if widths == {1} else MatrixExpression
    return kind.of_term(build(casadi.vertcat, *terms))


def _rotation_matrix(axis: Any, angle: Any) -> Any:
    along = casadi.mtimes(axis, axis.T)
    return casadi.cos(angle) * (casadi.SX.eye(3) - along) + casadi.sin(angle) * casadi.skew(axis) + along


def _quaternion_matrix(w: Any, x: Any, y: Any, z: Any) -> Any:
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return casadi.vertcat(*(casadi.horzcat(*row) for row in rows))
