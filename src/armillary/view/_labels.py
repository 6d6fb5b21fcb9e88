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
    taken: list[Point] = []
    for wish in wishes:
        half = (text_width(wish.text, SMALL_PX) / 2 + 2, _LINE_HEIGHT / 2)
        spot = _freest(_around(wish.beside, half), obstacles, taken)
        if spot is not None:
            taken.append(spot)
            at = (spot[0], spot[1] + SMALL_PX * 0.36)
            yield Text(at=at, text=wish.text, size=SMALL_PX, color=wish.color, anchor="middle", bold=True)


def _around(point: Point, half: Point) -> NDArray[np.float64]:
    """Centres of a text all around a point, further away where the text is broad."""
    reach = np.array([_DISTANCE - 8.0 + half[0] * 0.8, _DISTANCE])
    return np.array(point) + reach * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)


def _freest(spots: NDArray[np.float64], obstacles: NDArray[np.float64], taken: Sequence[Point]) -> Point | None:
    room = _nearest(spots, obstacles)
    if taken:
        apart = np.abs(spots[:, None] - np.array(taken)[None]) / (38.0, _LINE_HEIGHT)
        room[(apart < 1.0).all(axis=2).any(axis=1)] = -1.0
    best = int(room.argmax())
    return (float(spots[best, 0]), float(spots[best, 1])) if room[best] >= 0.0 else None


def _nearest(spots: NDArray[np.float64], obstacles: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each spot is from the nearest obstacle; sideways counts less, for texts are broad."""
    apart = (spots[:, None] - obstacles[None]) / (2.0, 1.0)
    distances: NDArray[np.float64] = np.hypot(apart[..., 0], apart[..., 1]).min(axis=1)
    return distances
