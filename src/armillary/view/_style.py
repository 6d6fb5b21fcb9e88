"""One restrained look for every picture: ink on paper, and a colour only where it means something."""

from __future__ import annotations

import unicodedata

PAPER = "#fdfdfb"
PLATE = "#f1f4f7"
RULE = "#dde2e8"
EDGE = "#8b98a7"
MUTED = "#5b6775"
INK = "#1d2732"
ALARM = "#b3261e"

# Okabe and Ito's palette: its colours stay apart for colour-blind eyes and in grey print.
TRACK_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

FONT_FAMILIES = ("Helvetica", "Arial", "DejaVu Sans", "sans-serif")
TITLE_PX = 17.0
TEXT_PX = 13.0
SMALL_PX = 11.5

_WIDE_EM = 1.0
_USUAL_EM = 0.6


def text_width(text: str, size: float) -> float:
    """About how wide a text will be [px]; no font is asked, so it is the width in a broad one."""
    return size * sum(_WIDE_EM if unicodedata.east_asian_width(letter) in "WF" else _USUAL_EM for letter in text)
