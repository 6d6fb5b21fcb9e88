"""What is known of each node's subgraph for as long as the structure stays: all that never moves, in its own frame."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armillary.scene._enclosing import enclosing_sphere
from armillary.scene._packed_tree import PackedTree
from armillary.scene.shapes import Shape
from armillary.scene.volumes import BoundingSphere
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.scene.geometry import SceneGeometry
    from armillary.stamps import Latest

Floats = NDArray[np.float64]

_IDENTITY = np.eye(4)


@dataclass(frozen=True, eq=False)
class Branch:
    """A node and what stands still below it.

    Attributes:
        frame: Its frame, in which everything here is given.
        shape: Its own.
        children: Those that stand still in this frame and have something that stands still with them.
        below: Their branches.
        node_T_children: Where they are, shape (N, 4, 4); None where all are in this frame.
        moving: Every node below whose frame moves in that of a node above it, at any depth.
        movers: The children that move, or below which something does.
    """

    frame: str
    shape: Shape | None
    children: tuple[Hashable, ...]
    below: tuple[Branch, ...]
    node_T_children: Floats | None  # noqa: N815
    moving: tuple[Hashable, ...]
    movers: tuple[Hashable, ...]

    @cached_property
    def sphere(self) -> BoundingSphere | None:
        """Around all that stands still; None where there is nothing."""
        return self._around(range(len(self.children)))

    @cached_property
    def still(self) -> BoundingSphere | None:
        """Around its own shape and the children that are not among the movers."""
        movers = set(self.movers)
        rows = [row for row, child in enumerate(self.children) if child not in movers]
        return self.sphere if len(rows) == len(self.children) else self._around(rows)

    def _around(self, rows: Sequence[int]) -> BoundingSphere | None:
        own = None if self.shape is None else self.shape.bounding_sphere()
        if len(rows) == 0:
            return own
        if len(rows) == 1:
            only = self._child_sphere(rows[0])
            return only if own is None or only is None else only.union(own)
        centers, radii_m = self._spheres[0][rows], self._spheres[1][rows]
        if own is not None:
            centers, radii_m = np.vstack([centers, own.center]), np.append(radii_m, own.radius_m)
        return BoundingSphere(*enclosing_sphere(centers, radii_m))

    def _child_sphere(self, row: int) -> BoundingSphere | None:
        sphere, place = self.below[row].sphere, self.node_T_child(row)
        return sphere if sphere is None or place is None else sphere.moved(place)

    @cached_property
    def _spheres(self) -> tuple[Floats, Floats]:
        """Around what stands still with each child: centres and radii, shapes (N, 3) and (N,)."""
        spheres = [branch.sphere for branch in self.below if branch.sphere is not None]
        centers = np.array([sphere.center for sphere in spheres])
        radii_m = np.array([sphere.radius_m for sphere in spheres])
        if self.node_T_children is not None:
            turns, shifts = self.node_T_children[:, :3, :3], self.node_T_children[:, :3, 3]
            centers = np.einsum("nij,nj->ni", turns, centers) + shifts
        return centers, radii_m

    @cached_property
    def tree(self) -> PackedTree:
        """Over the spheres of the children."""
        return PackedTree(*self._spheres)

    @cached_property
    def rows(self) -> dict[Hashable, int]:
        """Where among the children one is."""
        return {child: row for row, child in enumerate(self.children)}

    def node_T_child(self, row: int) -> Transform | None:
        """Where one child is; None where it is in this frame."""
        if self.node_T_children is None or self.below[row].frame == self.frame:
            return None
        return Transform.from_matrix(self.node_T_children[row])


class Branches:
    """The branches of one version, made when they are first asked for."""

    def __init__(self, version: object) -> None:
        self.version = version
        self._branches: dict[Hashable, Branch] = {}
        self._above: dict[Hashable, tuple[Hashable, ...]] = {}
        self._outdated: dict[Hashable, Branch] = {}
        self._changed: Collection[Hashable] = ()

    def updated(self, geometry: SceneGeometry) -> Branches:
        """Those of another version; what did not change is taken over."""
        changed = geometry.changed_since(self.version)
        fresh = Branches(geometry.version)
        if changed is not None:
            outdated = self._above_all(changed)
            kept = {node: branch for node, branch in self._branches.items() if node not in outdated}
            fresh._branches, fresh._above = kept, dict(self._above)
            fresh._changed, fresh._outdated = frozenset(changed), self._known(outdated)
        return fresh

    def _known(self, nodes: Collection[Hashable]) -> dict[Hashable, Branch]:
        return {node: self._branches[node] for node in nodes if node in self._branches}

    def _above_all(self, nodes: Collection[Hashable]) -> set[Hashable]:
        """These nodes and all above them."""
        found: set[Hashable] = set()
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if node not in found:
                found.add(node)
                pending.extend(self._above.get(node, ()))
        return found

    def of(self, node: Hashable, geometry: SceneGeometry, at: int | Latest) -> Branch:
        """The branch of a node. The instant matters only to tell what stands still."""
        pending = [node]
        while pending:
            current = pending[-1]
            children = () if current in self._branches else geometry.children(current)
            missing = [child for child in children if child not in self._branches]
            pending.extend(missing)
            if not missing:
                pending.pop()
                if current not in self._branches:
                    self._branches[current] = self._made(current, children, geometry, at)
        return self._branches[node]

    def known(self, node: Hashable) -> Branch:
        """One that is at or below a node that was asked for."""
        return self._branches[node]

    def _made(self, node: Hashable, children: Sequence[Hashable], geometry: SceneGeometry, at: int | Latest) -> Branch:
        for child in children:
            self._above[child] = (*(n for n in self._above.get(child, ()) if n != node), node)
        frame = geometry.frame(node)
        places = self._places(node, frame, children, geometry, at)
        return self._branch(frame, geometry.shape(node), children, *places)

    def _places(
        self, node: Hashable, frame: str, children: Sequence[Hashable], geometry: SceneGeometry, at: int | Latest
    ) -> tuple[Floats | None, list[bool]]:
        """Where the children are in the frame of the node, and which of them stand still there."""
        is_fixed = [True] * len(children)
        elsewhere = [row for row, child in enumerate(children) if self._branches[child].frame != frame]
        if not elsewhere:
            return None, is_fixed
        matrices = np.tile(_IDENTITY, (len(children), 1, 1))
        known = self._known_places(node, frame, [children[row] for row in elsewhere])
        asked = [row for row in elsewhere if children[row] not in known]
        for row in elsewhere:
            if children[row] in known:
                matrices[row] = known[children[row]]
        if asked:
            frames = [self._branches[children[row]].frame for row in asked]
            placements = geometry.in_frame_T_frames(frame, frames, at)
            matrices[asked] = placements.matrices
            for row, fixed in zip(asked, placements.is_fixed.tolist(), strict=True):
                is_fixed[row] = fixed
        return matrices, is_fixed

    def _known_places(self, node: Hashable, frame: str, children: Sequence[Hashable]) -> dict[Hashable, Floats]:
        """Those that stood still in an earlier version, and did not change."""
        old = self._outdated.get(node)
        if old is None or old.frame != frame or old.node_T_children is None:
            return {}
        rows = ((child, old.rows.get(child)) for child in children if child not in self._changed)
        return {child: old.node_T_children[row] for child, row in rows if row is not None}

    def _branch(
        self,
        frame: str,
        shape: Shape | None,
        children: Sequence[Hashable],
        matrices: Floats | None,
        is_fixed: list[bool],
    ) -> Branch:
        below = [self._branches[child] for child in children]
        rows = [row for row, branch in enumerate(below) if is_fixed[row] and branch.sphere is not None]
        moves = [not fixed or bool(branch.moving) for fixed, branch in zip(is_fixed, below, strict=True)]
        return Branch(
            frame=frame,
            shape=shape,
            children=tuple(children[row] for row in rows),
            below=tuple(below[row] for row in rows),
            node_T_children=None if matrices is None else matrices[rows],
            moving=_all_moving(children, below, is_fixed),
            movers=tuple(child for child, mover in zip(children, moves, strict=True) if mover),
        )


def _all_moving(
    children: Sequence[Hashable], below: Sequence[Branch], is_fixed: Sequence[bool]
) -> tuple[Hashable, ...]:
    found: dict[Hashable, None] = {}
    for child, branch, fixed in zip(children, below, is_fixed, strict=True):
        if not fixed:
            found[child] = None
        found.update(dict.fromkeys(branch.moving))
    return tuple(found)
