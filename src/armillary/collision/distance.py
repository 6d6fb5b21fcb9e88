"""What questions about bodies answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Contact", "Distance", "RayHit"]


class Distance(NamedTuple):
    """How far two bodies are from each other.

    Attributes:
        a: One.
        b: The other.
        distance_m: The shortest way between their surfaces; negative where they overlap: how far the shortest motion is
            that separates them.
        point_a: The point of `a` that is nearest to `b`, (3,); on its surface, within `b` where they overlap.
        point_b: The point of `b`.
        normal: The unit vector from `a` to `b`: moving `b` along it increases the distance at the same rate.
        is_bound: The distance is at least so large, and not known exactly: bounding volumes were compared, or a surface
            that is no convex solid is overlapped.
    """

    a: Hashable
    b: Hashable
    distance_m: float
    point_a: Floats
    point_b: Floats
    normal: Floats
    is_bound: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """One place where two bodies overlap.

    Attributes:
        a: One.
        b: The other.
        point: In the middle of the overlap, (3,).
        normal: From `a` to `b`.
        depth_m: How deep the overlap is along it.
    """

    a: Hashable
    b: Hashable
    point: Floats
    normal: Floats
    depth_m: float


@dataclass(frozen=True, slots=True, eq=False)
class RayHit:
    """A body that a ray meets.

    Attributes:
        body: Which.
        distance_m: Along the ray; 0 where it begins inside.
        point: Where, (3,).
    """

    body: Hashable
    distance_m: float
    point: Floats
