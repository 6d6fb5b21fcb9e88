"""`armillary replay`: play a recording, and share its world meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import armillary
from armillary.cli._arguments import AsJson
from armillary.cli._output import print_result
from armillary.cli._terminal import progress_bar

EXAMPLE = "armillary replay run.mcap --speed inf"

_File = Annotated[Path, typer.Argument(metavar="FILE", help="What 'armillary record' wrote.")]
_Speed = Annotated[float, typer.Option("--speed", help="Seconds of the recording in one second; inf: at once.")]
_Share = Annotated[str | None, typer.Option("--share", help="Share the world under this name while it plays.")]


def replay(*, file: _File, speed: _Speed = 1.0, share: _Share = None, as_json: AsJson = False) -> None:
    """Play a recording into a world: at its own speed, faster, or at once."""
    playing = armillary.replay(file, speed=0.0)
    if share is not None:
        playing.world.share(share)
    playing.speed = speed
    try:
        with progress_bar(f"Playing {file}"):
            playing.run()
    except KeyboardInterrupt:
        playing.stop()
    world = playing.world
    fields = {
        "file": str(file),
        "samples": playing.samples,
        "changes": playing.changes,
        "frames": len(world.frames()),
        "digest": world.digest(),
        "refused": playing.refused,
        "notes": playing.notes,
    }
    lines = [f"Played {playing.samples} samples and {playing.changes} changes of {file}: {len(world.frames())} frames."]
    lines += [f"  {count} refused: {reason}" for reason, count in playing.refused.items()]
    lines += [f"  {note}" for note in playing.notes]
    playing.close()
    world.close()
    print_result(as_json=as_json, fields=fields, text="\n".join(lines))
