"""Arguments that several commands have, and their conversion."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary.cli._nodes import resolve_frame
from armillary.cli._source import complete_frame, complete_world
from armillary.errors import InvalidArgument
from armillary.errors.format import list_names
from armillary.fusion.policies import by_source
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from armillary import World


_NS_PER_S = 1_000_000_000
_WORLD_HELP = (
    "The world: a saved world or scene, a URDF, SDF or MJCF file, a log (.bag, .mcap, a folder of rosbag2), 'demo' or "
    "'turtles', which run live, or the name of a shared world."
)

WorldOption = Annotated[
    str | None,
    typer.Option("--world", "-w", envvar="ARMILLARY_WORLD", help=_WORLD_HELP, autocompletion=complete_world),
]
WorldArgument = Annotated[
    str | None, typer.Argument(metavar="WORLD", help="The same as --world.", autocompletion=complete_world)
]
_OR_ID = "or the first digits of the id of a node of the scene"
Frame = Annotated[
    str,
    typer.Argument(metavar="FRAME", help=f"The frame whose pose is wanted, {_OR_ID}.", autocompletion=complete_frame),
]
InFrame = Annotated[
    str, typer.Argument(metavar="IN_FRAME", help=f"The frame it is seen from, {_OR_ID}.", autocompletion=complete_frame)
]
At = Annotated[str, typer.Option("--at", help="Instant in seconds, or 'latest'.")]
Nodes = Annotated[bool, typer.Option("--nodes", help="Show frames of scene nodes, too; their names are ids.")]
Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        help="How to choose among several sources: unique (raise an error), latest, most_certain, fuse or filter.",
    ),
]
Source = Annotated[str | None, typer.Option("--source", help="Use this source wherever several disagree.")]
HoldUpTo = Annotated[
    float | None,
    typer.Option(
        "--hold-up-to", help="Outside the history use the nearest sample, at most so many seconds away; 'inf': any."
    ),
]
OutsideOption = Annotated[
    str,
    typer.Option(
        "--outside",
        help="Outside the history: raise (an error), hold the nearest sample, or predict from the last twist.",
    ),
]
OfAt = Annotated[
    str | None,
    typer.Option(
        "--of-at", help="Instant of FRAME in seconds, if it is another than that of IN_FRAME; see --fixed-frame."
    ),
]
FixedFrame = Annotated[
    str | None,
    typer.Option("--fixed-frame", help="With --of-at: the frame that does not move between the two instants."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Hertz = Annotated[float, typer.Option("--hz", help="Updates per second, 0.1 to 50.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Duration in seconds; by default until Ctrl-C.")]

_OUTSIDE = ("raise", "hold", "predict")
_POLICIES = ("unique", "latest", "most_certain", "fuse", "filter")
_SLOWEST_HZ, _FASTEST_HZ = 0.1, 50.0


def as_instant(text: str, option: str = "--at") -> int | Latest:
    """Convert the value of an option from seconds to nanoseconds without rounding, or to LATEST."""
    if text == "latest":
        return LATEST
    try:
        stamp_ns = Decimal(text) * _NS_PER_S
        if stamp_ns == stamp_ns.to_integral_value():
            return int(stamp_ns)
    except (InvalidOperation, OverflowError):
        pass
    raise InvalidArgument(
        f"{option} takes seconds with at most nine decimals, as in 12.5, or 'latest', got '{text}'.", text
    )


def as_outside(hold_up_to: float | None, outside: str = "raise") -> dict[str, Any]:
    """Convert `--hold-up-to` and `--outside` to the arguments of a query."""
    if outside not in _OUTSIDE:
        raise InvalidArgument(f"--outside takes one of {', '.join(_OUTSIDE)}, got '{outside}'.", outside)
    if hold_up_to is None:
        return {"outside": outside}
    if outside == "predict":
        raise InvalidArgument("--hold-up-to holds samples, and --outside predict does not. Leave one out.", outside)
    return {"outside": "hold", "hold_up_to_s": hold_up_to}


def as_two_instants(world: World, of_at: str | None, fixed_frame: str | None) -> dict[str, Any]:
    """Convert `--of-at` and `--fixed-frame` to the arguments of a query."""
    if of_at is None or fixed_frame is None:
        raise InvalidArgument("--of-at and --fixed-frame belong together: give both, or neither.")
    return {"of_at": as_instant(of_at, "--of-at"), "fixed_frame": resolve_frame(world, fixed_frame)}


def as_policy(world: World, policy: str, source: str | None) -> Any:
    """Convert `--policy` and `--source` to a policy: the source is selected first, then the policy applies."""
    if policy not in _POLICIES:
        raise InvalidArgument(f"--policy takes one of {', '.join(_POLICIES)}, got '{policy}'.", policy)
    if source is None:
        return policy
    known = sorted({info.source for info in world.relations() if info.source})
    if source not in known and not known:
        raise InvalidArgument(f"There is no source '{source}': none has a name here. Leave --source out.", source)
    if source not in known:
        raise InvalidArgument(f"There is no source '{source}'. Known: {list_names(known)}.", source)
    return by_source(source, then=policy)


def as_period_and_duration(hertz: float, span_s: float | None) -> tuple[float, float | None]:
    """Convert `--hz` and `--seconds` to the period and the duration [s]."""
    if not _SLOWEST_HZ <= hertz <= _FASTEST_HZ:
        raise InvalidArgument(f"--hz must be between {_SLOWEST_HZ:g} and {_FASTEST_HZ:g}, got {hertz:g}.", hertz)
    if span_s is not None and not 0.0 < span_s < float("inf"):
        raise InvalidArgument(f"--seconds must be more than 0, got {span_s:g}.", span_s)
    return 1.0 / hertz, span_s
