"""From where the picture is seen at first, and how large axes are in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view.web._viewed import Viewed

__all__ = ["Viewpoint", "first_frame", "viewpoint"]

_SMALLEST_M, _LARGEST_M = 0.5, 200.0
_AXES = 0.03  # of the extent of the picture
_SHORTEST_AXES_M, _LONGEST_AXES_M = 0.02, 1.0
_FROM = np.array([0.74, 0.52, 0.43])  # of length one
_OPENING_RAD = 0.9
_FREE_RAD = 0.7  # what the panels at both sides leave of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewpoint:
    """Where the camera is, what it looks at, how wide [rad]; how large all of it is, and how long axes are [m]."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    extent_m: float
    axes_length_m: float
    opening_rad: float = _OPENING_RAD


def viewpoint(points: NDArray[float64]) -> Viewpoint:
    """From where all of these points (N, 3) are seen."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    centre = (low + high) / 2.0
    extent_m = float(np.clip(np.linalg.norm(high - low), _SMALLEST_M, _LARGEST_M))
    position = centre + extent_m / 2.0 / np.sin(_FREE_RAD / 2.0) * _FROM
    length_m = float(np.clip(_AXES * extent_m, _SHORTEST_AXES_M, _LONGEST_AXES_M))
    return Viewpoint(position=_triple(position), look_at=_triple(centre), extent_m=extent_m, axes_length_m=length_m)


def first_frame(world: Viewed) -> str | None:
    """The frame that most frames hang under; the root of the scene, where it is one of several."""
    above = {name: parent and parent[0] for name, parent in world.tree().parents.items()}
    if not above:
        return None
    under = Counter(_root(name, above) for name in above)
    return max(under, key=lambda root: (under[root], root == world.root_frame))


def _root(name: str, parents: dict[str, str | None]) -> str:
    passed = {name}
    while (above := parents.get(name)) is not None and above not in passed:
        passed.add(above)
        name = above
    return name


def _triple(vector: NDArray[float64]) -> tuple[float, float, float]:
    x, y, z = (float(number) for number in vector)
    return x, y, z
