"""Poses that depend on variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation.expressions._arrays import column_term, matrix_term
from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.expressions._body_rates import Motion, Product, body_jacobian_of, product, substituted
from armillary.articulation.expressions._casadi import casadi, constant
from armillary.articulation.expressions._checks import as_values
from armillary.articulation.expressions._substitution import Substitution
from armillary.articulation.expressions._terms import Term, build, term_of
from armillary.articulation.expressions.matrix import MatrixExpression, RotationExpression
from armillary.articulation.expressions.vector import DirectionExpression, PointExpression
from armillary.errors import InvalidArgument
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from armillary._core import Tape
    from armillary.articulation.expressions._turns import Turn
    from armillary.articulation.variables import Variable

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
    _rate_kind = MatrixExpression
    _made_of: Product | Turn | None

    def __init__(self, rotation: RotationExpression, translation: Any) -> None:
        if not isinstance(rotation, RotationExpression):
            raise InvalidArgument(f"The rotation of a pose is a RotationExpression, got {rotation!r}.", rotation)
        shift = column_term(translation, "A translation", 3)
        self._term, self._made_of = build(_homogeneous, term_of(rotation), shift), None

    @classmethod
    def of_term(cls, term: Term, made_of: Product | Turn | None = None) -> Self:
        """For the library itself: the pose around a term, and how it was made."""
        made = super().of_term(term)
        made._made_of = made_of  # noqa: SLF001
        return made

    @classmethod
    def identity(cls) -> PoseExpression:
        """The pose of a frame in itself."""
        return cls.from_transform(Transform.identity())

    @classmethod
    def from_transform(cls, transform: Transform) -> PoseExpression:
        """A pose of numbers."""
        if not isinstance(transform, Transform):
            raise InvalidArgument(f"A Transform is wanted, got {transform!r}.", transform)
        return cls.of_term(matrix_term(np.asarray(transform.matrix)))

    @property
    def rotation(self) -> RotationExpression:
        """How the child is turned in the parent."""
        return RotationExpression.of_term(self._term.with_sx(self._term.sx[:3, :3]))

    @property
    def translation(self) -> PointExpression:
        """Where the origin of the child is in the parent."""
        return PointExpression.of_term(self._term.with_sx(self._term.sx[:3, 3]))

    @property
    def matrix(self) -> MatrixExpression:
        """As a homogeneous matrix of 4 x 4."""
        return MatrixExpression.of_term(self._term)

    def inverse(self) -> PoseExpression:
        """The parent seen from the child."""
        return PoseExpression.of_term(self._term.with_sx(_inverted(self._term.sx)))

    def __matmul__(self, other: Any) -> Any:
        """Poses are chained; a point is turned and shifted, a direction is turned."""
        if isinstance(other, DirectionExpression):
            return self.rotation @ other
        if isinstance(other, PointExpression):
            return PointExpression.of_term(build(_applied, self._term, term_of(other)))
        if isinstance(other, Transform):
            return self @ PoseExpression.from_transform(other)
        if isinstance(other, RotationExpression):
            return self @ _turned_in_place(other)
        if not isinstance(other, PoseExpression):
            return NotImplemented
        return PoseExpression.of_term(*product(self.motion, other.motion))

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, RotationExpression):
            return _turned_in_place(other) @ self
        return PoseExpression.from_transform(other) @ self if isinstance(other, Transform) else NotImplemented

    def substitute(self, values: Mapping[Variable, Any]) -> Self:
        """With numbers, variables or expressions in place of some variables, all at once."""
        motion = substituted(self.motion, Substitution(as_values(values)))
        return self.of_term(*motion)

    def value_tape(self, order: Sequence[Variable]) -> Tape:
        """The twelve numbers of the upper three rows, row after row, from the values of these variables."""
        return MatrixExpression.of_term(self._term.with_sx(self._term.sx[:3, :])).tape(order)

    def jacobian_tape(self, order: Sequence[Variable], variables: Sequence[Variable]) -> Tape:
        """The body Jacobian for `variables`, row after row, from the values of `order`."""
        return self.body_jacobian(variables).tape(order)

    def body_jacobian(self, variables: Sequence[Variable]) -> MatrixExpression:
        """6 x m, linear then angular: the velocity of the child for each variable, seen from the child itself.

        It comes from the gradient, so that it has columns for wheel speeds as for joints.
        """
        return MatrixExpression.of_term(body_jacobian_of(self.motion, self._along(variables)))

    @property
    def motion(self) -> Motion:
        """For the library itself: the term, and how it was made."""
        return Motion(self._term, self._made_of)

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return term_of(cls.from_transform(value)) if isinstance(value, Transform) else matrix_term(value)

    def _from_array(self, array: NDArray[np.float64]) -> Transform:
        return Transform.from_matrix(array)


def _turned_in_place(rotation: RotationExpression) -> PoseExpression:
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
