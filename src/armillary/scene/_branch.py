"""What stands still below a node, in its own frame."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armillary.scene._packed_tree import PackedTree
from armillary.shapes import Shape
from armillary.shapes.volumes import BoundingSphere, enclosing_sphere
from armillary.transforms import Transform

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Branch:
    """A node and its subgraph, as far as they stay the same while the structure stays.

    Attributes:
        node: The node.
        frame: Its frame, in which everything here is given.
        shape: Its own.
        below: The branches of its children, in order.
        still_rows: Which children stand still in this frame and carry something that stands still with them.
        mover_rows: Which children move in this frame, or carry something that moves.
        movers_move: Of each of `mover_rows`, whether it moves in this frame itself.
        node_T_still: Where the former are, shape (N, 4, 4); None where all of them are in this frame.
    """

    node: Hashable
    frame: str
    shape: Shape | None
    below: tuple[Branch, ...]
    still_rows: tuple[int, ...]
    mover_rows: tuple[int, ...]
    movers_move: tuple[bool, ...]
    node_T_still: Floats | None

    @cached_property
    def still(self) -> tuple[Branch, ...]:
        """The children that stand still, and what stands still with them."""
        return tuple(self.below[row] for row in self.still_rows)

    @property
    def movers(self) -> list[Branch]:
        """The children that move, or carry something that does."""
        return [self.below[row] for row in self.mover_rows]

    @cached_property
    def moving(self) -> tuple[Branch, ...]:
        """Every branch below whose frame moves in that of a node above it, at any depth, in the order of a walk."""
        found: dict[Hashable, Branch] = {}
        walked: set[Hashable] = set()
        pending = [(self, False)]
        while pending:
            branch, moves = pending.pop()
            if moves:
                found.setdefault(branch.node, branch)
            if branch.node not in walked:
                walked.add(branch.node)
                pending.extend(reversed(list(zip(branch.movers, branch.movers_move, strict=True))))
        return tuple(found.values())

    @cached_property
    def sphere(self) -> BoundingSphere | None:
        """Around all that stands still; None where there is nothing."""
        return self._around(range(len(self.still_rows)))

    @cached_property
    def sphere_without_movers(self) -> BoundingSphere | None:
        """Around its own shape, and the children that carry nothing that moves."""
        movers = set(self.mover_rows)
        indices = [index for index, row in enumerate(self.still_rows) if row not in movers]
        return self.sphere if len(indices) == len(self.still_rows) else self._around(indices)

    def _around(self, indices: Sequence[int]) -> BoundingSphere | None:
        own = None if self.shape is None else self.shape.bounding_sphere()
        if len(indices) == 0:
            return own
        if len(indices) == 1:
            only = self._still_sphere(indices[0])
            return only if own is None or only is None else only.union(own)
        centers, radii_m = self._spheres[0][indices], self._spheres[1][indices]
        if own is not None:
            centers, radii_m = np.vstack([centers, own.center]), np.append(radii_m, own.radius_m)
        return BoundingSphere(*enclosing_sphere(centers, radii_m))

    def _still_sphere(self, index: int) -> BoundingSphere | None:
        sphere, place = self.still[index].sphere, self.node_T_child(index)
        return sphere if sphere is None or place is None else sphere.moved(place)

    @cached_property
    def _spheres(self) -> tuple[Floats, Floats]:
        """Around each of `still`: centres and radii, shapes (N, 3) and (N,)."""
        spheres = [branch.sphere for branch in self.still if branch.sphere is not None]
        centers = np.array([sphere.center for sphere in spheres])
        radii_m = np.array([sphere.radius_m for sphere in spheres])
        if self.node_T_still is not None:
            centers = np.einsum("nij,nj->ni", self.node_T_still[:, :3, :3], centers) + self.node_T_still[:, :3, 3]
        return centers, radii_m

    @cached_property
    def tree(self) -> PackedTree:
        """Over the spheres of `still`."""
        return PackedTree(*self._spheres)

    @cached_property
    def children(self) -> dict[Hashable, Branch]:
        """The branches of its children, by node."""
        return {branch.node: branch for branch in self.below}

    @cached_property
    def places(self) -> dict[Hashable, Floats]:
        """Where the children are that stand still, by node; those in this frame are left out."""
        if self.node_T_still is None:
            return {}
        pairs = zip(self.still, self.node_T_still, strict=True)
        return {branch.node: matrix for branch, matrix in pairs if branch.frame != self.frame}

    def node_T_child(self, index: int) -> Transform | None:
        """Where one of `still` is; None where it is in this frame."""
        if self.node_T_still is None or self.still[index].frame == self.frame:
            return None
        return Transform.from_matrix(self.node_T_still[index])
