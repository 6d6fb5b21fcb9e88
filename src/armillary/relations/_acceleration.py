"""The acceleration of a point and the angular acceleration of a body, relative to another body.

Accelerations do not add like velocities: their sums have terms that need the velocities. All are rates as seen from the
reference body, d/dt in its axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from armillary.relations import _checks
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import Asked, no_point, no_reference_point, no_sum
from armillary.relations._position import Position
from armillary.relations._vector import BodyVector, PointVector, VectorRelation
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations.arrays import Array, frozen, skew
from armillary.relations.storage import origin_of, origin_with

Effect = Callable[[], Array]
_Sum = TypeVar("_Sum", bound=VectorRelation)


@explain_arguments
class AngularAcceleration(BodyVector):
    """How the angular velocity of `body` relative to `reference_body` changes.

    Args:
        body: The body that turns.
        reference_body: The body it turns relative to.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [rad/s^2], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen.
    """

    __slots__ = ()
    _is_angular = True
    _UNIT = "rad/s^2"

    def __repr__(self) -> str:
        return f"AngularAcceleration({self.body} relative to {self.reference_body}, in [{self.expressed_in}])"

    def inverse(self) -> Self:
        """How the turning of the reference relative to the body changes: the cross term vanishes."""
        return self._with(-self.vector, body=self.reference_body, reference_body=self.body)

    def compose(
        self,
        other: AngularAcceleration,
        *,
        angular_velocity: AngularVelocity | None = None,
        other_angular_velocity: AngularVelocity | None = None,
    ) -> Self:
        """Of the body of `other` relative to the reference of `self`: a + a' + w x w'.

        Args:
            other: Of a body relative to the body of `self`.
            angular_velocity: w, of the same two bodies as `self`.
            other_angular_velocity: w', of the same two bodies as `other`.
        """
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, AngularAcceleration)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.inner_body(asked, self, other)
        own = _helper_vector(asked, self, angular_velocity, "angular_velocity", AngularVelocity)
        others = _helper_vector(asked, other, other_angular_velocity, "other_angular_velocity", AngularVelocity)
        total = self._with(self.vector + other.vector + own.cross(others), body=other.body)
        given = (
            (self, 1.0),
            (other, 1.0),
            (angular_velocity, _across(others, -1.0)),
            (other_angular_velocity, _across(own)),
        )
        return _with_errors(asked, total, *given)

    def __matmul__(self, other: AngularAcceleration) -> Self:
        return self.compose(other)

    __add__ = no_sum
    change_point = no_point
    change_reference_point = no_reference_point


@explain_arguments
class LinearAcceleration(PointVector):
    """How the velocity of `point`, fixed to `body`, relative to `reference_body` changes.

    Args:
        point: The point, named like the frame whose origin it is.
        reference_body: The body it moves relative to.
        body: The body `point` moves with; its own if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [m/s^2], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen.
    """

    __slots__ = ()
    _UNIT = "m/s^2"

    def __repr__(self) -> str:
        return (
            f"LinearAcceleration({self.point}|{self.body} relative to {self.reference_body}, in [{self.expressed_in}])"
        )

    def inverse(
        self, *, angular_velocity: AngularVelocity | None = None, velocity: LinearVelocity | None = None
    ) -> Self:
        """The same point, now moving with the reference, relative to the body: -a + 2 w x v.

        Args:
            angular_velocity: w, of the same two bodies.
            velocity: v, of the same point and bodies.
        """
        asked = Asked("inverse", "invert {}", (self,))
        turn = _helper_vector(asked, self, angular_velocity, "angular_velocity", AngularVelocity)
        line = _velocity_vector(asked, self, velocity)
        coriolis = turn.cross(line)
        names = {"body": self.reference_body, "reference_body": self.body}
        total = self._with(-self.vector + coriolis + coriolis, **names)
        return _with_errors(
            asked, total, (self, 1.0), (angular_velocity, _across(line, -2.0)), (velocity, _across(turn, 2.0))
        )

    def compose(
        self,
        other: LinearAcceleration,
        *,
        angular_velocity: AngularVelocity | None = None,
        other_velocity: LinearVelocity | None = None,
    ) -> Self:
        """The point of both, moving with the body of `other`, relative to the reference of `self`: a + a' + 2 w x v'.

        Args:
            other: Of the same point, relative to the body of `self`.
            angular_velocity: w, of the same two bodies as `self`.
            other_velocity: v', of the same point and bodies as `other`.
        """
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, LinearAcceleration)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.point(asked, self.point, other.point)
        _checks.inner_body(asked, self, other)
        turn = _helper_vector(asked, self, angular_velocity, "angular_velocity", AngularVelocity)
        line = _velocity_vector(asked, other, other_velocity, "other_velocity")
        coriolis = turn.cross(line)
        total = self._with(self.vector + other.vector + coriolis + coriolis, body=other.body)
        moving = ((angular_velocity, _across(line, -2.0)), (other_velocity, _across(turn, 2.0)))
        return _with_errors(asked, total, (self, 1.0), (other, 1.0), *moving)

    def __matmul__(self, other: LinearAcceleration) -> Self:
        return self.compose(other)

    __add__ = no_sum
    change_reference_point = no_reference_point

    def change_point(
        self,
        position: Position,
        *,
        angular_velocity: AngularVelocity | None = None,
        angular_acceleration: AngularAcceleration | None = None,
    ) -> Self:
        """To another point of the same body: a' = a + dw x p + w x (w x p).

        Args:
            position: p, of the new point from the present one, both fixed to the body.
            angular_velocity: w, of the same two bodies.
            angular_acceleration: dw, of the same two bodies.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_point(asked, self, position)
        turn = _helper_vector(asked, self, angular_velocity, "angular_velocity", AngularVelocity)
        spin = _helper_vector(asked, self, angular_acceleration, "angular_acceleration", AngularAcceleration)
        arm = position.vector
        lever = turn.cross(arm)
        total = self._with(self.vector + spin.cross(arm) + turn.cross(lever), point=position.point)
        helpers = (
            (angular_acceleration, _across(arm, -1.0)),
            (angular_velocity, lambda: -skew(lever.numbers()) - skew(turn.numbers()) @ skew(arm.numbers())),
            (position, lambda: skew(spin.numbers()) + skew(turn.numbers()) @ skew(turn.numbers())),
        )
        return _with_errors(asked, total, (self, 1.0), *helpers)


