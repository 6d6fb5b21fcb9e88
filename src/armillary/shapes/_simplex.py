"""The point nearest to the origin on a point, segment, triangle or tetrahedron.

After C. Ericson, Real-Time Collision Detection (2005), 5.1. Each answer comes with the corners that span it.
"""

from __future__ import annotations

from collections.abc import Callable

from armillary.shapes._vectors import Vector, along, cross, dot, minus

Corners = tuple[Vector, ...]
Nearest = tuple[Vector, Corners]

_ORIGIN = (0.0, 0.0, 0.0)


def nearest_to_origin(corners: Corners) -> Nearest:
    """The nearest point, and the fewest of these one to four corners of which it is a mixture."""
    return _BY_NUMBER[len(corners)](*corners)


def _of_point(a: Vector) -> Nearest:
    return a, (a,)


def _of_segment(a: Vector, b: Vector) -> Nearest:
    ab = minus(b, a)
    passed, length = -dot(a, ab), dot(ab, ab)
    if passed <= 0.0:
        return a, (a,)
    if passed >= length:
        return b, (b,)
    return along(a, ab, passed / length), (a, b)


def _of_triangle(a: Vector, b: Vector, c: Vector) -> Nearest:
    ab, ac = minus(b, a), minus(c, a)
    normal = cross(ab, ac)
    square = dot(normal, normal)
    # Which side of each edge the origin is on, seen along the normal.
    beyond_c, beyond_b = dot(cross(normal, ab), a), dot(cross(ac, normal), a)
    beyond_a = dot(cross(normal, minus(c, b)), b)
    if square > 0.0 and beyond_c <= 0.0 and beyond_b <= 0.0 and beyond_a <= 0.0:
        return along(_ORIGIN, normal, dot(a, normal) / square), (a, b, c)
    return _nearest_of(_of_segment(a, b), _of_segment(b, c), _of_segment(a, c))


def _of_tetrahedron(a: Vector, b: Vector, c: Vector, d: Vector) -> Nearest:
    faces = ((a, b, c, d), (a, c, d, b), (a, d, b, c), (b, d, c, a))
    outside = [face[:3] for face in faces if _is_beyond(*face)]
    if not outside:
        return _ORIGIN, (a, b, c, d)
    return _nearest_of(*(_of_triangle(*face) for face in outside))


def _is_beyond(a: Vector, b: Vector, c: Vector, inner: Vector) -> bool:
    """Whether the plane of a face separates the origin from the fourth corner; so does that of a flat one."""
    normal = cross(minus(b, a), minus(c, a))
    return -dot(normal, a) * dot(normal, minus(inner, a)) <= 0.0


def _nearest_of(*candidates: Nearest) -> Nearest:
    return min(candidates, key=lambda candidate: dot(candidate[0], candidate[0]))


_BY_NUMBER: dict[int, Callable[..., Nearest]] = {1: _of_point, 2: _of_segment, 3: _of_triangle, 4: _of_tetrahedron}
