"""The shared scene: things, what they look like, and where they are."""

from armillary._core import ChangeRecord, NodeId
from armillary.scene._found import Overlaps, RayHit, RayHits
from armillary.scene._past import PastScene
from armillary.scene._payloads import Connection
from armillary.scene._scene import Scene
from armillary.scene.changes import (
    NOW,
    AddConnection,
    AddFrame,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Change,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
)
from armillary.scene.conditions import absent, between, exists, greater, greater_equal, less, less_equal
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
    "NOW",
    "AddConnection",
    "AddFrame",
    "AddGeometry",
    "AddGroup",
    "AddParent",
    "AddRemoteRoot",
    "AddTransform",
    "AddUncertainTransform",
    "BoundingBox",
    "BoundingSphere",
    "Box",
    "Capsule",
    "Change",
    "ChangeRecord",
    "Connection",
    "Convex",
    "Cylinder",
    "Hierarchy",
    "Levels",
    "Mesh",
    "NodeId",
    "Overlaps",
    "PastScene",
    "Placements",
    "PointCloud",
    "RayHit",
    "RayHits",
    "Remove",
    "RemoveParent",
    "Scene",
    "SceneGeometry",
    "SetAttributes",
    "SetTransform",
    "Shape",
    "ShapeFields",
    "Sphere",
    "VoxelGrid",
    "absent",
    "between",
    "exists",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
]
