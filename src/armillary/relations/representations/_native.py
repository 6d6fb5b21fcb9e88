"""The library's own coordinates: numpy vectors, `Rotation`, `Transform`, a position beside a rotation, and twists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy import float64

from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_vector3, frozen, tidy
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class NumpyVector:
    """A numpy vector of shape (3,) with the methods of `VectorCoordinates`."""

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
    """A `Rotation` with the methods of `RotationCoordinates`."""

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
        """The inverse rotation."""
        return NativeRotation(self.given.inverse())

    def rotate(self, vector: Any) -> NumpyVector:
        """Return a vector along the axes of the reference."""
        return NumpyVector(frozen(self.given @ vector.numbers()))

    def numbers(self) -> Rotation:
        """The rotation itself."""
        return self.given


class NativePose:
    """A `Transform` with the methods of `PoseCoordinates`: `in_frame_T_of`, indivisible."""

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
        return _position_quaternion(transform_of(self) @ transform_of(other))

    def inverse(self) -> PositionQuaternion:
        """`a_T_b`."""
        return _position_quaternion(transform_of(self).inverse())


def transform_of(coordinates: Any) -> Transform:
    """Return the transform of pose coordinates that are a frame form."""
    given = getattr(coordinates, "given", None)
    if isinstance(given, Transform):
        return given
    return Transform.from_rotation(coordinates.rotation.numbers(), xyz=coordinates.position.numbers())


def _position_quaternion(transform: Transform) -> PositionQuaternion:
    return PositionQuaternion(transform.translation, transform.rotation)


class NumericRepresentation:
    """Base of representations whose vectors are numpy vectors, and whose twists are two of them."""

    __slots__ = ()

    def vector(self, xyz: NDArray[float64]) -> NumpyVector:
        """A numpy vector."""
        return NumpyVector(as_vector3(xyz, "xyz"))

    def twist(self, linear: Any, angular: Any) -> Any:
        """`LinearAngular`."""
        return LinearAngular(linear=linear.numbers(), angular=angular.numbers())


@dataclass(frozen=True, slots=True)
class NativeRepresentation(NumericRepresentation):
    """Numpy vectors, `Rotation`, and `Transform`, or `PositionQuaternion` where a `Transform` cannot express it."""

    name: str = "Transform"

    def rotation(self, rotation: Rotation) -> NativeRotation:
        """A `Rotation`."""
        return NativeRotation(rotation)

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> NativePose | PositionQuaternion:
        """A `Transform` for a frame form, otherwise a `PositionQuaternion`."""
        if not is_frame_form:
            return POSITION_QUATERNION.pose(position, rotation, is_frame_form=False)
        return NativePose(Transform.from_rotation(rotation.numbers(), xyz=position.numbers()))


@dataclass(frozen=True, slots=True)
class PositionQuaternionRepresentation(NativeRepresentation):
    """Numpy vectors, `Rotation`, and always `PositionQuaternion`."""

    name: str = "PositionQuaternion"

    def pose(self, position: Any, rotation: Any, *, is_frame_form: bool) -> PositionQuaternion:  # noqa: ARG002
        """A `PositionQuaternion`, whatever its points."""
        return PositionQuaternion(position.numbers(), rotation.numbers())


NATIVE = NativeRepresentation()
POSITION_QUATERNION = PositionQuaternionRepresentation()


class PositionBesideRotation:
    """Base of coordinates with a numpy position beside rotation coordinates: points and axes can be chosen freely.

    Subclasses have a `representation`, and may give the rotation another name.
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
        PositionBesideRotation.__init__(result, position.numbers(), rotation)
        return result

    def compose(self, other: Self) -> Self:
        """`c_T_b` composed with `b_T_a`."""
        position = self.position + self._rotation.rotate(other.position)
        return self._of(position, self._rotation.compose(other.rotation))

    def inverse(self) -> Self:
        """`a_T_b`."""
        back = self._rotation.inverse()
        return self._of(-back.rotate(self.position), back)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LinearAngular:
    """A linear and an angular velocity, side by side: point and axes can be chosen freely.

    Attributes:
        linear: The velocity of the point [m/s], shape (3,).
        angular: The angular velocity [rad/s], shape (3,).
    """

    linear: NDArray[float64]
    angular: NDArray[float64]
    form: ClassVar[str] = "free"

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", as_vector3(self.linear, "linear"))
        object.__setattr__(self, "angular", as_vector3(self.angular, "angular"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(linear={tidy(self.linear)}, angular={tidy(self.angular)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return np.array_equal(self.linear, other.linear) and np.array_equal(self.angular, other.angular)

    def __hash__(self) -> int:
        return hash((self.form, self.linear.tobytes(), self.angular.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.linear, self.angular)

    def with_parts(self, linear: Any, angular: Any, form: str) -> LinearAngular:
        """Return a twist with other parts, in the class of the form."""
        return trusted_twist(FORMS[form], linear.numbers(), angular.numbers())


def trusted_twist(kind: type[LinearAngular], linear: NDArray[float64], angular: NDArray[float64]) -> LinearAngular:
    """Return a twist of read-only vectors, which are not checked again."""
    made = object.__new__(kind)
    object.__setattr__(made, "linear", linear)
    object.__setattr__(made, "angular", angular)
    return made


def _restored(kind: type[LinearAngular], linear: NDArray[float64], angular: NDArray[float64]) -> LinearAngular:
    return kind(linear=linear, angular=angular)


class BodyTwist(LinearAngular):
    """The twist at the origin and along the axes of a frame on the moving body: `T' = T exp(t)`."""

    __slots__ = ()
    form = "body"


class SpatialTwist(LinearAngular):
    """The twist at the origin and along the axes of a frame on the reference body: `T' = exp(t) T`."""

    __slots__ = ()
    form = "spatial"


class HybridTwist(LinearAngular):
    """The twist at the origin of a frame on the moving body, along the axes of one on the reference body."""

    __slots__ = ()
    form = "hybrid"


ScrewTwist = BodyTwist
"""The body-fixed, or screw, twist of the paper on the semantics of geometric relations."""

FORMS: dict[str, type[LinearAngular]] = {
    kind.form: kind for kind in (LinearAngular, BodyTwist, SpatialTwist, HybridTwist)
}
