"""What notebooks show of values: small pieces of HTML without a style sheet, in the colours of the page around them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

__all__ = ["MOST_LINES", "card", "facts", "listing", "matrix", "number", "numbers", "turn"]

MOST_LINES = 40
_LONGEST_TEXT = 200
_NOISE = 1e-12
_LINE = "1px solid rgba(128,128,128,.4)"
_CARD = f"display:inline-block;max-width:100%;overflow-x:auto;border:{_LINE};border-radius:4px;padding:.4em .8em"
_LABEL = "text-align:left;vertical-align:top;font-weight:normal;opacity:.65;padding:.1em 1em .1em 0;border:0"
_VALUE = "text-align:left;font-family:monospace;padding:.1em 0;border:0"
_ENTRY = "text-align:right;font-family:monospace;padding:0 .5em;border:0"
_TABLE = "border-collapse:collapse;border:0;margin:.2em 0;background:transparent"
_BRACKET = "border-left:1px solid;border-right:1px solid;border-radius:6px"
_LISTING = "font-family:monospace;margin:.2em 0;padding:0;line-height:1.25;background:transparent;color:inherit"


def card(title: str, *parts: str) -> str:
    """A frame around parts that are HTML already; the title is text."""
    return f'<div style="{_CARD}"><div><b>{_text(title)}</b></div>{"".join(parts)}</div>'


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Names and what is said of them, one a line."""
    shown = [
        f'<tr style="background:transparent"><th style="{_LABEL}">{_text(name)}</th>'
        f'<td style="{_VALUE}">{_text(str(value))}</td></tr>'
        for name, value in rows
    ]
    return f'<table style="{_TABLE}">{"".join(shown)}</table>'


def matrix(rows: Sequence[Sequence[float]]) -> str:
    """Numbers in rows and columns."""
    noise = _NOISE * max((abs(value) for row in rows for value in row), default=0.0)
    shown = [
        '<tr style="background:transparent">'
        + "".join(f'<td style="{_ENTRY}">{number(value, noise=noise)}</td>' for value in row)
        + "</tr>"
        for row in rows
    ]
    return f'<table style="{_TABLE};{_BRACKET}">{"".join(shown)}</table>'


def listing(lines: Iterable[str], total: int, *, most: int = MOST_LINES) -> str:
    """The first lines as they are; how many more there are of `total` stands below."""
    shown = [_text(line) for line in islice(lines, most)]
    rest = [f"... and {total - len(shown)} more"] if total > len(shown) else []
    return f'<pre style="{_LISTING}">{"<br>".join(shown + rest)}</pre>'


def number(value: Any, *, noise: float = _NOISE) -> str:
    """Six digits; what rounding left where 0 is meant is 0."""
    return f"{0.0 if abs(value) <= noise else value:.6g}"


def numbers(values: Iterable[float]) -> str:
    """One after the other."""
    return ", ".join(number(value) for value in values)


def turn(rotation: Any) -> list[tuple[str, str]]:
    """A rotation in two ways."""
    return [("rpy", f"{numbers(map(math.degrees, rotation.rpy))} deg"), ("wxyz", numbers(rotation.wxyz))]


def _text(text: str) -> str:
    return escape(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ...")
