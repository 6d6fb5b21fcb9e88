"""Homogeneous matrices: the coordinates most people have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from armillary.relations._numbers import as_matrix3, as_matrix4, as_vector3, frozen, tidy
from armillary.relations.representations._native import NumpyVector
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RotationMatrix:
    """A rotation matrix: the target's axes are its columns, along the reference's axes.

    Attributes:
        matrix: Shape (3, 3), read-only.
    """

    matrix: NDArray[float64]

    def __init__(self, matrix: ArrayLike) -> None:
        checked = as_matrix3(matrix, "matrix")
        Rotation.from_matrix(checked)
        object.__setattr__(self, "matrix", checked)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[float64]:  # noqa: FBT001
        return np.array(self.matrix, dtype=dtype) if copy is not False else self.matrix

    def __getitem__(self, index: Any) -> Any:
        return self.matrix[index]

    def __repr__(self) -> str:
        return f"RotationMatrix({tidy(self.matrix)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RotationMatrix) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return RotationMatrix, (self.matrix,)

    @property
    def representation(self) -> HomogeneousRepresentation:
        """`HOMOGENEOUS_MATRIX`."""
        return HOMOGENEOUS_MATRIX

    def compose(self, other: RotationMatrix) -> RotationMatrix:
        """`c_R_b` composed with `b_R_a`."""
        return _trusted_rotation(self.matrix @ other.matrix)

    def inverse(self) -> RotationMatrix:
        """The transpose."""
        return _trusted_rotation(self.matrix.T.copy())

    def rotate(self, vector: Any) -> NumpyVector:
        """A vector in the reference's axes."""
        return NumpyVector(frozen(self.matrix @ vector.numbers()))

    def numbers(self) -> Rotation:
        """As a `Rotation`."""
        return Rotation.from_matrix(self.matrix)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HomogeneousMatrix:
    """A homogeneous matrix `in_frame_T_of`: indivisible, its point is the origin of `of`.

    Attributes:
        matrix: Shape (4, 4), read-only.
    """

    matrix: NDArray[float64]
    frame_form = True

    def __init__(self, matrix: ArrayLike) -> None:
        checked = as_matrix4(matrix, "matrix")
        Transform.from_matrix(checked)
        object.__setattr__(self, "matrix", checked)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[float64]:  # noqa: FBT001
        return np.array(self.matrix, dtype=dtype) if copy is not False else self.matrix

    def __getitem__(self, index: Any) -> Any:
        return self.matrix[index]

    def __repr__(self) -> str:
        return f"HomogeneousMatrix({tidy(self.matrix)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HomogeneousMatrix) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return HomogeneousMatrix, (self.matrix,)

    @property
    def representation(self) -> HomogeneousRepresentation:
        """`HOMOGENEOUS_MATRIX`."""
        return HOMOGENEOUS_MATRIX

    @property
    def position(self) -> NumpyVector:
        """The last column."""
        return NumpyVector(frozen(self.matrix[:3, 3].copy()))

    @property
    def rotation(self) -> RotationMatrix:
        """The upper left block."""
        return _trusted_rotation(self.matrix[:3, :3].copy())

    def compose(self, other: HomogeneousMatrix) -> HomogeneousMatrix:
        """`c_T_b` composed with `b_T_a`."""
        return _trusted(self.matrix @ other.matrix)

    def inverse(self) -> HomogeneousMatrix:
        """`a_T_b`."""
        R, p = self.matrix[:3, :3], self.matrix[:3, 3]
        return _trusted(_stacked(R.T, -R.T @ p))


def _stacked(R: NDArray[float64], p: NDArray[float64]) -> NDArray[float64]:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = R, p
    return matrix


def _trusted(matrix: NDArray[float64]) -> HomogeneousMatrix:
    """The product of good matrices is good to rounding; it is not checked again."""
    result = object.__new__(HomogeneousMatrix)
    object.__setattr__(result, "matrix", frozen(matrix))
    return result


def _trusted_rotation(matrix: NDArray[float64]) -> RotationMatrix:
    result = object.__new__(RotationMatrix)
    object.__setattr__(result, "matrix", frozen(matrix))
    return result


@dataclass(frozen=True, slots=True)
class HomogeneousRepresentation:
    """Numpy vectors, rotation matrices and homogeneous matrices."""

    name: str = "HomogeneousMatrix"

    def vector(self, xyz: NDArray[float64]) -> NumpyVector:
        """A numpy vector."""
        return NumpyVector(as_vector3(xyz, "xyz"))

    def rotation(self, rotation: Rotation) -> RotationMatrix:
        """A rotation matrix."""
        return _trusted_rotation(np.array(rotation.matrix))

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> HomogeneousMatrix | None:
        """A homogeneous matrix; None for what is no frame form."""
        if not is_frame_form:
            return None
        R = rotation.matrix if isinstance(rotation, RotationMatrix) else rotation.numbers().matrix
        return _trusted(_stacked(R, position.numbers()))

    def twist(self, linear: Any, angular: Any) -> Any:
        """`LinearAngular`."""
        from armillary.relations.representations._twists import LinearAngular  # noqa: PLC0415 - they need each other

        return LinearAngular(linear=linear.numbers(), angular=angular.numbers())


HOMOGENEOUS_MATRIX = HomogeneousRepresentation()
