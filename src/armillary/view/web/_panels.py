"""HTML panels: the frame tree with its search, and the details of one frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError
from armillary.errors.format import format_stamp

if TYPE_CHECKING:
    from armillary.relations import Pose
    from armillary.stamps import Latest
    from armillary.transforms import RelationInfo, Tree
    from armillary.view._world_protocol import ViewableWorld
    from armillary.view.web._frames import NamedFrames
    from armillary.view.web._timeline import Timeline


_LONGEST = 60
_MOST_LINES = 400
_MUTED = "opacity:0.55"
_WARNING = "color:#c2410c"
_FONT = "font-size:0.8em;line-height:1.5"
SELECTED_LABEL = "Of"
"""Label of the text field with the selected frame, into which a click on a name of the tree writes."""
# viser has no event for a click on HTML. The text field has one, once its value is set in the way React listens to.
_ON_CLICK = (
    "var row=event.target.closest('[data-frame]'),"
    f"field=[...document.querySelectorAll('label')].find(l=>l.textContent==='{SELECTED_LABEL}');"
    "while(field&&!field.querySelector('input'))field=field.parentElement;"
    "var input=field&&field.querySelector('input');"
    "if(row&&input){Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value').set"
    ".call(input,row.dataset.frame);input.dispatchEvent(new Event('input',{bubbles:true}))}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Details of a frame as tables with headings.

    Attributes:
        title: Label of the frame.
        reason: Why its pose is unknown; empty if it is known.
        parts: Headings, each with rows of names and values.
    """

    title: str
    reason: str
    parts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def inspect(
    world: ViewableWorld, frame: str, names: NamedFrames, *, in_frame: str, at: int | Latest, timeline: Timeline
) -> Inspection:
    """Collect pose, relations and attributes of a frame at one instant; `timeline` has the clock of the slider."""
    reason, rows = "", tuple[tuple[str, str], ...]()
    try:
        rows = tuple(_pose_rows(world.pose(of=frame, in_frame=in_frame, at=at, outside="hold"), timeline))
    except ArmillaryError as error:
        reason = str(error)
    parts = [(f"Pose in {names.labels.get(in_frame, in_frame)}", rows)] if rows else []
    parts += [_relation_part(info, names) for info in world.relations() if info.of == frame]
    attributes = tuple((key, _short(value)) for key, value in names.attributes.get(frame, {}).items())
    parts += [("Attributes", attributes)] if attributes else []
    return Inspection(title=names.labels.get(frame, frame), reason=reason, parts=tuple(parts))


def _pose_rows(pose: Pose, timeline: Timeline) -> Iterator[tuple[str, str]]:
    transform = pose.transform
    yield "position [m]", _vector(transform.translation)
    yield "roll, pitch, yaw [°]", _vector(np.degrees(transform.rotation.rpy), digits=1)
    yield "quaternion w x y z", _vector(transform.rotation.wxyz)
    if pose.covariance is not None:
        deviations = np.sqrt(np.maximum(np.diag(pose.covariance), 0.0))
        yield "± position [mm]", _vector(1e3 * deviations[:3], digits=1)
        yield "± angle [°]", _vector(np.degrees(deviations[3:]), digits=2)
    yield "time", "fixed" if pose.stamp is None else f"{timeline.clock_s(pose.stamp):.2f} s"
    if pose.stamp is not None and timeline.origin_ns:
        yield "stamp", format_stamp(pose.stamp)
    for sample in pose.held:
        yield "held", str(sample)


def _relation_part(info: RelationInfo, names: NamedFrames) -> tuple[str, tuple[tuple[str, str], ...]]:
    what = "Motion relative to" if info.kind == "twist" else "Placed in"
    rows = [("kind", info.kind)]
    rows += [("source", info.source)] if info.source else []
    rows += [("rate", f"{info.rate_hz:.3g} Hz")] if info.rate_hz is not None else []
    rows += [("age", _duration(info.age_s))] if info.age_s is not None else []
    rows += [("samples", f"{info.samples} over {info.span_s:.3g} s")] if info.samples else []
    return f"{what} {names.labels.get(info.in_frame, info.in_frame)}", tuple(rows)


def _duration(age_s: float) -> str:
    return f"{age_s * 1e3:.0f} ms" if abs(age_s) < 1.0 else f"{age_s:.1f} s"


