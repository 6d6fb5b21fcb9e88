"""Domains: what the containment of a scene means, one visitor for each meaning.

Transforms multiply along each path, covariances compound along each path, spheres contain those of what is below; an
attribute and a stamp belong to one node, and are not inherited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.relations.arrays import as_covariance
from armillary.scene.traversal import Direction, Once, VisitedNode, Visitor, Walk
from armillary.shapes import PointCloud
from armillary.shapes.volumes import BoundingSphere
from armillary.stamps import LATEST, Latest
from armillary.store import Query
from armillary.store.conditions import conditions_of, same_value
from armillary.store.nodes import TRANSFORM_KINDS
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId, Pose
    from armillary.fusion.policies import AnyPolicy
    from armillary.scene.reading import SceneVersion

__all__ = [
    "AccumulatedCloud",
    "AttributeDomain",
    "CollisionDomain",
    "DataStamps",
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


# -- Attributes


class AttributeDomain(Visitor):
    """The nodes of which everything in a query is true, in the order of the walk.

    It visits every node; `scene.find` answers the same from an index.

    Args:
        query: As `scene.find` takes it.

    Attributes:
        found: The nodes.
    """

    def __init__(self, query: Mapping[str, Any]) -> None:
        self._conditions = conditions_of(query)
        self.found: list[NodeId] = []

    def visit(self, node: VisitedNode) -> None:
        """Test the attributes of the node itself: they are not inherited."""
        attributes = node.attributes
        if all(_is_fulfilled(attributes, *condition) for condition in self._conditions):
            self.found.append(node.id)


def _is_fulfilled(attributes: Mapping[str, Any], key: str, demand: str, *parts: Any) -> bool:
    if demand == "absent" or key not in attributes:
        return demand == "absent" and key not in attributes
    value = attributes[key]
    if demand == "exists":
        return True
    if demand == "matches":
        return bool(parts[0](value))
    return same_value(value, parts[0]) if demand == "equals" else _is_within(value, *parts)


def _is_within(value: Any, low: Any, high: Any, low_included: bool, high_included: bool) -> bool:  # noqa: FBT001
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    above = low is None or value > low or (low_included and value == low)
    below = high is None or value < high or (high_included and value == high)
    return above and below


# -- Paths


class PathCollector(Visitor):
    """Every path from the root to the node where the walk begins.

    Attributes:
        paths: The nodes of each, the root first, without the node itself: the root has one empty path.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self) -> None:
        self.paths: list[tuple[NodeId, ...]] = []

    def visit(self, node: VisitedNode) -> None:
        """Complete a path at a root, which has no parents."""
        if not node.parents:
            self.paths.append(_whole_path(node)[:-1])


class SubgraphChecker(Visitor):
    """Whether the node where the walk begins is in another one, and by how many paths; a node is in itself, by one.

    Args:
        of: The other node; a text names a frame.

    Attributes:
        number_of_paths: By how many paths.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, of: NodeId | str) -> None:
        self.of, self.number_of_paths = of, 0

    @property
    def is_contained(self) -> bool:
        """Whether some path leads there."""
        return self.number_of_paths > 0

    def visit(self, node: VisitedNode) -> Walk | None:
        """Count a path at the other node; above it, it cannot occur again."""
        if node.id != (node.scene.node(self.of) if isinstance(self.of, str) else self.of):
            return None
        self.number_of_paths += 1
        return Walk.SKIP


def _whole_path(root: VisitedNode) -> tuple[NodeId, ...]:
    """The nodes from a root, reached by a walk upwards, to the node where the walk began."""
    return (root.id, *reversed(root.path))


# -- Poses


@dataclass(frozen=True, slots=True)
class PlacedPath:
    """The pose of a node by one path.

    Attributes:
        nodes: From the root to the node, both included.
        transform: `root_T_node`.
        stamp: The instant [ns]; None where every step is fixed.
    """

    nodes: tuple[NodeId, ...]
    transform: Transform
    stamp: int | None


class SpatialDomain(Visitor):
    """The pose of the node where the walk begins, by each of its paths. `world.pose` chooses one of them.

    Args:
        at: The instant; with `LATEST` each path has the newest that all of it covers.

    Attributes:
        paths: One `PlacedPath` for each.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, *, at: int | Latest = LATEST) -> None:
        self.at = at
        self.paths: list[PlacedPath] = []

    def visit(self, node: VisitedNode) -> None:
        """Complete a path at a root, which has no parents."""
        if node.parents:
            return
        nodes = _whole_path(node)
        poses = _step_poses(node.scene, nodes, self.at)
        root_T_node = Transform.identity()
        for pose in poses:
            root_T_node = root_T_node @ pose.transform
        self.paths.append(PlacedPath(nodes, root_T_node, _latest_common(poses)))


