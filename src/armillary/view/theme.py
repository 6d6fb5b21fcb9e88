"""Light and dark: every picture is drawn on light paper, and repainted where dark is wanted."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Literal, get_args

from armillary.errors import InvalidArgument
from armillary.view._style import ALARM, EDGE, INK, MUTED, PAPER, PLATE, RULE, TRACK_COLORS

if TYPE_CHECKING:
    from armillary.view._drawing import Drawing, Shape

Theme = Literal["light", "dark"]

# The same hues, lighter, so that they stand as clearly on dark paper.
_DARK_TRACKS = ("#4aa8e0", "#ff8a3d", "#2fc79b", "#e39cc5", "#f2b93b", "#8fd0f5")
_DARK = {
    PAPER: "#12171d",
    PLATE: "#222b35",
    RULE: "#2d3742",
    EDGE: "#74818f",
    MUTED: "#9eabb8",
    INK: "#e9eef3",
    ALARM: "#ff8178",
    **dict(zip(TRACK_COLORS, _DARK_TRACKS, strict=True)),
}
_COLORED = ("color", "fill", "rim")


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
