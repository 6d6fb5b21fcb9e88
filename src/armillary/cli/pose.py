"""`armillary pose`: the pose of one frame in another."""

from __future__ import annotations

from armillary.cli._arguments import (
    AsJson,
    At,
    FixedFrame,
    Frame,
    HoldUpTo,
    InFrame,
    OfAt,
    OutsideOption,
    Policy,
    Source,
    WorldOption,
    as_instant,
    as_outside,
    as_policy,
    as_two_instants,
)
from armillary.cli._nodes import frame_text, resolve_frame, suggest_ids
from armillary.cli._output import fields_of_pose, lines_of_deviations, lines_of_held, print_result, text_of_transform
from armillary.cli._source import open_world
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
    of_at: OfAt = None,
    fixed_frame: FixedFrame = None,
    outside: OutsideOption = "raise",
    hold_up_to: HoldUpTo = None,
    as_json: AsJson = False,
) -> None:
    """Print the pose of a frame in another, with its standard deviations if they are known."""
    known = open_world(world).world
    choice = as_policy(known, policy, source)
    with suggest_ids(known):
        of, in_frame = resolve_frame(known, of), resolve_frame(known, in_frame)
        asked = {"at": as_instant(at), "policy": choice, **as_outside(hold_up_to, outside)}
        if of_at is not None or fixed_frame is not None:
            asked |= as_two_instants(known, of_at, fixed_frame)
        answer = known.pose(of=of, in_frame=in_frame, **asked)
    when = "always" if answer.stamp is None else f"at {format_stamp(answer.stamp)}"
    heading = f"{frame_text(known, answer.of)} in {frame_text(known, answer.in_frame)}, {when}"
    text = "\n".join(
        [heading, text_of_transform(answer.transform), *lines_of_deviations(answer), *lines_of_held(answer.held)]
    )
    print_result(as_json=as_json, fields=fields_of_pose(answer), text=text)
