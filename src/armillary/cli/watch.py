"""`armillary watch`: one pose, live, with its rate and age."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import typer

from armillary.cli._arguments import (
    AsJson,
    Frame,
    Hertz,
    InFrame,
    Policy,
    Seconds,
    Source,
    WorldOption,
    as_choice,
    as_span,
)
from armillary.cli._nodes import frame_meant, ids_in_place_of_names, shortened
from armillary.cli._output import fields_of_pose, text_of_transform, writable
from armillary.cli._source import OpenedWorld, opened
from armillary.cli._terminal import can_show_live, looks, redrawn
from armillary.errors.format import format_stamp

if TYPE_CHECKING:
    from armillary import Pose

EXAMPLE = "armillary watch robot/tool map --seconds 2 --world demo"

_NS_PER_S = 1e9


def watch(
    *,
    of: Frame,
    in_frame: InFrame,
    world: WorldOption = None,
    hertz: Hertz = 4.0,
    span_s: Seconds = None,
    policy: Policy = "unique",
    source: Source = None,
    as_json: AsJson = False,
) -> None:
    """Watch where a frame is, seen from another, with the rate and the age of what that rests on."""
    period_s, span_s = as_span(hertz, span_s)
    found = opened(world)
    known = found.world
    choice = as_choice(known, policy, source)
    ticks = looks(found, period_s=period_s, span_s=span_s)

    def look() -> Pose:
        with ids_in_place_of_names(known):
            return known.pose(of=frame_meant(known, of), in_frame=frame_meant(known, in_frame), policy=choice)

    if can_show_live() and not as_json:
        redrawn(lambda: screen(found, look()), ticks)
        return
    for _ in ticks:
        fields = seen(found, look())
        typer.echo(json.dumps(fields) if as_json else writable(_line(fields)))


def seen(found: OpenedWorld, pose: Pose) -> dict[str, Any]:
    """The pose, the rate of the slowest relation it rests on [Hz], and its age [s]."""
    age_s = None if pose.stamp is None else (found.world.now() - pose.stamp) / _NS_PER_S
    return {**fields_of_pose(pose), "rate_hz": _slowest_hz(found, pose), "age_s": age_s}


def screen(found: OpenedWorld, pose: Pose) -> str:
    """What a terminal shows."""
    heading = shortened(
        f"{pose.of} in {pose.in_frame}" + ("" if pose.stamp is None else f", at {format_stamp(pose.stamp)}")
    )
    fed = _feeding(seen(found, pose))
    return f"{heading}\n{text_of_transform(pose.transform)}\n  {fed}\n  Ctrl-C stops"


def _slowest_hz(found: OpenedWorld, pose: Pose) -> float | None:
    used = set(pose.relations)
    rates = [info.rate_hz for info in found.world.relations() if (info.of, info.in_frame, info.source) in used]
    return min((rate for rate in rates if rate is not None), default=None)


def _line(fields: dict[str, Any]) -> str:
    xyz = " ".join(f"{value + 0.0:9.4f}" for value in fields["xyz_m"])
    rpy = " ".join(f"{math.degrees(value) + 0.0:7.2f}" for value in fields["rpy_rad"])
    return f"{xyz} m {rpy} deg  {_feeding(fields)}"


def _feeding(fields: dict[str, Any]) -> str:
    if fields["stamp_ns"] is None:
        return "fixed"
    rate = "-" if fields["rate_hz"] is None else f"{fields['rate_hz']:.1f}"
    return f"{rate} Hz, {fields['age_s'] * 1e3:.0f} ms old"
