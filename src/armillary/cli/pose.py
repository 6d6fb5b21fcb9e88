"""`armillary pose`: where one frame is, seen from another."""

from __future__ import annotations

from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._output import fields_of_pose, say, text_of_transform
from armillary.cli._source import opened
from armillary.errors.words import instant

EXAMPLE = "armillary pose camera base --world kitchen.json"


def pose(
    *, of: Frame, in_frame: InFrame, world: WorldOption = None, at: At = "latest", as_json: AsJson = False
) -> None:
    """Say where a frame is, seen from another."""
    answer = opened(world).world.pose(of=of, in_frame=in_frame, at=as_instant(at))
    when = "always" if answer.stamp is None else f"at {instant(answer.stamp)}"
    heading = f"{answer.of} in {answer.in_frame}, {when}"
    say(as_json=as_json, fields=fields_of_pose(answer), text=f"{heading}\n{text_of_transform(answer.transform)}")
