"""What a world tells about a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """One joint at one instant.

    Attributes:
        value: Its position [rad] or [m]; an angle that wraps is known up to whole turns. None for a wheel whose speed
            alone is said.
        velocity: Its velocity [rad/s] or [m/s]; None for a single sample that came without one.
        stamp: The instant [ns].
        held: Whether it is where it was left at an earlier instant.
        predicted: Whether its last motion was continued (`outside='predict'`).
        integrated: Whether nobody said it, and it was integrated from the speeds of wheels.
    """

    value: float | None
    velocity: float | None
    stamp: int
    held: bool
    predicted: bool
    integrated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointSamples:
    """The stored samples of one joint, by one source, oldest first.

    Attributes:
        stamps: (N,) int64 [ns].
        positions: (N,) [rad] or [m].
        velocities: (N,) [rad/s] or [m/s]; NaN where none was given.
    """

    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.stamps)
