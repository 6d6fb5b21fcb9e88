"""The protocols of coordinates: one per kind, open to any type.

A type that has these methods is used as it is, with no registration: numbers, matrices of a library, expressions. What
they are given, and what they return, has the protocol of its kind. With an `==` of their own, relations compare equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.transforms import Rotation


@runtime_checkable
class VectorCoordinates(Protocol):
    """Three components along the axes of a frame that the relation names."""

    def __add__(self, other: Any, /) -> Any: ...

    def __neg__(self) -> Any: ...

    def cross(self, other: Any, /) -> Any:
        """The cross product, `self` first."""

    def numbers(self) -> NDArray[float64]:
        """As an array of shape (3,); `NotNumeric` for expressions."""


@runtime_checkable
class RotationCoordinates(Protocol):
    """Axes of one frame seen from another: `b_R_a`, columns along the reference's axes."""

    @property
    def representation(self) -> Representation:
        """The representation that makes coordinates of this type."""

    def compose(self, other: Any, /) -> Any:
        """`c_R_b` composed with `b_R_a` is `c_R_a`."""

    def inverse(self) -> Any:
        """`a_R_b`."""

    def rotate(self, vector: Any, /) -> Any:
        """A vector along the axes of `a`, as one along the axes of `b`."""

    def numbers(self) -> Rotation:
        """As a `Rotation`; `NotNumeric` for expressions."""


@runtime_checkable
class PoseCoordinates(Protocol):
    """A position and a rotation.

    `frame_form` coordinates are one indivisible `b_T_a` (homogeneous matrix, dual quaternion, `Transform`): its point
    is the origin of `a`, its reference point the origin of `b`, its axes those of `b`.
    """

    @property
    def representation(self) -> Representation:
        """The representation that makes coordinates of this type."""

    @property
    def frame_form(self) -> bool:
        """Whether point, reference point and axes cannot be chosen apart from the frames."""

    @property
    def position(self) -> Any:
        """The vector from the reference point to the point."""

    @property
    def rotation(self) -> Any:
        """`b_R_a`."""

    def compose(self, other: Any, /) -> Any:
        """`c_T_b` composed with `b_T_a` is `c_T_a`; asked only where both are frame forms."""

    def inverse(self) -> Any:
        """`a_T_b`; asked only where it is a frame form."""


@runtime_checkable
class TwistCoordinates(Protocol):
    """A linear and an angular velocity.

    `form` says what is fixed by the representation: 'body' (point and axes are those of a frame on the moving body),
    'spatial' (of a frame on the reference body), 'hybrid' (point of the body, axes of the reference), or 'free'.
    """

    @property
    def form(self) -> str:
        """'body', 'spatial', 'hybrid' or 'free'."""

    @property
    def linear(self) -> Any:
        """The velocity of the point [m/s]."""

    @property
    def angular(self) -> Any:
        """The angular velocity [rad/s]."""

    def with_parts(self, linear: Any, angular: Any, form: str, /) -> Any:
        """Return coordinates of this type with other parts, in the given form."""


@runtime_checkable
class Representation(Protocol):
    """Makes coordinates: what `RelationGraph(representation=)` and `value.converted(to)` take.

    One that also has `exp(linear, angular, duration_s)`, the pose coordinates of a constant body twist after that time,
    integrates twists in its own way; others by numbers.
    """

    @property
    def name(self) -> str:
        """Its name in error messages."""

    def vector(self, xyz: NDArray[float64], /) -> Any:
        """Vector coordinates from numbers."""

    def rotation(self, rotation: Rotation, /) -> Any:
        """Rotation coordinates from numbers."""

    def pose(self, position: Any, rotation: Any, /, *, is_frame_form: bool) -> Any:
        """Pose coordinates from vector and rotation coordinates.

        `is_frame_form` says whether point, reference point and axes are those of the frames. Returns None where this
        representation cannot express what is not.
        """

    def twist(self, linear: Any, angular: Any, /) -> Any:
        """Twist coordinates of the free form from two vector coordinates."""
