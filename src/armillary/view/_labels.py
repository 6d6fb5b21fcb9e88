"""Texts that keep out of each other's way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.view._drawing import Point, Text
from armillary.view._style import SMALL_PX, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DISTANCE = 19.0
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
_LINE_HEIGHT = SMALL_PX * 1.25
_MOST_OBSTACLES = 2000


@dataclass(frozen=True, slots=True)
class Wish:
    """A text that wants to stand beside a point."""

    text: str
    beside: Point
    color: str


def place_labels(wishes: Sequence[Wish], ways: NDArray[np.float64]) -> Iterator[Text]:
    """Put each text where the ways, shape (N, 2) [px], leave most room; drop it where no room is left."""
    obstacles = ways[:: 1 + len(ways) // _MOST_OBSTACLES]
    taken: list[_Place] = []
    for wish in wishes:
        place = _freest(wish, obstacles, taken)
        if place is not None:
            taken.append(place)
            at = (place.x, place.y + SMALL_PX * 0.36)
            yield Text(at=at, text=wish.text, size=SMALL_PX, color=wish.color, anchor="middle", bold=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """The centre of a text, and half its width [px]."""

    x: float
    y: float
    half_width: float

    def meets(self, other: _Place) -> bool:
        return abs(self.x - other.x) < self.half_width + other.half_width and abs(self.y - other.y) < _LINE_HEIGHT


def _freest(wish: Wish, obstacles: NDArray[np.float64], taken: Sequence[_Place]) -> _Place | None:
    half_width = text_width(wish.text, SMALL_PX) / 2 + 2
    spots = _around(wish.beside, half_width)
    best_first = np.argsort(-_room(spots, obstacles), kind="stable")
    places = (_Place(x, y, half_width) for x, y in spots[best_first].tolist())
    return next((place for place in places if not any(map(place.meets, taken))), None)


def _around(point: Point, half_width: float) -> NDArray[np.float64]:
    """Centres of a text all around a point, further away where the text is broad."""
    right = point[0] + (_DISTANCE - 8.0 + half_width * 0.8) * np.cos(_ANGLES)
    down = point[1] + _DISTANCE * np.sin(_ANGLES)
    return np.stack([right, down], axis=1)


def _room(spots: NDArray[np.float64], obstacles: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each spot is from the nearest obstacle; sideways counts less, for texts are broad."""
    apart = (spots[:, None] - obstacles[None]) / (2.0, 1.0)
    distances: NDArray[np.float64] = np.hypot(apart[..., 0], apart[..., 1]).min(axis=1)
    return distances
