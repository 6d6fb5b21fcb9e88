"""The base classes of relations with three components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
from numpy import float64

from armillary.errors import InvalidArgument
from armillary.relations import _checks, _display
from armillary.relations._orientation import spread_of_turn, turn_to, turned_spread
from armillary.relations.arrays import added, as_vector3, skew, with_helper
from armillary.relations.representations.adapters import adapt_vector, unwrap
from armillary.relations.storage import (
    ORIGIN,
    Dated,
    Origin,
    Stored,
    are_independent,
    as_names,
    as_origin,
    origin_of_both,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.relations.representations import Representation


class VectorRelation(Stored):
    """A relation whose coordinates are one vector."""

    __slots__ = ("coordinates", "expressed_in")
    _DEFAULTS: ClassVar[dict[str, str]] = {}
    _UNIT: ClassVar[str] = "m"
    _is_angular: ClassVar[bool] = False
    _adapter = staticmethod(adapt_vector)

    expressed_in: str
    coordinates: Any

    def _init(self, coordinates: Any, xyz: Any, **names: str | None) -> None:
        self._fill(self._checked(coordinates, xyz, names))

    def _checked(self, coordinates: Any, xyz: Any, names: dict[str, str | None]) -> dict[str, Any]:
        checked = as_names(names, self._DEFAULTS)
        if (coordinates is None) == (xyz is None):
            raise InvalidArgument(f"{type(self).__name__} takes either xyz= or coordinates=, and one of them.")
        numbers = coordinates if xyz is None else as_vector3(xyz, "xyz")
        return checked | {"coordinates": unwrap(adapt_vector(numbers))}

    def __str__(self) -> str:
        return _display.vector_text(self, self._UNIT)

    @property
    def vector(self) -> Any:
        """The coordinates, with the methods of `VectorCoordinates`."""
        return adapt_vector(self.coordinates)

    @property
    def xyz(self) -> NDArray[float64]:
        """The components as numbers, shape (3,), read-only; `NotNumeric` for expressions."""
        numbers: NDArray[float64] = self.vector.numbers()
        return numbers

    def is_close(self, other: Self, *, m: float = 1e-9, rad: float = 1e-9) -> bool:
        """Same names, and vectors at most `m` (linear) or `rad` (angular) apart: in its own unit, m/s, rad/s, ..."""
        if type(other) is not type(self) or not self._same_names(other):
            return False
        return bool(np.linalg.norm(self.xyz - other.xyz) <= (rad if self._is_angular else m))

    def converted(self, representation: Representation) -> Self:
        """The same vector in other coordinates, exact to rounding."""
        return self._with(adapt_vector(representation.vector(self.xyz)))

    def change_coordinate_frame(self, orientation: Any) -> Self:
        """The same vector along other axes.

        Args:
            orientation: Of the present axes (`of=expressed_in`) in the new ones; of a `Pose`, that part.
        """
        turn = turn_to(self, orientation)
        return self._with(turn.rotate(self.vector), expressed_in=orientation.in_frame)

    def _with(self, vector: Any, **names: str) -> Self:
        return self._replace(coordinates=unwrap(adapt_vector(vector)), **names)


class DatedVector(Dated, VectorRelation):
    """A vector at an instant; its covariance, (3, 3), is along `expressed_in`."""

    __slots__ = ()

    def _init_dated(self, coordinates: Any, xyz: Any, names: dict[str, str | None], **origin: Any) -> None:
        self._fill(self._checked(coordinates, xyz, names) | as_origin(3, self._ORIGIN, origin))

    def change_coordinate_frame(self, orientation: Any) -> Self:
        """The same vector along other axes.

        Args:
            orientation: Of the present axes (`of=expressed_in`) in the new ones; of a `Pose`, that part. Its covariance
                counts; without one it is exact if it holds always, else the covariance is None.
        """
        turned, covariance = super().change_coordinate_frame(orientation), turned_spread(orientation, self.covariance)
        if covariance is not None:
            J = -orientation.rotation.matrix @ skew(self.xyz)
            covariance = with_helper(covariance, J, spread_of_turn(self, orientation))
        return turned._replace(covariance=covariance)

    def _summed(self, asked: _checks.Asked, other: Any, **names: str) -> Self:
        """The sum with another vector along the same axes; the errors of the two count as independent."""
        stamp = _checks.stamp(asked, self.stamp, other.stamp)
        covariance = added(self.covariance, other.covariance) if are_independent(self, other) else None
        whole = origin_of_both(self, other, stamp) | {"covariance": covariance}
        return self._with(self.vector + other.vector, **names)._replace(**whole)


class BodyVector(DatedVector):
    """A vector of a body as a whole, relative to another."""

    __slots__ = (*ORIGIN, "body", "reference_body")
    _NAMES = ("body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *ORIGIN)
    _DEFAULTS: ClassVar = {"expressed_in": "reference_body"}

    body: str
    reference_body: str

    def __init__(
        self,
        *,
        body: str,
        reference_body: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        expressed_in: str | None = None,
        **origin: Unpack[Origin],
    ) -> None:
        names = {"body": body, "reference_body": reference_body, "expressed_in": expressed_in}
        self._init_dated(coordinates, xyz, names, **origin)


class PointVector(DatedVector):
    """A vector of a point of a body, relative to another body."""

    __slots__ = (*ORIGIN, "body", "point", "reference_body")
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *ORIGIN)
    _DEFAULTS: ClassVar = {"body": "point", "expressed_in": "reference_body"}

    point: str
    body: str
    reference_body: str

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        xyz: ArrayLike | None = None,
        coordinates: Any = None,
        body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[Origin],
    ) -> None:
        names = {"point": point, "body": body, "reference_body": reference_body, "expressed_in": expressed_in}
        self._init_dated(coordinates, xyz, names, **origin)
