"""The frame tree as a picture: roots on the left, one row per leaf, labelled edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors.format import format_stamp
from armillary.stamps import LATEST, Latest, as_when
from armillary.store.nodes import without_nodes
from armillary.view._drawing import MARGIN_PX, Drawing, Line, Rectangle, Shape, Text, heading
from armillary.view._files import svg_text, write_drawing
from armillary.view.theme import EDGE, INK, MUTED, PANEL, SMALL_PX, TEXT_PX, WARNING, Theme, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from armillary.transforms import RelationInfo, Tree
    from armillary.view._world_protocol import DrawableWorld

_HEADER = 68.0
_ROW = 58.0
_BOX_HEIGHT = 30.0
_BOX_PADDING = 12.0
_STUB = 22.0  # from a parent's box to its trunk
_LABEL_PADDING = 12.0
_UNITS = (("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0))
_LONGEST = 100.0  # of one unit, before the next is taken


def draw_tree(
    world: DrawableWorld,
    path: str | PathLike[str],
    *,
    at: int | Latest = LATEST,
    nodes: bool = False,
    theme: Theme = "light",
) -> Path:
    """Draw the frame tree at one instant, with kind, rate, age and source of each edge.

    Frames of scene nodes, whose names are ids, are left out unless `nodes` is set, and so is the name of the world as a
    source.

    The suffix of `path` selects the format: .svg needs nothing, .png needs matplotlib.

    Raises:
        InvalidArgument: The suffix is another.
        MissingExtra: The suffix is .png, and matplotlib is not installed.
    """
    return write_drawing(_tree_drawing(world, at, nodes=nodes), path, theme)


def tree_svg(world: DrawableWorld, *, at: int | Latest = LATEST, nodes: bool = False, theme: Theme = "light") -> str:
    """Return the picture of `draw_tree` as SVG text."""
    return svg_text(_tree_drawing(world, at, nodes=nodes), theme)


@dataclass(frozen=True, slots=True)
class _Column:
    """Column of frames of one depth: x coordinates of its edges (`trunk`) and of its boxes [px]."""

    trunk: float
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _Layout:
    """Positions of the boxes of all frames.

    Attributes:
        columns: Columns by depth.
        depth: Depth of each frame.
        row: Row of each frame; a parent is in the middle of its children.
        text: Text of each box.
    """

    columns: Sequence[_Column]
    depth: Mapping[str, int]
    row: Mapping[str, float]
    text: Mapping[str, str]

    def column(self, name: str) -> _Column:
        return self.columns[self.depth[name]]

    def height(self, name: str) -> float:
        """Return the y coordinate of the middle of a frame's box [px]."""
        return _HEADER + (self.row[name] + 0.5) * _ROW

    @property
    def bottom(self) -> float:
        rows = max(self.row.values(), default=-1.0) + 1.0
        return _HEADER + rows * _ROW + MARGIN_PX / 2


def _tree_drawing(world: DrawableWorld, at: int | Latest, *, nodes: bool) -> Drawing:
    at = as_when(at)
    tree = world.tree(at) if nodes else without_nodes(world.tree(at))
    poses = [info for info in world.relations() if info.kind != "twist"]
    edges = {info.of: info for info in poses if tree.parents.get(info.of) == (info.in_frame, info.source)}
    labels = {of: _label(info, own_name=world.name) for of, info in edges.items()}
    layout = _arrange(tree, labels)
    title = f"Frame tree of '{world.name}'" if world.name else "Frame tree"
    lines = [shape for of, info in edges.items() for shape in _edge(layout, info, labels[of])]
    # A frame whose sources conflict has no parent, but a note.
    conflicts = {name: note for name, note in tree.notes.items() if tree.parents.get(name) is None}
    boxes = [shape for name in layout.depth for shape in _box(layout, name, conflicts.get(name, ""))]
    shapes = [*_header(title, tree, at), *lines, *boxes]
    return Drawing(title=title, size=(_width(layout, shapes), layout.bottom), shapes=shapes)


def _width(layout: _Layout, shapes: Sequence[Shape]) -> float:
    """Return the width of the picture: up to the end of the last column, or of the longest text."""
    starts = (shape for shape in shapes if isinstance(shape, Text) and shape.anchor == "start")
    ends = (text.at[0] + text_width(text.text, text.size) for text in starts)
    return max(layout.columns[-1].right, *ends) + MARGIN_PX


def _arrange(tree: Tree, labels: Mapping[str, tuple[str, str]]) -> _Layout:
    children = _children(tree)
    depth = _depths(tree.roots, children)
    text = {name: tree.text(name) for name in depth}
    return _Layout(_columns(depth, labels, text), depth, _rows(depth, children), text)


