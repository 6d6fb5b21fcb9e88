"""Of which instants the data of a node are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.scene.reading import SceneVersion

__all__ = ["DataStamps"]

_TRANSFORMS = ("transform", "uncertain_transform")


class DataStamps:
    """The stamps of shapes and of the samples of transforms, as they are when first asked for."""

    def __init__(self, scene: SceneVersion) -> None:
        self._world, self._view = scene.world, scene.view

    def span(self, node: NodeId) -> tuple[int, int] | None:
        """The oldest and the newest [ns]; None for what has no datum, or is fixed."""
        kind = self._view.kind(node)
        if kind == "geometry":
            stamp = self._view.created_at(node)
            return None if stamp is None else (stamp, stamp)
        if kind not in _TRANSFORMS or self._view.is_fixed(node):
            return None
        of, source = self._view.frame(node), self._view.source(node)
        return self._samples.get((of, self._view.base_frame(node), source))

    @cached_property
    def _samples(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """One look at all relations is cheaper than a question for each transform."""
        return {
            (of, in_frame, source): (first, last)
            for of, in_frame, source, kind, _, first, last in self._world._relations()  # noqa: SLF001
            if kind == "sampled" and first is not None and last is not None
        }
