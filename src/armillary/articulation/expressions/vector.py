"""Vectors, points and directions, and the arithmetic that they share with matrices."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from armillary.articulation._terms import Term, binary, build, casadi, constant, in_rows, stacked, term_of, unary
from armillary.articulation.expressions.base import Expression, Symbolic
from armillary.articulation.variables import is_scalar, scalar_term
from armillary.errors import InvalidArgument, NoSuchEntry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self, SupportsIndex

    from numpy.typing import NDArray

__all__ = [
    "ArrayOperators",
    "DirectionExpression",
    "PointExpression",
    "VectorExpression",
    "column_term",
    "matrix_term",
    "resolved_index",
]


def resolved_index(place: Any, count: int, what: str) -> int | list[int]:
    """Resolve an index or a slice as numpy does; `what` are the things that there are `count` of."""
    if isinstance(place, slice):
        places = list(range(*place.indices(count)))
        if not places:
            raise NoSuchEntry(place, count, what)
        return places
    try:
        number = index(place)
    except TypeError:
        raise NoSuchEntry(place, count, what) from None
    if not -count <= number < count:
        raise NoSuchEntry(place, count, what)
    return number % count


def column_term(entries: Any, name: str = "A vector", length: int | None = None) -> Term:
    """Make one column of numbers, variables and expressions."""
    if isinstance(entries, Symbolic):
        return _sized(term_of(entries), (length, 1), entries, name)
    numbers = _as_numbers(entries, 1)
    if numbers is not None:
        return _sized(Term(constant(numbers)), (length, 1), entries, name)
    if isinstance(entries, str) or not hasattr(entries, "__iter__"):
        raise InvalidArgument(f"{name} is a list of numbers and expressions, got {entries!r}.", entries)
    terms = [scalar_term(entry, f"An entry of {name[0].lower() + name[1:]}") for entry in entries]
    return _sized(build(lambda *parts: stacked(parts), *terms), (length, 1), entries, name)


def matrix_term(rows: Any, name: str = "A matrix") -> Term:
    """Make a matrix of rows of numbers, variables and expressions."""
    if isinstance(rows, Symbolic):
        return term_of(rows)
    numbers = _as_numbers(rows, 2)
    if numbers is not None:
        return Term(constant(numbers))
    try:
        lines = [[scalar_term(entry) for entry in row] for row in rows]
    except TypeError:
        raise InvalidArgument(f"{name} is a list of rows, got {rows!r}.", rows) from None
    if not lines or len({len(line) for line in lines}) != 1 or not lines[0]:
        raise InvalidArgument(f"{name} has rows of one length, got {[len(line) for line in lines]}.", rows)
    return build(lambda *parts: in_rows(parts, len(lines[0])), *(entry for line in lines for entry in line))


def _as_numbers(entries: Any, dimensions: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return an array where all entries are numbers, otherwise None."""
    if not isinstance(entries, np.ndarray) or entries.dtype == object:
        return None
    if entries.ndim != dimensions or not entries.size:
        raise InvalidArgument(f"An array of {dimensions} dimensions is wanted, got shape {entries.shape}.", entries)
    return np.asarray(entries, dtype=np.float64)


def _sized(term: Term, shape: tuple[int | None, int], given: Any, name: str) -> Term:
    rows, columns = shape
    if term.shape[1] != columns or not term.shape[0] or (rows is not None and term.shape[0] != rows):
        wanted = "a column" if rows is None else f"{rows} entries"
        raise InvalidArgument(f"{name} has {wanted}, got shape {term.shape}.", given)
    return term


class ArrayOperators(Symbolic[Any]):
    """Sums of equal shapes, and products with scalars."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves the operators to us

    def __add__(self, other: Any) -> Any:
        return self._summed(casadi.OP_ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._summed(casadi.OP_ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._summed(casadi.OP_SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._summed(casadi.OP_SUB, other, self)

    def __mul__(self, factor: Any) -> Self:
        return self._scaled(casadi.OP_MUL, factor) if is_scalar(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        return self._scaled(casadi.OP_DIV, divisor) if is_scalar(divisor) else NotImplemented

    def __neg__(self) -> Self:
        return self.of_term(self._term.with_sx(unary(casadi.OP_NEG, self._term.sx)))

    def _scaled(self, operation: int, factor: Any) -> Self:
        return self.of_term(build(lambda a, b: binary(operation, a, b), self._term, scalar_term(factor)))

    def _summed(self, operation: int, left: Any, right: Any) -> Any:
        other = right if left is self else left
        if isinstance(other, Symbolic) and not isinstance(other, type(self)):
            return NotImplemented
        terms = self._coerced(left), self._coerced(right)
        if terms[0].shape != terms[1].shape:
            raise InvalidArgument(f"A sum needs equal shapes, got {terms[0].shape} and {terms[1].shape}.", other)
        return self.of_term(build(lambda a, b: binary(operation, a, b), *terms))


class VectorExpression(ArrayOperators):
    """A list of numbers; `VectorExpression([q, 2.0, sin(q)])`."""

    __slots__ = ()

    def __init__(self, entries: Any) -> None:
        self._term = self._coerced(entries)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a list, (n,)."""
        return (len(self),)

    def __len__(self) -> int:
        return self._term.shape[0]

    @overload
    def __getitem__(self, place: SupportsIndex) -> Expression: ...
    @overload
    def __getitem__(self, place: slice) -> VectorExpression: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Expression | VectorExpression:
        """One entry, or those of a slice, as in numpy."""
        places = resolved_index(place, len(self), "entries")
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
    def _rate_kind(cls) -> type[Symbolic[Any]]:
        return DirectionExpression

    @classmethod
    def of(cls, xyz: Any) -> Self:
        """Make one of a vector or an array of three."""
        return cls.of_term(column_term(xyz, length=3))

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return column_term(value, length=3)


class DirectionExpression(_Spatial):
    """A difference of points: poses rotate it and do not translate it."""

    __slots__ = ()

    def cross(self, other: Any) -> DirectionExpression:
        """The cross product."""
        return DirectionExpression.of_term(build(casadi.cross, self._term, self._coerced(other)))


class PointExpression(_Spatial):
    """A point in space: poses rotate and translate it. The difference of two points is a direction."""

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
