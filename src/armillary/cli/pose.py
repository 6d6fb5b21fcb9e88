"""`armillary pose`: where one frame is, seen from another."""

from __future__ import annotations

from armillary.cli._arguments import AsJson, At, Frame, InFrame, Policy, Source, WorldOption, as_choice, as_instant
from armillary.cli._nodes import frame_meant, ids_in_place_of_names, shortened
from armillary.cli._output import fields_of_pose, say, text_of_transform
from armillary.cli._source import opened
from armillary.errors.format import format_stamp

EXAMPLE = "armillary pose camera base --world kitchen.json"


def pose(
    *,
    of: Frame,
    in_frame: InFrame,
    world: WorldOption = None,
    at: At = "latest",
    policy: Policy = "unique",
    source: Source = None,
    as_json: AsJson = False,
) -> None:
    """Say where a frame is, seen from another."""
    known = opened(world).world
    choice = as_choice(known, policy, source)
    with ids_in_place_of_names(known):
        of, in_frame = frame_meant(known, of), frame_meant(known, in_frame)
        answer = known.pose(of=of, in_frame=in_frame, at=as_instant(at), policy=choice)
    when = "always" if answer.stamp is None else f"at {format_stamp(answer.stamp)}"
    heading = shortened(f"{answer.of} in {answer.in_frame}, {when}")
    say(as_json=as_json, fields=fields_of_pose(answer), text=f"{heading}\n{text_of_transform(answer.transform)}")
