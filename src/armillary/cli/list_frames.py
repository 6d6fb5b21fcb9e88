"""`armillary list`: the names of frames, as folders are listed."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, Nodes, WorldOption
from armillary.cli._nodes import called_in, left_out, shortened
from armillary.cli._output import say
from armillary.cli._source import complete_frame, opened
from armillary.errors import InvalidArgument, UnknownFrame
from armillary.scene.node_frames import is_of_a_node

EXAMPLE = "armillary list --depth 1 --world kitchen.json"

_Path = Annotated[str, typer.Argument(help="List what is at or under this path.", autocompletion=complete_frame)]
_Depth = Annotated[int | None, typer.Option("--depth", help="Show so many levels; what is deeper is counted.")]


def list_frames(
    *, path: _Path = "", world: WorldOption = None, depth: _Depth = None, nodes: Nodes = False, as_json: AsJson = False
) -> None:
    """List the names of frames; a slash in a name is a level."""
    if depth is not None and depth < 1:
        raise InvalidArgument(f"--depth must be at least 1, got {depth}.", depth)
    known = opened(world).world
    every = known.frames()
    shown = tuple(name for name in every if nodes or not is_of_a_node(name))
    found = listed(shown, path, depth)
    called = {name: text for name in found if is_of_a_node(name) and (text := called_in(known, name))}
    fields = [{"name": name, "frames": count, **_called(called, name)} for name, count in found.items()]
    hidden = "" if nodes or path else left_out(every)
    lines = [_line(name, count, called.get(name, "")) for name, count in found.items()]
    say(as_json=as_json, fields=fields, text="\n".join([*lines, *filter(None, [hidden])]))


def listed(frames: tuple[str, ...], path: str, depth: int | None) -> dict[str, int]:
    """Names, and how many frames each stands for; one that ends with a slash stands for those under it."""
    wanted = [name for name in frames if not path or name == path or name.startswith(f"{path}/")]
    if not wanted and path:
        raise UnknownFrame(path, frames)
    above = len(path.split("/")) if path else 0
    return dict(sorted(Counter(_cut(name, None if depth is None else above + depth) for name in wanted).items()))


def _cut(name: str, levels: int | None) -> str:
    parts = name.split("/")
    return name if levels is None or len(parts) <= levels else "/".join(parts[:levels]) + "/"


def _called(names: dict[str, str], frame: str) -> dict[str, str]:
    return {"called": names[frame]} if frame in names else {}


def _line(name: str, count: int, called: str) -> str:
    told = [f"({count} frame{'' if count == 1 else 's'})"] if name.endswith("/") else []
    return "  ".join([shortened(name), *([f"'{called}'"] if called else []), *told])
