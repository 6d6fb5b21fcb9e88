"""How a body moves relative to another: the twist and its algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary._core import Twist as NativeTwist
from armillary.relations import _text
from armillary.relations import _twist_algebra as algebra
from armillary.relations import _twist_motion as motion
from armillary.relations._teaching import no_reference_point, no_sum, teaching
from armillary.relations._timed_storage import StoredTwist
from armillary.relations.representations.faces import twist_face
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from armillary.relations._orientation import Orientation
    from armillary.relations._pose import Pose
    from armillary.relations._position import Position
    from armillary.relations._velocity import AngularVelocity, LinearVelocity
    from armillary.relations.representations import Representation


@teaching
class Twist(StoredTwist):
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
        held: Whether something was outside its history.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first: velocities of one point, along the same axes, add up.
    """

    __slots__ = ()

    def _check(self) -> None:
        algebra.check_representable(self)

    def __repr__(self) -> str:
        return f"Twist({self.point}|{self.body} relative to {self.reference_body}, in [{self.expressed_in}])"

    def __str__(self) -> str:
        return _text.of_twist(self)

    def _repr_html_(self) -> str:
        from armillary.relations._notebook import twist_html  # noqa: PLC0415  (most programs are no notebooks)

        return twist_html(self)

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
        return cls(**algebra.joined(velocity, angular_velocity, representation))

    @classmethod
    def between(cls, earlier: Pose, later: Pose, *, duration_s: float | None = None) -> Self:
        """The constant twist that leads from one pose to the other: at the origin and along the axes of `earlier.of`.

        These are the point and the axes of a body twist; its coordinates are free, to be brought elsewhere.

        Args:
            earlier: A frame form.
            later: The same frames, later.
            duration_s: From one to the other; that of their stamps if not given.
        """
        return cls(**motion.between(earlier, later, duration_s))

    @property
    def parts(self) -> Any:
        """The coordinates, with the methods of `TwistCoordinates`."""
        return twist_face(self.coordinates)

    def _foreign(self, what: str) -> Any:
        """Numbers of coordinates that the native half does not know."""
        return (self.velocity if what == "linear" else self.angular_velocity).xyz

    @property
    def velocity(self) -> LinearVelocity:
        """The linear part, as a relation."""
        return algebra.velocity(self)

    @property
    def angular_velocity(self) -> AngularVelocity:
        """The angular part, as a relation."""
        return algebra.angular_velocity(self)

    def is_close(self, other: NativeTwist, *, m: float = 1e-9, rad: float = 1e-9) -> bool:
        """Same names, and at most `m` metres and `rad` radians a second apart."""
        if not isinstance(other, Twist) or not self._same_names(other):
            return False
        is_linear_close = np.linalg.norm(self.linear - other.linear) <= m
        return bool(is_linear_close and np.linalg.norm(self.angular - other.angular) <= rad)

    def stamped(self, stamp: int | None) -> Self:
        """The same twist said of another instant; None: of every instant."""
        return self._replace(stamp=as_stamp(stamp))

    def converted(self, representation: Representation) -> Self:
        """The same in the free coordinates of another representation, exact to rounding."""
        return self._replace(coordinates=algebra.converted(self, representation))

    def inverse(self) -> Self:
        """The reference relative to the body, at the same point and along the same axes.

        The inverse of a body twist is a spatial twist of the opposite motion, and the other way round.
        """
        return self._replace(**algebra.inverse(self))

    def compose(self, other: Twist) -> Self:
        """The body of `other` relative to the reference of `self`; the errors of the two count as independent."""
        return self._replace(**algebra.compose(self, other))

    def __matmul__(self, other: Twist) -> Self:
        return self.compose(other)

    __add__ = no_sum
    change_reference_point = no_reference_point

    def change_point(self, position: Position) -> Self:
        """At another point of the same body, v' = v + w x p.

        Args:
            position: p, of the new point from the present one, both fixed to the body.
        """
        return self._replace(**algebra.change_point(self, position))

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """Along other axes: `orientation` is that of `expressed_in` in the new frame."""
        return self._replace(**algebra.change_coordinate_frame(self, orientation))

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
        """Where this motion, kept up for a while, takes a pose: `T exp(t duration_s)`.

        What is kept up is the body twist of this instant; a twist of another form is brought to it first.

        Args:
            pose: A frame form of the same two bodies; the twist has the origin and the axes of its frames.
            duration_s: May be negative.
        """
        return motion.integrate(self, pose, duration_s)
