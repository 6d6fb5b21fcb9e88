"""Shapes of things, in metres, each in a frame of its own; immutable."""

from armillary.shapes._convex import Convex, Hull
from armillary.shapes._levels import Levels
from armillary.shapes._mesh import Mesh
from armillary.shapes._point_cloud import PointCloud
from armillary.shapes._primitives import Box, Capsule, Cylinder, Sphere
from armillary.shapes._shape import Shape, ShapeFields
from armillary.shapes._voxel_grid import VoxelGrid

__all__ = [
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Hull",
    "Levels",
    "Mesh",
    "PointCloud",
    "Shape",
    "ShapeFields",
    "Sphere",
    "VoxelGrid",
]
