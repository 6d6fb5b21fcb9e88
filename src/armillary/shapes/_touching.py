"""Whether two shapes of any kinds have a point in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armillary.shapes._convex import Convex, come_within
from armillary.shapes._shape import TOUCH_M, Shape
from armillary.shapes.volumes import BoundingBox

if TYPE_CHECKING:
    from armillary.transforms import Transform

Floats = NDArray[np.float64]

_ROWS = 256


def overlap(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    """Whether they meet, or come within a nanometre of each other."""
    if a.convex is not None and b.convex is not None:
        return come_within(a.convex, b.convex.moved(a_T_b.matrix), TOUCH_M)
    return _compounds_overlap(a, b, a_T_b)


def _compounds_overlap(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    a_box, b_box = a.bounding_box(), b.bounding_box()
    if a_box is None or b_box is None:
        return False
    b_box_in_a = _widened(b_box.moved(a_T_b))
    if (a_box.low > b_box_in_a.high).any() or (a_box.high < b_box_in_a.low).any():
        return False
    if b.loose_points is not None:
        return _holds(a, a_T_b @ np.asarray(b.loose_points, dtype=np.float64))
    b_T_a = a_T_b.inverse()
    if a.loose_points is not None:
        return _holds(b, b_T_a @ np.asarray(a.loose_points, dtype=np.float64))
    a_parts, b_parts = a.convex_parts(b_box_in_a), b.convex_parts(_widened(a_box.moved(b_T_a)))
    return _parts_meet(a_parts, b_parts, a_T_b) or _one_is_inside(a, b, a_T_b)


def _widened(box: BoundingBox) -> BoundingBox:
    return BoundingBox(box.low - TOUCH_M, box.high + TOUCH_M)


def _holds(shape: Shape, points: Floats) -> bool:
    return bool(shape.contains(points).any())


def _parts_meet(a_parts: Sequence[Convex], b_parts: Sequence[Convex], a_T_b: Transform) -> bool:
    if not a_parts or not b_parts:
        return False
    matrix = a_T_b.matrix
    moved = [part.moved(matrix) for part in b_parts]
    return any(come_within(a_parts[i], moved[j], TOUCH_M) for i, j in _near_pairs(a_parts, moved))


def _near_pairs(a_parts: Sequence[Convex], b_parts: Sequence[Convex]) -> Iterator[tuple[int, int]]:
    """Those whose spheres meet."""
    b_centers, b_reach = np.array([part.center for part in b_parts]), np.array([part.reach_m for part in b_parts])
    for first in range(0, len(a_parts), _ROWS):
        rows = a_parts[first : first + _ROWS]
        centers, reach = np.array([part.center for part in rows]), np.array([part.reach_m for part in rows])
        apart = np.linalg.norm(centers[:, None] - b_centers, axis=2)
        near = np.argwhere(apart <= (reach[:, None] + b_reach) * (1.0 + TOUCH_M) + TOUCH_M)
        yield from ((first + i, j) for i, j in near.tolist())


def _one_is_inside(a: Shape, b: Shape, a_T_b: Transform) -> bool:
    """Skins that do not meet: all of a part of one is inside the other, or none."""
    if a.parts_are_skin and _holds_a_part_of(a, b, a_T_b):
        return True
    return b.parts_are_skin and _holds_a_part_of(b, a, a_T_b.inverse())


def _holds_a_part_of(solid: Shape, other: Shape, solid_T_other: Transform) -> bool:
    box = solid.bounding_box()
    parts = [] if box is None else other.convex_parts(_widened(box.moved(solid_T_other.inverse())))
    return bool(parts) and _holds(solid, solid_T_other @ np.array([part.center for part in parts]))
