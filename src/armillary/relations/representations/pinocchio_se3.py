"""Types of pinocchio, used as they are. Needs pinocchio; imported when one is given, or `PINOCCHIO` is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio  # type: ignore[import-untyped,import-not-found,unused-ignore]

from armillary.relations.arrays import frozen
from armillary.relations.representations._native import NumericRepresentation, NumpyVector
from armillary.transforms import Rotation

__all__ = ["PINOCCHIO", "PinocchioPose", "PinocchioRepresentation", "PinocchioRotation", "PinocchioTwist"]


class PinocchioRotation:
    """A `pinocchio.Quaternion` with the methods of `RotationCoordinates`."""

    __slots__ = ("given",)

    def __init__(self, given: Any) -> None:
        self.given = pinocchio.Quaternion(given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinocchioRotation) and np.array_equal(self.given.coeffs(), other.given.coeffs())

    __hash__ = None  # type: ignore[assignment]

    @property
    def representation(self) -> PinocchioRepresentation:
        """`PINOCCHIO`."""
        return PINOCCHIO

    def compose(self, other: PinocchioRotation) -> PinocchioRotation:
        """`c_R_b` composed with `b_R_a`."""
        return PinocchioRotation(self.given * other.given)

    def inverse(self) -> PinocchioRotation:
        """The inverse rotation."""
        return PinocchioRotation(self.given.conjugate())

    def rotate(self, vector: Any) -> NumpyVector:
        """Return a vector along the axes of the reference."""
        return NumpyVector(frozen(self.given.toRotationMatrix() @ vector.numbers()))

    def numbers(self) -> Rotation:
        """As a `Rotation`."""
        return Rotation.from_xyzw(self.given.coeffs())


class PinocchioPose:
    """A `pinocchio.SE3` with the methods of `PoseCoordinates`: indivisible."""

    __slots__ = ("given",)
    frame_form = True

    def __init__(self, given: Any) -> None:
        self.given = given.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinocchioPose) and np.array_equal(self.given.homogeneous, other.given.homogeneous)

    __hash__ = None  # type: ignore[assignment]

    @property
    def representation(self) -> PinocchioRepresentation:
        """`PINOCCHIO`."""
        return PINOCCHIO

    @property
    def position(self) -> NumpyVector:
        """The translation."""
        return NumpyVector(frozen(self.given.translation.copy()))

    @property
    def rotation(self) -> PinocchioRotation:
        """The rotation, as a quaternion."""
        return PinocchioRotation(pinocchio.Quaternion(self.given.rotation).normalized())

    def compose(self, other: PinocchioPose) -> PinocchioPose:
        """`c_T_b` composed with `b_T_a`."""
        return PinocchioPose(self.given * other.given)

    def inverse(self) -> PinocchioPose:
        """`a_T_b`."""
        return PinocchioPose(self.given.inverse())


class PinocchioTwist:
    """A `pinocchio.Motion` with the methods of `TwistCoordinates`; the relation names its point and axes."""

    __slots__ = ("given",)
    form = "free"

    def __init__(self, given: Any) -> None:
        self.given = given.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinocchioTwist) and np.array_equal(self.given.vector, other.given.vector)

    __hash__ = None  # type: ignore[assignment]

    @property
    def linear(self) -> NumpyVector:
        """The velocity of the point [m/s]."""
        return NumpyVector(frozen(self.given.linear.copy()))

    @property
    def angular(self) -> NumpyVector:
        """The angular velocity [rad/s]."""
        return NumpyVector(frozen(self.given.angular.copy()))

    def with_parts(self, linear: Any, angular: Any, form: str) -> PinocchioTwist:  # noqa: ARG002 - a Motion has none
        """Return a motion with other parts."""
        return PinocchioTwist(pinocchio.Motion(linear.numbers(), angular.numbers()))


@dataclass(frozen=True, slots=True)
class PinocchioRepresentation(NumericRepresentation):
    """Numpy vectors, `pinocchio.Quaternion`, `pinocchio.SE3` and `pinocchio.Motion`."""

    name: str = "pinocchio's SE3"

    def rotation(self, rotation: Rotation) -> PinocchioRotation:
        """A quaternion of pinocchio."""
        return PinocchioRotation(pinocchio.Quaternion(*rotation.wxyz.tolist()))

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> PinocchioPose | None:
        """An SE3; None for a pose that is not a frame form."""
        if not is_frame_form:
            return None
        is_ours = isinstance(rotation, PinocchioRotation)
        quaternion = rotation.given if is_ours else self.rotation(rotation.numbers()).given
        return PinocchioPose(pinocchio.SE3(quaternion, position.numbers()))

    def twist(self, linear: Any, angular: Any) -> PinocchioTwist:
        """A Motion."""
        return PinocchioTwist(pinocchio.Motion(linear.numbers(), angular.numbers()))


PINOCCHIO = PinocchioRepresentation()
