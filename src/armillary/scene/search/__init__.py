"""Searching a scene by space: bounding spheres, overlaps and rays."""

from armillary.scene.search._hierarchy import Hierarchy
from armillary.scene.search._interface import (
    NearNode,
    NearNodes,
    Overlaps,
    Placements,
    PlaceQuestion,
    RayHit,
    RayHits,
    SceneGeometry,
)
from armillary.scene.search._nearest import check_nearest, distance_to

__all__ = [
    "Hierarchy",
    "NearNode",
    "NearNodes",
    "Overlaps",
    "PlaceQuestion",
    "Placements",
    "RayHit",
    "RayHits",
    "SceneGeometry",
    "check_nearest",
    "distance_to",
]