def _vector(values: object, digits: int = 3) -> str:
    return "  ".join(f"{value + 0.0:.{digits}f}" for value in np.round(np.asarray(values, dtype=float), digits))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def matching_frames(labels: Mapping[str, str], search: str) -> list[str]:
    """Return the frames whose label contains all words of a search; all frames if there are none."""
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
    """Return the frame tree with all matches of a search and their ancestors; notes omit the source `own_name`."""
    hits = set(matching_frames(labels, search))
    lines = list(_lines(tree, labels, _with_ancestors(tree, hits)))
    rows = [
        _row(name, labels[name], depth, _note(tree, name, own_name, missing), _row_style(name, hits, search, selected))
        for name, depth in lines[:_MOST_LINES]
    ]
    if len(lines) > _MOST_LINES:
        rows.append(f'<div style="{_MUTED}">… and {len(lines) - _MOST_LINES} more: search for one</div>')
    nothing = f'<div style="{_MUTED}">{"no frame matches" if search else "there are no frames yet"}</div>'
    body = "".join(rows) or nothing
    return f'<div style="{_FONT};padding:0 0.9em 0.6em;overflow-x:auto" onclick="{escape(_ON_CLICK)}">{body}</div>'


def inspection_html(inspection: Inspection | None) -> str:
    """Return the details of a frame as HTML tables."""
    if inspection is None:
        return f'<div style="{_FONT};padding:0 0.9em 0.6em;{_MUTED}">Click on axes, or choose a frame.</div>'
    reason = f'<div style="{_WARNING}">{escape(inspection.reason)}</div>' if inspection.reason else ""
    parts = "".join(_table(heading, rows) for heading, rows in inspection.parts)
    title = f'<div style="font-weight:700;font-size:1.15em">{escape(inspection.title)}</div>'
    return f'<div style="{_FONT};padding:0 0.9em 0.6em">{title}{reason}{parts}</div>'


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
    """Yield names and depths in depth-first order."""
    children: dict[str | None, list[str]] = {}
    for name, parent in tree.parents.items():
        if name in kept and name in labels:
            children.setdefault(None if parent is None else parent[0], []).append(name)
    stack = [(name, 0) for name in reversed(children.get(None, []))]
    while stack:
        name, depth = stack.pop()
        yield name, depth
        stack += [(child, depth + 1) for child in reversed(children.get(name, []))]


def _row_style(name: str, hits: Collection[str], search: str, selected: str | None) -> str:
    if name == selected:
        return "font-weight:700;background:rgba(0,114,178,0.18);border-radius:3px"
    return "background:rgba(230,159,0,0.25);border-radius:3px" if search and name in hits else ""


def _note(tree: Tree, name: str, own_name: str, missing: Collection[str]) -> str:
    """Return the note of a frame, which is empty for fixed frames, and says so where nothing is known about it."""
    note = tree.notes.get(name, "").strip("[]").removesuffix(f" by '{own_name}'")
    if name in missing and "contested" not in note:
        return "not in the picture: not connected" if tree.parents.get(name) is None else "no pose yet"
    return "" if note.startswith("fixed") else note


def _row(name: str, label: str, depth: int, note: str, style: str) -> str:
    guide = "border-left:1px solid rgba(128,128,128,0.35);" if depth else ""
    note_style = _WARNING if "contested" in note else _MUTED
    indented = (
        f"margin-left:{0.9 * max(depth - 1, 0) + 0.3 * bool(depth):.1f}em;padding-left:0.5em;white-space:nowrap;{guide}"
    )
    note_html = f'<span style="{note_style};font-size:0.88em;margin-left:0.6em">{escape(note)}</span>' if note else ""
    return (
        f'<div style="{indented};cursor:pointer" title="{escape(name)}" data-frame="{escape(name)}">'
        f'<span style="{style}">{escape(label)}</span>{note_html}</div>'
    )


def _table(heading: str, rows: tuple[tuple[str, str], ...]) -> str:
    cells = "".join(
        f'<tr><td style="{_MUTED};padding-right:0.8em;white-space:nowrap;vertical-align:top">{escape(name)}</td>'
        f'<td style="font-variant-numeric:tabular-nums;white-space:pre-wrap">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f'<div style="font-weight:600;margin-top:0.6em">{escape(heading)}</div><table>{cells}</table>'
