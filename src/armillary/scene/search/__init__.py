"""Searching a scene by space: bounding spheres, overlaps and rays."""

from armillary.scene.search._hierarchy import Hierarchy
from armillary.scene.search._interface import Overlaps, Placements, PlaceQuestion, RayHit, RayHits, SceneGeometry

__all__ = ["Hierarchy", "Overlaps", "PlaceQuestion", "Placements", "RayHit", "RayHits", "SceneGeometry"]
