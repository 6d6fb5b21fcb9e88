"""Spheres around nodes below which something moves, at one instant."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from armillary.scene._branch import Branch
from armillary.scene.geometry import PlaceQuestion, SceneGeometry
from armillary.shapes.volumes import BoundingSphere
from armillary.stamps import Latest
from armillary.transforms import Transform


class MovingSpheres:
    """The sphere of each node at one instant, made from those of its children and kept for this instant.

    Spheres are joined two by two, in order: that depends on the poses without jumps, so that the sphere of a node
    contains that of a child also where the two are asked for one after the other.
    """

    def __init__(self, geometry: SceneGeometry, at: int | Latest) -> None:
        self._geometry, self._at = geometry, at
        self._spheres: dict[Hashable, BoundingSphere | None] = {}
        self._places: dict[str, Transform] = {}

    def around(self, top: Branch) -> BoundingSphere | None:
        """In the frame of the node."""
        self._ask_places(top)
        pending = [top]
        while pending:
            branch = pending[-1]
            missing = [mover for mover in branch.movers if mover.node not in self._spheres]
            pending.extend(missing)
            if not missing:
                self._spheres[branch.node] = self._joined(pending.pop())
        return self._spheres[top.node]

    def _ask_places(self, top: Branch) -> None:
        """One question for all frames that matter."""
        frames = list(dict.fromkeys(branch.frame for branch in _with_movers(top)))
        matrices = self._geometry.in_frame_T_frames(top.frame, frames, PlaceQuestion(self._at)).matrices
        is_known = np.asarray(np.isfinite(matrices).all(axis=(1, 2))).tolist()
        for frame, matrix, known in zip(frames, matrices, is_known, strict=True):
            if known:
                self._places[frame] = Transform.from_matrix(matrix)

    def _joined(self, branch: Branch) -> BoundingSphere | None:
        total = branch.sphere_without_movers
        for sphere in self._spheres_in(branch):
            total = sphere if total is None else total.union(sphere)
        return total

    def _spheres_in(self, branch: Branch) -> Iterator[BoundingSphere]:
        """Of what moves. Where a mover is contested, or nowhere, things in it may have a place by another parent."""
        pending, seen = list(reversed(branch.movers)), set[Hashable]()
        while pending:
            mover = pending.pop()
            if mover.node in seen:
                continue
            seen.add(mover.node)
            sphere = self._placed(mover, branch)
            if sphere is not None:
                yield sphere
            if mover.frame not in self._places and branch.frame in self._places:
                pending.extend(reversed(mover.movers))

    def _placed(self, branch: Branch, above: Branch) -> BoundingSphere | None:
        sphere = self._spheres[branch.node]
        if sphere is None or branch.frame == above.frame:
            return sphere
        here, there = self._places.get(above.frame), self._places.get(branch.frame)
        if here is not None and there is not None:
            return sphere.moved(here.inverse() @ there)
        return self._placed_by_itself(sphere, branch, above) if branch.node in above.children else None

    def _placed_by_itself(self, sphere: BoundingSphere, branch: Branch, parent: Branch) -> BoundingSphere | None:
        """A node with several parents has a place in each of them, and perhaps none in the frame of the question."""
        matrix = self._geometry.in_parent_T_node(parent.node, branch.node, self._at)
        return sphere.moved(Transform.from_matrix(matrix)) if np.isfinite(matrix).all() else None


def _with_movers(top: Branch) -> list[Branch]:
    """This branch, and all below it that move or carry something that does."""
    found: dict[Hashable, Branch] = {}
    pending = [top]
    while pending:
        branch = pending.pop()
        if branch.node not in found:
            found[branch.node] = branch
            pending.extend(branch.movers)
    return list(found.values())
