"""The shared scene: things, what they look like, and where they are."""

from armillary._core import ChangeRecord, NodeId
from armillary.scene import policies
from armillary.scene._found import Overlaps, RayHit, RayHits
from armillary.scene._past import PastScene
from armillary.scene._payloads import Connection
from armillary.scene._scene import Scene
from armillary.scene.blocks import REQUIRED, FunctionBlock, Port, Transaction
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
from armillary.scene.domains import (
    AttributeDomain,
    CollisionDomain,
    PathCollector,
    PointCloudAccumulator,
    SpatialDomain,
    SubgraphChecker,
    TemporalDomain,
    UncertainDomain,
)
from armillary.scene.expiry import ExpiryRule
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
from armillary.scene.traversal import VisitedNode, Visitor, Walk
from armillary.scene.volumes import BoundingBox, BoundingSphere

__all__ = [  # noqa: RUF022 - in plain order, as in every package
    "AddConnection",
    "AddFrame",
    "AddGeometry",
    "AddGroup",
    "AddParent",
    "AddRemoteRoot",
    "AddTransform",
    "AddUncertainTransform",
    "AttributeDomain",
    "BoundingBox",
    "BoundingSphere",
    "Box",
    "Capsule",
    "Change",
    "ChangeRecord",
    "CollisionDomain",
    "Connection",
    "Convex",
    "Cylinder",
    "ExpiryRule",
    "FunctionBlock",
    "Hierarchy",
    "Levels",
    "Mesh",
    "NOW",
    "NodeId",
    "Overlaps",
    "PastScene",
    "PathCollector",
    "Placements",
    "PointCloud",
    "PointCloudAccumulator",
    "Port",
    "REQUIRED",
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
    "SpatialDomain",
    "Sphere",
    "SubgraphChecker",
    "TemporalDomain",
    "Transaction",
    "UncertainDomain",
    "VisitedNode",
    "Visitor",
    "VoxelGrid",
    "Walk",
    "absent",
    "between",
    "exists",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "policies",
]
