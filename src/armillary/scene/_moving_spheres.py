"""Spheres around nodes below which something moves, at one instant."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from armillary.scene._branch import Branch
from armillary.scene.geometry import PlaceQuestion, SceneGeometry
from armillary.scene.volumes import BoundingSphere
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
        for mover in branch.movers:
            sphere = self._placed(mover, branch.frame)
            if sphere is not None:
                total = sphere if total is None else total.union(sphere)
        return total

    def _placed(self, branch: Branch, in_frame: str) -> BoundingSphere | None:
        sphere = self._spheres[branch.node]
        if sphere is None or branch.frame == in_frame:
            return sphere
        here, there = self._places.get(in_frame), self._places.get(branch.frame)
        if here is not None and there is not None:
            return sphere.moved(here.inverse() @ there)
        return self._placed_by_itself(sphere, branch.frame, in_frame)

    def _placed_by_itself(self, sphere: BoundingSphere, frame: str, in_frame: str) -> BoundingSphere | None:
        """A node with several parents may have a place in each of them, and none in the frame of the question."""
        matrix = self._geometry.in_frame_T_frames(in_frame, [frame], PlaceQuestion(self._at)).matrices[0]
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
