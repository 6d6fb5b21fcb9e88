"""Coordinates that are homogeneous matrices and rotation matrices."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy import float64

from armillary.relations.arrays import as_matrix3, as_matrix4, frozen, tidy
from armillary.relations.representations._native import NumericRepresentation, NumpyVector
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class _Matrix:
    """A frozen matrix of numbers, equal by value to another of its class."""

    __slots__ = ("matrix",)
    matrix: NDArray[float64]

    @classmethod
    def trusted(cls, matrix: NDArray[float64]) -> Self:
        """Return the coordinates of a matrix that is not checked: the product of valid ones is valid to rounding."""
        made = object.__new__(cls)
        object.__setattr__(made, "matrix", frozen(matrix))
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"{type(self).__name__} is frozen: it cannot get another '{name}'. Make a new one.")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"{type(self).__name__} is frozen: it cannot lose its '{name}'.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[float64]:  # noqa: FBT001
        return np.array(self.matrix, dtype=dtype) if copy is not False else self.matrix

    def __getitem__(self, index: Any) -> Any:
        return self.matrix[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tidy(self.matrix)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.matrix,)

    @property
    def representation(self) -> HomogeneousRepresentation:
        """`HOMOGENEOUS_MATRIX`."""
        return HOMOGENEOUS_MATRIX

    def compose(self, other: Self) -> Self:
        """`c_T_b` composed with `b_T_a`."""
        return self.trusted(self.matrix @ other.matrix)


class RotationMatrix(_Matrix):
    """A rotation matrix: the target's axes are its columns, along the reference's axes.

    Attributes:
        matrix: Shape (3, 3), read-only.
    """

    __slots__ = ()

    def __init__(self, matrix: ArrayLike) -> None:
        checked = as_matrix3(matrix, "matrix")
        Rotation.from_matrix(checked)
        object.__setattr__(self, "matrix", checked)

    def inverse(self) -> RotationMatrix:
        """The transpose."""
        return self.trusted(self.matrix.T.copy())

    def rotate(self, vector: Any) -> NumpyVector:
        """Return a vector along the axes of the reference."""
        return NumpyVector(frozen(self.matrix @ vector.numbers()))

    def numbers(self) -> Rotation:
        """As a `Rotation`."""
        return Rotation.from_matrix(self.matrix)


class HomogeneousMatrix(_Matrix):
    """A homogeneous matrix `in_frame_T_of`: indivisible, its point is the origin of `of`.

    Attributes:
        matrix: Shape (4, 4), read-only.
    """

    __slots__ = ()
    frame_form = True

    def __init__(self, matrix: ArrayLike) -> None:
        checked = as_matrix4(matrix, "matrix")
        Transform.from_matrix(checked)
        object.__setattr__(self, "matrix", checked)

    @property
    def position(self) -> NumpyVector:
        """The last column."""
        return NumpyVector(frozen(self.matrix[:3, 3].copy()))

    @property
    def rotation(self) -> RotationMatrix:
        """The upper left block."""
        return RotationMatrix.trusted(self.matrix[:3, :3].copy())

    def inverse(self) -> HomogeneousMatrix:
        """`a_T_b`."""
        R, p = self.matrix[:3, :3], self.matrix[:3, 3]
        return self.trusted(_stacked(R.T, -R.T @ p))


def _stacked(R: NDArray[float64], p: NDArray[float64]) -> NDArray[float64]:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = R, p
    return matrix


@dataclass(frozen=True, slots=True)
class HomogeneousRepresentation(NumericRepresentation):
    """Numpy vectors, rotation matrices and homogeneous matrices."""

    name: str = "HomogeneousMatrix"

    def rotation(self, rotation: Rotation) -> RotationMatrix:
        """A rotation matrix."""
        return RotationMatrix.trusted(np.array(rotation.matrix))

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> HomogeneousMatrix | None:
        """A homogeneous matrix; None for a pose that is not a frame form."""
        if not is_frame_form:
            return None
        R = rotation.matrix if isinstance(rotation, RotationMatrix) else rotation.numbers().matrix
        return HomogeneousMatrix.trusted(_stacked(R, position.numbers()))


HOMOGENEOUS_MATRIX = HomogeneousRepresentation()
