"""`armillary save`: a world as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, WorldOption
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.cli._terminal import progress_bar
from armillary.cli.load import summary, text_of_summary

EXAMPLE = "armillary save saved.json --world robot.urdf"

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; one that is there is replaced.")]


def save(*, file: _File, world: WorldOption = None, as_json: AsJson = False) -> None:
    """Save a world: its structure, fixed poses, models and scene."""
    found = open_world(world, with_shapes=True).world
    with progress_bar(f"Writing {file}"):
        found.save(file)
    held = summary(found)
    print_result(as_json=as_json, fields={"file": str(file), **held}, text=f"Saved {file}: {text_of_summary(held)}.")
