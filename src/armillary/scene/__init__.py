"""The shared scene: things, what they look like, and where they are."""

from armillary.scene._found import Overlaps, RayHit, RayHits
from armillary.scene.geometry import Placements, SceneGeometry
from armillary.scene.hierarchy import Hierarchy
from armillary.scene.shapes import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Levels,
    Mesh,
    PointCloud,
    Shape,
    ShapeFields,
    Sphere,
    VoxelGrid,
)
from armillary.scene.volumes import BoundingBox, BoundingSphere

__all__ = [
    "BoundingBox",
    "BoundingSphere",
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Hierarchy",
    "Levels",
    "Mesh",
    "Overlaps",
    "Placements",
    "PointCloud",
    "RayHit",
    "RayHits",
    "SceneGeometry",
    "Shape",
    "ShapeFields",
    "Sphere",
    "VoxelGrid",
]
