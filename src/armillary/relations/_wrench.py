"""Forces, moments, and wrenches: what one body exerts on another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast

import numpy as np

from armillary import errors
from armillary.relations import _checks, _display
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import no_exerting_point, no_point
from armillary.relations._orientation import Orientation, spread_of_turn, turn_to
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._vector import BodyVector, PointVector
from armillary.relations.arrays import added, both_turned, frozen, moment_moved, seen_through, skew, with_helper
from armillary.relations.representations.adapters import ForceTorque
from armillary.relations.storage import (
    ORIGIN,
    Dated,
    Origin,
    are_independent,
    as_names,
    as_origin,
    origin_of,
    origin_of_both,
    spread_of_helper,
    trusted,
)

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations.representations import Representation


@explain_arguments
class Force(BodyVector):
    """The force that `reference_body` exerts on `body`: a vector along its line, the same at every point.

    Args:
        body: The body it acts on.
        reference_body: The body that exerts it.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [N], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

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
        return self._summed(asked, other, reference_body=both(self.reference_body, other.reference_body))

    def __add__(self, other: Force) -> Self:
        return self.compose(other)

    def __matmul__(self, other: Force) -> Self:
        return self.compose(other)

    change_point = no_point
    change_reference_point = no_exerting_point

    def is_close(self, other: Self, *, m: float = 1e-9, rad: float = 1e-9, n: float | None = None) -> bool:
        """Same names, and at most `n` newton apart; without it `m` newton, the name that all relations share."""
        return super().is_close(other, m=m if n is None else n, rad=rad)


