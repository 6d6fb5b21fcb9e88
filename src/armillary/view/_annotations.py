"""Labels that do not overlap, markers of tracks, and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.view._drawing import Circle, Line, Point, Polygon, Shape, Text
from armillary.view.theme import INK, PAPER, SMALL_PX, TEXT_PX, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DISTANCE = 19.0
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
_LINE_HEIGHT = SMALL_PX * 1.25
_MOST_OBSTACLES = 2000
_GLYPH_ROOM = 34.0
_GLYPH_HALF = 13.0
_ENTRY_GAP = 18.0


@dataclass(frozen=True, slots=True)
class Label:
    """Text to be placed near a point."""

    text: str
    beside: Point
    color: str


def place_labels(
    options: Sequence[Label], obstacles: NDArray[np.float64], *, width: float = np.inf, halo: bool = False
) -> Iterator[Text]:
    """Place each label where it is farthest from the obstacles, shape (N, 2) [px]; omit it if there is no room.

    Args:
        options: Labels, the most important first.
        obstacles: Points to stay away from.
        width: Width of the picture; no label reaches over its edges.
        halo: Whether labels are outlined in the colour of the paper, to be read on shapes.
    """
    obstacles = obstacles[:: 1 + len(obstacles) // _MOST_OBSTACLES]
    taken: list[_Place] = []
    for label in options:
        place = _freest(label, obstacles, taken, width)
        if place is not None:
            taken.append(place)
            at = (place.x, place.y + SMALL_PX * 0.36)
            yield Text(
                at=at, text=label.text, size=SMALL_PX, color=label.color, anchor="middle", bold=True, has_halo=halo
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """Centre of a text, and half its width [px]."""

    x: float
    y: float
    half_width: float

    def meets(self, other: _Place) -> bool:
        return abs(self.x - other.x) < self.half_width + other.half_width and abs(self.y - other.y) < _LINE_HEIGHT


def _freest(label: Label, obstacles: NDArray[np.float64], taken: Sequence[_Place], width: float) -> _Place | None:
    half_width = text_width(label.text, SMALL_PX) / 2 + 2
    spots = _around(label.beside, half_width)
    best_first = np.argsort(-_room(spots, obstacles), kind="stable")
    inside = spots[best_first]
    inside = inside[(inside[:, 0] >= half_width) & (inside[:, 0] <= width - half_width)] if width < np.inf else inside
    places = (_Place(x, y, half_width) for x, y in inside.tolist())
    return next((place for place in places if not any(map(place.meets, taken))), None)


def _around(point: Point, half_width: float) -> NDArray[np.float64]:
    """Return candidate centres of a text around a point, farther away for wide texts."""
    right = point[0] + (_DISTANCE - 8.0 + half_width * 0.8) * np.cos(_ANGLES)
    down = point[1] + _DISTANCE * np.sin(_ANGLES)
    return np.stack([right, down], axis=1)


def _room(spots: NDArray[np.float64], obstacles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each spot to the nearest obstacle; x counts half, because texts are wide."""
    apart = (spots[:, None] - obstacles[None]) / (2.0, 1.0)
    distances: NDArray[np.float64] = np.hypot(apart[..., 0], apart[..., 1]).min(axis=1)
    return distances


def stroke_width(layer: int) -> float:
    """Return the line width of a track [px]; lower layers are wider, so that they stay visible."""
    return 2.2 + 5.0 * layer


def stroke_opacity(layer: int) -> float:
    """Return the opacity of a track; lower layers are more transparent."""
    return 1.0 if layer == 0 else 0.38


def swatch(color: str, layer: int, center: Point) -> Line:
    """Return a short piece of a track, for the legend."""
    x, y = center
    ends = ((x - _GLYPH_HALF, y), (x + _GLYPH_HALF, y))
    return Line(points=ends, color=color, width=stroke_width(layer), opacity=stroke_opacity(layer))


def ring(color: str, center: Point) -> Circle:
    """Return the marker of the start of a track."""
    return Circle(center=center, radius=6.0, fill=PAPER, outline=color, width=2.2)


def dot(color: str, layer: int, center: Point) -> Circle:
    """Return a time marker; it is larger on lower layers, so that two at one place are both visible."""
    return Circle(center=center, radius=3.2 + 1.8 * layer, fill=color, outline=PAPER, width=1.2)


def arrow(color: str, heading: Point, center: Point) -> Polygon:
    """Return the marker of the end of a track, which points along the x axis of the frame."""
    (along, down), (x, y) = heading, center
    corners = ((11.0, 0.0), (-7.0, 7.5), (-3.5, 0.0), (-7.0, -7.5))
    points = tuple((x + u * along - v * down, y + u * down + v * along) for u, v in corners)
    return Polygon(points=points, fill=color, outline=PAPER, width=1.2)


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry of a legend: a function from its centre to its glyph, and its text."""

    glyph: Callable[[Point], Shape]
    text: str


def legend(entries: Sequence[Entry], left_middle: Point) -> tuple[list[Shape], float]:
    """Return the entries in one row, and the x coordinate where it ends [px]."""
    x, y = left_middle
    shapes: list[Shape] = []
    for entry in entries:
        shapes.append(entry.glyph((x + _GLYPH_HALF, y)))
        shapes.append(Text(at=(x + _GLYPH_ROOM, y + 4.5), text=entry.text, size=TEXT_PX, color=INK))
        x += _GLYPH_ROOM + text_width(entry.text, TEXT_PX) + _ENTRY_GAP
    return shapes, x
