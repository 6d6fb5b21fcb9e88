"""Spheres around nodes below which something moves, at one instant."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from armillary.scene._branches import Branch, Branches
from armillary.scene.geometry import SceneGeometry
from armillary.scene.volumes import BoundingSphere
from armillary.stamps import Latest
from armillary.transforms import Transform


class MovingSpheres:
    """The sphere of each node at one instant, made from those of its children and kept for this instant.

    Spheres are joined two by two, in order: that depends on the poses without jumps, so that the sphere of a node
    contains that of a child also where the two are asked for one after the other.
    """

    def __init__(self, branches: Branches, geometry: SceneGeometry, at: int | Latest) -> None:
        self._branches, self._geometry, self._at = branches, geometry, at
        self._spheres: dict[Hashable, BoundingSphere | None] = {}
        self._places: dict[Hashable, Transform] = {}

    def around(self, node: Hashable) -> BoundingSphere | None:
        """In the frame of the node."""
        self._ask_places(node)
        pending = [node]
        while pending:
            current = pending[-1]
            branch = self._branches.known(current)
            missing = [mover for mover in branch.movers if mover not in self._spheres]
            pending.extend(missing)
            if not missing:
                self._spheres[pending.pop()] = self._joined(branch)
        return self._spheres[node]

    def _ask_places(self, top: Hashable) -> None:
        """One question for all frames that matter."""
        branch = self._branches.known(top)
        frames = list(dict.fromkeys([branch.frame, *self._frames_below(branch)]))
        matrices = self._geometry.in_frame_T_frames(branch.frame, frames, self._at).matrices
        is_known = np.asarray(np.isfinite(matrices).all(axis=(1, 2))).tolist()
        for frame, matrix, known in zip(frames, matrices, is_known, strict=True):
            if known:
                self._places[frame] = Transform.from_matrix(matrix)

    def _frames_below(self, branch: Branch) -> list[str]:
        found: list[str] = []
        seen: set[Hashable] = set()
        pending = list(branch.movers)
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                found.append(self._branches.known(node).frame)
                pending.extend(self._branches.known(node).movers)
        return found

    def _joined(self, branch: Branch) -> BoundingSphere | None:
        total = branch.still
        for mover in branch.movers:
            sphere = self._placed(mover, branch.frame)
            if sphere is not None:
                total = sphere if total is None else total.union(sphere)
        return total

    def _placed(self, node: Hashable, in_frame: str) -> BoundingSphere | None:
        sphere, frame = self._spheres[node], self._branches.known(node).frame
        if sphere is None or frame == in_frame:
            return sphere
        here, there = self._places.get(in_frame), self._places.get(frame)
        return None if here is None or there is None else sphere.moved(here.inverse() @ there)
