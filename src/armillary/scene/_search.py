"""One search, from the top down: what a node's sphere rules out is not looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armillary.scene._branch import Branch
from armillary.scene._branches import Branches
from armillary.scene._probes import Probe
from armillary.scene.geometry import PlaceQuestion, SceneGeometry
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Search:
    """What one probe, given in one frame, meets at one instant.

    A branch is searched by its spheres. What moves below it is a branch of its own, put where it is at this instant.

    Attributes:
        found: Nodes and how far along the probe they were met.
        visited: How many nodes had their sphere or their shape tested.
        missing: Moving nodes that have no place at this instant.
    """

    def __init__(self, branches: Branches, geometry: SceneGeometry, question: PlaceQuestion) -> None:
        self._branches, self._geometry, self._question = branches, geometry, question
        self._seen: set[Hashable] = set()
        self.found: list[tuple[Hashable, float]] = []
        self.missing: list[Hashable] = []
        self.visited = 0

    def run(self, probe: Probe, in_frame: str, under: Hashable) -> None:
        """Looks at everything under a node, and at the node."""
        top = self._branches.of(under, self._geometry, self._question.at)
        branches = (top, *top.moving)
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
        """Which rows are of branches whose spheres the probe meets."""
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
                self._test(branch, here)
                pending.extend(self._met_children(branch, here))

    def _test(self, branch: Branch, probe: Probe) -> None:
        distance_m = math.inf if branch.shape is None else probe.distance_m(branch.shape)
        if distance_m < math.inf:
            self.found.append((branch.node, distance_m))

    def _met_children(self, branch: Branch, probe: Probe) -> list[tuple[Branch, Probe]]:
        indices, tested = _met_indices(branch, probe)
        self.visited += tested
        places = ((branch.still[index], branch.node_T_child(index)) for index in reversed(indices))
        return [(child, probe if place is None else probe.moved(place.inverse())) for child, place in places]


def _met_indices(branch: Branch, probe: Probe) -> tuple[list[int], int]:
    """Which children the probe meets, and how many were tested. The sphere of an only child has been met already."""
    number = len(branch.still_rows)
    return (list(range(number)), number) if number <= 1 else branch.tree.search(probe)
