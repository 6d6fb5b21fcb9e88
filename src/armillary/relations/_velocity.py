"""The velocity of a point and the angular velocity of a body, relative to another body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast

from armillary.relations import _checks
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import no_point, no_reference_point, no_sum
from armillary.relations._position import Position
from armillary.relations._vector import DatedVector
from armillary.relations.storage import MOTION_ORIGIN, MotionOrigin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_POINT_DEFAULTS = {"body": "point", "expressed_in": "reference_body"}


@explain_arguments
class AngularVelocity(DatedVector):
    """How fast `body` turns relative to `reference_body`: it has no point and no frame of its own.

    Args:
        body: The body that turns.
        reference_body: The body it turns relative to.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [rad/s], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        method: How it was obtained: measured, joints, differentiated or mixed.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = (*MOTION_ORIGIN, "body", "reference_body")
    _NAMES = ("body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *MOTION_ORIGIN)
    _ORIGIN = MOTION_ORIGIN
    _DEFAULTS: ClassVar = {"expressed_in": "reference_body"}
    _is_angular = True
    _UNIT = "rad/s"

    body: str
    reference_body: str
    method: str

    def __init__(
        self,
        *,
        body: str,
        reference_body: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        expressed_in: str | None = None,
        **origin: Unpack[MotionOrigin],
    ) -> None:
        names = {"body": body, "reference_body": reference_body, "expressed_in": expressed_in}
        self._init_dated(coordinates, xyz, names, **origin)

    def __repr__(self) -> str:
        return f"AngularVelocity({self.body} relative to {self.reference_body}, in [{self.expressed_in}])"

    def inverse(self) -> Self:
        """How the reference turns relative to the body."""
        return self._with(-self.vector, body=self.reference_body, reference_body=self.body)

    def compose(self, other: AngularVelocity) -> Self:
        """How the body of `other` turns relative to the reference of `self`."""
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, AngularVelocity)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.inner_body(asked, self, other)
        return self._summed(asked, other, body=other.body)

    __matmul__ = compose
    __add__ = no_sum
    change_point = no_point
    change_reference_point = no_reference_point


@explain_arguments
class LinearVelocity(DatedVector):
    """How fast `point`, fixed to `body`, moves relative to `reference_body`: it has no reference point.

    Args:
        point: The point, named like the frame whose origin it is.
        reference_body: The body it moves relative to.
        body: The body `point` moves with; its own if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [m/s], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        method: How it was obtained: measured, joints, differentiated or mixed.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = (*MOTION_ORIGIN, "body", "point", "reference_body")
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *MOTION_ORIGIN)
    _ORIGIN = MOTION_ORIGIN
    _DEFAULTS = _POINT_DEFAULTS
    _UNIT = "m/s"

    point: str
    body: str
    reference_body: str
    method: str

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[MotionOrigin],
    ) -> None:
        names = {"point": point, "body": body, "reference_body": reference_body, "expressed_in": expressed_in}
        self._init_dated(coordinates, xyz, names, **origin)

    def __repr__(self) -> str:
        return f"LinearVelocity({self.point}|{self.body} relative to {self.reference_body}, in [{self.expressed_in}])"

    def inverse(self) -> Self:
        """The same point, now moving with the reference, relative to the body."""
        return self._with(-self.vector, body=self.reference_body, reference_body=self.body)

    def compose(self, other: LinearVelocity) -> Self:
        """The point of both, moving with the body of `other`, relative to the reference of `self`."""
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, LinearVelocity)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.point(asked, self.point, other.point)
        _checks.inner_body(asked, self, other)
        return self._summed(asked, other, body=other.body)

    __matmul__ = compose
    __add__ = no_sum
    change_reference_point = no_reference_point

    def change_point(self, position: Position, *, angular_velocity: AngularVelocity | None = None) -> Self:
        """To another point of the same body: v' = v + w x p.

        Args:
            position: Of the new point from the present one, both fixed to the body.
            angular_velocity: Of the body relative to the same reference; a `Twist` has it already, and knows how the
                errors of both go together: here the covariance is None.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        why = "A velocity does not know how its body turns; a Twist does."
        _checks.also_given(asked, self, angular_velocity, "angular_velocity", AngularVelocity, why=why)
        turning = cast("AngularVelocity", angular_velocity)
        _checks.helper_point(asked, self, position)
        _checks.same_motion(asked, self, turning)
        lever = turning.vector.cross(position.vector)
        return self._with(self.vector + lever, point=position.point)._replace(covariance=None)
