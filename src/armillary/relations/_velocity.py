"""How fast a point moves, and how fast a body turns, relative to another body."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from armillary.relations import _checks
from armillary.relations._position import Position
from armillary.relations._vector import VectorRelation

_POINT_DEFAULTS = {"body": "point", "expressed_in": "reference_body"}


class AngularVelocity(VectorRelation):
    """How fast `body` turns relative to `reference_body`: it has no point and no frame of its own.

    Args:
        body: The body that turns.
        reference_body: The body it turns relative to.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        coordinates: Shape (3,) [rad/s], or any other `VectorCoordinates`.

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = ("body", "reference_body")
    _NAMES = ("body", "reference_body", "expressed_in")
    _FIELDS = _COMPARED = (*_NAMES, "coordinates")
    _DEFAULTS: ClassVar = {"expressed_in": "reference_body"}
    _is_angular = True

    body: str
    reference_body: str

    def __init__(self, *, body: str, reference_body: str, coordinates: Any, expressed_in: str | None = None) -> None:
        self._init(coordinates, body=body, reference_body=reference_body, expressed_in=expressed_in)

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
        return self._with(self.vector + other.vector, body=other.body)

    __matmul__ = compose


class LinearVelocity(VectorRelation):
    """How fast `point`, fixed to `body`, moves relative to `reference_body`: it has no reference point.

    Args:
        point: The point, named like the frame whose origin it is.
        reference_body: The body it moves relative to.
        body: The body `point` moves with; its own if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        coordinates: Shape (3,) [m/s], or any other `VectorCoordinates`.

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = ("body", "point", "reference_body")
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _FIELDS = _COMPARED = (*_NAMES, "coordinates")
    _DEFAULTS = _POINT_DEFAULTS

    point: str
    body: str
    reference_body: str

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        coordinates: Any,
        body: str | None = None,
        expressed_in: str | None = None,
    ) -> None:
        self._init(coordinates, point=point, body=body, reference_body=reference_body, expressed_in=expressed_in)

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
        return self._with(self.vector + other.vector, body=other.body)

    __matmul__ = compose

    def change_point(self, position: Position, *, angular_velocity: AngularVelocity) -> Self:
        """To another point of the same body: v' = v + w x p.

        Args:
            position: Of the new point from the present one, both fixed to the body.
            angular_velocity: Of the body relative to the same reference.
        """
        asked = _checks.changing("change_point", self, position)
        _checks.kind(asked, position, Position)
        _checks.kind(asked, angular_velocity, AngularVelocity)
        _checks.helper_point(asked, self, position)
        _checks.same_motion(asked, self, angular_velocity)
        lever = angular_velocity.vector.cross(position.vector)
        return self._with(self.vector + lever, point=position.point)
