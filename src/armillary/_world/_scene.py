"""The world's scene: one door for changes of structure, and where the shapes are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from armillary._world._digest import structure_digest
from armillary._world._policies import JudgingWorld
from armillary.errors import ArmillaryError, InvalidArgument, UnknownNode
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import ChangeRecord, NodeId
    from armillary.relations import Pose
    from armillary.scene import Change, Scene
    from armillary.scene.search import PlaceQuestion
    from armillary.transforms import Transform, Tree

_MANY_FRAMES = 16
"""From so many frames on one sweep over all of them is cheaper than a question for each."""


class WorldWithScene(JudgingWorld):
    """A world with things in it."""

    _scene: Scene | None = None

    @property
    def scene(self) -> Scene:
        """The things of this world: groups, transforms, shapes, attributes. Its root is the frame `root_frame`."""
        if self._scene is None:
            from armillary.scene import Scene  # noqa: PLC0415  (a program of poses alone starts without it)

            self._scene = Scene(self)
        return self._scene

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Which frame hangs under which at one time; `print(world.tree())` draws it, with the names of nodes."""
        found = super().tree(at)
        return replace(found, names=self._names_of_nodes(found.parents))

    def _names_of_nodes(self, frames: Iterable[str]) -> dict[str, str]:
        from armillary.scene.nodes import maker_of  # noqa: PLC0415  (a program of poses alone starts without it)

        makers = {frame: node for frame in frames if (node := maker_of(frame)) is not None}
        names = {frame: self._name_of(node) for frame, node in makers.items()}
        return {frame: name for frame, name in names.items() if isinstance(name, str)}

    def _name_of(self, node: NodeId) -> object:
        try:
            return self.scene.attributes(node).get("name")
        except UnknownNode:  # it is gone by now
            return None

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """Several changes of structure at once: all of them, or none. For each, the node that it made, or None.

        The changes are the frozen classes of `armillary.scene`, named after the methods of `scene` and of `World`.
        Readers see all of them together; observers are told after that.
        """
        return self.scene.apply(changes)

    def merge(self, records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Take what other copies of this world accepted, in any order, any number of times; what was new of it."""
        return self.scene.merge(records)

    def undo(self) -> None:
        """Take the last `apply` of this process back, as a new change.

        Raises:
            NothingToUndo: There is none.
            BuiltUpon: Something later rests on it.
        """
        self.scene.undo()

    def redo(self) -> None:
        """Take the last `undo` back."""
        self.scene.redo()

    def digest(self) -> str:
        """64 digits that are equal for worlds of equal structure; samples are not part of it.

        The scene; and of frames beside it: who places what in what, fixed poses, bodies, preferences, joints, and the
        poses that they drive.
        """
        return structure_digest(self, self.scene.digest())

    def _check_taking_back(self, tag: str, *, again: bool) -> None:
        """Whoever has things to apply with a tag may refuse."""

    def _took_back(self, tag: str, *, again: bool) -> None:
        """And is told."""

    def _copy_scene(self, other: WorldWithScene) -> None:
        if other._scene is not None:
            self.scene._keep_windows_of(other._scene)  # noqa: SLF001  (one world, two modules)

    def _placements(
        self, in_frame: str, frames: Sequence[str], question: PlaceQuestion
    ) -> tuple[NDArray[np.float64], list[bool]]:
        """Where frames are, (N, 4, 4), NaN where that is not known; and which are the same at every instant."""
        matrices = np.full((len(frames), 4, 4), np.nan)
        for i, transform in enumerate(self._transforms_or_none(in_frame, frames, question)):
            if transform is not None:
                matrices[i] = transform.matrix
        return matrices, self._are_one_place(in_frame, frames)

    def _transforms_or_none(
        self, in_frame: str, frames: Sequence[str], question: PlaceQuestion
    ) -> Iterable[Transform | None]:
        if len(frames) < _MANY_FRAMES:
            poses = (self._pose_or_none(in_frame, frame, question) for frame in frames)
            return (None if pose is None else pose.transform for pose in poses)
        return map(self.snapshot(in_frame=in_frame, **question._asdict()).get, frames)

    def _pose_or_none(self, in_frame: str, frame: str, question: PlaceQuestion) -> Pose | None:
        try:
            return self.pose(of=frame, in_frame=in_frame, **question._asdict())
        except InvalidArgument:
            raise
        except ArmillaryError:
            return None
