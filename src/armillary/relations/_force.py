"""What one body exerts on another: forces and moments."""

from __future__ import annotations

from typing import Self, cast

from armillary.relations import _checks
from armillary.relations._position import Position
from armillary.relations._teaching import no_exerting_point, no_point, teaching
from armillary.relations._vector import BodyVector, PointVector


@teaching
class Force(BodyVector):
    """The force that `reference_body` exerts on `body`: a vector along its line, the same at every point.

    Args:
        body: The body it acts on.
        reference_body: The body that exerts it.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [N], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.

    Frozen. `a + b`, or `a @ b`, is the sum of two forces on one body.
    """

    __slots__ = ()
    _UNIT = "N"

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

    change_point = no_point
    change_reference_point = no_exerting_point

    def is_close(self, other: Self, *, m: float = 1e-9, rad: float = 1e-9, n: float | None = None) -> bool:
        """Same names, and at most `n` newton apart; without it `m` newton, the name that all relations share."""
        return super().is_close(other, m=m if n is None else n, rad=rad)


@teaching
class Torque(PointVector):
    """The moment about `point` that `reference_body` exerts on `body`.

    Args:
        point: The point it is taken about, named like the frame whose origin it is.
        reference_body: The body that exerts it.
        body: The body it acts on; that of `point` if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [N m], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.

    Frozen. `a + b`, or `a @ b`, is the sum of two moments about one point.
    """

    __slots__ = ()
    _UNIT = "N m"
    _is_angular = True

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

    change_reference_point = no_exerting_point

    def is_close(self, other: Self, *, m: float = 1e-9, rad: float = 1e-9, nm: float | None = None) -> bool:
        """Same names, and at most `nm` newton metre apart; without it `rad` newton metre, the name all share."""
        return super().is_close(other, m=m, rad=rad if nm is None else nm)

    def change_point(self, position: Position, *, force: Force | None = None) -> Self:
        """About another point of the same body: M' = M - p x F.

        Args:
            position: p, of the new point from the present one, both fixed to the body.
            force: Exerted on the same body by the same one; a `Wrench` has it already.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        why = "A moment does not know its force; a Wrench does."
        _checks.also_given(asked, self, force, "force", Force, why=why)
        pushing = cast("Force", force)
        _checks.helper_point(asked, self, position)
        _checks.same_motion(asked, self, pushing)
        return self._with(self.vector + pushing.vector.cross(position.vector), point=position.point)


def both(first: str, second: str) -> str:
    """Who exerts a sum."""
    return first if first == second else f"{first}+{second}"
