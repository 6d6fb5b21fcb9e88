"""What things look like: immutable, in a frame of their own, in metres."""

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
