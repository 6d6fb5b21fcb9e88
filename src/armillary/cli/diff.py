"""`armillary diff`: what differs between two worlds."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson, At, as_instant
from armillary.cli._output import print_result
from armillary.cli._source import complete_world, open_world
from armillary.stamps import Latest

EXAMPLE = "armillary diff kitchen.json kitchen.json"

_HELP = "a saved world or scene, or a URDF, SDF or MJCF file"
_Before = Annotated[str, typer.Argument(metavar="A", help=f"The first world: {_HELP}.", autocompletion=complete_world)]
_After = Annotated[str, typer.Argument(metavar="B", help=f"The second world: {_HELP}.", autocompletion=complete_world)]
_Metres = Annotated[float, typer.Option("--tolerance-m", help="Things this near are at the same place, in metres.")]
_Degrees = Annotated[float, typer.Option("--tolerance-deg", help="Things turned less are not turned, in degrees.")]


def diff(
    *,
    before: _Before,
    after: _After,
    tolerance_m: _Metres = 1e-3,
    tolerance_deg: _Degrees = 0.05,
    at: At = "latest",
    as_json: AsJson = False,
) -> None:
    """Show what differs between two worlds: things added, removed and moved, attributes, containment, shapes."""
    instant = as_instant(at)
    scenes = [open_world(source).world.scene for source in (before, after)]
    first, second = scenes if isinstance(instant, Latest) else [scene.as_of(instant) for scene in scenes]
    found = first.difference(second, tolerance_m=tolerance_m, tolerance_rad=math.radians(tolerance_deg))
    print_result(as_json=as_json, fields=found.as_fields(), text=str(found))
