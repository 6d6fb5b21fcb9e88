"""Scalar expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.expressions._operators import ScalarOperators, scalar_term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary.articulation.expressions._terms import Term

__all__ = ["Expression"]


class Expression(ScalarOperators, Symbolic[float]):
    """A number that depends on variables.

    >>> from armillary.articulation import position, sin
    >>> q = position("door/hinge")
    >>> opening = 2.0 * sin(q) + 1.0
    >>> opening.free_variables == {q}
    True
    >>> float(opening.substitute({q: 0.0}))
    1.0
    """

    __slots__ = ()

    def __init__(self, value: Any) -> None:
        self._term = scalar_term(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of a number."""
        return ()

    def __float__(self) -> float:
        return self.value()

    @classmethod
    def _coerced(cls, value: Any) -> Term:
        return scalar_term(value)

    def _from_array(self, array: NDArray[np.float64]) -> float:
        return float(array)


Expression._rate_kind = Expression  # noqa: SLF001
