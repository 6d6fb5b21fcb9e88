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
_FROM = np.array([0.72, 0.5, 0.42])  # of the extent


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewpoint:
    """Where the camera is, what it looks at, and how long axes are [m]."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    axes_length_m: float


def viewpoint(points: NDArray[float64]) -> Viewpoint:
    """From where all of these points (N, 3) are seen."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    centre = (low + high) / 2.0
    extent_m = float(np.clip(np.linalg.norm(high - low), _SMALLEST_M, _LARGEST_M))
    position = centre + extent_m * _FROM
    length_m = float(np.clip(_AXES * extent_m, _SHORTEST_AXES_M, _LONGEST_AXES_M))
    return Viewpoint(position=_triple(position), look_at=_triple(centre), axes_length_m=length_m)


def first_frame(world: Viewed) -> str | None:
    """The root of the scene, where it is a frame of the world; else the root that most frames hang under."""
    parents = world.tree().parents
    if not parents or world.root_frame in parents:
        return world.root_frame if parents else None
    under = Counter(_root(name, {name: parent and parent[0] for name, parent in parents.items()}) for name in parents)
    return under.most_common(1)[0][0]


def _root(name: str, parents: dict[str, str | None]) -> str:
    passed = {name}
    while (above := parents.get(name)) is not None and above not in passed:
        passed.add(above)
        name = above
    return name


def _triple(vector: NDArray[float64]) -> tuple[float, float, float]:
    x, y, z = (float(number) for number in vector)
    return x, y, z
