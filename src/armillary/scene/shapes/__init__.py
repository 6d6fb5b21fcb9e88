"""What things look like: immutable, in a frame of their own, in metres."""

from armillary.scene.shapes._convex import Convex, Hull
from armillary.scene.shapes._levels import Levels
from armillary.scene.shapes._mesh import Mesh
from armillary.scene.shapes._point_cloud import PointCloud
from armillary.scene.shapes._primitives import Box, Capsule, Cylinder, Sphere
from armillary.scene.shapes._shape import Shape, ShapeFields
from armillary.scene.shapes._voxel_grid import VoxelGrid

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
