"""Coordinates that are Euler angles: three angles about three axes, in an order that is always named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_vector3, frozen, tidy
from armillary.relations.representations._native import NumericRepresentation, NumpyVector, PositionBesideRotation
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

_LETTERS = "XYZ"
_AXES = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EulerAngles:
    """Three angles in an order that is named.

    Attributes:
        angles: [rad], shape (3,), in the order of the letters.
        convention: 'intrinsic ZYX': about the axes as they turn, R = Rz(angles[0]) Ry(angles[1]) Rx(angles[2]);
            'extrinsic XYZ': about the fixed axes, R = Rz(angles[2]) Ry(angles[1]) Rx(angles[0]).
    """

    angles: NDArray[float64]
    convention: str

    def __init__(self, angles: ArrayLike, convention: str) -> None:
        object.__setattr__(self, "angles", as_vector3(angles, "angles"))
        object.__setattr__(self, "convention", checked_convention(convention))

    def __repr__(self) -> str:
        return f"EulerAngles({tidy(self.angles)}, {self.convention!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EulerAngles):
            return False
        return self.convention == other.convention and np.array_equal(self.angles, other.angles)

    def __hash__(self) -> int:
        return hash((self.convention, self.angles.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return EulerAngles, (self.angles, self.convention)

    @classmethod
    def from_rotation(cls, rotation: Rotation, convention: str) -> EulerAngles:
        """The angles of a rotation; where the first and the last turn the same way, the first takes what it can."""
        is_intrinsic, axes = _order(checked_convention(convention))
        angles = _angles(rotation.matrix, axes if is_intrinsic else axes[::-1])
        return cls(angles if is_intrinsic else angles[::-1], convention)

    @property
    def representation(self) -> PositionEulerRepresentation:
        """What makes further angles of this convention."""
        return PositionEulerRepresentation(self.convention)

    def compose(self, other: EulerAngles) -> EulerAngles:
        """`c_R_b` composed with `b_R_a`."""
        return self.from_rotation(self.numbers() @ other.numbers(), self.convention)

    def inverse(self) -> EulerAngles:
        """The inverse rotation."""
        return self.from_rotation(self.numbers().inverse(), self.convention)

    def rotate(self, vector: Any) -> NumpyVector:
        """Return a vector along the axes of the reference."""
        return NumpyVector(frozen(self.numbers() @ vector.numbers()))

    def numbers(self) -> Rotation:
        """As a `Rotation`."""
        is_intrinsic, axes = _order(self.convention)
        first, second, third = (_about(axis, angle) for axis, angle in zip(axes, self.angles, strict=True))
        result: Rotation = first @ second @ third if is_intrinsic else third @ second @ first
        return result


class PositionEuler(PositionBesideRotation):
    """A position beside three angles: `PositionEuler((1, 2, 3), (0.1, 0.2, 0.3), "intrinsic ZYX")`.

    Attributes:
        xyz: From the reference point to the point [m], shape (3,).
        angles: [rad], shape (3,), in the order of the letters.
        convention: See `EulerAngles`.
    """

    __slots__ = ()

    def __init__(self, xyz: ArrayLike, angles: ArrayLike, convention: str) -> None:
        super().__init__(xyz, EulerAngles(angles, convention))

    def __reduce__(self) -> tuple[Any, ...]:
        return PositionEuler, (self.xyz, self.angles, self.convention)

    def __repr__(self) -> str:
        return f"PositionEuler(xyz={tidy(self.xyz)}, angles={tidy(self.angles)}, convention={self.convention!r})"

    @property
    def angles(self) -> NDArray[float64]:
        """The angles [rad], in the order of the letters."""
        angles: NDArray[float64] = self.rotation.angles
        return angles

    @property
    def convention(self) -> str:
        """The axes and their order; see `EulerAngles`."""
        return str(self.rotation.convention)

    @property
    def representation(self) -> PositionEulerRepresentation:
        """What makes further coordinates of this convention."""
        return PositionEulerRepresentation(self.convention)


@dataclass(frozen=True, slots=True)
class PositionEulerRepresentation(NumericRepresentation):
    """Numpy vectors, and angles of one convention: `position_euler("intrinsic ZYX")`."""

    convention: str

    def __post_init__(self) -> None:
        checked_convention(self.convention)

    @property
    def name(self) -> str:
        """Its name, with the convention: angles of two conventions do not mix."""
        return f"PositionEuler of {self.convention}"

    def rotation(self, rotation: Rotation) -> EulerAngles:
        """The angles of this convention."""
        return EulerAngles.from_rotation(rotation, self.convention)

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> PositionEuler:  # noqa: ARG002 - both alike
        """A position beside angles, whatever its points."""
        is_ours = isinstance(rotation, EulerAngles) and rotation.convention == self.convention
        angles = rotation.angles if is_ours else self.rotation(rotation.numbers()).angles
        return PositionEuler(position.numbers(), angles, self.convention)


def position_euler(convention: str) -> PositionEulerRepresentation:
    """Return the representation by Euler angles of a convention: 'intrinsic ZYX', 'extrinsic XYZ', ..."""
    return PositionEulerRepresentation(convention)


def checked_convention(convention: str) -> str:
    """Return a valid convention: intrinsic or extrinsic, and three axes, no two neighbours alike."""
    parts = convention.split() if isinstance(convention, str) else []
    letters = parts[-1] if parts else ""
    is_order = len(letters) == _AXES and set(letters) <= set(_LETTERS) and letters[1] not in {letters[0], letters[2]}
    if len(parts) != len(("intrinsic", "ZYX")) or parts[0] not in {"intrinsic", "extrinsic"} or not is_order:
        raise InvalidArgument(
            f"convention must say whether the axes turn along, and their order, got {convention!r}. "
            "Pass 'intrinsic ZYX' (yaw, pitch, roll), 'extrinsic XYZ' (roll, pitch, yaw), ..."
        )
    return convention


def _order(convention: str) -> tuple[bool, list[int]]:
    kind, letters = convention.split()
    return kind == "intrinsic", [_LETTERS.index(letter) for letter in letters]


def _about(axis: int, angle: float) -> Rotation:
    wxyz = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    wxyz[1 + axis] = math.sin(angle / 2)
    return Rotation.from_wxyz(wxyz)


def _angles(R: NDArray[float64], axes: list[int]) -> list[float]:
    """Angles of R = Ri(a) Rj(b) Rk(c).

    The last two are read from Ri(-a) R, so that the product is exact also where the axes i and k coincide.
    """
    i, j, k = axes
    last = 3 - i - j  # the axis that is neither the first nor the second
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    a = math.atan2(R[j, i], -sign * R[last, i]) if k == i else math.atan2(-sign * R[j, last], R[last, last])
    M = _about(i, -a).matrix @ R
    if k == i:
        return [a, math.atan2(-sign * M[last, i], M[i, i]), math.atan2(-sign * M[j, last], M[j, j])]
    return [a, math.atan2(sign * M[i, k], M[k, k]), math.atan2(sign * M[j, i], M[j, j])]
