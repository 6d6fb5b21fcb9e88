"""Drawings as SVG text. No third-party code."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from armillary.view._drawing import Area, Disc, Drawing, Line, Plate, Shape, Text
from armillary.view._style import FONT_FAMILIES

if TYPE_CHECKING:
    from armillary.view._drawing import Points

_FONTS = ", ".join(f"'{name}'" if " " in name else name for name in FONT_FAMILIES)
# XML 1.0 has no way to write these, not even escaped (its production 2, "Char").
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_text(drawing: Drawing) -> str:
    """A complete SVG document."""
    width, height = drawing.size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONTS}">'
    )
    paper = f'<rect width="100%" height="100%" fill="{drawing.paper}"/>'
    body = [f"<title>{_content(drawing.title)}</title>", paper, *map(_element, drawing.shapes)]
    return "\n".join([head, *(f"  {line}" for line in body), "</svg>\n"])


def _content(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _tag(name: str, **attributes: str | float) -> str:
    """The inside of a tag; an underscore in a name stands for a hyphen."""
    pairs = (
        f"{key.replace('_', '-')}={quoteattr(value if isinstance(value, str) else _number(value))}"
        for key, value in attributes.items()
    )
    return " ".join([name, *pairs])


def _faded(opacity: float) -> dict[str, float]:
    return {} if opacity == 1.0 else {"opacity": opacity}


def _corners(points: Points) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


@singledispatch
def _element(shape: Shape) -> str:
    raise NotImplementedError(type(shape).__name__)


@_element.register
def _(shape: Line) -> str:
    tag = _tag(
        "polyline",
        points=_corners(shape.points),
        fill="none",
        stroke=shape.color,
        stroke_width=shape.width,
        stroke_opacity=shape.opacity,
        stroke_linejoin="round",
        stroke_linecap="round",
    )
    return f"<{tag}/>"


@_element.register
def _(shape: Area) -> str:
    tag = _tag(
        "polygon",
        points=_corners(shape.points),
        fill=shape.fill,
        stroke=shape.rim,
        stroke_width=shape.width,
        stroke_linejoin="round",
        **_faded(shape.opacity),
    )
    return f"<{tag}/>"


@_element.register
def _(shape: Disc) -> str:
    cx, cy = shape.center
    tag = _tag("circle", cx=cx, cy=cy, r=shape.radius, fill=shape.fill, stroke=shape.rim, stroke_width=shape.width)
    return f"<{tag}/>"


@_element.register
def _(shape: Plate) -> str:
    (x, y), (width, height) = shape.corner, shape.size
    tag = _tag(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        rx=shape.radius,
        fill=shape.fill,
        stroke=shape.rim,
        stroke_width=shape.width,
    )
    return f"<{tag}/>"


@_element.register
def _(shape: Text) -> str:
    x, y = shape.at
    tag = _tag("text", x=x, y=y, font_size=shape.size, fill=shape.color, text_anchor=shape.anchor)
    weight = ' font-weight="600"' if shape.bold else ""
    return f"<{tag}{weight}>{_content(shape.text)}</text>"
