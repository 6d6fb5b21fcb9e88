"""`armillary list`: names of frames, like paths in folders."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, Nodes, WorldOption
from armillary.cli._nodes import abbreviate_ids, hidden_nodes_line, node_name
from armillary.cli._output import print_result
from armillary.cli._source import complete_frame, open_world
from armillary.errors import InvalidArgument, UnknownFrame
from armillary.store.nodes import is_of_a_node

EXAMPLE = "armillary list --depth 1 --world kitchen.json"

_Path = Annotated[str, typer.Argument(help="List frames at or below this path.", autocompletion=complete_frame)]
_Depth = Annotated[int | None, typer.Option("--depth", help="Number of levels shown; deeper frames are counted.")]


def list_frames(
    *, path: _Path = "", world: WorldOption = None, depth: _Depth = None, nodes: Nodes = False, as_json: AsJson = False
) -> None:
    """List the names of frames; a slash in a name separates levels."""
    if depth is not None and depth < 1:
        raise InvalidArgument(f"--depth must be at least 1, got {depth}.", depth)
    known = open_world(world).world
    every = known.frames()
    shown = tuple(name for name in every if nodes or not is_of_a_node(name))
    found = listed(shown, path, depth)
    called = {name: text for name in found if is_of_a_node(name) and (text := node_name(known, name))}
    fields = [
        {"name": name, "frames": count, **({"called": called[name]} if name in called else {})}
        for name, count in found.items()
    ]
    hidden = "" if nodes or path else hidden_nodes_line(every)
    lines = [_line(name, count, called.get(name, "")) for name, count in found.items()]
    print_result(as_json=as_json, fields=fields, text="\n".join([*lines, *filter(None, [hidden])]))


def listed(frames: tuple[str, ...], path: str, depth: int | None) -> dict[str, int]:
    """Return names with their number of frames; a name with a trailing slash means all frames below it."""
    wanted = [name for name in frames if not path or name == path or name.startswith(f"{path}/")]
    if not wanted and path:
        raise UnknownFrame(path, frames)
    above = len(path.split("/")) if path else 0
    return dict(sorted(Counter(_cut(name, None if depth is None else above + depth) for name in wanted).items()))


def _cut(name: str, levels: int | None) -> str:
    parts = name.split("/")
    return name if levels is None or len(parts) <= levels else "/".join(parts[:levels]) + "/"


def _line(name: str, count: int, called: str) -> str:
    counts = [f"({count} frame{'' if count == 1 else 's'})"] if name.endswith("/") else []
    return "  ".join([abbreviate_ids(name), *([f"'{called}'"] if called else []), *counts])