@dataclass(frozen=True, slots=True, eq=False)
class UncertainPath(PlacedPath):
    """The pose of a node by one path, with its covariance.

    Attributes:
        covariance: (6, 6), translation then rotation, in the tangent of the node; None where a step has none.
    """

    covariance: NDArray[np.float64] | None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UncertainPath):
            return NotImplemented
        return PlacedPath.__eq__(self, other) is True and np.array_equal(
            _covariance_or_empty(self), _covariance_or_empty(other)
        )

    def __hash__(self) -> int:
        return PlacedPath.__hash__(self)


def _covariance_or_empty(path: UncertainPath) -> NDArray[np.float64]:
    return np.empty(0) if path.covariance is None else path.covariance


class UncertainDomain(Visitor):
    """The pose of a node and its covariance, by each of its paths. `policy="fuse"` of a query merges paths.

    Args:
        at: The instant; with `LATEST` each path has the newest that all of it covers.
        default_covariance: (6, 6) for samples that were given without one. What is fixed is exact.

    Attributes:
        paths: One `UncertainPath` for each.
    """

    direction: ClassVar[Direction] = "up"
    once: ClassVar[Once] = "path"

    def __init__(self, *, at: int | Latest = LATEST, default_covariance: ArrayLike | None = None) -> None:
        self.at, self._default = at, as_covariance(default_covariance, "default_covariance")
        self.paths: list[UncertainPath] = []

    def visit(self, node: VisitedNode) -> None:
        """Complete a path at a root, which has no parents."""
        if node.parents:
            return
        nodes = _whole_path(node)
        poses = _step_poses(node.scene, nodes, self.at)
        root_T_node, covariance = self._compounded(poses)
        self.paths.append(UncertainPath(nodes, root_T_node, _latest_common(poses), covariance))

    def _compounded(self, poses: list[Pose]) -> tuple[Transform, NDArray[np.float64] | None]:
        """The product of poses and its covariance, for T = mean Exp(xi), by the adjoint of each inverse."""
        product, covariance = Transform.identity(), np.zeros((6, 6))
        is_known = True
        for pose in poses:
            own = self._covariance_of(pose)
            is_known &= own is not None
            adjoint = pose.transform.inverse().adjoint
            covariance = adjoint @ covariance @ adjoint.T + (0.0 if own is None else own)
            product = product @ pose.transform
        return product, covariance if is_known else None

    def _covariance_of(self, pose: Pose) -> NDArray[np.float64] | None:
        if pose.covariance is not None:
            return np.asarray(pose.covariance)
        return np.zeros((6, 6)) if pose.stamp is None else self._default


def _step_pose(scene: SceneVersion, parent: NodeId, node: NodeId, at: int | Latest) -> Pose | None:
    """`parent_T_node` by this containment alone; None where the node is at its parent's pose."""
    kind, view = scene.kind(node), scene.view
    if kind not in TRANSFORM_KINDS and kind != "frame":
        return None
    in_frame = view.base_frame(node) if kind in TRANSFORM_KINDS else view.frame(parent)
    pose: Pose = scene.store.pose(of=view.frame(node), in_frame=in_frame, at=at)
    return pose


def _step_poses(scene: SceneVersion, path: Sequence[NodeId], at: int | Latest) -> list[Pose]:
    """The poses along a path, the root's first, all at one instant."""
    found = [_step_pose(scene, *step, at) for step in pairwise(path)]
    poses = [pose for pose in found if pose is not None]
    common = _latest_common(poses) if at is LATEST else None
    return poses if common is None else _step_poses(scene, path, common)


def _latest_common(poses: Sequence[Pose]) -> int | None:
    """The newest instant that all poses cover; None where all are fixed."""
    stamps = [pose.stamp for pose in poses if pose.stamp is not None]
    return min(stamps) if stamps else None


# -- Shapes


class CollisionDomain(Visitor):
    """The bounding sphere of each node at one instant, in the frame of the node.

    Each child is placed by its containment alone, so that a node with several parents has a pose in each of them.
    `scene.overlapping` and `scene.raycast` prune by such spheres; they keep theirs between queries.

    Args:
        at: The instant; with `LATEST` each step has its own newest.

    Attributes:
        spheres: By node; None where nothing at or under it has a shape.
    """

    def __init__(self, *, at: int | Latest = LATEST) -> None:
        self.at = at
        self.spheres: dict[NodeId, BoundingSphere | None] = {}

    def contains(self, outer: NodeId, inner: BoundingSphere) -> bool:
        """Whether the sphere of a node contains another, given in its frame."""
        sphere = self.spheres.get(outer)
        return sphere is not None and sphere.contains(inner)

    def leave(self, node: VisitedNode) -> None:
        """Compute the sphere of a node, after those of everything under it."""
        self.spheres[node.id] = BoundingSphere.around(self._parts(node))

    def _parts(self, node: VisitedNode) -> Iterator[BoundingSphere]:
        own = node.levels[0].bounding_sphere() if node.kind == "geometry" else None
        if own is not None:
            yield own
        for child in node.children:
            sphere = self.spheres.get(child)
            if sphere is not None:
                pose = _step_pose(node.scene, node.id, child, self.at)
                yield sphere if pose is None else sphere.moved(pose.transform)


