"""Arguments that commands have in common, and how they are read."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated

import typer

from armillary.cli._source import complete_frame, complete_world
from armillary.errors import InvalidArgument
from armillary.errors.format import list_names
from armillary.fusion.policies import by_source
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from armillary import World
    from armillary.fusion.policies import AnyPolicy

__all__ = [
    "AsJson",
    "At",
    "Frame",
    "Hertz",
    "InFrame",
    "Nodes",
    "Policy",
    "Seconds",
    "Source",
    "WorldHere",
    "WorldOption",
    "as_choice",
    "as_instant",
    "as_span",
]

_NS_PER_S = 1_000_000_000
_WORLD_HELP = (
    "Where the world comes from: a saved world or scene, a URDF or SDF file, or 'demo' or 'turtles', which play live."
)

WorldOption = Annotated[
    str | None,
    typer.Option("--world", "-w", envvar="ARMILLARY_WORLD", help=_WORLD_HELP, autocompletion=complete_world),
]
WorldHere = Annotated[str | None, typer.Argument(help="The same as --world.", autocompletion=complete_world)]
_OR_ID = "or the first digits of the id of a thing of the scene"
Frame = Annotated[
    str, typer.Argument(metavar="FRAME", help=f"The frame asked about, {_OR_ID}.", autocompletion=complete_frame)
]
InFrame = Annotated[
    str, typer.Argument(metavar="IN_FRAME", help=f"The frame it is seen from, {_OR_ID}.", autocompletion=complete_frame)
]
At = Annotated[str, typer.Option("--at", help="Instant in seconds, or 'latest'.")]
Nodes = Annotated[bool, typer.Option("--nodes", help="Show frames of nodes of the scene, too; their names are ids.")]
Policy = Annotated[
    str,
    typer.Option(
        "--policy", help="What to make of several sources: unique (refuse to choose), latest, most_certain or fuse."
    ),
]
Source = Annotated[str | None, typer.Option("--source", help="Believe this source wherever several disagree.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Hertz = Annotated[float, typer.Option("--hz", help="How often to look, 0.1 to 50.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Stop after so long; otherwise at Ctrl-C.")]

_POLICIES = ("unique", "latest", "most_certain", "fuse")
_SLOWEST_HZ, _FASTEST_HZ = 0.1, 50.0


def as_instant(text: str) -> int | Latest:
    """Of `--at`: seconds to nanoseconds without rounding, or LATEST."""
    if text == "latest":
        return LATEST
    try:
        stamp_ns = Decimal(text) * _NS_PER_S
        if stamp_ns == stamp_ns.to_integral_value():
            return int(stamp_ns)
    except (InvalidOperation, OverflowError):
        pass
    raise InvalidArgument(
        f"--at takes seconds with at most nine decimals, as in 12.5, or 'latest', got '{text}'.", text
    )


def as_choice(world: World, policy: str, source: str | None) -> AnyPolicy:
    """Of `--policy` and `--source`: the source first, then the policy among what it says."""
    if policy not in _POLICIES:
        raise InvalidArgument(f"--policy takes one of {', '.join(_POLICIES)}, got '{policy}'.", policy)
    if source is None:
        return policy
    known = sorted({info.source for info in world.relations()})
    if source not in known:
        raise InvalidArgument(
            f"Nobody called '{source}' says where anything is. There are: {list_names(known)}.", source
        )
    return by_source(source, then=policy)


def as_span(hertz: float, span_s: float | None) -> tuple[float, float | None]:
    """Of `--hz` and `--seconds`: the time between two looks and the time of all of them [s]."""
    if not _SLOWEST_HZ <= hertz <= _FASTEST_HZ:
        raise InvalidArgument(f"--hz must be between {_SLOWEST_HZ:g} and {_FASTEST_HZ:g}, got {hertz:g}.", hertz)
    if span_s is not None and not 0.0 < span_s < float("inf"):
        raise InvalidArgument(f"--seconds must be more than 0, got {span_s:g}.", span_s)
    return 1.0 / hertz, span_s
