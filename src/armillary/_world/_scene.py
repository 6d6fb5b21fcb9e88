"""The world's scene: one door for changes of structure, and where the shapes are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armillary._world._digest import structure_digest
from armillary._world._expressing import ExpressingWorld
from armillary.errors import ArmillaryError
from armillary.stamps import Latest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import ChangeRecord, NodeId
    from armillary.relations import Pose
    from armillary.scene import Change, Scene

_MANY_FRAMES = 16
"""From so many frames on one sweep over all of them is cheaper than a question for each."""


class WorldWithScene(ExpressingWorld):
    """A world with things in it."""

    _scene_limits: dict[str, int]
    _scene: Scene | None = None

    @property
    def scene(self) -> Scene:
        """The things of this world: groups, transforms, shapes, attributes. Its root is the frame `root_frame`."""
        if self._scene is None:
            from armillary.scene import Scene  # noqa: PLC0415  (a program of poses alone starts without it)

            self._scene = Scene(self, **self._scene_limits)
        return self._scene

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """Several changes of the scene at once: all of them, or none. For each, the node that it made, or None.

        The changes are the frozen classes of `armillary.scene`, named after the methods of `scene`. Readers see all of
        them together; observers are told after that.
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

        Frames, bodies, who places what in what, fixed poses, and the scene.
        """
        return structure_digest(self, self.scene.digest())

    def _copy_scene(self, other: WorldWithScene) -> None:
        if other._scene is not None:
            self._scene = other._scene._copied_for(self)  # noqa: SLF001  (one world, two modules)

    def _placements(
        self, in_frame: str, frames: Sequence[str], at: int | Latest
    ) -> tuple[NDArray[np.float64], list[bool]]:
        """Where frames are, (N, 4, 4), NaN where that is not known; and which are the same at every instant."""
        matrices = np.full((len(frames), 4, 4), np.nan)
        fixed = [False] * len(frames)
        if len(frames) < _MANY_FRAMES:
            for i, frame in enumerate(frames):
                pose = self._pose_or_none(in_frame, frame, at)
                if pose is not None:
                    matrices[i], fixed[i] = pose.transform.matrix, pose.stamp is None
            return matrices, fixed
        everything = self.snapshot(in_frame=in_frame, at=at)
        stamps = everything.stamps
        for i, frame in enumerate(frames):
            transform = everything.get(frame)
            if transform is not None:
                matrices[i], fixed[i] = transform.matrix, stamps.get(frame) is None
        return matrices, fixed

    def _pose_or_none(self, in_frame: str, frame: str, at: int | Latest) -> Pose | None:
        try:
            return self.pose(of=frame, in_frame=in_frame, at=at)
        except ArmillaryError:
            return None
