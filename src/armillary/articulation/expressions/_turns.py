"""Turns about constant axes, made of few casadi calls."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.articulation.expressions._casadi import binary, casadi, constant, unary
from armillary.articulation.expressions._terms import Term
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Axis = tuple[float, float, float]

__all__ = ["Turn", "as_axis"]


class Turn(NamedTuple):
    """A turn about an axis of length one by an angle in radians; remembered for its exact rate."""

    axis: Axis
    angle: Term

    def rotation(self) -> Term:
        """As a matrix of 3 x 3."""
        return self._matrix(3)

    def pose(self) -> Term:
        """As a matrix of 4 x 4."""
        return self._matrix(4)

    def _matrix(self, size: int) -> Term:
        """With structural zeros, so that a turn about z has four entries and a one: cos (1 - a a') + sin [a] + a a'."""
        across, skew, along = _parts(self.axis, size)
        even = binary(casadi.OP_MUL, unary(casadi.OP_COS, self.angle.sx), across)
        odd = binary(casadi.OP_MUL, unary(casadi.OP_SIN, self.angle.sx), skew)
        return self.angle.with_sx(binary(casadi.OP_ADD, binary(casadi.OP_ADD, even, odd), along))


def as_axis(axis: Any) -> Axis:
    """Three numbers, made to have length one."""
    numbers = np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(numbers)) if numbers.shape == (3,) else 0.0
    if not 0.0 < length < np.inf:
        raise InvalidArgument(f"An axis is three numbers that are not all zero, got {axis!r}.", axis)
    x, y, z = (numbers / length).tolist()
    return x, y, z


@lru_cache(maxsize=256)
def _parts(axis: Axis, size: int) -> tuple[Any, Any, Any]:
    """Constants; most joints of a robot turn about the same few axes."""
    x, y, z = axis
    along = np.outer(axis, axis)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    last = np.ones((size - 3, size - 3))
    return _padded(np.eye(3) - along, 0 * last), _padded(skew, 0 * last), _padded(along, last)


def _padded(matrix: NDArray[np.float64], last: NDArray[np.float64]) -> Any:
    whole = np.zeros((3 + len(last), 3 + len(last)))
    whole[:3, :3], whole[3:, 3:] = matrix, last
    return constant(whole)
