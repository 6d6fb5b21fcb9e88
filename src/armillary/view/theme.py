"""Colours of the pictures, for a light and a dark background."""

from __future__ import annotations

import unicodedata
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Literal, get_args

from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.view._drawing import Drawing, Shape

PAPER = "#fdfdfb"
PANEL = "#f1f4f7"
RULE = "#dde2e8"
EDGE = "#8b98a7"
MUTED = "#5b6775"
INK = "#1d2732"
WARNING = "#b3261e"
# Okabe and Ito's palette: its colours stay apart for colour-blind eyes and in grey print.
TRACK_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FONT_FAMILIES = ("Helvetica", "Arial", "DejaVu Sans", "sans-serif")
TITLE_PX = 17.0
TEXT_PX = 13.0
SMALL_PX = 11.5
_WIDE_EM = 1.0
_USUAL_EM = 0.6
Theme = Literal["light", "dark"]
# The same hues, lighter, so that they stand as clearly on dark paper.
_DARK_TRACKS = ("#4aa8e0", "#ff8a3d", "#2fc79b", "#e39cc5", "#f2b93b", "#8fd0f5")
_DARK = {
    PAPER: "#12171d",
    PANEL: "#222b35",
    RULE: "#2d3742",
    EDGE: "#74818f",
    MUTED: "#9eabb8",
    INK: "#e9eef3",
    WARNING: "#ff8178",
    **dict(zip(TRACK_COLORS, _DARK_TRACKS, strict=True)),
}
_COLORED = ("color", "fill", "outline")


def text_width(text: str, size: float) -> float:
    """About how wide a text will be [px]; no font is asked, so it is the width in a broad one."""
    return size * sum(_WIDE_EM if unicodedata.east_asian_width(letter) in "WF" else _USUAL_EM for letter in text)


def in_theme(drawing: Drawing, theme: Theme) -> Drawing:
    """The drawing in the colours of a theme; colours that are no theme's, such as those of things, stay."""
    if theme not in get_args(Theme):
        raise InvalidArgument(f"theme must be 'light' or 'dark', got {theme!r}.", theme)
    if theme == "light":
        return drawing
    return replace(drawing, paper=_DARK[PAPER], shapes=[_repainted(shape) for shape in drawing.shapes])


def _repainted(shape: Shape) -> Shape:
    colored = [field.name for field in fields(shape) if field.name in _COLORED]
    before = {name: getattr(shape, name) for name in colored}
    return replace(shape, **{name: _DARK.get(color, color) for name, color in before.items()})
