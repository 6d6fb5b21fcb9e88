"""Rotations of scipy, used as they are. Needs scipy; imported when one is given, or `SCIPY` is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    Rotation as Foreign,
)

from armillary.errors import InvalidArgument
from armillary.relations.arrays import frozen
from armillary.relations.representations._native import NumericRepresentation, NumpyVector, PositionBesideRotation
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SCIPY", "PositionScipy", "ScipyRepresentation", "ScipyRotation"]


class ScipyRotation:
    """A single `scipy.spatial.transform.Rotation` with the methods of `RotationCoordinates`."""

    __slots__ = ("given",)

    def __init__(self, given: Any) -> None:
        if not given.single:
            raise InvalidArgument(
                f"coordinates must be one rotation, got a stack of {len(given)}. Take one: rotation[0]."
            )
        self.given = given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScipyRotation) and np.array_equal(self.given.as_quat(), other.given.as_quat())

    __hash__ = None  # type: ignore[assignment]

    @property
    def representation(self) -> ScipyRepresentation:
        """`SCIPY`."""
        return SCIPY

    def compose(self, other: ScipyRotation) -> ScipyRotation:
        """`c_R_b` composed with `b_R_a`."""
        return ScipyRotation(self.given * other.given)

    def inverse(self) -> ScipyRotation:
        """The inverse rotation."""
        return ScipyRotation(self.given.inv())

    def rotate(self, vector: Any) -> NumpyVector:
        """Return a vector along the axes of the reference."""
        return NumpyVector(frozen(self.given.as_matrix() @ vector.numbers()))

    def numbers(self) -> Rotation:
        """As a `Rotation`."""
        return Rotation.from_xyzw(self.given.as_quat())


class PositionScipy(PositionBesideRotation):
    """A position beside a rotation of scipy: `PositionScipy((1, 2, 3), Rotation.from_rotvec(...))`."""

    __slots__ = ()

    def __init__(self, xyz: ArrayLike, rotation: Any) -> None:
        if not isinstance(rotation, Foreign):
            raise InvalidArgument(f"rotation must be a scipy.spatial.transform.Rotation, got {rotation!r}.")
        super().__init__(xyz, ScipyRotation(rotation))

    def __reduce__(self) -> tuple[Any, ...]:
        return PositionScipy, (self.xyz, self.rotation.given)

    @property
    def representation(self) -> ScipyRepresentation:
        """`SCIPY`."""
        return SCIPY


@dataclass(frozen=True, slots=True)
class ScipyRepresentation(NumericRepresentation):
    """Numpy vectors, rotations of scipy, and `PositionScipy`."""

    name: str = "scipy's Rotation"

    def rotation(self, rotation: Rotation) -> ScipyRotation:
        """A rotation of scipy."""
        return ScipyRotation(Foreign.from_quat(rotation.xyzw))

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> PositionScipy:  # noqa: ARG002 - both alike
        """A position beside a rotation, whatever its points."""
        is_ours = isinstance(rotation, ScipyRotation)
        return PositionScipy(position.numbers(), rotation.given if is_ours else self.rotation(rotation.numbers()).given)


SCIPY = ScipyRepresentation()
