"""Which shapes of a scene meet another one, or a ray; and the spheres around its nodes."""

from __future__ import annotations

import math
from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidArgument, InvalidShape
from armillary.errors.format import short_repr
from armillary.scene._branches import Branches
from armillary.scene._found import Overlaps, RayHit, RayHits
from armillary.scene._moving_spheres import MovingSpheres
from armillary.scene._probes import RayProbe, ShapeProbe
from armillary.scene._search import Search
from armillary.scene.geometry import PlaceQuestion, SceneGeometry
from armillary.shapes import Shape
from armillary.shapes.volumes import BoundingSphere
from armillary.stamps import Latest
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.fusion.policies import AnyPolicy

__all__ = ["Hierarchy"]


class Hierarchy:
    """The spheres around the nodes of a scene, and the searches that they make short.

    Every node has a sphere, in its own frame, that contains those of all nodes below it. It is made when it is first
    needed. Where nothing below moves it is kept until the structure there changes; where something does, it is made
    for each question. A node with several parents is kept once. Threads may ask at the same time.
    """

    def __init__(self) -> None:
        self._branches: Branches | None = None

    def bounding_sphere(self, geometry: SceneGeometry, node: Hashable, *, at: int | Latest) -> BoundingSphere | None:
        """A sphere around everything at or below a node, in its own frame; None where there is no shape.

        Nodes whose frames have no pose at this instant are left out.
        """
        branch = self._of(geometry).of(node, geometry, at)
        return MovingSpheres(geometry, at).around(branch) if branch.mover_rows else branch.sphere

    def overlapping(
        self,
        geometry: SceneGeometry,
        shape: Shape,
        *,
        in_frame: str,
        at: int | Latest,
        under: Hashable,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
    ) -> Overlaps:
        """The nodes at or below `under` whose shapes have a point in common with this one, which is in `in_frame`."""
        if not isinstance(shape, Shape):
            raise InvalidShape(f"{short_repr(shape)} is no shape. Give one, as Sphere(0.5).", shape)
        search = Search(self._of(geometry), geometry, PlaceQuestion(at, outside, policy))
        sphere, box = shape.bounding_sphere(), shape.bounding_box()
        if sphere is not None and box is not None:
            search.run(ShapeProbe(shape, sphere, box, Transform.identity()), in_frame, under)
        return Overlaps([node for node, _ in search.found], visited=search.visited, missing=search.missing)

    def raycast(
        self,
        geometry: SceneGeometry,
        *,
        origin: ArrayLike,
        direction: ArrayLike,
        in_frame: str,
        at: int | Latest,
        under: Hashable,
        max_m: float = math.inf,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
    ) -> RayHits:
        """The nodes at or below `under` that a ray meets within `max_m`, the nearest first.

        Args:
            geometry: The scene.
            origin: Where the ray begins, in `in_frame`.
            direction: Where it goes, in `in_frame`, of any length.
            in_frame: The frame of the question.
            at: The instant of the question.
            under: Where to search.
            max_m: How far the ray goes.
            outside: As for `world.pose`.
            policy: As for `world.pose`.
        """
        start, unit = _as_vector(origin, "origin"), _as_unit(direction)
        search = Search(self._of(geometry), geometry, PlaceQuestion(at, outside, policy))
        search.run(RayProbe(start, unit, _as_range_m(max_m)), in_frame, under)
        nearest_first = sorted(search.found, key=lambda found: found[1])
        hits = [RayHit(node, distance_m, start + unit * distance_m) for node, distance_m in nearest_first]
        return RayHits(hits, visited=search.visited, missing=search.missing)

    def _of(self, geometry: SceneGeometry) -> Branches:
        """Two threads may do this twice; neither waits, and the later one's is kept."""
        branches = self._branches
        if branches is None:
            branches = self._branches = Branches(geometry.version)
        elif branches.version is not geometry.version:
            branches = self._branches = branches.updated(geometry)
        return branches


def _as_vector(value: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InvalidArgument(
            f"The {name} of a ray is {short_repr(value)}. Give three finite numbers (x, y, z).", value
        )
    return vector


def _as_unit(direction: ArrayLike) -> NDArray[np.float64]:
    vector = _as_vector(direction, "direction")
    length = math.hypot(*vector.tolist())
    if length == 0.0:
        raise InvalidArgument("A ray of direction (0, 0, 0) goes nowhere. Give a vector that is not zero.", direction)
    return vector / length


def _as_range_m(max_m: float) -> float:
    if not isinstance(max_m, Real) or not max_m >= 0.0:
        raise InvalidArgument(f"A ray reaches {short_repr(max_m)} m. Give max_m that is not below zero.", max_m)
    return max_m