def _children(tree: Tree) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {name: [] for name in tree.parents}
    for name, parent in tree.parents.items():
        if parent is not None:
            children[parent[0]].append(name)
    return children


def _depths(roots: Sequence[str], children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the depth of each frame in depth-first order, without recursion."""
    depth: dict[str, int] = {}
    stack = [(name, 0) for name in reversed(roots)]
    while stack:
        name, level = stack.pop()
        depth[name] = level
        stack.extend((child, level + 1) for child in reversed(children[name]))
    return depth


def _rows(order: Mapping[str, int], children: Mapping[str, Sequence[str]]) -> dict[str, float]:
    leaves = [name for name in order if not children[name]]
    rows = {name: float(row) for row, name in enumerate(leaves)}
    for name in reversed(list(order)):
        if below := children[name]:
            rows[name] = (rows[below[0]] + rows[below[-1]]) / 2
    return rows


def _columns(
    depth: Mapping[str, int], edge_labels: Mapping[str, tuple[str, str]], text: Mapping[str, str]
) -> list[_Column]:
    """Return columns as wide as their widest box, with room for their widest edge label."""
    count = max(depth.values(), default=0) + 1
    boxes, labels = [0.0] * count, [0.0] * count
    for name, level in depth.items():
        boxes[level] = max(boxes[level], _box_width(text[name]))
        if name in edge_labels:
            labels[level] = max(labels[level], *(text_width(line, SMALL_PX) for line in edge_labels[name]))
    columns = [_Column(0.0, MARGIN_PX, MARGIN_PX + boxes[0])]
    for box, label in zip(boxes[1:], labels[1:], strict=True):
        trunk = columns[-1].right + _STUB
        left = trunk + label + 2 * _LABEL_PADDING
        columns.append(_Column(trunk, left, left + box))
    return columns


def _box_width(name: str) -> float:
    return text_width(name, TEXT_PX) + 2 * _BOX_PADDING


def _label(info: RelationInfo, *, own_name: str) -> tuple[str, str]:
    """Return the texts above and below an edge; the world itself as a source is not named."""
    above = [info.kind]
    if info.rate_hz is not None:
        above.append(f"{info.rate_hz:.3g} Hz")
    if info.kind == "sampled":
        above.append(f"{info.samples} sample{'' if info.samples == 1 else 's'}")
    below = [_age(info.age_s)] if info.age_s is not None else []
    if info.source and info.source != own_name:
        below.append(f"by {info.source}")
    return ", ".join(above), ", ".join(below)


def _age(age_s: float) -> str:
    """Format the age of the newest sample with two digits and a suitable unit."""
    unit, factor_s = next((pair for pair in _UNITS if abs(age_s) < _LONGEST * pair[1]), _UNITS[-1])
    return f"{float(f'{abs(age_s) / factor_s:.2g}'):g} {unit} {'old' if age_s >= 0.0 else 'ahead'}"


def _header(title: str, tree: Tree, at: int | Latest) -> Iterator[Shape]:
    count = len(tree.parents)
    when = "now" if isinstance(at, Latest) else f"at {format_stamp(at)}"
    subtitle = f"{count} frame{'' if count == 1 else 's'}, {when}" if count else "This world has no frames yet."
    yield from heading(title, subtitle)


def _edge(layout: _Layout, info: RelationInfo, label: tuple[str, str]) -> Iterator[Shape]:
    start = (layout.column(info.in_frame).left + _box_width(info.in_frame), layout.height(info.in_frame))
    column, y = layout.column(info.of), layout.height(info.of)
    yield Line(points=(start, (column.trunk, start[1]), (column.trunk, y), (column.left, y)), color=EDGE, width=1.4)
    for text, drop, color in zip(label, (-6.0, 15.0), (INK, MUTED), strict=True):
        if text:
            yield Text(at=(column.trunk + _LABEL_PADDING, y + drop), text=text, size=SMALL_PX, color=color)


def _box(layout: _Layout, name: str, conflict: str) -> Iterator[Shape]:
    x, y = layout.column(name).left, layout.height(name)
    text, outline = layout.text[name], WARNING if conflict else EDGE
    width = _box_width(text)
    yield Rectangle(corner=(x, y - _BOX_HEIGHT / 2), size=(width, _BOX_HEIGHT), fill=PANEL, outline=outline)
    yield Text(at=(x + width / 2, y + 4.5), text=text, size=TEXT_PX, color=INK, anchor="middle", bold=True)
    if conflict:
        yield Text(at=(x, y + _BOX_HEIGHT / 2 + 13), text=conflict, size=SMALL_PX, color=WARNING)
