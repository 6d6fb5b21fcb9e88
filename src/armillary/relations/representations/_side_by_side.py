"""A position beside a rotation of some kind: points and axes can be chosen freely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary.relations.arrays import as_vector3, tidy
from armillary.relations.representations._native import NumpyVector

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray


class SideBySide:
    """A numpy position and rotation coordinates.

    Subclasses know what their rotation is called outside, and their representation.
    """

    __slots__ = ("_rotation", "xyz")
    frame_form = False

    xyz: NDArray[float64]
    _rotation: Any

    def __init__(self, xyz: ArrayLike, rotation: Any) -> None:
        object.__setattr__(self, "xyz", as_vector3(xyz, "xyz"))
        object.__setattr__(self, "_rotation", rotation)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: it cannot get another '{name}'. Make a new one.")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return np.array_equal(self.xyz, other.xyz) and bool(self._rotation == other._rotation)

    def __hash__(self) -> int:
        return hash((type(self), self.xyz.tobytes()))

    def __repr__(self) -> str:
        rotation = getattr(self._rotation, "given", self._rotation)
        return f"{type(self).__name__}(xyz={tidy(self.xyz)}, rotation={rotation!r})"

    @property
    def position(self) -> NumpyVector:
        """The position, as coordinates."""
        return NumpyVector(self.xyz)

    @property
    def rotation(self) -> Any:
        """The rotation, as coordinates."""
        return self._rotation

    @classmethod
    def _of(cls, position: Any, rotation: Any) -> Self:
        result = object.__new__(cls)
        SideBySide.__init__(result, position.numbers(), rotation)
        return result

    def compose(self, other: Self) -> Self:
        """`c_T_b` composed with `b_T_a`."""
        position = self.position + self._rotation.rotate(other.position)
        return self._of(position, self._rotation.compose(other.rotation))

    def inverse(self) -> Self:
        """`a_T_b`."""
        back = self._rotation.inverse()
        return self._of(-back.rotate(self.position), back)
