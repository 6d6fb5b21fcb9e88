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
        node_T_children: Where these are, shape (N, 4, 4).
        spheres: Around what stands still with each child: centres and radii, shapes (N, 3) and (N,).
        moving: Every node below whose frame moves in that of a node above it, at any depth.
        movers: The children that move, or below which something does.
        sphere: Around all that stands still; None where there is nothing.
        still: Around its own shape and the children that are not among the movers.
    """

    frame: str
    shape: Shape | None
    children: tuple[Hashable, ...]
    node_T_children: Floats  # noqa: N815
    spheres: tuple[Floats, Floats]
    moving: tuple[Hashable, ...]
    movers: tuple[Hashable, ...]
    sphere: BoundingSphere | None
    still: BoundingSphere | None

    @cached_property
    def tree(self) -> PackedTree:
        """Over the spheres of the children."""
        return PackedTree(*self.spheres)

    @cached_property
    def rows(self) -> dict[Hashable, int]:
        """Where in the arrays a child is."""
        return {child: row for row, child in enumerate(self.children)}

    @cached_property
    def _is_apart(self) -> list[bool]:
        """Which children have a frame elsewhere."""
        is_apart: list[bool] = (self.node_T_children != _IDENTITY).any(axis=(1, 2)).tolist()
        return is_apart

    def node_T_child(self, row: int) -> Transform | None:
        """Where one child is; None where it is in this frame."""
        return Transform.from_matrix(self.node_T_children[row]) if self._is_apart[row] else None


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
        frame, shape = geometry.frame(node), geometry.shape(node)
        matrices, is_fixed = self._places(node, frame, children, geometry, at)
        return self._branch(frame, shape, children, matrices, is_fixed)

    def _places(
        self, node: Hashable, frame: str, children: Sequence[Hashable], geometry: SceneGeometry, at: int | Latest
    ) -> tuple[Floats, list[bool]]:
        """Where the children are in the frame of the node, and which of them stand still there."""
        matrices, is_fixed = np.tile(_IDENTITY, (len(children), 1, 1)), [True] * len(children)
        old = self._outdated.get(node)
        asked = []
        for row, child in enumerate(children):
            known = None if old is None or child in self._changed or old.frame != frame else old.rows.get(child)
            if old is not None and known is not None:
                matrices[row] = old.node_T_children[known]
            elif self._branches[child].frame != frame:
                asked.append(row)
        if asked:
            frames = [self._branches[children[row]].frame for row in asked]
            placements = geometry.in_frame_T_frames(frame, frames, at)
            matrices[asked] = placements.matrices
            for row, fixed in zip(asked, placements.is_fixed.tolist(), strict=True):
                is_fixed[row] = fixed
        return matrices, is_fixed

    def _branch(
        self, frame: str, shape: Shape | None, children: Sequence[Hashable], matrices: Floats, is_fixed: list[bool]
    ) -> Branch:
        below = [self._branches[child] for child in children]
        rows = [row for row, branch in enumerate(below) if is_fixed[row] and branch.sphere is not None]
        spheres = _moved_spheres([below[row].sphere for row in rows], matrices[rows])
        moves = [not fixed or bool(branch.moving) for fixed, branch in zip(is_fixed, below, strict=True)]
        still = [index for index, row in enumerate(rows) if not moves[row]]
        own = None if shape is None else shape.bounding_sphere()
        whole = _around(own, spheres)
        return Branch(
            frame=frame,
            shape=shape,
            children=tuple(children[row] for row in rows),
            node_T_children=matrices[rows],
            spheres=spheres,
            moving=_all_moving(children, below, is_fixed),
            movers=tuple(child for child, mover in zip(children, moves, strict=True) if mover),
            sphere=whole,
            still=whole if len(still) == len(rows) else _around(own, (spheres[0][still], spheres[1][still])),
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


def _moved_spheres(spheres: Sequence[BoundingSphere | None], matrices: Floats) -> tuple[Floats, Floats]:
    given = [sphere for sphere in spheres if sphere is not None]
    centers = np.array([sphere.center for sphere in given]).reshape(-1, 3)
    radii_m = np.array([sphere.radius_m for sphere in given])
    return np.einsum("nij,nj->ni", matrices[:, :3, :3], centers) + matrices[:, :3, 3], radii_m


def _around(own: BoundingSphere | None, spheres: tuple[Floats, Floats]) -> BoundingSphere | None:
    centers, radii_m = spheres
    if own is not None:
        centers, radii_m = np.vstack([centers, own.center]), np.append(radii_m, own.radius_m)
    return None if len(radii_m) == 0 else BoundingSphere(*enclosing_sphere(centers, radii_m))
