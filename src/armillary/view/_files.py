"""Drawings written as SVG (without third-party code) or as PNG (by matplotlib)."""

from __future__ import annotations

import base64
import io
import re
from functools import singledispatch
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from armillary.errors import InvalidArgument, MissingExtra
from armillary.formats.whole_files import as_file_path, write_whole
from armillary.view._drawing import Circle, Drawing, Image, Line, Polygon, Rectangle, Shape, Text, in_theme
from armillary.view.theme import FONT_FAMILIES, Theme

if TYPE_CHECKING:
    from os import PathLike

    from armillary.view._drawing import Points

_FONTS = ", ".join(f"'{name}'" if " " in name else name for name in FONT_FAMILIES)
# XML 1.0 cannot represent these characters, not even escaped (its production 2, "Char").
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PX_PER_INCH = 100.0
_POINTS_PER_PX = 72.0 / _PX_PER_INCH
_DOTS_PER_PX = 2.0
_HALO_PX = 3.0
_LONGEST_SIDE_DOTS = 16_000.0  # matplotlib's limit is 2**16, and that of image viewers is lower
_ALIGNMENT = {"start": "left", "middle": "center", "end": "right"}


def svg_text(drawing: Drawing, theme: Theme = "light") -> str:
    """Return a drawing in the colours of a theme as a complete SVG document."""
    drawing = in_theme(drawing, theme)
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
    """Return the content of a tag; an underscore in a name becomes a hyphen."""
    pairs = (
        f"{key.replace('_', '-')}={quoteattr(value if isinstance(value, str) else _number(value))}"
        for key, value in attributes.items()
    )
    return " ".join([name, *pairs])


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
def _(shape: Polygon) -> str:
    opacity = {} if shape.opacity == 1.0 else {"opacity": shape.opacity}
    tag = _tag(
        "polygon",
        points=_corners(shape.points),
        fill=shape.fill,
        stroke=shape.outline,
        stroke_width=shape.width,
        stroke_linejoin="round",
        **opacity,
    )
    return f"<{tag}/>"


@_element.register
def _(shape: Circle) -> str:
    cx, cy = shape.center
    tag = _tag("circle", cx=cx, cy=cy, r=shape.radius, fill=shape.fill, stroke=shape.outline, stroke_width=shape.width)
    return f"<{tag}/>"


@_element.register
def _(shape: Rectangle) -> str:
    (x, y), (width, height) = shape.corner, shape.size
    tag = _tag(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        rx=shape.radius,
        fill=shape.fill,
        stroke=shape.outline,
        stroke_width=shape.width,
    )
    return f"<{tag}/>"


@_element.register
def _(shape: Text) -> str:
    x, y = shape.at
    tag = _tag("text", x=x, y=y, font_size=shape.size, fill=shape.color, text_anchor=shape.anchor)
    weight = ' font-weight="600"' if shape.bold else ""
    if shape.has_halo:
        weight += f' paint-order="stroke" stroke="{shape.halo}" stroke-width="{_HALO_PX:g}" stroke-linejoin="round"'
    return f"<{tag}{weight}>{_content(shape.text)}</text>"


@_element.register
def _(shape: Image) -> str:
    (x, y), (width, height) = shape.corner, shape.size
    data = f"data:image/png;base64,{base64.b64encode(shape.png).decode()}"
    return f"<{_tag('image', x=x, y=y, width=width, height=height, href=data)}/>"


def png_bytes(drawing: Drawing) -> bytes:
    """Return a drawing as PNG at twice its size, limited to 16,000 pixels a side."""
    width, height = drawing.size
    figure_size = (width / _PX_PER_INCH, height / _PX_PER_INCH)
    figure = _matplotlib("figure").Figure(figsize=figure_size, facecolor=drawing.paper)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    for order, shape in enumerate(drawing.shapes):
        artist = _image(axes, shape) if isinstance(shape, Image) else axes.add_artist(_artist(shape))
        artist.set_zorder(order)
    axes.set(xlim=(0, width), ylim=(height, 0))  # an image sets other ones
    scale = min(_DOTS_PER_PX, _LONGEST_SIDE_DOTS / max(width, height))
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=scale * _PX_PER_INCH)
    return content.getvalue()


def _image(axes: Any, shape: Image) -> Any:
    (x, y), (width, height) = shape.corner, shape.size
    pixels = _matplotlib("image").imread(io.BytesIO(shape.png), format="png")
    return axes.imshow(pixels, extent=(x, x + width, y + height, y), aspect="auto")


def _matplotlib(module: str) -> Any:
    try:
        import_module("matplotlib")
        return import_module(f"matplotlib.{module}")
    except ModuleNotFoundError as missing:
        raise MissingExtra("view", "matplotlib") from missing


def _stroke(width_px: float) -> float:
    return width_px * _POINTS_PER_PX


@singledispatch
def _artist(shape: Shape) -> Any:
    raise NotImplementedError(type(shape).__name__)


@_artist.register
def _(shape: Line) -> Any:
    return _matplotlib("lines").Line2D(
        *zip(*shape.points, strict=True),
        color=shape.color,
        linewidth=_stroke(shape.width),
        alpha=shape.opacity,
        solid_joinstyle="round",
        solid_capstyle="round",
    )


@_artist.register
def _(shape: Polygon) -> Any:
    return _matplotlib("patches").Polygon(
        shape.points,
        facecolor=shape.fill,
        edgecolor=shape.outline,
        linewidth=_stroke(shape.width),
        alpha=shape.opacity,
        joinstyle="round",
    )


@_artist.register
def _(shape: Circle) -> Any:
    width = _stroke(shape.width)
    return _matplotlib("patches").Circle(
        shape.center, shape.radius, facecolor=shape.fill, edgecolor=shape.outline, linewidth=width
    )


@_artist.register
def _(shape: Rectangle) -> Any:
    return _matplotlib("patches").FancyBboxPatch(
        shape.corner,
        *shape.size,
        boxstyle=f"round,pad=0,rounding_size={shape.radius}",
        facecolor=shape.fill,
        edgecolor=shape.outline,
        linewidth=_stroke(shape.width),
    )


@_artist.register
def _(shape: Text) -> Any:
    effects = _matplotlib("patheffects")
    halo = [effects.withStroke(linewidth=_stroke(_HALO_PX), foreground=shape.halo)] if shape.has_halo else []
    return _matplotlib("text").Text(
        *shape.at,
        shape.text,
        color=shape.color,
        fontsize=shape.size * _POINTS_PER_PX,
        fontweight="bold" if shape.bold else "normal",
        horizontalalignment=_ALIGNMENT[shape.anchor],
        verticalalignment="baseline",
        path_effects=halo,
        parse_math=False,  # a frame may be called "$x$"
    )


def write_drawing(drawing: Drawing, path: str | PathLike[str], theme: Theme = "light") -> Path:
    """Write a drawing in the colours of a theme as SVG or PNG, depending on the suffix of `path`."""
    file = as_file_path(path)
    match file.suffix.lower():
        case ".svg":
            write_whole(file, svg_text(drawing, theme).encode())
        case ".png":
            write_whole(file, png_bytes(in_theme(drawing, theme)))
        case _:
            raise InvalidArgument(f"Cannot draw to '{file}': its name must end in .svg or .png.")
    return file
