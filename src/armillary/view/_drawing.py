"""A picture as a list of shapes, before it is written as SVG or PNG.

Coordinates are pixels, x to the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from armillary.view.theme import INK, MUTED, PAPER, SMALL_PX, TITLE_PX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary.view._axes import Axes


Point = tuple[float, float]
Points = tuple[Point, ...]
MARGIN_PX = 28.0
LEGEND_PX = (MARGIN_PX, 80.0)
PLAN_CORNER_PX = (68.0, 116.0)
_BELOW_PLAN_PX = 52.0
_NARROWEST_PX = 420.0
_TITLE_PX, _SAID_PX = (MARGIN_PX, 36.0), (MARGIN_PX, 55.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points, with round joints."""

    points: Points
    color: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """A filled polygon with a rim."""

    points: Points
    fill: str
    outline: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """A filled circle with a rim."""

    center: Point
    radius: float
    fill: str
    outline: str
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A rectangle with round corners."""

    corner: Point
    size: Point
    fill: str
    outline: str
    radius: float = 6.0
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One line of text, standing on a point."""

    at: Point
    text: str
    size: float
    color: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


Shape = Line | Polygon | Circle | Rectangle | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A sheet of paper and what is on it, in the order of painting."""

    title: str
    size: Point
    shapes: Sequence[Shape]
    paper: str = PAPER


def as_points(places: NDArray[np.float64]) -> Points:
    """Rows of an array, shape (N, 2), as points."""
    return tuple((float(x), float(y)) for x, y in places)


def heading(title: str, said: str) -> tuple[Text, Text]:
    """What it is a picture of, and what else there is to say of it."""
    return (
        Text(at=_TITLE_PX, text=title, size=TITLE_PX, color=INK, bold=True),
        Text(at=_SAID_PX, text=said, size=SMALL_PX, color=MUTED),
    )


def plan_size(axes: Axes, legend_end: float) -> Point:
    """Of the page [px] around a plan that is at `PLAN_CORNER_PX`, and a legend that reaches so far to the right."""
    left, top = PLAN_CORNER_PX
    return max(_NARROWEST_PX, legend_end, left + axes.size[0]) + MARGIN_PX, top + axes.size[1] + _BELOW_PLAN_PX
