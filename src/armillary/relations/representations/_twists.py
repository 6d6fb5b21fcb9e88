"""Twists as two vectors: free, or of a body, a spatial or a hybrid form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy import float64

from armillary.relations.arrays import as_vector3, tidy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LinearAngular:
    """A linear and an angular velocity, side by side: point and axes can be chosen freely.

    Attributes:
        linear: The velocity of the point [m/s], shape (3,).
        angular: The angular velocity [rad/s], shape (3,).
    """

    linear: NDArray[float64]
    angular: NDArray[float64]
    form: ClassVar[str] = "free"

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", as_vector3(self.linear, "linear"))
        object.__setattr__(self, "angular", as_vector3(self.angular, "angular"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(linear={tidy(self.linear)}, angular={tidy(self.angular)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return np.array_equal(self.linear, other.linear) and np.array_equal(self.angular, other.angular)

    def __hash__(self) -> int:
        return hash((self.form, self.linear.tobytes(), self.angular.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.linear, self.angular)

    def with_parts(self, linear: Any, angular: Any, form: str) -> LinearAngular:
        """Other parts, in the class of that form."""
        return trusted_twist(FORMS[form], linear.numbers(), angular.numbers())


def trusted_twist(kind: type[LinearAngular], linear: NDArray[float64], angular: NDArray[float64]) -> LinearAngular:
    """From read-only vectors of ours: nothing is checked again."""
    made = object.__new__(kind)
    object.__setattr__(made, "linear", linear)
    object.__setattr__(made, "angular", angular)
    return made


def _restored(kind: type[LinearAngular], linear: NDArray[float64], angular: NDArray[float64]) -> LinearAngular:
    return kind(linear=linear, angular=angular)


class BodyTwist(LinearAngular):
    """The twist at the origin and along the axes of a frame on the moving body: `T' = T exp(t)`."""

    __slots__ = ()
    form = "body"


class SpatialTwist(LinearAngular):
    """The twist at the origin and along the axes of a frame on the reference body: `T' = exp(t) T`."""

    __slots__ = ()
    form = "spatial"


class HybridTwist(LinearAngular):
    """The twist at the origin of a frame on the moving body, along the axes of one on the reference body."""

    __slots__ = ()
    form = "hybrid"


ScrewTwist = BodyTwist
"""What the paper on the semantics of geometric relations calls a body-fixed, or screw, twist."""

FORMS: dict[str, type[LinearAngular]] = {
    kind.form: kind for kind in (LinearAngular, BodyTwist, SpatialTwist, HybridTwist)
}
