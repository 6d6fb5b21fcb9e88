"""`armillary twist`: how one frame moves relative to another."""

from __future__ import annotations

from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._output import fields_of_twist, say
from armillary.cli._source import opened
from armillary.errors.words import instant

EXAMPLE = "armillary twist robot/tool map --world demo"


def twist(
    *, of: Frame, in_frame: InFrame, world: WorldOption = None, at: At = "latest", as_json: AsJson = False
) -> None:
    """Say how a frame moves relative to another, along the axes of that one."""
    known = opened(world).world
    answer = known.twist(of=of, relative_to=in_frame, expressed_in=in_frame, at=as_instant(at))
    when = "always" if answer.stamp is None else f"at {instant(answer.stamp)}"
    linear, angular = ("".join(f"{value + 0.0:12.4f}" for value in part) for part in (answer.linear, answer.angular))
    text = (
        f"{of} relative to {in_frame}, {when} ({answer.method})\n  linear   {linear}  m/s\n  angular  {angular}  rad/s"
    )
    say(as_json=as_json, fields=fields_of_twist(answer), text=text)
