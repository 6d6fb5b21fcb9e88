"""The marks of a track, and the legend that explains them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from armillary.view._drawing import Area, Disc, Line, Point, Shape, Text
from armillary.view._style import INK, PAPER, TEXT_PX, text_width

_GLYPH_ROOM = 34.0
_GLYPH_HALF = 13.0
_ENTRY_GAP = 18.0


def stroke_width(layer: int) -> float:
    """Tracks below are broader, so that they show where a later one runs on top of them."""
    return 2.2 + 5.0 * layer


def stroke_opacity(layer: int) -> float:
    """Tracks below are paler."""
    return 1.0 if layer == 0 else 0.38


def swatch(color: str, layer: int, center: Point) -> Line:
    """A piece of the track itself."""
    x, y = center
    ends = ((x - _GLYPH_HALF, y), (x + _GLYPH_HALF, y))
    return Line(points=ends, color=color, width=stroke_width(layer), opacity=stroke_opacity(layer))


def ring(color: str, center: Point) -> Disc:
    """The start of a track."""
    return Disc(center=center, radius=6.0, fill=PAPER, rim=color, width=2.2)


def dot(color: str, layer: int, center: Point) -> Disc:
    """A round time; larger on the tracks below, so that two at one place both show."""
    return Disc(center=center, radius=3.2 + 1.8 * layer, fill=color, rim=PAPER, width=1.2)


def arrow(color: str, heading: Point, center: Point) -> Area:
    """The end of a track, pointing where the frame looks."""
    (along, down), (x, y) = heading, center
    corners = ((11.0, 0.0), (-7.0, 7.5), (-3.5, 0.0), (-7.0, -7.5))
    points = tuple((x + u * along - v * down, y + u * down + v * along) for u, v in corners)
    return Area(points=points, fill=color, rim=PAPER, width=1.2)


@dataclass(frozen=True, slots=True)
class Entry:
    """A glyph, given its centre, and what it stands for."""

    glyph: Callable[[Point], Shape]
    text: str


def legend(entries: Sequence[Entry], left_middle: Point) -> tuple[list[Shape], float]:
    """The entries in one row, and where it ends [px]."""
    x, y = left_middle
    shapes: list[Shape] = []
    for entry in entries:
        shapes.append(entry.glyph((x + _GLYPH_HALF, y)))
        shapes.append(Text(at=(x + _GLYPH_ROOM, y + 4.5), text=entry.text, size=TEXT_PX, color=INK))
        x += _GLYPH_ROOM + text_width(entry.text, TEXT_PX) + _ENTRY_GAP
    return shapes, x
