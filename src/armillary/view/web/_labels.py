"""Names in the picture. Each is a message of its own, so that only those move that have moved, and few at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Labels"]

_MOST_MOVES = 16
_STILL_M = 2e-3


class Labels:
    """Texts at places, under one name in the picture.

    Args:
        server: Of viser.
        folder: Their path in the picture.
        most_moves: At most so many move at a time: those first that are the furthest from their place.
    """

    def __init__(self, server: viser.ViserServer, folder: str, *, most_moves: int = _MOST_MOVES) -> None:
        self._scene, self._folder, self._most = server.scene, folder, most_moves
        self._handles: dict[str, Any] = {}
        self._places: dict[str, NDArray[float64]] = {}
        self._count = 0

    def show(self, texts: Mapping[str, str]) -> None:
        """These texts, by a key of each, and no others."""
        for key in [key for key, handle in self._handles.items() if texts.get(key) != handle.text]:
            self._handles.pop(key).remove()
            self._places.pop(key, None)
        for key, text in texts.items():
            if key not in self._handles:
                self._handles[key] = self._drawn(text)

    def move(self, places: Mapping[str, NDArray[float64]]) -> None:
        """(3,) by key; what has no place, or one that is no number, is not shown."""
        for key, handle in self._handles.items():
            is_shown = key in places and not np.isnan(places[key][0])
            if handle.visible != is_shown:
                handle.visible = is_shown
        for key in self._moved(places):
            self._handles[key].position = places[key]
            self._places[key] = places[key]

    def _moved(self, places: Mapping[str, NDArray[float64]]) -> list[str]:
        """The furthest first; what was never placed has come from infinitely far."""
        far = {
            key: float(np.linalg.norm(places[key] - self._places[key])) if key in self._places else np.inf
            for key in self._handles
            if key in places and not np.isnan(places[key][0])
        }
        moved = sorted((key for key, way_m in far.items() if way_m > _STILL_M), key=lambda key: -far[key])
        new = [key for key in moved if far[key] == np.inf]
        return new + moved[len(new) : len(new) + self._most]

    def _drawn(self, text: str) -> Any:
        self._count += 1
        return self._scene.add_label(
            f"{self._folder}/{self._count}", text, font_screen_scale=0.7, anchor="bottom-left", visible=False
        )
