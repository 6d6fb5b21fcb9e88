"""Searches of a scene by a hierarchy of bounding spheres: which shapes meet another shape, or a ray."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidArgument, InvalidShape
from armillary.errors.format import short_repr
from armillary.scene.search._branches import Branch, Branches
from armillary.scene.search._interface import Overlaps, PlaceQuestion, RayHit, RayHits, SceneGeometry
from armillary.scene.search._probes import Probe, RayProbe, ShapeProbe
from armillary.shapes import Shape
from armillary.shapes.volumes import BoundingSphere
from armillary.stamps import Latest
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.fusion.policies import AnyPolicy


class Hierarchy:
    """A hierarchy of bounding spheres around the nodes of a scene, and searches that use it.

    Every node has a sphere, in its own frame, that contains those of all nodes below it. It is computed when it is
    first needed. Where nothing below moves it is kept until the structure there changes; where something does, it is
    computed for each query. A node with several parents is kept once. Threads may search at the same time.
    """

    def __init__(self) -> None:
        self._branches: Branches | None = None

    def bounding_sphere(self, geometry: SceneGeometry, node: Hashable, *, at: int | Latest) -> BoundingSphere | None:
        """A sphere around everything at or below a node, in its own frame; None where there is no shape.

        Nodes whose frames have no pose at this instant are left out.
        """
        branch = self._of(geometry).of(node, geometry, at)
        return _MovingSpheres(geometry, at).around(branch) if branch.dynamic_rows else branch.sphere

    def overlapping(
        self,
        geometry: SceneGeometry,
        shape: Shape,
        *,
        in_frame: str,
        at: int | Latest,
        under: Hashable,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
        in_frame_T_shape: Transform | None = None,
    ) -> Overlaps:
        """The nodes at or below `under` whose shapes have a point in common with this one, which is in `in_frame`."""
        if not isinstance(shape, Shape):
            raise InvalidShape(f"{short_repr(shape)} is no shape. Give one, as Sphere(0.5).", shape)
        search = _Search(self._of(geometry), geometry, PlaceQuestion(at, outside, policy, hold_up_to_s))
        sphere, box = shape.bounding_sphere(), shape.bounding_box()
        if sphere is not None and box is not None:
            search.run(ShapeProbe(shape, sphere, box, in_frame_T_shape or Transform.identity()), in_frame, under)
        return Overlaps([node for node, _ in search.found], visited=search.visited, missing=search.missing)

    def raycast(
        self,
        geometry: SceneGeometry,
        *,
        origin: ArrayLike,
        direction: ArrayLike,
        in_frame: str,
        at: int | Latest,
        under: Hashable,
        max_m: float = math.inf,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
    ) -> RayHits:
        """The nodes at or below `under` that a ray meets within `max_m`, the nearest first.

        Args:
            geometry: The scene.
            origin: Where the ray begins, in `in_frame` [m].
            direction: Its direction in `in_frame`, of any length.
            in_frame: The frame of the query.
            at: The instant of the query.
            under: The node at and below which to search.
            max_m: The length of the ray.
            outside: As for `world.pose`.
            policy: As for `world.pose`.
            hold_up_to_s: As for `world.pose`.
        """
        start, unit = _as_vector(origin, "origin"), _as_unit(direction)
        search = _Search(self._of(geometry), geometry, PlaceQuestion(at, outside, policy, hold_up_to_s))
        search.run(RayProbe(start, unit, _as_range_m(max_m)), in_frame, under)
        nearest_first = sorted(search.found, key=lambda found: found[1])
        hits = [RayHit(node, distance_m, start + unit * distance_m) for node, distance_m in nearest_first]
        return RayHits(hits, visited=search.visited, missing=search.missing)

    def _of(self, geometry: SceneGeometry) -> Branches:
        """The branches of this version. Two threads may make them twice; neither waits, and the later ones are kept."""
        branches = self._branches
        if branches is None:
            branches = self._branches = Branches(geometry.version)
        elif branches.version is not geometry.version:
            branches = self._branches = branches.updated(geometry)
        return branches


class _Search:
    """A search from the top down for what one probe meets at one instant; what a node's sphere excludes is skipped.

    A branch is searched by its static spheres. What moves below it is a branch of its own, at its pose of this instant.

    Attributes:
        found: Nodes and the distance along the probe at which they were met.
        visited: How many nodes had their sphere or their shape tested.
        missing: Moving nodes that have no pose at this instant.
    """

    def __init__(self, branches: Branches, geometry: SceneGeometry, question: PlaceQuestion) -> None:
        self._branches, self._geometry, self._question = branches, geometry, question
        self._seen: set[Hashable] = set()
        self.found: list[tuple[Hashable, float]] = []
        self.missing: list[Hashable] = []
        self.visited = 0

    def run(self, probe: Probe, in_frame: str, under: Hashable) -> None:
        """Search a node and everything under it."""
        top = self._branches.of(under, self._geometry, self._question.at)
        branches = (top, *top.moving_branches)
        matrices = self._matrices(in_frame, [branch.frame for branch in branches])
        is_known = np.asarray(np.isfinite(matrices).all(axis=(1, 2))).tolist()
        self.missing = [branch.node for branch, known in zip(branches, is_known, strict=True) if not known]
        rows = [row for row, branch in enumerate(branches) if is_known[row] and branch.sphere is not None]
        for row in self._near(probe, [branches[row] for row in rows], matrices[rows], rows):
            self._descend(branches[row], probe.moved(Transform.from_matrix(matrices[row]).inverse()))

    def _matrices(self, in_frame: str, frames: Sequence[str]) -> NDArray[np.float64]:
        if all(frame == in_frame for frame in frames):
            return np.tile(np.eye(4), (len(frames), 1, 1))
        return self._geometry.in_frame_T_frames(in_frame, frames, self._question).matrices

    def _near(
        self, probe: Probe, branches: Sequence[Branch], matrices: NDArray[np.float64], rows: Sequence[int]
    ) -> list[int]:
        """The rows of the branches whose spheres the probe meets."""
        spheres = [branch.sphere for branch in branches if branch.sphere is not None]
        centers = np.array([sphere.center for sphere in spheres]).reshape(-1, 3)
        placed = np.einsum("nij,nj->ni", matrices[:, :3, :3], centers) + matrices[:, :3, 3]
        is_met = probe.meets_spheres(placed, np.array([sphere.radius_m for sphere in spheres]))
        self.visited += len(spheres)
        return [row for row, met in zip(rows, is_met.tolist(), strict=True) if met]

    def _descend(self, top: Branch, probe: Probe) -> None:
        pending = [(top, probe)]
        while pending:
            branch, here = pending.pop()
            if branch.node not in self._seen:
                self._seen.add(branch.node)
                distance_m = math.inf if branch.shape is None else here.distance_m(branch.shape)
                if distance_m < math.inf:
                    self.found.append((branch.node, distance_m))
                pending.extend(self._met_children(branch, here))

    def _met_children(self, branch: Branch, probe: Probe) -> list[tuple[Branch, Probe]]:
        number = len(branch.static_rows)
        # The sphere of an only child has been met already.
        indices, tested = (list(range(number)), number) if number <= 1 else branch.tree.search(probe)
        self.visited += tested
        children = ((branch.static[index], branch.node_T_child(index)) for index in reversed(indices))
        return [(child, probe if pose is None else probe.moved(pose.inverse())) for child, pose in children]


class _MovingSpheres:
    """The spheres of nodes below which something moves, at one instant, each computed from those of its children.

    Spheres are joined two by two, in order: the result depends continuously on the poses, so that the sphere of a node
    contains that of a child also where the two are asked for one after the other.
    """

    def __init__(self, geometry: SceneGeometry, at: int | Latest) -> None:
        self._geometry, self._at = geometry, at
        self._spheres: dict[Hashable, BoundingSphere | None] = {}
        self._poses: dict[str, Transform] = {}

    def around(self, top: Branch) -> BoundingSphere | None:
        """The sphere around a branch, in the frame of its node."""
        self._look_up_poses(top)
        pending = [top]
        while pending:
            branch = pending[-1]
            missing = [child for child in branch.dynamic if child.node not in self._spheres]
            pending.extend(missing)
            if not missing:
                self._spheres[branch.node] = self._joined(pending.pop())
        return self._spheres[top.node]

    def _look_up_poses(self, top: Branch) -> None:
        """Look up the poses of all frames that matter, in one query."""
        frames = list(dict.fromkeys(branch.frame for branch in _with_dynamic(top)))
        matrices = self._geometry.in_frame_T_frames(top.frame, frames, PlaceQuestion(self._at)).matrices
        is_known = np.asarray(np.isfinite(matrices).all(axis=(1, 2))).tolist()
        for frame, matrix, known in zip(frames, matrices, is_known, strict=True):
            if known:
                self._poses[frame] = Transform.from_matrix(matrix)

    def _joined(self, branch: Branch) -> BoundingSphere | None:
        total = branch.sphere_without_dynamic
        for sphere in self._spheres_in(branch):
            total = sphere if total is None else total.union(sphere)
        return total

    def _spheres_in(self, branch: Branch) -> Iterator[BoundingSphere]:
        """The spheres of what moves. Where a child has no unique pose, things in it may have one by another parent."""
        pending, seen = list(reversed(branch.dynamic)), set[Hashable]()
        while pending:
            child = pending.pop()
            if child.node in seen:
                continue
            seen.add(child.node)
            sphere = self._placed(child, branch)
            if sphere is not None:
                yield sphere
            if child.frame not in self._poses and branch.frame in self._poses:
                pending.extend(reversed(child.dynamic))

    def _placed(self, branch: Branch, above: Branch) -> BoundingSphere | None:
        sphere = self._spheres[branch.node]
        if sphere is None or branch.frame == above.frame:
            return sphere
        here, there = self._poses.get(above.frame), self._poses.get(branch.frame)
        if here is not None and there is not None:
            return sphere.moved(here.inverse() @ there)
        return self._placed_in_parent(sphere, branch, above) if branch.node in above.children else None

    def _placed_in_parent(self, sphere: BoundingSphere, branch: Branch, parent: Branch) -> BoundingSphere | None:
        """A node with several parents has a pose in each of them, and perhaps none in the frame of the query."""
        matrix = self._geometry.in_parent_T_node(parent.node, branch.node, self._at)
        return sphere.moved(Transform.from_matrix(matrix)) if np.isfinite(matrix).all() else None


def _with_dynamic(top: Branch) -> list[Branch]:
    """This branch, and all below it that move or have something below them that does."""
    found: dict[Hashable, Branch] = {}
    pending = [top]
    while pending:
        branch = pending.pop()
        if branch.node not in found:
            found[branch.node] = branch
            pending.extend(branch.dynamic)
    return list(found.values())


def _as_vector(value: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InvalidArgument(
            f"The {name} of a ray is {short_repr(value)}. Give three finite numbers (x, y, z).", value
        )
    return vector


def _as_unit(direction: ArrayLike) -> NDArray[np.float64]:
    vector = _as_vector(direction, "direction")
    length = math.hypot(*vector.tolist())
    if length == 0.0:
        raise InvalidArgument("A ray of direction (0, 0, 0) goes nowhere. Give a vector that is not zero.", direction)
    return vector / length


def _as_range_m(max_m: float) -> float:
    if not isinstance(max_m, Real) or not max_m >= 0.0:
        raise InvalidArgument(f"A ray reaches {short_repr(max_m)} m. Give max_m that is not below zero.", max_m)
    return max_m