@dataclass(frozen=True, slots=True, eq=False)
class AccumulatedCloud:
    """One point cloud in the frame that was asked for.

    Attributes:
        node: The geometry.
        stamp: The instant it shows, and at which it was transformed [ns].
        points: Shape (N, 3) [m].
    """

    node: NodeId
    stamp: int
    points: NDArray[np.float64]


class PointCloudAccumulator(Visitor):
    """The point clouds at or under a node, each transformed with the pose at its own stamp.

    Args:
        in_frame: The frame in which the points are wanted.
        outside: As for `world.pose`, where the poses do not cover a stamp.
        policy: As for `world.pose`, where several paths lead to a cloud.

    Attributes:
        clouds: In the order of the walk.
    """

    def __init__(self, *, in_frame: str, outside: str = "raise", policy: AnyPolicy = "unique") -> None:
        self.in_frame, self._query = in_frame, Query(outside=outside, policy=policy)
        self.clouds: list[AccumulatedCloud] = []

    def visit_geometry(self, node: VisitedNode) -> None:
        """Transform a point cloud; other shapes are skipped."""
        cloud, stamp = node.levels[0], node.stamp
        if not isinstance(cloud, PointCloud) or stamp is None:
            return
        query = self._query.at_instant(stamp)
        points = node.scene.store.map_points(
            cloud.points, from_frame=node.frame, to_frame=self.in_frame, **query.keywords
        )
        self.clouds.append(AccumulatedCloud(node.id, stamp, points))

    @property
    def points(self) -> NDArray[np.float64]:
        """The points of all clouds, shape (N, 3) [m]."""
        return np.concatenate([np.zeros((0, 3)), *(cloud.points for cloud in self.clouds)])


# -- Stamps

Span = tuple[int, int]
"""The oldest and the newest stamp [ns]."""


@dataclass(frozen=True, slots=True)
class Datum:
    """A datum with a stamp: a shape, or a sample of a transform.

    Attributes:
        node: The node that it belongs to.
        stamp: The instant [ns].
    """

    node: NodeId
    stamp: int


class TemporalDomain(Visitor):
    """The oldest and the newest datum at or under a node.

    Attributes:
        oldest: None where nothing has a stamp.
        newest: None where nothing has a stamp.
    """

    def __init__(self) -> None:
        self.oldest: Datum | None = None
        self.newest: Datum | None = None
        self._stamps: DataStamps | None = None

    def visit(self, node: VisitedNode) -> None:
        """Compare the data of a node; groups, connections and fixed transforms have none."""
        if self._stamps is None:
            self._stamps = DataStamps(node.scene)
        span = self._stamps.span(node.id)
        if span is None:
            return
        if self.oldest is None or span[0] < self.oldest.stamp:
            self.oldest = Datum(node.id, span[0])
        if self.newest is None or span[1] > self.newest.stamp:
            self.newest = Datum(node.id, span[1])


class DataStamps:
    """The stamps of shapes and of the samples of transforms, as of the first query."""

    def __init__(self, scene: SceneVersion) -> None:
        self._scene, self._view = scene, scene.view

    def span(self, node: NodeId) -> Span | None:
        """The oldest and the newest stamp of a node's data [ns], of any source; None where it has none, or is fixed."""
        kind = self._view.kind(node)
        if kind == "geometry":
            stamp = None if self._scene.levels(node).is_always else self._view.created_at(node)
            return None if stamp is None else (stamp, stamp)
        is_moving = kind in TRANSFORM_KINDS and not self._view.is_fixed(node)
        return self._by_frame.get(self._view.frame(node)) if is_moving else None

    @cached_property
    def _by_frame(self) -> dict[str, Span]:
        """By frame, over all sources. One query for all relations is cheaper than one for each."""
        spans: dict[str, Span] = {}
        for of, _, _, _, count, first, last, _ in self._scene.store.relation_rows():
            if count and first is not None and last is not None:
                oldest, newest = spans.get(of, (first, last))
                spans[of] = min(oldest, first), max(newest, last)
        return spans
