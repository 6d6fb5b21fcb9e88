"""Arrays of numbers, variables and expressions as terms, and the arithmetic that vectors and matrices share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.expressions._casadi import SX, binary, casadi, constant, unary
from armillary.articulation.expressions._operators import is_scalar, scalar_term
from armillary.articulation.expressions._terms import Term, build, term_of
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

__all__ = ["ArrayOperators", "column_term", "matrix_term"]


def column_term(entries: Any, name: str = "A vector", length: int | None = None) -> Term:
    """One column of numbers, variables and expressions."""
    if isinstance(entries, Symbolic):
        return _sized(term_of(entries), (length, 1), entries, name)
    numbers = _as_numbers(entries, 1)
    if numbers is not None:
        return _sized(Term(constant(numbers)), (length, 1), entries, name)
    if isinstance(entries, str) or not hasattr(entries, "__iter__"):
        raise InvalidArgument(f"{name} is a list of numbers and expressions, got {entries!r}.", entries)
    terms = [scalar_term(entry, f"An entry of {name[0].lower() + name[1:]}") for entry in entries]
    return _sized(build(_vertical, *terms), (length, 1), entries, name)


def matrix_term(rows: Any, name: str = "A matrix") -> Term:
    """Rows of numbers, variables and expressions."""
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
    return build(lambda *parts: _in_rows(parts, len(lines[0])), *(entry for line in lines for entry in line))


def _as_numbers(entries: Any, dimensions: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """As an array, where all are numbers."""
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


def _vertical(*parts: Any) -> Any:
    return casadi.vertcat(*parts) if parts else SX(0, 1)


def _in_rows(parts: Sequence[Any], columns: int) -> Any:
    return casadi.vertcat(*(casadi.horzcat(*parts[i : i + columns]) for i in range(0, len(parts), columns)))


class ArrayOperators(Symbolic[Any]):
    """Sums of equal shapes, and products with scalars."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy leaves the operators to us

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        raise NotImplementedError

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
