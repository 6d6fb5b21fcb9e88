"""The one place that imports casadi, and the calls of it that are cheap.

casadi's free functions search through the overloads of all its matrix types at every call, which costs several times
the work itself. Where a static method of its type does the same, that is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.errors import MissingExtra

try:
    import casadi
except ModuleNotFoundError as missing:
    raise MissingExtra("articulation", "casadi") from missing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SX", "binary", "casadi", "constant", "flat", "stacked", "unary"]

SX = casadi.SX
_NOTHING = SX(0, 1)


def binary(operation: int, left: Any, right: Any) -> Any:
    """One of casadi's element-wise operations of two; numbers are taken as they are."""
    return SX.binary(operation, left, right)


def unary(operation: int, argument: Any) -> Any:
    """One of casadi's element-wise functions."""
    return SX.unary(operation, argument)


def constant(numbers: Any) -> Any:
    """Numbers as an expression; zeros are structural, so that nothing is ever multiplied with them."""
    return SX(casadi.sparsify(casadi.DM(numbers)))


def stacked(columns: Sequence[Any]) -> Any:
    """One column of all of these."""
    return casadi.vertcat(*columns) if columns else _NOTHING


def flat(matrix: Any) -> Any:
    """Its entries as one column, row after row; casadi itself counts column after column."""
    return casadi.vec(matrix.T if matrix.size2() > 1 else matrix)