@explain_arguments
class Torque(PointVector):
    """The moment about `point` that `reference_body` exerts on `body`.

    Args:
        point: The point it is taken about, named like the frame whose origin it is.
        reference_body: The body that exerts it.
        body: The body it acts on; that of `point` if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        xyz: The vector [N m], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

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
        return self._summed(asked, other, reference_body=both(self.reference_body, other.reference_body))

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
            force: Exerted on the same body by the same one; a `Wrench` has it already, and knows how the errors of both
                go together: here the covariance is None.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        why = "A moment does not know its force; a Wrench does."
        _checks.also_given(asked, self, force, "force", Force, why=why)
        pushing = cast("Force", force)
        _checks.helper_point(asked, self, position)
        _checks.same_motion(asked, self, pushing)
        moved = self._with(self.vector + pushing.vector.cross(position.vector), point=position.point)
        return moved._replace(covariance=None, stamp=_checks.stamp(asked, self.stamp, pushing.stamp))


def both(first: str, second: str) -> str:
    """Return the name of the body, or bodies, that exert a sum."""
    return first if first == second else f"{first}+{second}"


@explain_arguments
class Wrench(Dated):
    """The force that `reference_body` exerts on `body`, and its moment about `point`.

    Args:
        point: The point the moment is taken about, named like the frame whose origin it is.
        reference_body: The body that exerts it.
        force: Shape (3,) [N], or any other `VectorCoordinates`.
        torque: Shape (3,) [N m], or any other `VectorCoordinates`.
        coordinates: In place of the two: `ForceTorque`.
        body: The body it acts on; that of `point` if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_body` if not given.
        stamp: The instant [ns]; None for what holds always.
        covariance: (6, 6), force then torque, about the point and along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a + b`, or `a @ b`, is the sum of two wrenches about one point.
    """

    __slots__ = (*ORIGIN, "body", "coordinates", "expressed_in", "point", "reference_body")
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *ORIGIN)
    _DEFAULTS: ClassVar = {"body": "point", "expressed_in": "reference_body"}

    point: str
    body: str
    reference_body: str
    expressed_in: str
    coordinates: ForceTorque

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        force: Any = None,
        torque: Any = None,
        coordinates: ForceTorque | None = None,
        body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[Origin],
    ) -> None:
        names = {"point": point, "body": body, "reference_body": reference_body, "expressed_in": expressed_in}
        numbers = {"coordinates": _both_of(coordinates, force, torque)}
        self._fill(as_names(names, self._DEFAULTS) | numbers | as_origin(6, self._ORIGIN, origin))

    def __repr__(self) -> str:
        return f"Wrench(about {self.point}|{self.body} by {self.reference_body}, in [{self.expressed_in}])"

    def __str__(self) -> str:
        return _display.wrench_text(self)

    @classmethod
    def from_parts(cls, force: Force, torque: Torque) -> Self:
        """The wrench that has this force and this moment, between the same bodies and along the same axes.

        How the errors of the two go together is not known: its covariance is None.
        """
        asked = _checks.joining("Wrench", force, torque)
        _checks.kind(asked, force, Force)
        _checks.kind(asked, torque, Torque)
        _checks.same_motion(asked, torque, force)
        return cls(
            point=torque.point,
            body=torque.body,
            reference_body=torque.reference_body,
            expressed_in=torque.expressed_in,
            force=force.coordinates,
            torque=torque.coordinates,
            **origin_of_both(force, torque, _checks.stamp(asked, force.stamp, torque.stamp)),
        )

    @property
    def force(self) -> NDArray[float64]:
        """The force [N], shape (3,), read-only; `NotNumeric` for expressions."""
        return self.as_force.xyz

    @property
    def torque(self) -> NDArray[float64]:
        """The moment [N m], shape (3,), read-only; `NotNumeric` for expressions."""
        return self.as_torque.xyz

    @property
    def as_force(self) -> Force:
        """The force, as a relation."""
        return trusted(
            Force,
            body=self.body,
            reference_body=self.reference_body,
            expressed_in=self.expressed_in,
            coordinates=self.coordinates.force,
            covariance=None if self.covariance is None else frozen(self.covariance[:3, :3]),
            **origin_of(self),
        )

    @property
    def as_torque(self) -> Torque:
        """The moment, as a relation."""
        return trusted(
            Torque,
            point=self.point,
            body=self.body,
            reference_body=self.reference_body,
            expressed_in=self.expressed_in,
            coordinates=self.coordinates.torque,
            covariance=None if self.covariance is None else frozen(self.covariance[3:, 3:]),
            **origin_of(self),
        )

    def is_close(
        self, other: Wrench, *, m: float = 1e-9, rad: float = 1e-9, n: float | None = None, nm: float | None = None
    ) -> bool:
        """Same names, forces at most `n` newton and moments at most `nm` newton metre apart.

        Without them it is `m` newton and `rad` newton metre: the names that all relations share.
        """
        if not isinstance(other, Wrench) or not self._same_names(other):
            return False
        is_force_close = self.as_force.is_close(other.as_force, m=m, n=n)
        return is_force_close and self.as_torque.is_close(other.as_torque, rad=rad, nm=nm)

    def converted(self, representation: Representation) -> Self:
        """The same wrench in other coordinates, exact to rounding."""
        return self._with(representation.vector(self.force), representation.vector(self.torque))

    def inverse(self) -> Self:
        """The reaction, about the same point."""
        names = {"body": self.reference_body, "reference_body": self.body}
        return self._with(-self.as_force.vector, -self.as_torque.vector, **names)

    def compose(self, other: Wrench) -> Self:
        """Both wrenches on the body together; the errors of the two count as independent."""
        asked = _checks.adding(self, other)
        _checks.kind(asked, other, Wrench)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.point(asked, self.point, other.point)
        _checks.body(asked, self.body, other.body)
        force = self.as_force.vector + other.as_force.vector
        torque = self.as_torque.vector + other.as_torque.vector
        covariance = added(self.covariance, other.covariance) if are_independent(self, other) else None
        whole = origin_of_both(self, other, _checks.stamp(asked, self.stamp, other.stamp)) | {"covariance": covariance}
        exerting = both(self.reference_body, other.reference_body)
        return self._with(force, torque, reference_body=exerting)._replace(**whole)

    def __add__(self, other: Wrench) -> Self:
        return self.compose(other)

    def __matmul__(self, other: Wrench) -> Self:
        return self.compose(other)

    change_reference_point = no_exerting_point

    def change_point(self, position: Position) -> Self:
        """About another point of the same body: M' = M - p x F.

        Args:
            position: p, of the new point from the present one, both fixed to the body. Its covariance counts; without
                one it is exact if it holds always, else the covariance is None.
        """
        moved = self.as_torque.change_point(position, force=self.as_force)
        covariance = self.covariance
        if covariance is not None:
            helper = _checks.part(_checks.changing("change_point", self, position), position, Position)
            J, spread = np.vstack([np.zeros((3, 3)), skew(self.force)]), spread_of_helper(self, helper)
            covariance = with_helper(seen_through(moment_moved(-helper.xyz), covariance), J, spread)
        return self._with(self.as_force.vector, moved.vector, point=moved.point)._replace(covariance=covariance)

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """Along other axes: `orientation` is that of `expressed_in` in the new frame, and its covariance counts.

        Without one it is exact if it holds always, else the covariance is None.
        """
        turn, covariance = turn_to(self, orientation), self.covariance
        parts = turn.rotate(self.as_force.vector), turn.rotate(self.as_torque.vector)
        if covariance is not None:
            R, spread = orientation.rotation.matrix, spread_of_turn(self, orientation)
            J = np.vstack([-R @ skew(self.force), -R @ skew(self.torque)])
            covariance = with_helper(seen_through(both_turned(R), covariance), J, spread)
        return self._with(*parts, expressed_in=orientation.in_frame)._replace(covariance=covariance)

    def power(self, twist: Twist) -> float:
        """The power on the moving body [W]: F.v + M.w, the same about every point and along all axes."""
        asked = _checks.Asked("power", "take the power of {} in {}", (self, twist))
        _checks.kind(asked, twist, Twist)
        _checks.coordinate_frame(asked, self.expressed_in, twist.expressed_in)
        _checks.point(asked, self.point, twist.point)
        _checks.body(asked, self.body, twist.body)
        return float(self.force @ twist.linear + self.torque @ twist.angular)

    def _with(self, force: Any, torque: Any, **names: str) -> Self:
        return self._replace(coordinates=ForceTorque(force=force, torque=torque), **names)


def _both_of(coordinates: ForceTorque | None, force: Any, torque: Any) -> ForceTorque:
    is_whole = isinstance(coordinates, ForceTorque) and force is None and torque is None
    if is_whole and coordinates is not None:
        return coordinates
    if coordinates is not None or force is None or torque is None:
        raise errors.InvalidArgument("A wrench takes either force= and torque=, or coordinates=ForceTorque(...).")
    return ForceTorque(force=force, torque=torque)
