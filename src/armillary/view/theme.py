"""Colours and text sizes of the pictures, for a light and a dark background."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal

PAPER = "#fdfdfb"
PANEL = "#f1f4f7"
RULE = "#dde2e8"
EDGE = "#8b98a7"
MUTED = "#5b6775"
INK = "#1d2732"
WARNING = "#b3261e"
# Okabe and Ito's palette: distinguishable for colour-blind readers and in grey print.
TRACK_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FONT_FAMILIES = ("Helvetica", "Arial", "DejaVu Sans", "sans-serif")
TITLE_PX = 17.0
TEXT_PX = 13.0
SMALL_PX = 11.5
_WIDE_EM = 1.0
_USUAL_EM = 0.6
DEFAULT_COLOR = (0.60, 0.67, 0.74)
"""Colour of shapes without the attribute `color`."""

Theme = Literal["light", "dark"]
Color = tuple[float, float, float]
# The same hues, lighter, for the same contrast on a dark background.
_DARK_TRACK_COLORS = ("#4aa8e0", "#ff8a3d", "#2fc79b", "#e39cc5", "#f2b93b", "#8fd0f5")
DARK = {
    # colour of the light theme: colour of the dark theme
    PAPER: "#12171d",
    PANEL: "#222b35",
    RULE: "#2d3742",
    EDGE: "#74818f",
    MUTED: "#9eabb8",
    INK: "#e9eef3",
    WARNING: "#ff8178",
    **dict(zip(TRACK_COLORS, _DARK_TRACK_COLORS, strict=True)),
}


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text [px], assuming a wide font."""
    return size * sum(_WIDE_EM if unicodedata.east_asian_width(letter) in "WF" else _USUAL_EM for letter in text)


def color_of(value: object) -> tuple[Color, float]:
    """Convert the attribute `color`, (r, g, b) or (r, g, b, a) from 0 to 1, to a colour and an opacity."""
    parts = value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else ()
    numbers = [float(part) for part in parts if isinstance(part, int | float)]
    if len(numbers) not in {3, 4}:
        return DEFAULT_COLOR, 1.0
    r, g, b = (min(max(number, 0.0), 1.0) for number in numbers[:3])
    return (r, g, b), numbers[3] if len(numbers) > 3 else 1.0  # noqa: PLR2004
