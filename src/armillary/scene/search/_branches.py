"""What is static below each node of a scene, in the frame of the node."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armillary.scene.search._interface import PlaceQuestion
from armillary.scene.search._probes import SphereTree
from armillary.shapes import Shape
from armillary.shapes.volumes import BoundingSphere, enclosing_sphere
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.scene.search._interface import SceneGeometry
    from armillary.stamps import Latest

Floats = NDArray[np.float64]

_IDENTITY = np.eye(4)


@dataclass(frozen=True, eq=False)
class Branch:
    """A node and its subgraph: what is the same for every instant while the structure stays.

    Attributes:
        node: The node.
        frame: Its frame, in which everything here is given.
        shape: The shape of the node itself.
        below: The branches of its children, in order.
        static_rows: The children that are fixed in this frame and have a shape below them that is fixed to them.
        dynamic_rows: The children that move in this frame, or have something below them that moves.
        dynamic_moves: For each of `dynamic_rows`, whether it moves in this frame itself.
        node_T_static: The poses of the `static_rows`, shape (N, 4, 4); None where all of them are in this frame.
    """

    node: Hashable
    frame: str
    shape: Shape | None
    below: tuple[Branch, ...]
    static_rows: tuple[int, ...]
    dynamic_rows: tuple[int, ...]
    dynamic_moves: tuple[bool, ...]
    node_T_static: Floats | None

    @cached_property
    def static(self) -> tuple[Branch, ...]:
        """The branches of the `static_rows`."""
        return tuple(self.below[row] for row in self.static_rows)

    @property
    def dynamic(self) -> list[Branch]:
        """The branches of the `dynamic_rows`."""
        return [self.below[row] for row in self.dynamic_rows]

    @cached_property
    def moving_branches(self) -> tuple[Branch, ...]:
        """Every branch below, at any depth, whose frame moves in that of a node above it; depth first."""
        found: dict[Hashable, Branch] = {}
        visited: set[Hashable] = set()
        pending = [(self, False)]
        while pending:
            branch, moves = pending.pop()
            if moves:
                found.setdefault(branch.node, branch)
            if branch.node not in visited:
                visited.add(branch.node)
                pending.extend(reversed(list(zip(branch.dynamic, branch.dynamic_moves, strict=True))))
        return tuple(found.values())

    @cached_property
    def sphere(self) -> BoundingSphere | None:
        """A sphere around everything static; None where there is nothing."""
        return self._around(range(len(self.static_rows)))

    @cached_property
    def sphere_without_dynamic(self) -> BoundingSphere | None:
        """A sphere around its own shape and the children below which nothing moves."""
        dynamic_rows = set(self.dynamic_rows)
        indices = [index for index, row in enumerate(self.static_rows) if row not in dynamic_rows]
        return self.sphere if len(indices) == len(self.static_rows) else self._around(indices)

    def _around(self, indices: Sequence[int]) -> BoundingSphere | None:
        own = None if self.shape is None else self.shape.bounding_sphere()
        if len(indices) == 0:
            return own
        if len(indices) == 1:
            only = self._static_sphere(indices[0])
            return only if own is None or only is None else only.union(own)
        centers, radii_m = self._spheres[0][indices], self._spheres[1][indices]
        if own is not None:
            centers, radii_m = np.vstack([centers, own.center]), np.append(radii_m, own.radius_m)
        return BoundingSphere(*enclosing_sphere(centers, radii_m))

    def _static_sphere(self, index: int) -> BoundingSphere | None:
        sphere, node_T_child = self.static[index].sphere, self.node_T_child(index)
        return sphere if sphere is None or node_T_child is None else sphere.moved(node_T_child)

    @cached_property
    def _spheres(self) -> tuple[Floats, Floats]:
        """The spheres around each of `static`: centres and radii, shapes (N, 3) and (N,)."""
        spheres = [branch.sphere for branch in self.static if branch.sphere is not None]
        centers = np.array([sphere.center for sphere in spheres])
        radii_m = np.array([sphere.radius_m for sphere in spheres])
        if self.node_T_static is not None:
            centers = np.einsum("nij,nj->ni", self.node_T_static[:, :3, :3], centers) + self.node_T_static[:, :3, 3]
        return centers, radii_m

    @cached_property
    def tree(self) -> SphereTree:
        """A search tree over the spheres of `static`."""
        return SphereTree(*self._spheres)

    @cached_property
    def children(self) -> dict[Hashable, Branch]:
        """The branches of its children, by node."""
        return {branch.node: branch for branch in self.below}

    @cached_property
    def static_poses(self) -> dict[Hashable, Floats]:
        """`node_T_child` of the static children, by node, without those that are in this frame."""
        if self.node_T_static is None:
            return {}
        pairs = zip(self.static, self.node_T_static, strict=True)
        return {branch.node: matrix for branch, matrix in pairs if branch.frame != self.frame}

    def node_T_child(self, index: int) -> Transform | None:
        """The pose of one of `static`; None where it is in this frame."""
        if self.node_T_static is None or self.static[index].frame == self.frame:
            return None
        return Transform.from_matrix(self.node_T_static[index])


Old = Branch | None


class Branches:
    """The branches of one version of a scene, made when they are first asked for.

    A branch references those below it. So a branch that did not change is reused from the previous version with its
    whole subgraph, and nodes that were removed are dropped with the branch that referenced them.

    Threads may use it at the same time: they may make a branch twice, with equal results.
    """

    def __init__(self, version: object, older: Mapping[Hashable, Branch] | None = None) -> None:
        self.version = version
        self._branches: dict[Hashable, Branch] = {}
        self._older = older or {}
        self._changed: Collection[Hashable] = frozenset()
        self._outdated: Collection[Hashable] = frozenset()
        self._shared: set[Hashable] = set()

    def updated(self, geometry: SceneGeometry) -> Branches:
        """The branches of another version, reusing those that did not change."""
        changed = geometry.changed_since(self.version)
        if changed is None:
            return Branches(geometry.version)
        fresh = Branches(geometry.version, self._branches)
        fresh._shared = {node for node in tuple(self._shared) if _is_shared(node, geometry)}
        fresh._changed = {*changed, *_moved_by(changed, fresh._shared, geometry)}
        fresh._outdated = _with_ancestors(fresh._changed, geometry)
        return fresh

    def of(self, node: Hashable, geometry: SceneGeometry, at: int | Latest) -> Branch:
        """The branch of a node. The instant matters only for which children are static."""
        found = self._found(node, None)
        return self._made(node, geometry, at) if found is None else found

    def _found(self, node: Hashable, parent: Old) -> Old:
        """The branch of a node, if it was made or can be reused; `parent` is that of its previous parent."""
        branch = self._branches.get(node)
        if branch is None and node not in self._outdated:
            branch = self._old(node, parent)
            if branch is not None:
                self._branches[node] = branch
        return branch

    def _old(self, node: Hashable, parent: Old) -> Old:
        """The branch that a node had in the previous version."""
        old = self._older.get(node)
        return parent.children.get(node) if old is None and parent is not None else old

    def _made(self, node: Hashable, geometry: SceneGeometry, at: int | Latest) -> Branch:
        """Make the branch of a node and those below it, from the leaves up; without recursion: scenes may be deep."""
        pending = [(node, self._old(node, None))]
        while pending:
            current, old = pending[-1]
            below = {child: self._found(child, old) for child in geometry.children(current)}
            missing = [child for child, branch in below.items() if branch is None]
            pending.extend((child, self._old(child, old)) for child in missing)
            if not missing:
                pending.pop()
                branches = [branch for branch in below.values() if branch is not None]
                self._branches[current] = self._joined(current, branches, old, geometry, at)
        return self._branches[node]

    def _joined(
        self, node: Hashable, below: Sequence[Branch], old: Old, geometry: SceneGeometry, at: int | Latest
    ) -> Branch:
        self._shared.update(branch.node for branch in below if _is_shared(branch.node, geometry))
        frame = geometry.frame(node)
        matrices, is_fixed = self._child_poses(frame, below, old, geometry, at)
        dynamic_rows = [row for row, branch in enumerate(below) if not is_fixed[row] or branch.dynamic_rows]
        static_rows = [row for row, branch in enumerate(below) if is_fixed[row] and branch.sphere is not None]
        return Branch(
            node=node,
            frame=frame,
            shape=geometry.shape(node),
            below=tuple(below),
            static_rows=tuple(static_rows),
            dynamic_rows=tuple(dynamic_rows),
            dynamic_moves=tuple(not is_fixed[row] for row in dynamic_rows),
            node_T_static=None if matrices is None else matrices[static_rows],
        )

    def _child_poses(
        self, frame: str, below: Sequence[Branch], old: Old, geometry: SceneGeometry, at: int | Latest
    ) -> tuple[Floats | None, list[bool]]:
        """The poses of the children in the frame of the node, and which of them are fixed there."""
        is_fixed = [True] * len(below)
        if all(branch.frame == frame for branch in below):
            return None, is_fixed
        matrices, asked = np.tile(_IDENTITY, (len(below), 1, 1)), []
        known = old.static_poses if old is not None and old.frame == frame else {}
        for row, branch in enumerate(below):
            if branch.node in known and branch.node not in self._changed:
                matrices[row] = known[branch.node]
            elif branch.frame != frame:
                asked.append(row)
        if asked:
            frames = [below[row].frame for row in asked]
            matrices[asked], fixed = geometry.in_frame_T_frames(frame, frames, PlaceQuestion(at))
            for row, is_row_fixed in zip(asked, fixed.tolist(), strict=True):
                is_fixed[row] = is_row_fixed
        return matrices, is_fixed


def _is_shared(node: Hashable, geometry: SceneGeometry) -> bool:
    return len(geometry.parents(node)) > 1


def _moved_by(changed: Collection[Hashable], shared: Collection[Hashable], geometry: SceneGeometry) -> list[Hashable]:
    """The nodes of several parents that a change above one parent may have moved in the frames of the others."""
    return [node for node in shared if not _with_ancestors([node], geometry).isdisjoint(changed)]


def _with_ancestors(nodes: Collection[Hashable], geometry: SceneGeometry) -> set[Hashable]:
    found: set[Hashable] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(geometry.parents(node))
    return found
