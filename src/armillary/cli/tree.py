"""`armillary tree`: the frame tree as text."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary.cli._arguments import AsJson, At, Nodes, WorldArgument, WorldOption, as_instant
from armillary.cli._nodes import abbreviate_ids, hidden_nodes_line
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.store.nodes import is_containment, without_nodes
from armillary.transforms import Tree

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary tree kitchen.json"

_Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write a picture instead, as .svg or .png.")
]


def tree(
    *,
    here: WorldArgument = None,
    world: WorldOption = None,
    at: At = "latest",
    nodes: Nodes = False,
    out: _Out = None,
    as_json: AsJson = False,
) -> None:
    """Draw the frame tree: every frame below its parent; with --out as a picture."""
    known, when = open_world(world, here).world, as_instant(at)
    whole = known.tree(when)
    found = whole if nodes else without_nodes(whole)
    if out is not None:
        file = known.draw_tree(out, at=when, nodes=nodes)
        text = f"{len(found.parents)} frames are drawn in {file}."
        print_result(as_json=as_json, fields={"file": str(file), "frames": len(found.parents)}, text=text)
        return
    hidden = "" if nodes else hidden_nodes_line(tuple(whole.parents))
    lines = abbreviate_ids(str(_without_single_source(known, found))).splitlines()
    fitted = [part for line in lines for part in _fitted(line, _width())]
    print_result(as_json=as_json, fields=_fields(known, found), text="\n".join([*fitted, *filter(None, [hidden])]))


def _fields(world: World, found: Tree) -> list[dict[str, Any]]:
    """Return a record of each frame, with kind, rate and source of the relation that it is placed by."""
    infos = {(info.of, info.in_frame, info.source): info for info in world.relations() if info.kind != "twist"}
    records = []
    for name, parent in found.parents.items():
        info = None if parent is None else infos.get((name, *parent))
        record: dict[str, Any] = {
            "frame": name,
            "in_frame": None if parent is None else parent[0],
            "note": found.notes.get(name, ""),
        }
        if info is not None:
            record |= {"kind": info.kind, "source": info.source, "rate_hz": info.rate_hz, "age_s": info.age_s}
        records.append(record | ({"name": found.names[name]} if name in found.names else {}))
    return records


def _width() -> int | None:
    """Return the number of columns of the terminal; None if the output is none, and lines may be of any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fitted(line: str, width: int | None) -> list[str]:
    """Return a line of the tree, its note below it if both do not fit into the width."""
    head, gap, note = line.rpartition("  [")
    if width is None or len(line) <= width or not gap:
        return [line]
    below = re.sub(r"[^│ ].*", "", head.replace("├", "│").replace("└", " ").replace("─", " "))
    lead = f"{below}  "
    return [head, *textwrap.wrap(f"[{note}", max(width, len(lead) + 20), initial_indent=lead, subsequent_indent=lead)]


def _without_single_source(world: World, found: Tree) -> Tree:
    """Remove the source from all notes if there is only one."""
    infos = (info for info in world.relations() if info.kind != "twist")
    sources = {info.source for info in infos if not is_containment(world.store, info)}
    if len(sources) != 1:
        return found
    suffix = f" by '{sources.pop()}'"
    return Tree(found.parents, {name: note.replace(suffix, "") for name, note in found.notes.items()}, found.names)
