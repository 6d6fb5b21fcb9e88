"""How frames move: arrows of their velocities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.stamps import Latest
    from armillary.view.web._placing import Placed
    from armillary.view.web._viewed import Viewed

__all__ = ["Motion", "motions"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """How one frame moves, seen from and along the axes of the frame that the picture is in.

    Attributes:
        of: The frame.
        origin: (3,) where it is [m].
        linear: (3,) [m/s].
        angular: (3,) [rad/s].
    """

    of: str
    origin: NDArray[float64]
    linear: NDArray[float64]
    angular: NDArray[float64]


def motions(world: Viewed, names: Iterable[str], placed: Placed, *, at: int | Latest) -> list[Motion]:
    """Of those frames whose pose and motion are known."""
    found = (_motion(world, name, placed, at) for name in names)
    return [one for one in found if one is not None]


def _motion(world: Viewed, name: str, placed: Placed, at: int | Latest) -> Motion | None:
    row = placed.of(name)
    if row is None or name == placed.in_frame:
        return None
    try:
        twist = world.twist(of=name, relative_to=placed.in_frame, expressed_in=placed.in_frame, at=at)
    except ArmillaryError:
        return None
    return Motion(of=name, origin=row[:3], linear=np.array(twist.linear), angular=np.array(twist.angular))
