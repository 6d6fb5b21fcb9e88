"""The branches of one version of a scene, made when they are first asked for; what did not change is taken over."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armillary.scene._branch import Branch
from armillary.scene.geometry import PlaceQuestion

if TYPE_CHECKING:
    from armillary.scene.geometry import SceneGeometry
    from armillary.stamps import Latest

Floats = NDArray[np.float64]
Old = Branch | None

_IDENTITY = np.eye(4)


class Branches:
    """The branches of one version.

    A branch holds those below it. So one that did not change brings its whole subgraph along from the version before,
    and what is no longer part of the scene is dropped with the branch that held it.

    Threads may use it at the same time: they may make a branch twice, and each of the two is right.
    """

    def __init__(self, version: object, older: Mapping[Hashable, Branch] | None = None) -> None:
        self.version = version
        self._branches: dict[Hashable, Branch] = {}
        self._older = older or {}
        self._changed: Collection[Hashable] = frozenset()
        self._outdated: Collection[Hashable] = frozenset()
        self._shared: set[Hashable] = set()

    def updated(self, geometry: SceneGeometry) -> Branches:
        """Those of another version."""
        changed = geometry.changed_since(self.version)
        if changed is None:
            return Branches(geometry.version)
        fresh = Branches(geometry.version, self._branches)
        fresh._shared = {node for node in tuple(self._shared) if _is_shared(node, geometry)}
        fresh._changed = {*changed, *_at_or_below(changed, fresh._shared, geometry)}
        fresh._outdated = _with_all_above(fresh._changed, geometry)
        return fresh

    def of(self, node: Hashable, geometry: SceneGeometry, at: int | Latest) -> Branch:
        """The branch of a node. The instant matters only to tell what stands still."""
        found = self._found(node, None)
        return self._made(node, geometry, at) if found is None else found

    def _found(self, node: Hashable, parent: Old) -> Old:
        """The branch of a node, made already or taken over; `parent` held it in the version before."""
        branch = self._branches.get(node)
        if branch is None and node not in self._outdated:
            branch = self._old(node, parent)
            if branch is not None:
                self._branches[node] = branch
        return branch

    def _old(self, node: Hashable, parent: Old) -> Old:
        """The branch that a node had in the version before."""
        old = self._older.get(node)
        return parent.children.get(node) if old is None and parent is not None else old

    def _made(self, node: Hashable, geometry: SceneGeometry, at: int | Latest) -> Branch:
        """From the leaves up, without recursion: scenes may be deep."""
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
        matrices, is_fixed = self._places(frame, below, old, geometry, at)
        mover_rows = [row for row, branch in enumerate(below) if not is_fixed[row] or branch.mover_rows]
        still_rows = [row for row, branch in enumerate(below) if is_fixed[row] and branch.sphere is not None]
        return Branch(
            node=node,
            frame=frame,
            shape=geometry.shape(node),
            below=tuple(below),
            still_rows=tuple(still_rows),
            mover_rows=tuple(mover_rows),
            movers_move=tuple(not is_fixed[row] for row in mover_rows),
            node_T_still=None if matrices is None else matrices[still_rows],
        )

    def _places(
        self, frame: str, below: Sequence[Branch], old: Old, geometry: SceneGeometry, at: int | Latest
    ) -> tuple[Floats | None, list[bool]]:
        """Where the children are in the frame of the node, and which of them stand still there."""
        is_fixed = [True] * len(below)
        if all(branch.frame == frame for branch in below):
            return None, is_fixed
        matrices, asked = np.tile(_IDENTITY, (len(below), 1, 1)), []
        known = old.places if old is not None and old.frame == frame else {}
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


def _at_or_below(
    changed: Collection[Hashable], shared: Collection[Hashable], geometry: SceneGeometry
) -> list[Hashable]:
    """Those of several parents that a change above one of them may have moved in the frames of the others."""
    return [node for node in shared if not _with_all_above([node], geometry).isdisjoint(changed)]


def _with_all_above(nodes: Collection[Hashable], geometry: SceneGeometry) -> set[Hashable]:
    found: set[Hashable] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(geometry.parents(node))
    return found
