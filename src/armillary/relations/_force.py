"""What one body exerts on another: forces and moments."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from armillary.relations import _checks
from armillary.relations._position import Position
from armillary.relations._vector import VectorRelation


class Force(VectorRelation):
    """The force that `reference_body` exerts on `body`: a vector along its line, the same at every point.

    Args:
        body: The body it acts on.
        reference_body: The body that exerts it.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        coordinates: Shape (3,) [N], or any other `VectorCoordinates`.

    Frozen. `a + b`, or `a @ b`, is the sum of two forces on one body.
    """

    __slots__ = ("body", "reference_body")
    _NAMES = ("body", "reference_body", "expressed_in")
    _FIELDS = _COMPARED = (*_NAMES, "coordinates")
    _DEFAULTS: ClassVar = {"expressed_in": "reference_body"}

    body: str
    reference_body: str

    def __init__(self, *, body: str, reference_body: str, coordinates: Any, expressed_in: str | None = None) -> None:
        self._init(coordinates, body=body, reference_body=reference_body, expressed_in=expressed_in)

    def __repr__(self) -> str:
        return f"Force(on {self.body} by {self.reference_body}, in [{self.expressed_in}])"

    def inverse(self) -> Self:
        """The reaction: what the body exerts on the other."""
        return self._with(-self.vector, body=self.reference_body, reference_body=self.body)

    def compose(self, other: Force) -> Self:
        """Both forces on the body together."""
        asked = _checks.adding(self, other)
        _checks.kind(asked, other, Force)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.body(asked, self.body, other.body)
        return self._with(self.vector + other.vector, reference_body=both(self.reference_body, other.reference_body))

    def __add__(self, other: Force) -> Self:
        return self.compose(other)

    def __matmul__(self, other: Force) -> Self:
        return self.compose(other)


class Torque(VectorRelation):
    """The moment about `point` that `reference_body` exerts on `body`.

    Args:
        point: The point it is taken about, named like the frame whose origin it is.
        reference_body: The body that exerts it.
        body: The body it acts on; that of `point` if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        coordinates: Shape (3,) [N m], or any other `VectorCoordinates`.

    Frozen. `a + b`, or `a @ b`, is the sum of two moments about one point.
    """

    __slots__ = ("body", "point", "reference_body")
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _FIELDS = _COMPARED = (*_NAMES, "coordinates")
    _DEFAULTS: ClassVar = {"body": "point", "expressed_in": "reference_body"}

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
        return f"Torque(about {self.point}|{self.body} by {self.reference_body}, in [{self.expressed_in}])"

    def inverse(self) -> Self:
        """The reaction, about the same point."""
        return self._with(-self.vector, body=self.reference_body, reference_body=self.body)

    def compose(self, other: Torque) -> Self:
        """Both moments on the body together."""
        asked = _checks.adding(self, other)
        _checks.kind(asked, other, Torque)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.point(asked, self.point, other.point)
        _checks.body(asked, self.body, other.body)
        return self._with(self.vector + other.vector, reference_body=both(self.reference_body, other.reference_body))

    def __add__(self, other: Torque) -> Self:
        return self.compose(other)

    def __matmul__(self, other: Torque) -> Self:
        return self.compose(other)

    def change_point(self, position: Position, *, force: Force) -> Self:
        """About another point of the same body: M' = M - p x F.

        Args:
            position: p, of the new point from the present one, both fixed to the body.
            force: Exerted on the same body by the same one.
        """
        asked = _checks.changing("change_point", self, position)
        _checks.kind(asked, position, Position)
        _checks.kind(asked, force, Force)
        _checks.helper_point(asked, self, position)
        _checks.same_motion(asked, self, force)
        return self._with(self.vector + force.vector.cross(position.vector), point=position.point)


def both(first: str, second: str) -> str:
    """Who exerts a sum."""
    return first if first == second else f"{first}+{second}"
