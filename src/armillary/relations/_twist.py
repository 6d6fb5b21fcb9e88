"""The twist of a body relative to another, and its algebra.

The storage is native: the answers of a world are of this class, and their numbers stay in C++ until they are read.
Coordinates of other representations are kept as they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from armillary._core import Twist as NativeTwist
from armillary.errors import InvalidArgument, NotRepresentable, RepresentationDiffers, SemanticError
from armillary.relations import _checks, _display, motion
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import Asked, no_reference_point, no_sum
from armillary.relations._orientation import Orientation, spread_of_turn, turn_to
from armillary.relations._position import Position
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations.arrays import added, both_turned, frozen, point_moved, seen_through, skew, with_helper
from armillary.relations.representations import NATIVE, LinearAngular, Representation
from armillary.relations.representations._native import trusted_twist
from armillary.relations.representations.adapters import adapt_twist, adapt_vector, unwrap
from armillary.relations.storage import (
    MOTION_ORIGIN,
    MotionOrigin,
    Stored,
    are_independent,
    as_names,
    as_origin,
    origin_of,
    origin_of_both,
    spread_of_helper,
    trusted,
)
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary.relations._pose import Pose

_DEFAULTS = {"body": "point", "expressed_in": "reference_body"}
_INVERSE_FORMS = {"free": "free", "body": "spatial", "spatial": "body"}
_MEANING = {
    "body": "a body twist is at the origin and along the axes of one frame on the body",
    "spatial": "a spatial twist is at the origin and along the axes of one frame on the reference body",
    "hybrid": "a hybrid twist is at a point of the body, along axes of the reference body",
}


@explain_arguments
class Twist(Stored, NativeTwist):
    """How `body` moves relative to `reference_body`: the velocity of `point` and the angular velocity.

    Args:
        point: The point whose velocity it is, named like the frame whose origin it is.
        reference_body: The body it moves relative to.
        linear: The velocity of the point [m/s], shape (3,).
        angular: The angular velocity [rad/s], shape (3,).
        coordinates: In place of the two: `BodyTwist`, `SpatialTwist`, `HybridTwist`, or any other coordinates.
        body: The body `point` moves with; its own if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        stamp: The instant [ns]; None for what holds always.
        covariance: (6, 6), linear then angular, at the point and along `expressed_in`; None where unknown.
        method: How it was obtained: measured, joints, differentiated or mixed.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first: velocities of one point, along the same axes, add up.
    """

    __slots__ = ()
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *MOTION_ORIGIN)
    _adapter = staticmethod(adapt_twist)

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        coordinates: Any = None,
        linear: ArrayLike | None = None,
        angular: ArrayLike | None = None,
        body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[MotionOrigin],
    ) -> None:
        names: dict[str, str | None] = {"point": point, "body": body, "reference_body": reference_body}
        if coordinates is None and linear is not None and angular is not None:
            coordinates = LinearAngular(linear=linear, angular=angular)  # type: ignore[arg-type]
        elif coordinates is None or linear is not None or angular is not None:
            raise InvalidArgument("A twist takes either linear= and angular=, or coordinates=.")
        parts = adapt_twist(coordinates)
        self._fill(
            as_names(names | {"expressed_in": expressed_in}, _DEFAULTS)
            | {"coordinates": unwrap(parts)}
            | as_origin(6, MOTION_ORIGIN, origin)
        )
        is_one_frame = self.point == self.expressed_in
        if parts.form != "free" and is_one_frame == (parts.form == "hybrid"):
            raise _not_representable(Asked("make", "make {}", (self,)), parts.form, self.point, self.expressed_in)

    def _fill(self, fields: dict[str, Any]) -> None:
        coordinates = fields["coordinates"]
        if type(coordinates) is LinearAngular and isinstance(coordinates.linear, np.ndarray):
            fields = fields | {"coordinates": None, "linear": coordinates.linear, "angular": coordinates.angular}
        NativeTwist.__init__(self, **fields)

    @property
    def coordinates(self) -> Any:
        """What it was made of, as it was given."""
        foreign = NativeTwist.coordinates.__get__(self)
        return trusted_twist(LinearAngular, self.linear, self.angular) if foreign is None else foreign

    @classmethod
    def zero(cls, *, point: str, reference_body: str, body: str | None = None, expressed_in: str | None = None) -> Self:
        """No motion, exactly."""
        names = {"point": point, "reference_body": reference_body, "body": body, "expressed_in": expressed_in}
        return cls(**names, linear=np.zeros(3), angular=np.zeros(3), covariance=np.zeros((6, 6)))  # type: ignore[arg-type]

    @classmethod
    def from_parts(
        cls,
        velocity: LinearVelocity,
        angular_velocity: AngularVelocity,
        *,
        representation: Representation | None = None,
    ) -> Self:
        """The twist that has these two velocities, of the same two bodies and along the same axes."""
        asked = _checks.joining("Twist", velocity, angular_velocity)
        _checks.kind(asked, velocity, LinearVelocity)
        _checks.kind(asked, angular_velocity, AngularVelocity)
        _checks.same_motion(asked, velocity, angular_velocity)
        return cls(
            point=velocity.point,
            body=velocity.body,
            reference_body=velocity.reference_body,
            expressed_in=velocity.expressed_in,
            coordinates=unwrap((representation or NATIVE).twist(velocity.vector, angular_velocity.vector)),
            **origin_of_both(velocity, angular_velocity, _checks.stamp(asked, velocity.stamp, angular_velocity.stamp)),
        )

    @classmethod
    def between(cls, earlier: Pose, later: Pose, *, duration_s: float | None = None) -> Self:
        """The constant twist that leads from one pose to the other: at the origin and along the axes of `earlier.of`.

        These are the point and the axes of a body twist; its coordinates are free, to be moved elsewhere.

        Args:
            earlier: A frame form.
            later: The same frames, later.
            duration_s: From one to the other; that of their stamps if not given.
        """
        return cls(**motion.between(earlier, later, duration_s))

    # Text

    def __repr__(self) -> str:
        return f"Twist({self.point}|{self.body} relative to {self.reference_body}, in [{self.expressed_in}])"

    def __str__(self) -> str:
        return _display.twist_text(self)

    def _repr_html_(self) -> str:
        return _display.twist_html(self)

    # Parts

    @property
    def parts(self) -> Any:
        """The coordinates, with the methods of `TwistCoordinates`."""
        return adapt_twist(self.coordinates)

    @property
    def velocity(self) -> LinearVelocity:
        """The linear part, as a relation."""
        return trusted(
            LinearVelocity,
            point=self.point,
            body=self.body,
            reference_body=self.reference_body,
            expressed_in=self.expressed_in,
            coordinates=unwrap(adapt_vector(self.parts.linear)),
            covariance=None if self.covariance is None else frozen(self.covariance[:3, :3]),
            **origin_of(self),
        )

    @property
    def angular_velocity(self) -> AngularVelocity:
        """The angular part, as a relation."""
        return trusted(
            AngularVelocity,
            body=self.body,
            reference_body=self.reference_body,
            expressed_in=self.expressed_in,
            coordinates=unwrap(adapt_vector(self.parts.angular)),
            covariance=None if self.covariance is None else frozen(self.covariance[3:, 3:]),
            **origin_of(self),
        )

    def foreign_part(self, what: str) -> Any:
        """Numbers of coordinates that the C++ core does not know."""
        return (self.velocity if what == "linear" else self.angular_velocity).xyz

    # Algebra

    def is_close(self, other: NativeTwist, *, m: float = 1e-9, rad: float = 1e-9) -> bool:
        """Same names, and at most `m` metres and `rad` radians a second apart."""
        if not isinstance(other, Twist) or not self._same_names(other):
            return False
        is_linear_close = np.linalg.norm(self.linear - other.linear) <= m
        return bool(is_linear_close and np.linalg.norm(self.angular - other.angular) <= rad)

    def stamped(self, stamp: int | None) -> Self:
        """The same twist at another instant; None: at every instant."""
        return self._replace(stamp=as_stamp(stamp))

    def converted(self, representation: Representation) -> Self:
        """The same twist in the free coordinates of another representation, exact to rounding."""
        vectors = (adapt_vector(representation.vector(part.numbers())) for part in motion.vectors(self))
        return self._replace(coordinates=unwrap(representation.twist(*vectors)))

    def inverse(self) -> Self:
        """The reference relative to the body, at the same point and along the same axes.

        The inverse of a body twist is a spatial twist of the opposite motion, and the other way round.
        """
        parts, (linear, angular) = self.parts, motion.vectors(self)
        if parts.form == "hybrid":
            raise _not_representable(Asked("inverse", "invert {}", (self,)), "hybrid", self.point, self.expressed_in)
        coordinates = unwrap(parts.with_parts(-linear, -angular, _INVERSE_FORMS[parts.form]))
        return self._replace(body=self.reference_body, reference_body=self.body, coordinates=coordinates)

    def compose(self, other: Twist) -> Self:
        """The body of `other` relative to the reference of `self`; the errors of the two count as independent."""
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, type(self))
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.point(asked, self.point, other.point)
        _checks.inner_body(asked, self, other)
        return self._replace(
            body=other.body,
            coordinates=_sum(asked, self, other),
            covariance=added(self.covariance, other.covariance) if are_independent(self, other) else None,
            **origin_of_both(self, other, _checks.stamp(asked, self.stamp, other.stamp)),
        )

    def __matmul__(self, other: Twist) -> Self:
        return self.compose(other)

    __add__ = no_sum
    change_reference_point = no_reference_point

    def change_point(self, position: Position) -> Self:
        """At another point of the same body, v' = v + w x p.

        Args:
            position: p, of the new point from the present one, both fixed to the body. Its covariance counts; without
                one it is exact if it holds always, else the covariance is None.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_point(asked, self, position)
        parts, (linear, angular) = self.parts, motion.vectors(self)
        if parts.form in {"body", "spatial"}:
            raise _not_representable(asked, parts.form, position.point, self.expressed_in)
        moved = adapt_vector(linear + adapt_vector(angular.cross(position.vector)))
        covariance = self.covariance
        if covariance is not None:
            J, spread = np.vstack([skew(self.angular), np.zeros((3, 3))]), spread_of_helper(self, position)
            covariance = with_helper(seen_through(point_moved(position.xyz), covariance), J, spread)
        return self._replace(
            point=position.point,
            coordinates=unwrap(parts.with_parts(moved, angular, parts.form)),
            covariance=covariance,
        )

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """Along other axes: `orientation` is that of `expressed_in` in the new frame, and its covariance counts.

        Without one it is exact if it holds always, else the covariance is None.
        """
        asked = _checks.changing("change_coordinate_frame", self, orientation)
        turn, parts, covariance = turn_to(self, orientation), self.parts, self.covariance
        is_still_hybrid = orientation.reference_body == self.reference_body and orientation.in_frame != self.point
        if parts.form in {"body", "spatial"} or (parts.form == "hybrid" and not is_still_hybrid):
            raise _not_representable(asked, parts.form, self.point, orientation.in_frame)
        linear, angular = (adapt_vector(turn.rotate(vector)) for vector in motion.vectors(self))
        if covariance is not None:
            R, spread = orientation.rotation.matrix, spread_of_turn(self, orientation)
            J = np.vstack([-R @ skew(self.linear), -R @ skew(self.angular)])
            covariance = with_helper(seen_through(both_turned(R), covariance), J, spread)
        return self._replace(
            expressed_in=orientation.in_frame,
            coordinates=unwrap(parts.with_parts(linear, angular, parts.form)),
            covariance=covariance,
        )

    def to_body(self, pose: Pose) -> Self:
        """As a body twist at the origin and along the axes of `pose.of`.

        Args:
            pose: A frame form of the same two bodies; the twist has the origin and the axes of its frames.
        """
        return self._replace(**motion.to_form(self, pose, "body"))

    def to_spatial(self, pose: Pose) -> Self:
        """As a spatial twist at the origin and along the axes of `pose.in_frame`; see `to_body`."""
        return self._replace(**motion.to_form(self, pose, "spatial"))

    def to_hybrid(self, pose: Pose) -> Self:
        """At the origin of `pose.of`, along the axes of `pose.in_frame`; see `to_body`."""
        return self._replace(**motion.to_form(self, pose, "hybrid"))

    def integrate(self, pose: Pose, duration_s: float) -> Pose:
        """The pose after a motion with this twist for some time: `T exp(t duration_s)`.

        The body twist of this instant is kept constant; a twist of another form is converted to it first.

        Args:
            pose: A frame form of the same two bodies; the twist has the origin and the axes of its frames.
            duration_s: May be negative.
        """
        return motion.integrate(self, pose, duration_s)


def _not_representable(asked: Asked, form: str, point: str, axes: str) -> SemanticError:
    hint = (
        "Use free coordinates, .converted(NATIVE) (from armillary.relations import NATIVE), or change the form: "
        ".to_body(pose), .to_spatial(pose), .to_hybrid(pose)."
    )
    return asked.error(NotRepresentable, _MEANING[form], f"point='{point}', expressed_in='{axes}'", hint)


def _sum(asked: Asked, a: Twist, b: Twist) -> Any:
    first, second = a.parts, b.parts
    if type(first) is not type(second) and not (isinstance(first, LinearAngular) and isinstance(second, LinearAngular)):
        hint = "Convert one of them explicitly: .converted(representation)."
        raise asked.error(RepresentationDiffers, type(a.coordinates).__name__, type(b.coordinates).__name__, hint)
    linear, angular = (x + y for x, y in zip(motion.vectors(a), motion.vectors(b), strict=True))
    # The point moves with the body of the second, the axes are those of the reference of the first.
    if second.form == "body" or first.form == second.form == "hybrid":
        form = second.form
    else:
        form = "spatial" if first.form == "spatial" else "free"
    return unwrap(second.with_parts(linear, angular, form))
