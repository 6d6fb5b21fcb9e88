"""`armillary load`: check a saved world and summarise it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary.cli._arguments import AsJson
from armillary.cli._output import print_result
from armillary.cli._source import saved_world
from armillary.cli._terminal import progress_bar

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary load kitchen.json"

_File = Annotated[Path, typer.Argument(metavar="FILE", help="A saved world.")]


def load(*, file: _File, as_json: AsJson = False) -> None:
    """Load a saved world, check all of it, and summarise it."""
    with progress_bar(f"Reading {file}"):
        held = summary(saved_world(file))
    print_result(as_json=as_json, fields={"file": str(file), **held}, text=f"{file} is whole: {text_of_summary(held)}.")


def summary(world: World) -> dict[str, int]:
    """Count frames, fixed relations, bodies, models, joints and nodes."""
    return {
        "frames": len(world.frames()),
        "fixed": sum(info.kind == "fixed" for info in world.relations()),
        "bodies": len(world.bodies()),
        "models": len(world.mounts),
        "joints": len(world.joints()),
        "nodes": len(world.scene),
    }


def text_of_summary(held: dict[str, int]) -> str:
    """Format the counts in one line."""
    return ", ".join(f"{count} {name if count != 1 else _ONE.get(name, name)}" for name, count in held.items())


_ONE = {"frames": "frame", "bodies": "body", "models": "model", "joints": "joint", "nodes": "node"}
