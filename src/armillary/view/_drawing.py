"""A picture as a list of shapes; `_files` writes it as SVG or PNG.

Coordinates are pixels, x to the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, get_args

from armillary.errors import InvalidArgument
from armillary.view.theme import DARK, INK, MUTED, PAPER, SMALL_PX, TITLE_PX, Theme

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Point = tuple[float, float]
Points = tuple[Point, ...]
MARGIN_PX = 28.0

_COLORED = ("color", "fill", "outline", "halo")
_TITLE_PX, _SUBTITLE_PX = (MARGIN_PX, 36.0), (MARGIN_PX, 55.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Line through points, with round joins."""

    points: Points
    color: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """Filled polygon with an outline."""

    points: Points
    fill: str
    outline: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """Filled circle with an outline."""

    center: Point
    radius: float
    fill: str
    outline: str
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """Rectangle with round corners."""

    corner: Point
    size: Point
    fill: str
    outline: str
    radius: float = 6.0
    width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One line of text; `at` is on its baseline. A halo is an outline, so that it can be read on anything."""

    at: Point
    text: str
    size: float
    color: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    has_halo: bool = False
    halo: str = PAPER


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Image in PNG format."""

    corner: Point
    size: Point
    png: bytes


Shape = Line | Polygon | Circle | Rectangle | Text | Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Title, size [px] and shapes of a picture, in the order of painting."""

    title: str
    size: Point
    shapes: Sequence[Shape]
    paper: str = PAPER


def as_points(places: NDArray[np.float64]) -> Points:
    """Convert the rows of an array, shape (N, 2), to points."""
    return tuple((float(x), float(y)) for x, y in places)


def heading(title: str, subtitle: str) -> tuple[Text, Text]:
    """Return the title and the subtitle of a picture."""
    return (
        Text(at=_TITLE_PX, text=title, size=TITLE_PX, color=INK, bold=True),
        Text(at=_SUBTITLE_PX, text=subtitle, size=SMALL_PX, color=MUTED),
    )


def in_theme(drawing: Drawing, theme: Theme) -> Drawing:
    """Return a drawing in the colours of a theme; colours that belong to no theme, such as those of shapes, stay."""
    if theme not in get_args(Theme):
        raise InvalidArgument(f"theme must be 'light' or 'dark', got {theme!r}.", theme)
    if theme == "light":
        return drawing
    return replace(drawing, paper=DARK[PAPER], shapes=[_recolored(shape) for shape in drawing.shapes])


def _recolored(shape: Shape) -> Shape:
    colored = [field.name for field in fields(shape) if field.name in _COLORED]
    before = {name: getattr(shape, name) for name in colored}
    return replace(shape, **{name: DARK.get(color, color) for name, color in before.items()})
