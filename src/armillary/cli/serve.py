"""`armillary serve`: a process that keeps a copy of a shared world, and forwards between others."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import typer

from armillary import World
from armillary.cli._arguments import AsJson, Seconds
from armillary.cli._output import print_result

EXAMPLE = "armillary serve kitchen --seconds 1"

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name by which the world is shared.")]
Connect = Annotated[
    list[str] | None, typer.Option("--connect", help="Endpoint to connect to, as tcp/192.168.1.5:7447; repeatable.")
]
_Listen = Annotated[
    list[str] | None, typer.Option("--listen", help="Endpoint to listen at, as tcp/0.0.0.0:7447; repeatable.")
]
_Router = Annotated[bool, typer.Option("--router", help="Forward between processes that do not reach each other.")]
_File = Annotated[Path | None, typer.Option("--world", "-w", help="A saved world to begin with.")]
_PERIOD_S = 0.1


def serve(
    *,
    name: Name,
    world: _File = None,
    listen: _Listen = None,
    connect: Connect = None,
    router: _Router = False,
    span_s: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Keep a copy of a shared world until Ctrl-C: whoever comes later gets it although the others have gone."""
    kept = World("serve") if world is None else World.load(world)
    with kept:
        kept.share(name, listen=listen or (), connect=connect or (), router=router, samples="all")
        print_result(as_json=as_json, fields={"name": name}, text=f"Serving '{name}'. End with Ctrl-C.")
        end_s = None if span_s is None else monotonic() + span_s
        while end_s is None or monotonic() < end_s:
            sleep(_PERIOD_S)
