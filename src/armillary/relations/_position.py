"""The position of a point from another point, and its algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np

from armillary.relations import _checks
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import no_sum
from armillary.relations._vector import DatedVector
from armillary.relations.arrays import with_helper
from armillary.relations.storage import POSE_ORIGIN, PoseOrigin, spread_of_helper

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_arguments
class Position(DatedVector):
    """The vector from `reference_point` to `point`.

    Args:
        point: The point, named like the frame whose origin it is.
        reference_point: The point it is measured from.
        body: The body `point` is fixed to; its own if not given.
        reference_body: The body `reference_point` is fixed to; its own if not given.
        expressed_in: The frame whose axes the coordinates are along; that of `reference_point` if not given.
        xyz: The vector [m], shape (3,).
        coordinates: In its place any other `VectorCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), along `expressed_in`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        integrated: Whether something was integrated from twists.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = (*POSE_ORIGIN, "body", "point", "reference_body", "reference_point")
    _NAMES = ("point", "body", "reference_point", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *POSE_ORIGIN)
    _ORIGIN = POSE_ORIGIN
    _DEFAULTS: ClassVar = {"body": "point", "reference_body": "reference_point", "expressed_in": "reference_point"}

    point: str
    body: str
    reference_point: str
    reference_body: str

    def __init__(
        self,
        *,
        point: str,
        reference_point: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        body: str | None = None,
        reference_body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[PoseOrigin],
    ) -> None:
        names: dict[str, str | None] = {"point": point, "body": body, "reference_point": reference_point}
        names |= {"reference_body": reference_body, "expressed_in": expressed_in}
        self._init_dated(coordinates, xyz, names, **origin)

    def __repr__(self) -> str:
        return (
            f"Position({self.point}|{self.body} from {self.reference_point}|{self.reference_body}, "
            f"in [{self.expressed_in}])"
        )

    @classmethod
    def within(
        cls,
        body: str,
        *,
        point: str,
        reference_point: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        expressed_in: str | None = None,
    ) -> Self:
        """The position of one point of a body from another: a lever arm, as `change_point` takes it."""
        return cls(
            point=point,
            body=body,
            reference_point=reference_point,
            reference_body=body,
            xyz=xyz,
            coordinates=coordinates,
            expressed_in=expressed_in,
        )

    def inverse(self) -> Self:
        """From the point to the reference point, along the same axes."""
        return self._with(
            -self.vector,
            point=self.reference_point,
            body=self.reference_body,
            reference_point=self.point,
            reference_body=self.body,
        )

    def compose(self, other: Position) -> Self:
        """From the reference of `self` to the point of `other`, which starts where `self` ends.

        The errors of the two count as independent; where both were computed from the same relation, the covariance is
        None.
        """
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, Position)
        _checks.coordinate_frame(asked, self.expressed_in, other.expressed_in)
        _checks.inner_point(asked, self, other)
        _checks.inner_body(asked, self, other)
        return self._summed(asked, other, point=other.point, body=other.body)

    __matmul__ = compose
    __add__ = no_sum

    def change_point(self, position: Position) -> Self:
        """To another point of the same body: `position` is that of the new point from the present one.

        The covariance of the axes of the body is not part of a position, so the covariance is None; use a `Pose`.
        """
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_point(asked, self, position)
        return self._with(self.vector + position.vector, point=position.point)._replace(covariance=None)

    def change_reference_point(self, position: Position) -> Self:
        """From another point of the reference body: `position` is that of the present one from the new one."""
        asked = _checks.changing("change_reference_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_reference_point(asked, self, position)
        moved = self._with(self.vector + position.vector, reference_point=position.reference_point)
        return moved._replace(covariance=with_helper(self.covariance, np.eye(3), spread_of_helper(self, position)))
