"""What stands beside the picture, as HTML: the tree with what was searched for, and what is known of a frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary.transforms import Tree
    from armillary.view.web._inspection import Inspection

__all__ = ["found", "inspection_html", "tree_html"]

_MOST_LINES = 400
_MUTED = "opacity:0.55"
_ALARM = "color:#c2410c"
_FONT = "font-size:0.8em;line-height:1.5"


def found(labels: Mapping[str, str], search: str) -> list[str]:
    """The frames whose name holds every word that is searched for; all of them, where nothing is."""
    words = search.casefold().split()
    return [frame for frame, label in labels.items() if all(word in label.casefold() for word in words)]


def tree_html(
    tree: Tree,
    labels: Mapping[str, str],
    *,
    own_name: str = "",
    search: str = "",
    selected: str | None = None,
    missing: Collection[str] = (),
) -> str:
    """The frames that are found, with those that they hang under; what the world says itself goes without its name."""
    hits = set(found(labels, search))
    lines = list(_lines(tree, labels, _with_ancestors(tree, hits)))
    rows = [
        _row(name, labels[name], depth, _note(tree, name, own_name), _look(name, hits, search, selected, missing))
        for name, depth in lines[:_MOST_LINES]
    ]
    if len(lines) > _MOST_LINES:
        rows.append(f'<div style="{_MUTED}">… and {len(lines) - _MOST_LINES} more: search for one</div>')
    nothing = f'<div style="{_MUTED}">{"no frame is called so" if search else "there are no frames yet"}</div>'
    return f'<div style="{_FONT};padding:0 0.9em 0.6em;overflow-x:auto">{"".join(rows) or nothing}</div>'


def inspection_html(inspection: Inspection | None) -> str:
    """Tables under headings."""
    if inspection is None:
        return f'<div style="{_FONT};padding:0 0.9em 0.6em;{_MUTED}">Click on axes, or choose a frame.</div>'
    trouble = f'<div style="{_ALARM}">{escape(inspection.trouble)}</div>' if inspection.trouble else ""
    parts = "".join(_table(heading, rows) for heading, rows in inspection.parts)
    title = f'<div style="font-weight:700;font-size:1.15em">{escape(inspection.title)}</div>'
    return f'<div style="{_FONT};padding:0 0.9em 0.6em">{title}{trouble}{parts}</div>'


def _with_ancestors(tree: Tree, hits: Collection[str]) -> set[str]:
    kept: set[str] = set()
    for name in hits:
        step: str | None = name
        while step is not None and step not in kept:
            kept.add(step)
            parent = tree.parents.get(step)
            step = None if parent is None else parent[0]
    return kept


def _lines(tree: Tree, labels: Mapping[str, str], kept: Collection[str]) -> Iterator[tuple[str, int]]:
    """Names and depths, a frame before what hangs under it."""
    children: dict[str | None, list[str]] = {}
    for name, parent in tree.parents.items():
        if name in kept and name in labels:
            children.setdefault(None if parent is None else parent[0], []).append(name)
    stack = [(name, 0) for name in reversed(children.get(None, []))]
    while stack:
        name, depth = stack.pop()
        yield name, depth
        stack += [(child, depth + 1) for child in reversed(children.get(name, []))]


def _look(name: str, hits: Collection[str], search: str, selected: str | None, missing: Collection[str]) -> str:
    looks = []
    if name == selected:
        looks.append("font-weight:700;background:rgba(0,114,178,0.18);border-radius:3px")
    elif search and name in hits:
        looks.append("background:rgba(230,159,0,0.25);border-radius:3px")
    if name in missing:
        looks.append("text-decoration:line-through;opacity:0.6")
    return ";".join(looks)


def _note(tree: Tree, name: str, own_name: str) -> str:
    """What is fixed goes without saying."""
    note = tree.notes.get(name, "").strip("[]").removesuffix(f" by '{own_name}'")
    return "" if note.startswith("fixed") else note


def _row(name: str, label: str, depth: int, note: str, look: str) -> str:
    guide = "border-left:1px solid rgba(128,128,128,0.35);" if depth else ""
    alarm = _ALARM if "contested" in note else _MUTED
    indented = (
        f"margin-left:{0.9 * max(depth - 1, 0) + 0.3 * bool(depth):.1f}em;padding-left:0.5em;white-space:nowrap;{guide}"
    )
    said = f'<span style="{alarm};font-size:0.88em;margin-left:0.6em">{escape(note)}</span>' if note else ""
    return f'<div style="{indented}" title="{escape(name)}"><span style="{look}">{escape(label)}</span>{said}</div>'


def _table(heading: str, rows: tuple[tuple[str, str], ...]) -> str:
    cells = "".join(
        f'<tr><td style="{_MUTED};padding-right:0.8em;white-space:nowrap;vertical-align:top">{escape(name)}</td>'
        f'<td style="font-variant-numeric:tabular-nums;white-space:pre-wrap">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f'<div style="font-weight:600;margin-top:0.6em">{escape(heading)}</div><table>{cells}</table>'
