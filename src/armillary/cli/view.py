"""`armillary view`: a world in a browser."""

from __future__ import annotations

from time import monotonic
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, Seconds, WorldArgument, WorldOption
from armillary.cli._output import print_result
from armillary.cli._source import open_world

EXAMPLE = "armillary view robot.urdf --seconds 1"

_Host = Annotated[str, typer.Option("--host", help="Address to listen on; by default only this computer can connect.")]
_Port = Annotated[int | None, typer.Option("--port", help="By default the first free one from 8080 on.")]
_ReadOnly = Annotated[bool, typer.Option("--read-only", help="Without sliders: whoever looks can change nothing.")]
_PERIOD_S = 0.05


def view(
    *,
    here: WorldArgument = None,
    world: WorldOption = None,
    host: _Host = "127.0.0.1",
    port: _Port = None,
    read_only: _ReadOnly = False,
    span_s: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Show a world in a browser until Ctrl-C, with a slider for every joint, and one for time."""
    found = open_world(world, here, with_shapes=True)
    with found.world.view(host=host, port=port, read_only=read_only, quiet=True) as viewer:
        print_result(as_json=as_json, fields={"url": viewer.url}, text=f"{viewer}")
        begin = monotonic()
        while viewer.is_open and (span_s is None or monotonic() - begin < span_s):
            if found.catch_up is not None:
                found.catch_up()
            viewer.wait(_PERIOD_S)
