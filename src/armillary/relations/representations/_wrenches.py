"""Wrenches as two vectors, of any representation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armillary.relations.arrays import tidy
from armillary.relations.representations.faces import given, vector_face


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForceTorque:
    """A force and a moment, side by side.

    Attributes:
        force: Shape (3,) [N], or any other `VectorCoordinates`.
        torque: Shape (3,) [N m], likewise.
    """

    force: Any
    torque: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", given(vector_face(self.force)))
        object.__setattr__(self, "torque", given(vector_face(self.torque)))

    def __repr__(self) -> str:
        force, torque = (tidy(part) if isinstance(part, np.ndarray) else part for part in (self.force, self.torque))
        return f"ForceTorque(force={force!r}, torque={torque!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForceTorque):
            return False
        is_same_force = vector_face(self.force) == vector_face(other.force)
        return bool(is_same_force and vector_face(self.torque) == vector_face(other.torque))

    def __hash__(self) -> int:
        return hash(ForceTorque)