def _helper_vector(asked: Asked, value: Any, helper: Any, argument: str, kind: type) -> Any:
    """Check a helper between the same two bodies, along the same axes, and return its vector."""
    _checks.also_given(asked, value, helper, argument, kind, why="Accelerations do not add like velocities.")
    _checks.same_motion(asked, value, helper)
    return helper.vector


def _across(vector: Any, factor: float = 1.0) -> Effect:
    """Return what the error of x does to `factor * (vector x x)`; calculated where there is an error."""
    return lambda: factor * skew(vector.numbers())


def _with_errors(asked: Asked, total: _Sum, *parts: tuple[Any, Effect | float]) -> _Sum:
    """Return a sum with the instant and the covariance of its parts, whose errors count as independent.

    The covariance is None where that of one part is unknown, or two come from the same data. A position without one is
    exact where it holds always.
    """
    stamp, known, used = None, [], set[Any]()
    is_independent = True
    for part, effect in parts:
        stamp = _checks.stamp(asked, stamp, part.stamp)
        is_independent = is_independent and used.isdisjoint(part.relations)
        used.update(part.relations)
        is_exact = part.covariance is None and part.stamp is None and isinstance(part, Position)
        known.append((0.0 if is_exact else part.covariance, effect))
    covariance = None
    if is_independent and all(spread is not None for spread, _ in known):
        effects = [
            (spread, np.eye(3) if isinstance(effect, float) else effect()) for spread, effect in known if np.any(spread)
        ]
        covariance = frozen(sum((J @ spread @ J.T for spread, J in effects), np.zeros((3, 3))))
    flags = origin_of(parts[0][0])
    for part, _ in parts[1:]:
        flags |= origin_with(part, flags)
    return total._replace(**flags | {"stamp": stamp, "covariance": covariance})


def _velocity_vector(asked: Asked, value: Any, helper: Any, argument: str = "velocity") -> Any:
    vector = _helper_vector(asked, value, helper, argument, LinearVelocity)
    _checks.point(asked, value.point, helper.point)
    return vector
