"""Of which instants the data of a node are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.scene.reading import SceneVersion

__all__ = ["DataStamps"]

_TRANSFORMS = ("transform", "uncertain_transform")
Span = tuple[int, int]


class DataStamps:
    """The stamps of shapes and of the samples of transforms, as they are when first asked for."""

    def __init__(self, scene: SceneVersion) -> None:
        self._scene, self._view = scene, scene.view

    def span(self, node: NodeId) -> Span | None:
        """The oldest and the newest [ns], whoever said so; None for what has no datum, or is fixed."""
        kind = self._view.kind(node)
        if kind == "geometry":
            stamp = None if self._scene.levels(node).is_always else self._view.created_at(node)
            return None if stamp is None else (stamp, stamp)
        is_moving = kind in _TRANSFORMS and not self._view.is_fixed(node)
        return self._by_frame.get(self._view.frame(node)) if is_moving else None

    @cached_property
    def _by_frame(self) -> dict[str, Span]:
        """By all who place a frame: who sees a thing keeps it. One look at all is cheaper than a question for each."""
        spans: dict[str, Span] = {}
        for of, _, _, _, count, first, last in self._scene.world._relations():  # noqa: SLF001
            if count and first is not None and last is not None:
                oldest, newest = spans.get(of, (first, last))
                spans[of] = min(oldest, first), max(newest, last)
        return spans
