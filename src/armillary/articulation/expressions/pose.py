"""Poses that depend on variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation._terms import Term, build, casadi, constant, term_of
from armillary.articulation.expressions._chains import Chain, Product, body_jacobian_of, product, substituted
from armillary.articulation.expressions._gradients import Substitution, in_columns
from armillary.articulation.expressions.base import Symbolic
from armillary.articulation.expressions.matrix import MatrixExpression, RotationExpression
from armillary.articulation.expressions.vector import DirectionExpression, PointExpression, column_term, matrix_term
from armillary.articulation.variables import as_values
from armillary.errors import InvalidArgument
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from armillary._core import Tape
    from armillary.articulation.expressions._chains import AxisRotation
    from armillary.articulation.variables import ByVariable, VariableLike

__all__ = ["PoseExpression"]

_LAST_ROW = constant([[0.0, 0.0, 0.0, 1.0]])


class PoseExpression(Symbolic[Transform]):
    """The pose of one frame in another, `parent_T_child`, as it depends on variables.

    >>> from armillary.articulation import position, rotation_about, translation
    >>> q = position("hinge")
    >>> wall_T_handle = rotation_about((0, 0, 1), q) @ translation(0.8, 0.0, 1.0)
    >>> wall_T_handle.evaluate({q: 0.0}).translation
    array([0.8, 0. , 1. ])
    """

    __slots__ = ("_made_of",)
    __array_ufunc__ = None
    _made_of: Product | AxisRotation | None

    def __init__(self, rotation: RotationExpression, translation: Any) -> None:
        if not isinstance(rotation, RotationExpression):
            raise InvalidArgument(f"The rotation of a pose is a RotationExpression, got {rotation!r}.", rotation)
        shift = column_term(translation, "A translation", 3)
        self._term, self._made_of = build(_homogeneous, term_of(rotation), shift), None

    @classmethod
    def of_term(cls, term: Term, made_of: Product | AxisRotation | None = None) -> Self:
        """For the library itself: the pose around a term, and how it was made."""
        made = super().of_term(term)
        object.__setattr__(made, "_made_of", made_of)
        return made

    @classmethod
    def identity(cls) -> PoseExpression:
        """The pose of a frame in itself."""
        return cls.from_transform(Transform.identity())

    @classmethod
    def from_transform(cls, transform: Transform) -> PoseExpression:
        """Make a constant pose."""
        if not isinstance(transform, Transform):
            raise InvalidArgument(f"A Transform is wanted, got {transform!r}.", transform)
        return cls.of_term(matrix_term(np.asarray(transform.matrix)))

    @property
    def rotation(self) -> RotationExpression:
        """The rotation of the child in the parent."""
        return RotationExpression.of_term(self._term.with_sx(self._term.sx[:3, :3]))

    @property
    def translation(self) -> PointExpression:
        """The origin of the child in the parent."""
        return PointExpression.of_term(self._term.with_sx(self._term.sx[:3, 3]))

    @property
    def matrix(self) -> MatrixExpression:
        """The pose as a homogeneous matrix of 4 x 4."""
        return MatrixExpression.of_term(self._term)

    def inverse(self) -> PoseExpression:
        """The pose of the parent in the child."""
        return PoseExpression.of_term(self._term.with_sx(_inverted(self._term.sx)))

    def __matmul__(self, other: Any) -> Any:
        """Chain poses; transform a point; rotate a direction."""
        if isinstance(other, DirectionExpression):
            return self.rotation @ other
        if isinstance(other, PointExpression):
            return PointExpression.of_term(build(_applied, self._term, term_of(other)))
        if isinstance(other, Transform):
            return self @ PoseExpression.from_transform(other)
        if isinstance(other, RotationExpression):
            return self @ _pose_of_rotation(other)
        if not isinstance(other, PoseExpression):
            return NotImplemented
        return PoseExpression.of_term(*product(self.motion, other.motion))

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, RotationExpression):
            return _pose_of_rotation(other) @ self
        return PoseExpression.from_transform(other) @ self if isinstance(other, Transform) else NotImplemented

    def substitute(self, values: ByVariable) -> Self:
        """Replace variables by numbers, variables or expressions, all at once."""
        chain = substituted(self.motion, Substitution(as_values(values)))
        return self.of_term(*chain)

    def value_tape(self, order: Sequence[VariableLike]) -> Tape:
        """The tape of the upper three rows of the matrix, row after row, from the values of these variables."""
        return MatrixExpression.of_term(self._term.with_sx(self._term.sx[:3, :])).tape(order)

    def jacobian_tape(self, order: Sequence[VariableLike], variables: Sequence[VariableLike]) -> Tape:
        """The tape of the body Jacobian for `variables`, row after row, from the values of `order`."""
        return self.body_jacobian(variables).tape(order)

    def body_jacobian(self, variables: Sequence[VariableLike]) -> MatrixExpression:
        """The body Jacobian, 6 x m, linear then angular: the velocity of the child for each variable, seen from itself.

        It comes from the gradient, so that it has columns for wheel speeds as for joints.
        """
        return MatrixExpression.of_term(in_columns(self.motion, body_jacobian_of, self._along(variables)))

    @property
    def motion(self) -> Chain:
        """For the library itself: the term, and how it was made."""
        return Chain(self._term, self._made_of)

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return matrix_term(value)

    @classmethod
    def _rate_kind(cls) -> type[Symbolic[Any]]:
        return MatrixExpression

    def _from_array(self, array: NDArray[np.float64]) -> Transform:
        return Transform.from_matrix(array)


def _pose_of_rotation(rotation: RotationExpression) -> PoseExpression:
    if rotation.turn is None:
        return PoseExpression(rotation, (0.0, 0.0, 0.0))
    return PoseExpression.of_term(rotation.turn.pose(), rotation.turn)


def _homogeneous(rotation: Any, shift: Any) -> Any:
    return casadi.vertcat(casadi.horzcat(rotation, shift), _LAST_ROW)


def _inverted(sx: Any) -> Any:
    back = sx[:3, :3].T
    return _homogeneous(back, -casadi.mtimes(back, sx[:3, 3]))


def _applied(pose: Any, point: Any) -> Any:
    return casadi.mtimes(pose[:3, :3], point) + pose[:3, 3]
