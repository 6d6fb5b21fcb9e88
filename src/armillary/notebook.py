"""HTML for notebooks: the parts of a card, without a style sheet, and the cards of values that any layer shows.

The functions read attributes only and import nothing of Armillary, so that every layer can use them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import Any

from armillary.errors.format import format_stamp

__all__ = [
    "MOST_LINES",
    "card",
    "facts",
    "listing",
    "matrix",
    "number",
    "numbers",
    "rotation_html",
    "transform_html",
    "transform_latex",
    "turn",
    "world_html",
]

MOST_LINES = 40
_MAX_TEXT = 200
_MAX_SOURCES = 8
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
    """Return a card with a title and parts, which are HTML already."""
    return f'<div style="{_CARD}"><div><b>{_text(title)}</b></div>{"".join(parts)}</div>'


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values, one pair a line."""
    shown = [
        f'<tr style="background:transparent"><th style="{_LABEL}">{_text(name)}</th>'
        f'<td style="{_VALUE}">{_text(str(value))}</td></tr>'
        for name, value in rows
    ]
    return f'<table style="{_TABLE}">{"".join(shown)}</table>'


def matrix(rows: Sequence[Sequence[float]]) -> str:
    """Return a table of numbers."""
    noise = _NOISE * max((abs(value) for row in rows for value in row), default=0.0)
    shown = [
        '<tr style="background:transparent">'
        + "".join(f'<td style="{_ENTRY}">{number(value, noise=noise)}</td>' for value in row)
        + "</tr>"
        for row in rows
    ]
    return f'<table style="{_TABLE};{_BRACKET}">{"".join(shown)}</table>'


def listing(lines: Iterable[str], total: int, *, most: int = MOST_LINES) -> str:
    """Return the first lines, and how many more there are of `total`."""
    shown = [_text(line) for line in islice(lines, most)]
    rest = [f"... and {total - len(shown)} more"] if total > len(shown) else []
    return f'<pre style="{_LISTING}">{"<br>".join(shown + rest)}</pre>'


def number(value: Any, *, noise: float = _NOISE) -> str:
    """Return a number to six digits; rounding errors of 0 are 0."""
    return f"{0.0 if abs(value) <= noise else value:.6g}"


def numbers(values: Iterable[float]) -> str:
    """Return numbers separated by commas."""
    return ", ".join(number(value) for value in values)


def turn(rotation: Any) -> list[tuple[str, str]]:
    """Return the rows of a rotation: roll, pitch and yaw, and the quaternion."""
    return [("rpy", f"{numbers(map(math.degrees, rotation.rpy))} deg"), ("wxyz", numbers(rotation.wxyz))]


def _text(text: str) -> str:
    return escape(text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " ...")


def transform_html(transform: Any) -> str:
    """Return a card with the matrix of a `Transform`, its translation and its rotation."""
    rows = [("xyz", f"{numbers(transform.translation)} m"), *turn(transform.rotation)]
    return card("Transform", matrix(transform.matrix.tolist()), facts(rows))


def transform_latex(transform: Any) -> str:
    """Return the matrix of a `Transform` in LaTeX."""
    rows = [" & ".join(number(value) for value in row) for row in transform.matrix.tolist()]
    return r"$\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}$"


def rotation_html(rotation: Any) -> str:
    """Return a card with the matrix, the angles and the quaternion of a `Rotation`."""
    return card("Rotation", matrix(rotation.matrix.tolist()), facts(turn(rotation)))


def world_html(world: Any, tree: Any) -> str:
    """Return a card with the number of frames and relations of a world, and the first lines of a tree of its frames."""
    relations = world.relations()
    title = f"World '{world.name}'" if world.name else "World"
    total = len(tree.parents)
    return card(title, facts(_world_rows(relations, total)), listing(tree.lines(), total))


def _world_rows(relations: Sequence[Any], frames: int) -> Iterator[tuple[str, object]]:
    yield "frames", frames
    kinds = Counter(info.kind for info in relations)
    yield "relations", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    sources = sorted({info.source for info in relations if info.source})
    if sources:
        yield "sources", ", ".join(sources[:_MAX_SOURCES]) + (" ..." if len(sources) > _MAX_SOURCES else "")
    firsts = [info.first for info in relations if info.first is not None]
    lasts = [info.last for info in relations if info.last is not None]
    if firsts and lasts:
        yield "samples", f"from {format_stamp(min(firsts), 0)} to {format_stamp(max(lasts), 0)}"
