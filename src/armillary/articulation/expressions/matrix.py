"""Matrices and rotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation._terms import Term, build, casadi
from armillary.articulation.expressions.base import Expression, Symbolic
from armillary.articulation.expressions.vector import (
    ArrayOperators,
    DirectionExpression,
    VectorExpression,
    matrix_term,
    resolved_index,
)
from armillary.errors import InvalidArgument
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import NDArray

    from armillary.articulation.expressions._chains import AxisRotation

__all__ = ["MatrixExpression", "RotationExpression"]

_SMALL_SINE = 1e-3
_DIMENSIONS = 2


class MatrixExpression(ArrayOperators, is_jacobian_kind=True):
    """A matrix; `MatrixExpression([[q, 1.0], [0.0, q]])`."""

    __slots__ = ()

    def __init__(self, rows: Any) -> None:
        self._term = self._coerced(rows)

    @property
    def T(self) -> MatrixExpression:
        """The transpose."""
        return MatrixExpression.of_term(self._term.with_sx(self._term.sx.T))

    def __len__(self) -> int:
        return self._term.shape[0]

    def __iter__(self) -> Iterator[VectorExpression]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        """One entry by two numbers, a part by two slices, as in numpy; a row or a column is a vector."""
        row, column = place if isinstance(place, tuple) and len(place) == _DIMENSIONS else (place, slice(None))
        rows = resolved_index(row, self._term.shape[0], "rows")
        columns = resolved_index(column, self._term.shape[1], "columns")
        part = self._term.with_sx(self._term.sx[rows, columns])
        if isinstance(rows, list):
            return (MatrixExpression if isinstance(columns, list) else VectorExpression).of_term(part)
        if isinstance(columns, list):
            return VectorExpression.of_term(part.with_sx(part.sx.T))
        return Expression.of_term(part)

    def __matmul__(self, other: Any) -> Any:
        kind: type[Symbolic[Any]] = VectorExpression if _is_vector(other) else MatrixExpression
        right = kind._coerced(other)
        _check_product(self._term, right, other)
        return kind.of_term(build(casadi.mtimes, self._term, right))

    def __rmatmul__(self, other: Any) -> Any:
        return MatrixExpression(other) @ self

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return matrix_term(value)

    def _from_array(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        return array


class RotationExpression(Symbolic[Rotation]):
    """A rotation that depends on variables. Make one with `rotation_about`, `rotation_from_rpy`, ..."""

    __slots__ = ("_turn",)
    __array_ufunc__ = None
    _turn: AxisRotation | None

    def __init__(self, rotation: Rotation) -> None:
        self._term, self._turn = matrix_term(np.asarray(rotation.matrix)), None

    @classmethod
    def of_term(cls, term: Term, turn: AxisRotation | None = None) -> Self:
        """For the library itself: the rotation around a term, and how it was made."""
        made = super().of_term(term)
        object.__setattr__(made, "_turn", turn)
        return made

    @property
    def turn(self) -> AxisRotation | None:
        """For the library itself: the rotation about a constant axis that it was made as."""
        return self._turn

    @classmethod
    def identity(cls) -> RotationExpression:
        """No rotation."""
        return cls(Rotation.identity())

    @property
    def matrix(self) -> MatrixExpression:
        """The rotation as a matrix of 3 x 3."""
        return MatrixExpression.of_term(self._term)

    @property
    def x_axis(self) -> DirectionExpression:
        """The x axis after the rotation."""
        return self._axis(0)

    @property
    def y_axis(self) -> DirectionExpression:
        """The y axis after the rotation."""
        return self._axis(1)

    @property
    def z_axis(self) -> DirectionExpression:
        """The z axis after the rotation."""
        return self._axis(2)

    def angle(self) -> Expression:
        """The angle of the rotation, in [0, pi]. At zero its derivative does not exist (NaN)."""
        return Expression.of_term(
            self._term.with_sx(
                casadi.atan2(casadi.norm_2(_twice_sine_axis(self._term.sx)), casadi.trace(self._term.sx) - 1.0)
            )
        )

    def vector(self) -> DirectionExpression:
        """The axis times the angle, as `Rotation.log`, with its derivative, for all angles.

        At half a turn the axis has two signs, and one of them is taken. An error is best squared as a vector: the
        square has a derivative where the angle is zero, and the angle itself has none.
        """
        return DirectionExpression.of_term(self._term.with_sx(_rotation_vector(self._term.sx)))

    def _axis(self, index: int) -> DirectionExpression:
        return DirectionExpression.of_term(self._term.with_sx(self._term.sx[:, index]))

    def inverse(self) -> RotationExpression:
        """The inverse rotation."""
        return RotationExpression.of_term(self._term.with_sx(self._term.sx.T))

    def __matmul__(self, other: Any) -> Any:
        """Compose rotations; rotate vectors, points and directions about the origin."""
        if isinstance(other, Rotation):
            return self @ RotationExpression(other)
        if isinstance(other, Symbolic) and not isinstance(other, RotationExpression | VectorExpression):
            return NotImplemented
        kind = type(other) if isinstance(other, Symbolic) else VectorExpression
        right = kind._coerced(other)
        _check_product(self._term, right, other)
        return kind.of_term(build(casadi.mtimes, self._term, right))

    def __rmatmul__(self, other: Any) -> Any:
        return RotationExpression(other) @ self if isinstance(other, Rotation) else NotImplemented

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return matrix_term(value)

    @classmethod
    def _rate_kind(cls) -> type[Symbolic[Any]]:
        return MatrixExpression

    def _from_array(self, array: NDArray[np.float64]) -> Rotation:
        return Rotation.from_matrix(array)


def _twice_sine_axis(sx: Any) -> Any:
    return casadi.vertcat(sx[2, 1] - sx[1, 2], sx[0, 2] - sx[2, 0], sx[1, 0] - sx[0, 1])


def _rotation_vector(sx: Any) -> Any:
    """The axis times the angle, from the quaternion: exact for small angles and up to half a turn, with its derivative.

    Both sides of `if_else` are evaluated: the one that is not taken has to be finite as well.
    """
    w, x, y, z = casadi.vertsplit(_quaternion(sx))
    square = x * x + y * y + z * z
    is_small = square < _SMALL_SINE**2
    sine = casadi.sqrt(casadi.if_else(is_small, 1.0, square))
    series = 2.0 * (1.0 + square / 6.0 + 3.0 / 40.0 * square**2 + 5.0 / 112.0 * square**3)
    return casadi.if_else(is_small, series, 2.0 * casadi.atan2(sine, w) / sine) * casadi.vertcat(x, y, z)


def _quaternion(sx: Any) -> Any:
    """The unit quaternion (w, x, y, z) of a rotation matrix, with w >= 0, from its largest entry."""
    a, b, c = casadi.vertsplit(_twice_sine_axis(sx))
    d, e, f = sx[1, 0] + sx[0, 1], sx[0, 2] + sx[2, 0], sx[2, 1] + sx[1, 2]
    first, second, third = sx[0, 0], sx[1, 1], sx[2, 2]
    squares = (
        1.0 + first + second + third,
        1.0 + first - second - third,
        1.0 - first + second - third,
        1.0 - first - second + third,
    )
    rows = ((squares[0], a, b, c), (a, squares[1], d, e), (b, d, squares[2], f), (c, e, f, squares[3]))
    largest, chosen = squares[0], casadi.vertcat(*rows[0])
    for square, row in zip(squares[1:], rows[1:], strict=True):
        is_larger = square > largest
        chosen = casadi.if_else(is_larger, casadi.vertcat(*row), chosen)
        largest = casadi.if_else(is_larger, square, largest)
    return casadi.if_else(chosen[0] < 0.0, -1.0, 1.0) * chosen / casadi.norm_2(chosen)


def _is_vector(value: Any) -> bool:
    return isinstance(value, VectorExpression) or (not isinstance(value, Symbolic) and np.ndim(value) == 1)


def _check_product(left: Term, right: Term, given: Any) -> None:
    if left.shape[1] != right.shape[0]:
        raise InvalidArgument(
            f"A product needs as many columns on its left as rows on its right, got {left.shape} and {right.shape}.",
            given,
        )
