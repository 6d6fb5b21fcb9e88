"""The scene as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import InvalidStamp
from armillary.errors.format import format_stamp
from armillary.scene._volumes import SceneVolumes
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.scene._context import SceneWorld

__all__ = ["PastScene"]


class PastScene(SceneVolumes):
    """A scene at one instant of the past: who was in whom, and what was said of it then. It does not change.

    Searches ask where things were at that instant, unless another `at` is given.
    """

    def __init__(self, world: SceneWorld, view: SceneView, stamp: int) -> None:
        oldest = view.oldest_past
        if oldest is not None and stamp < oldest:
            raise InvalidStamp(
                f"The scene is asked for as it was at {format_stamp(stamp)}, and what ended before "
                f"{format_stamp(oldest)} is "
                "forgotten. "
                "Ask for a later instant, or give the world a longer history.",
                stamp,
            )
        self._world, self._past, self.at = world, view, stamp
        super().__init__()

    def _view(self) -> SceneView:
        return self._past

    def _instant(self, at: int | Latest) -> int | Latest:
        return self.at if at is LATEST else super()._instant(at)

    def __len__(self) -> int:
        return len(self._past.subtree(self.root))

    def __repr__(self) -> str:
        return f"PastScene({len(self)} nodes, at {format_stamp(self.at)})"
