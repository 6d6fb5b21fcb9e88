"""Shapes of pictures about relations: bodies with smooth outlines, frames, arrows of vectors and of rotations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from armillary.view._drawing import Circle, Line, Point, Points, Polygon, Shape, Text
from armillary.view.theme import INK, PAPER, SMALL_PX, TRACK_COLORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Anchor = Literal["start", "middle", "end"]

X_COLOR, Y_COLOR = TRACK_COLORS[1], TRACK_COLORS[2]

_HEAD_PX = 10.0
_HEAD_HALF_PX = 4.6
_STEPS_PER_CORNER = 10
_STEP_RAD = math.radians(4.0)
_DASH_PX, _GAP_PX = 6.0, 4.5
_AXIS_PX = 30.0
_LETTER_PX = 9.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Plane in the picture: origin [px] and pixels per metre; y is upwards."""

    origin: Point
    px_per_m: float

    def at(self, x: float, y: float) -> Point:
        """Convert a position in the plane [m] to pixels."""
        return self.origin[0] + x * self.px_per_m, self.origin[1] - y * self.px_per_m


def text(
    at: Point, words: str, *, color: str = INK, size: float = SMALL_PX, anchor: Anchor = "start", bold: bool = False
) -> Text:
    """Return one line of text."""
    return Text(at=at, text=words, size=size, color=color, anchor=anchor, bold=bold)


def soft_outline(corners: Sequence[Point]) -> Points:
    """Return a closed smooth curve through the corners: a Catmull-Rom spline, sampled."""
    count, points = len(corners), []
    for i in range(count):
        around = [corners[(i + offset) % count] for offset in (-1, 0, 1, 2)]
        points += [_on_spline(around, step / _STEPS_PER_CORNER) for step in range(_STEPS_PER_CORNER)]
    return tuple(points)


def _on_spline(around: Sequence[Point], t: float) -> Point:
    x, y = (_blend([point[i] for point in around], t) for i in (0, 1))
    return x, y


def _blend(values: Sequence[float], t: float) -> float:
    a, b, c, d = values
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def body(corners: Sequence[Point], *, fill: str, outline: str) -> Polygon:
    """Return a rigid body: a filled smooth outline."""
    return Polygon(points=soft_outline(corners), fill=fill, outline=outline, width=1.4)


def vector(start: Point, end: Point, *, color: str, width: float = 2.6) -> Iterator[Shape]:
    """Yield an arrow; if it is shorter than its head, only the head."""
    length = math.dist(start, end)
    if length == 0.0:
        return
    along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    grown = 1.0 + width / 6.0
    if length > _HEAD_PX * grown:
        neck = tuple(tip - 0.8 * _HEAD_PX * grown * part for tip, part in zip(end, along, strict=True))
        yield Line(points=(start, (neck[0], neck[1])), color=color, width=width)
    yield _head(end, along, grown, color)


def _head(tip: Point, along: Point, grown: float, color: str) -> Polygon:
    (x, y), (ax, ay) = tip, along
    corners = ((0.0, 0.0), (-_HEAD_PX, _HEAD_HALF_PX), (-0.72 * _HEAD_PX, 0.0), (-_HEAD_PX, -_HEAD_HALF_PX))
    points = tuple((x + grown * (u * ax - v * ay), y + grown * (u * ay + v * ax)) for u, v in corners)
    return Polygon(points=points, fill=color, outline=color, width=0.6)


def turning(
    center: Point, radius: float, *, start_rad: float, sweep_rad: float, color: str, width: float = 2.6
) -> Iterator[Shape]:
    """Yield an arc with a head, for a rotation; angles count from the right, positive ones counter-clockwise."""
    count = max(2, math.ceil(abs(sweep_rad) / _STEP_RAD))
    angles = [start_rad + sweep_rad * i / count for i in range(count + 1)]
    way = [(center[0] + radius * math.cos(angle), center[1] - radius * math.sin(angle)) for angle in angles]
    yield Line(points=tuple(way[:-1]), color=color, width=width)
    # The head is as long as a few steps of the arc: it points along the chord, not along the tangent at its tip.
    before = _on_circle(center, radius, angles[-1] - math.copysign(_HEAD_PX / radius, sweep_rad))
    length = math.dist(before, way[-1])
    along = ((way[-1][0] - before[0]) / length, (way[-1][1] - before[1]) / length)
    yield _head(way[-1], along, 1.0 + width / 6.0, color)


def _on_circle(center: Point, radius: float, angle_rad: float) -> Point:
    return center[0] + radius * math.cos(angle_rad), center[1] - radius * math.sin(angle_rad)


def dashes(start: Point, end: Point, *, color: str, width: float = 1.3) -> Iterator[Shape]:
    """Yield a dashed line."""
    length = math.dist(start, end)
    count = max(1, round((length + _GAP_PX) / (_DASH_PX + _GAP_PX)))
    dash = _DASH_PX / (_DASH_PX + _GAP_PX)
    for i in range(count):
        parts = (i / count, (i + dash) / count)
        first, second = (_between(start, end, part) for part in parts)
        yield Line(points=(first, second), color=color, width=width)


def _between(start: Point, end: Point, part: float) -> Point:
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])


def dot(at: Point, *, color: str = INK, radius: float = 3.6) -> Circle:
    """Return a point."""
    return Circle(center=at, radius=radius, fill=color, outline=PAPER, width=1.2)


def frame(at: Point, *, angle_rad: float = 0.0, length: float = _AXIS_PX, named: bool = True) -> Iterator[Shape]:
    """Yield a frame in the plane: its x and y axes with their letters."""
    for letter, turn, color in (("x", 0.0, X_COLOR), ("y", math.pi / 2, Y_COLOR)):
        end = _on_circle(at, length, angle_rad + turn)
        yield from vector(at, end, color=color, width=1.8)
        if named:
            beyond = _on_circle(at, length + _LETTER_PX, angle_rad + turn)
            yield text((beyond[0], beyond[1] + 3.6), letter, color=color, anchor="middle", bold=True)
    yield dot(at)
