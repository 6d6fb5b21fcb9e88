"""`armillary doctor`: why one frame cannot be seen from another."""

from __future__ import annotations

from dataclasses import asdict

import typer

from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._output import say
from armillary.cli._source import opened

EXAMPLE = "armillary doctor camera base --world kitchen.json"


def doctor(
    *, of: Frame, in_frame: InFrame, world: WorldOption = None, at: At = "latest", as_json: AsJson = False
) -> None:
    """Say why a frame cannot be seen from another, and the cure. The exit status is 0 where it can be seen."""
    found = opened(world).world.diagnose(of=of, in_frame=in_frame, at=as_instant(at))
    say(as_json=as_json, fields=asdict(found), text=str(found))
    if not found.is_visible:
        raise typer.Exit(1)
