"""What the containment of a scene means, one visitor for each meaning."""

from armillary.scene.domains.attributes import AttributeDomain
from armillary.scene.domains.clouds import AccumulatedCloud, PointCloudAccumulator
from armillary.scene.domains.collision import CollisionDomain
from armillary.scene.domains.paths import PathCollector, SubgraphChecker
from armillary.scene.domains.spatial import PlacedPath, SpatialDomain
from armillary.scene.domains.temporal import Datum, TemporalDomain
from armillary.scene.domains.uncertain import UncertainDomain, UncertainPath

__all__ = [
    "AccumulatedCloud",
    "AttributeDomain",
    "CollisionDomain",
    "Datum",
    "PathCollector",
    "PlacedPath",
    "PointCloudAccumulator",
    "SpatialDomain",
    "SubgraphChecker",
    "TemporalDomain",
    "UncertainDomain",
    "UncertainPath",
]
