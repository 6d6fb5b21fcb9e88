"""Where frames came from: their ways through the last seconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError, StampOutOfRange

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.stamps import Latest
    from armillary.view.web._placing import Placed
    from armillary.view.web._viewed import Viewed

__all__ = ["trail", "trails"]

STEPS = 60
_NS_PER_S = 1e9
_STILL_M = 1e-4


def trails(
    world: Viewed, names: Iterable[str], placed: Placed, *, at: int | Latest, length_s: float
) -> dict[str, NDArray[float64]]:
    """By frame that moved, (N, 3) its way up to an instant, or to the newest that all of its path covers."""
    stamps = world.snapshot(in_frame=placed.in_frame, at=at, outside="hold").stamps
    found = {
        name: trail(world, name, in_frame=placed.in_frame, until_ns=until_ns, length_s=length_s)
        for name in names
        if (until_ns := stamps.get(name)) is not None
    }
    return {name: way for name, way in found.items() if len(way) and np.ptp(way, axis=0).max() > _STILL_M}


def trail(world: Viewed, name: str, *, in_frame: str, until_ns: int, length_s: float) -> NDArray[float64]:
    """(N, 3): the way of one frame; shorter where the history is, and nothing where there is none."""
    start_ns = until_ns - round(length_s * _NS_PER_S)
    try:
        return _way(world, name, in_frame, start_ns, until_ns)
    except StampOutOfRange as error:
        if error.first is None or not start_ns < error.first < until_ns:
            return np.empty((0, 3))
        start_ns = error.first
    except ArmillaryError:
        return np.empty((0, 3))
    try:
        return _way(world, name, in_frame, start_ns, until_ns)
    except ArmillaryError:
        return np.empty((0, 3))


def _way(world: Viewed, name: str, in_frame: str, start_ns: int, until_ns: int) -> NDArray[float64]:
    at = np.linspace(start_ns, until_ns, STEPS).astype(np.int64)
    at[0], at[-1] = start_ns, until_ns
    return world.transforms(of=name, in_frame=in_frame, at=at, as_="xyz_wxyz")[:, :3]
