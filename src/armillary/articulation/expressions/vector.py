"""Vectors, points and directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from armillary.articulation.expressions._arrays import ArrayOperators, column_term
from armillary.articulation.expressions._casadi import binary, casadi
from armillary.articulation.expressions._indexing import chosen
from armillary.articulation.expressions._terms import build
from armillary.articulation.expressions.scalar import Expression
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self, SupportsIndex

    import numpy as np
    from numpy.typing import NDArray

    from armillary.articulation.expressions._terms import Term

__all__ = ["DirectionExpression", "PointExpression", "VectorExpression"]


class VectorExpression(ArrayOperators):
    """Several numbers in a row; `VectorExpression([q, 2.0, sin(q)])`."""

    __slots__ = ()

    def __init__(self, entries: Any) -> None:
        self._term = self._coerced(entries)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of a list."""
        return (len(self),)

    def __len__(self) -> int:
        return self._term.shape[0]

    @overload
    def __getitem__(self, place: SupportsIndex) -> Expression: ...
    @overload
    def __getitem__(self, place: slice) -> VectorExpression: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Expression | VectorExpression:
        """One entry, or those of a slice, as in numpy."""
        places = chosen(place, len(self), "entries")
        part = self._term.with_sx(self._term.sx[places])
        return VectorExpression.of_term(part) if isinstance(places, list) else Expression.of_term(part)

    def __iter__(self) -> Iterator[Expression]:
        return (self[index] for index in range(len(self)))

    def dot(self, other: Any) -> Expression:
        """The sum of the products of their entries."""
        terms = self._term, column_term(other, length=len(self))
        return Expression.of_term(build(casadi.dot, *terms))

    def norm(self) -> Expression:
        """Its length. Where that is zero, its derivative does not exist (NaN)."""
        return Expression.of_term(self._term.with_sx(casadi.norm_2(self._term.sx)))

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return column_term(value)

    def _from_array(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        return array


class _Spatial(VectorExpression):
    """Three numbers in space."""

    __slots__ = ()

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self._term = column_term([x, y, z])

    @property
    def x(self) -> Expression:
        """The first coordinate."""
        return self[0]

    @property
    def y(self) -> Expression:
        """The second coordinate."""
        return self[1]

    @property
    def z(self) -> Expression:
        """The third coordinate."""
        return self[2]

    @classmethod
    def of(cls, xyz: Any) -> Self:
        """From a vector or an array of three."""
        return cls.of_term(column_term(xyz, length=3))

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return column_term(value, length=3)


class DirectionExpression(_Spatial):
    """A difference of points: poses turn it and do not shift it."""

    __slots__ = ()

    def cross(self, other: Any) -> DirectionExpression:
        """The cross product."""
        return DirectionExpression.of_term(build(casadi.cross, self._term, self._coerced(other)))


class PointExpression(_Spatial):
    """A place: poses turn and shift it. The difference of two points is a direction."""

    __slots__ = ()

    def __add__(self, other: Any) -> PointExpression:
        return self._shifted(casadi.OP_ADD, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, PointExpression):
            return DirectionExpression.of_term(self._term) - DirectionExpression.of_term(other._term)
        return self._shifted(casadi.OP_SUB, other)

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented

    def _shifted(self, operation: int, other: Any) -> PointExpression:
        if isinstance(other, PointExpression):
            raise InvalidArgument("The sum of two points is no place. Add a direction, or subtract the points.", other)
        shift = column_term(other, "A shift", 3)
        return PointExpression.of_term(build(lambda a, b: binary(operation, a, b), self._term, shift))


VectorExpression._rate_kind = VectorExpression  # noqa: SLF001
_Spatial._rate_kind = DirectionExpression  # noqa: SLF001
