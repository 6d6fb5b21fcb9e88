"""`armillary twist`: the twist of one frame relative to another."""

from __future__ import annotations

from armillary.cli._arguments import (
    AsJson,
    At,
    Frame,
    HoldUpTo,
    InFrame,
    Policy,
    Source,
    WorldOption,
    as_instant,
    as_outside,
    as_policy,
)
from armillary.cli._nodes import frame_text, resolve_frame, suggest_ids
from armillary.cli._output import fields_of_twist, lines_of_held, print_result
from armillary.cli._source import open_world
from armillary.errors.format import format_stamp

EXAMPLE = "armillary twist robot/tool map --world demo"


def twist(
    *,
    of: Frame,
    in_frame: InFrame,
    world: WorldOption = None,
    at: At = "latest",
    policy: Policy = "unique",
    source: Source = None,
    hold_up_to: HoldUpTo = None,
    as_json: AsJson = False,
) -> None:
    """Print the twist of a frame relative to another, along the axes of the latter."""
    known = open_world(world).world
    choice = as_policy(known, policy, source)
    with suggest_ids(known):
        of, in_frame = resolve_frame(known, of), resolve_frame(known, in_frame)
        asked = {"at": as_instant(at), "policy": choice, **as_outside(hold_up_to)}
        answer = known.twist(of=of, relative_to=in_frame, expressed_in=in_frame, **asked)
    when = "always" if answer.stamp is None else f"at {format_stamp(answer.stamp)}"
    linear, angular = ("".join(f"{value + 0.0:12.4f}" for value in part) for part in (answer.linear, answer.angular))
    heading = f"{frame_text(known, of)} relative to {frame_text(known, in_frame)}, {when} ({answer.method})"
    rows = [heading, f"  linear   {linear}  m/s", f"  angular  {angular}  rad/s", *lines_of_held(answer.held)]
    text = "\n".join(rows)
    print_result(as_json=as_json, fields=fields_of_twist(answer), text=text)
