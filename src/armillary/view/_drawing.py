"""A picture before it is a file: a handful of shapes that SVG and PNG are both made from.

Coordinates are pixels, x to the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from armillary.view._style import PAPER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Point = tuple[float, float]
Points = tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points, with round joints."""

    points: Points
    color: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A filled polygon with a rim."""

    points: Points
    fill: str
    rim: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Disc:
    """A filled circle with a rim."""

    center: Point
    radius: float
    fill: str
    rim: str
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """A rectangle with round corners."""

    corner: Point
    size: Point
    fill: str
    rim: str
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


Shape = Line | Area | Disc | Plate | Text


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
