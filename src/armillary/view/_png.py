"""Drawings as PNG, painted by matplotlib where it is installed."""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import TYPE_CHECKING, Any

from armillary.errors import MissingExtra
from armillary.view._drawing import Area, Disc, Drawing, Line, Plate, Shape, Text

if TYPE_CHECKING:
    from pathlib import Path

_PX_PER_INCH = 100.0
_POINTS_PER_PX = 72.0 / _PX_PER_INCH
_DOTS_PER_PX = 2.0
_LONGEST_SIDE_DOTS = 16_000.0  # matplotlib stops at 2**16, and a viewer long before
_ALIGNMENT = {"start": "left", "middle": "center", "end": "right"}


def write_png(drawing: Drawing, path: Path) -> None:
    """Paint the drawing at twice its size, or as large as a PNG may sensibly be."""
    width, height = drawing.size
    figure_size = (width / _PX_PER_INCH, height / _PX_PER_INCH)
    figure = _matplotlib("figure").Figure(figsize=figure_size, facecolor=drawing.paper)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for order, shape in enumerate(drawing.shapes):
        axes.add_artist(_artist(shape)).set_zorder(order)
    scale = min(_DOTS_PER_PX, _LONGEST_SIDE_DOTS / max(width, height))
    figure.savefig(path, format="png", dpi=scale * _PX_PER_INCH)


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
def _(shape: Area) -> Any:
    return _matplotlib("patches").Polygon(
        shape.points,
        facecolor=shape.fill,
        edgecolor=shape.rim,
        linewidth=_stroke(shape.width),
        alpha=shape.opacity,
        joinstyle="round",
    )


@_artist.register
def _(shape: Disc) -> Any:
    width = _stroke(shape.width)
    return _matplotlib("patches").Circle(
        shape.center, shape.radius, facecolor=shape.fill, edgecolor=shape.rim, linewidth=width
    )


@_artist.register
def _(shape: Plate) -> Any:
    return _matplotlib("patches").FancyBboxPatch(
        shape.corner,
        *shape.size,
        boxstyle=f"round,pad=0,rounding_size={shape.radius}",
        facecolor=shape.fill,
        edgecolor=shape.rim,
        linewidth=_stroke(shape.width),
    )


@_artist.register
def _(shape: Text) -> Any:
    return _matplotlib("text").Text(
        *shape.at,
        shape.text,
        color=shape.color,
        fontsize=shape.size * _POINTS_PER_PX,
        fontweight="bold" if shape.bold else "normal",
        horizontalalignment=_ALIGNMENT[shape.anchor],
        verticalalignment="baseline",
        parse_math=False,  # a frame may be called "$x$"
    )
