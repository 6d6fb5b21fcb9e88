"""How far things of a scene are from each other."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from armillary.collision.shape_pairs import PlacedShape, distance_between, least_distance_m
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from armillary._core import NodeId, SceneView, Transform
    from armillary.collision import Distance
    from armillary.shapes import Shape

__all__ = ["closest_to", "nearest_of", "placed_under"]


def placed_under(
    view: SceneView, nodes: Iterable[NodeId], name: str, pose_of: Callable[[NodeId], Transform]
) -> list[PlacedShape]:
    """Return the shapes of these nodes that have one, where they are, under one name."""
    found = []
    for node in nodes:
        levels = view.payload(node) if view.kind(node) == "geometry" else None
        shape: Shape | None = None if levels is None else levels[0]
        if shape is not None and shape.bounding_sphere() is not None:
            found.append(PlacedShape(name, shape, np.asarray(pose_of(node).matrix)))
    return found


def nearest_of(one: Sequence[PlacedShape], other: Sequence[PlacedShape]) -> Distance:
    """Return the distance of two things, each of some shapes."""
    for thing in (one, other):
        if not thing:
            raise InvalidArgument(
                "One of the two has no shape at or below it, so it has no distance from anything. Give nodes with "
                "geometry.",
                None,
            )
    pairs = sorted(((least_distance_m(a, b), i, j) for i, a in enumerate(one) for j, b in enumerate(other)))
    _, i, j = pairs[0]
    found = distance_between(one[i], other[j])
    for least_m, i, j in pairs[1:]:
        if least_m >= found.distance_m:
            break
        found = min(found, distance_between(one[i], other[j]), key=_how_far)
    return found


def _how_far(found: Distance) -> float:
    return found.distance_m


def closest_to(thing: Sequence[PlacedShape], others: Sequence[PlacedShape], count: int, max_m: float) -> list[Distance]:
    """Return so many distances of a thing from single shapes, the nearest first."""
    if not thing:
        raise InvalidArgument(f"There is no shape to measure from at or below it, got {short_repr(thing)}.", thing)
    waiting = [(min(least_distance_m(a, b) for a in thing), i) for i, b in enumerate(others)]
    heapq.heapify(waiting)
    found: list[tuple[float, int, Distance]] = []
    while waiting:
        least_m, i = heapq.heappop(waiting)
        if least_m > max_m or (len(found) >= count and least_m >= found[count - 1][0]):
            break
        measured = nearest_of(thing, [others[i]])
        if measured.distance_m <= max_m:
            found.append((measured.distance_m, i, measured))
            found.sort(key=lambda one: one[:2])
    return [measured for _, _, measured in found[:count]]
