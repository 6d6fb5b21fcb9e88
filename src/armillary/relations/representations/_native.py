"""The library's own coordinates: numpy vectors, `Rotation`, `Transform`, and a position beside a rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_vector3, frozen, tidy
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class NumpyVector:
    """A numpy vector of shape (3,), seen as vector coordinates."""

    __slots__ = ("given",)

    def __init__(self, given: NDArray[float64]) -> None:
        self.given = given

    def __add__(self, other: Any) -> NumpyVector:
        return NumpyVector(frozen(self.given + other.numbers()))

    def __neg__(self) -> NumpyVector:
        return NumpyVector(frozen(0.0 - self.given))  # unlike -given it makes no -0

    def __repr__(self) -> str:
        return f"NumpyVector({tidy(self.given)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumpyVector) and np.array_equal(self.given, other.given)

    __hash__ = None  # type: ignore[assignment]

    def cross(self, other: Any) -> NumpyVector:
        """`self x other`."""
        (ax, ay, az), (bx, by, bz) = self.given.tolist(), other.numbers().tolist()
        product = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
        return NumpyVector(frozen([component + 0.0 for component in product]))  # 0 for -0

    def numbers(self) -> NDArray[float64]:
        """The array itself."""
        return self.given


class NativeRotation:
    """A `Rotation`, seen as rotation coordinates."""

    __slots__ = ("given",)

    def __init__(self, given: Rotation) -> None:
        self.given = given

    def __repr__(self) -> str:
        return f"NativeRotation({self.given!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativeRotation) and self.given == other.given

    def __hash__(self) -> int:
        return hash(self.given)

    @property
    def representation(self) -> NativeRepresentation:
        """`NATIVE`."""
        return NATIVE

    def compose(self, other: NativeRotation) -> NativeRotation:
        """`c_R_b` composed with `b_R_a`."""
        return NativeRotation(self.given @ other.given)

    def inverse(self) -> NativeRotation:
        """The rotation back."""
        return NativeRotation(self.given.inverse())

    def rotate(self, vector: Any) -> NumpyVector:
        """A vector in the reference's axes."""
        return NumpyVector(frozen(self.given @ vector.numbers()))

    def numbers(self) -> Rotation:
        """The rotation itself."""
        return self.given


class NativePose:
    """A `Transform`, seen as pose coordinates: `in_frame_T_of`, indivisible."""

    __slots__ = ("given",)
    frame_form = True

    def __init__(self, given: Transform) -> None:
        self.given = given

    def __repr__(self) -> str:
        return f"NativePose({self.given!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativePose) and self.given == other.given

    def __hash__(self) -> int:
        return hash(self.given)

    @property
    def representation(self) -> NativeRepresentation:
        """`NATIVE`."""
        return NATIVE

    @property
    def position(self) -> NumpyVector:
        """The translation."""
        return NumpyVector(self.given.translation)

    @property
    def rotation(self) -> NativeRotation:
        """The rotation."""
        return NativeRotation(self.given.rotation)

    def compose(self, other: Any) -> NativePose:
        """`c_T_b` composed with `b_T_a`."""
        return NativePose(self.given @ transform_of(other))

    def inverse(self) -> NativePose:
        """`a_T_b`."""
        return NativePose(self.given.inverse())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PositionQuaternion:
    """A position and a quaternion, side by side: points and axes can be chosen freely.

    Attributes:
        xyz: From the reference point to the point [m], shape (3,).
        quaternion: The orientation, as a `Rotation`; the argument is also called `rotation`.
    """

    xyz: NDArray[float64]
    quaternion: Rotation
    frame_form = False

    def __init__(self, xyz: ArrayLike, rotation: Rotation | None = None, *, quaternion: Rotation | None = None) -> None:
        if (rotation is None) == (quaternion is None):
            raise InvalidArgument("PositionQuaternion takes one Rotation: PositionQuaternion(xyz, rotation).")
        given = quaternion if rotation is None else rotation
        if not isinstance(given, Rotation):
            raise InvalidArgument(f"rotation must be a Rotation, got {given!r}. Make one: Rotation.from_wxyz(...).")
        object.__setattr__(self, "xyz", as_vector3(xyz, "xyz"))
        object.__setattr__(self, "quaternion", given)

    def __repr__(self) -> str:
        return f"PositionQuaternion(xyz={tidy(self.xyz)}, rotation={self.quaternion!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PositionQuaternion):
            return False
        return np.array_equal(self.xyz, other.xyz) and self.quaternion == other.quaternion

    def __hash__(self) -> int:
        return hash((self.xyz.tobytes(), self.quaternion))

    def __reduce__(self) -> tuple[Any, ...]:
        return PositionQuaternion, (self.xyz, self.quaternion)

    @property
    def representation(self) -> PositionQuaternionRepresentation:
        """`POSITION_QUATERNION`."""
        return POSITION_QUATERNION

    @property
    def position(self) -> NumpyVector:
        """The position."""
        return NumpyVector(self.xyz)

    @property
    def rotation(self) -> NativeRotation:
        """The orientation."""
        return NativeRotation(self.quaternion)

    def compose(self, other: Any) -> PositionQuaternion:
        """`c_T_b` composed with `b_T_a`."""
        return _side_by_side(transform_of(self) @ transform_of(other))

    def inverse(self) -> PositionQuaternion:
        """`a_T_b`."""
        return _side_by_side(transform_of(self).inverse())


def transform_of(coordinates: Any) -> Transform:
    """The numbers of any pose coordinates; a frame form is meant."""
    given = getattr(coordinates, "given", None)
    if isinstance(given, Transform):
        return given
    return Transform.from_rotation(coordinates.rotation.numbers(), xyz=coordinates.position.numbers())


def _side_by_side(transform: Transform) -> PositionQuaternion:
    return PositionQuaternion(transform.translation, transform.rotation)


@dataclass(frozen=True, slots=True)
class NativeRepresentation:
    """Numpy vectors, `Rotation`, and `Transform`, or `PositionQuaternion` where a `Transform` cannot say it."""

    name: str = "Transform"

    def vector(self, xyz: NDArray[float64]) -> NumpyVector:
        """A numpy vector."""
        return NumpyVector(as_vector3(xyz, "xyz"))

    def rotation(self, rotation: Rotation) -> NativeRotation:
        """A `Rotation`."""
        return NativeRotation(rotation)

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> NativePose | PositionQuaternion:
        """A `Transform` for a frame form, otherwise a `PositionQuaternion`."""
        if not is_frame_form:
            return POSITION_QUATERNION.pose(position, rotation, is_frame_form=False)
        return NativePose(Transform.from_rotation(rotation.numbers(), xyz=position.numbers()))

    def twist(self, linear: Any, angular: Any) -> Any:
        """`LinearAngular`."""
        from armillary.relations.representations._twists import LinearAngular  # noqa: PLC0415 - they need each other

        return LinearAngular(linear=linear.numbers(), angular=angular.numbers())


@dataclass(frozen=True, slots=True)
class PositionQuaternionRepresentation(NativeRepresentation):
    """Numpy vectors, `Rotation`, and always `PositionQuaternion`."""

    name: str = "PositionQuaternion"

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> PositionQuaternion:  # noqa: ARG002
        """A `PositionQuaternion`, whatever its points."""
        return PositionQuaternion(position.numbers(), rotation.numbers())


NATIVE = NativeRepresentation()
POSITION_QUATERNION = PositionQuaternionRepresentation()
