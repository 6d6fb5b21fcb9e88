"""`armillary twist`: how one frame moves relative to another."""

from __future__ import annotations

from armillary.cli._arguments import AsJson, At, Frame, InFrame, Policy, Source, WorldOption, as_choice, as_instant
from armillary.cli._nodes import frame_meant, ids_in_place_of_names, shortened
from armillary.cli._output import fields_of_twist, say
from armillary.cli._source import opened
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
    as_json: AsJson = False,
) -> None:
    """Say how a frame moves relative to another, along the axes of that one."""
    known = opened(world).world
    choice = as_choice(known, policy, source)
    with ids_in_place_of_names(known):
        of, in_frame = frame_meant(known, of), frame_meant(known, in_frame)
        answer = known.twist(of=of, relative_to=in_frame, expressed_in=in_frame, at=as_instant(at), policy=choice)
    when = "always" if answer.stamp is None else f"at {format_stamp(answer.stamp)}"
    linear, angular = ("".join(f"{value + 0.0:12.4f}" for value in part) for part in (answer.linear, answer.angular))
    heading = shortened(f"{of} relative to {in_frame}, {when} ({answer.method})")
    text = f"{heading}\n  linear   {linear}  m/s\n  angular  {angular}  rad/s"
    say(as_json=as_json, fields=fields_of_twist(answer), text=text)
