"""`armillary watch`: one pose, live, with its rate and age."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from armillary.cli._arguments import (
    AsJson,
    Frame,
    Hertz,
    InFrame,
    Policy,
    Seconds,
    Source,
    WorldOption,
    as_period_and_duration,
    as_policy,
)
from armillary.cli._nodes import abbreviate_ids, resolve_frame, suggest_ids
from armillary.cli._output import encodable, fields_of_pose, lines_of_deviations, text_of_transform
from armillary.cli._source import OpenedWorld, open_world
from armillary.cli._terminal import can_show_live, redraw, update_times
from armillary.errors.format import format_stamp

if TYPE_CHECKING:
    from armillary import Pose

EXAMPLE = "armillary watch robot/tool map --seconds 2 --world demo"

_NS_PER_S = 1e9
_LONG_S = 10
_OTHER_CLOCK_S = 1e8  # three years: no sample is that old


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
    """Watch the pose of a frame in another, with the rate and the age of the relations on its path."""
    period_s, span_s = as_period_and_duration(hertz, span_s)
    found = open_world(world)
    known = found.world
    choice = as_policy(known, policy, source)
    ticks = update_times(found, period_s=period_s, span_s=span_s)

    def look() -> Pose:
        with suggest_ids(known):
            pose: Pose = known.pose(of=resolve_frame(known, of), in_frame=resolve_frame(known, in_frame), policy=choice)
            return pose

    if can_show_live() and not as_json:
        redraw(lambda: screen(found, look()), ticks)
        return
    for _ in ticks:
        fields = pose_fields(found, look())
        typer.echo(json.dumps(fields) if as_json else encodable(_line(fields)))


def pose_fields(found: OpenedWorld, pose: Pose) -> dict[str, Any]:
    """Return the fields of a pose, the lowest rate of the relations on its path [Hz], and its age [s]."""
    age_s = None if pose.stamp is None else (found.world.now() - pose.stamp) / _NS_PER_S
    return {**fields_of_pose(pose), "rate_hz": _slowest_hz(found, pose), "age_s": age_s}


def screen(found: OpenedWorld, pose: Pose) -> Text:
    """Return the screen of a terminal; a name such as `arm[/left]` is text, not markup."""
    heading = abbreviate_ids(
        f"{pose.of} in {pose.in_frame}" + ("" if pose.stamp is None else f", at {format_stamp(pose.stamp)}")
    )
    sampled = _rate_and_age(pose_fields(found, pose))
    rows = [heading, text_of_transform(pose.transform), *lines_of_deviations(pose), f"  {sampled}", "  Ctrl-C stops"]
    return Text("\n".join(rows))


def _slowest_hz(found: OpenedWorld, pose: Pose) -> float | None:
    used = set(pose.relations)
    rates = [info.rate_hz for info in found.world.relations() if (info.of, info.in_frame, info.source) in used]
    return min((rate for rate in rates if rate is not None), default=None)


def _line(fields: dict[str, Any]) -> str:
    xyz = " ".join(f"{value + 0.0:9.4f}" for value in fields["xyz_m"])
    rpy = " ".join(f"{math.degrees(value) + 0.0:7.2f}" for value in fields["rpy_rad"])
    return f"{xyz} m {rpy} deg  {_rate_and_age(fields)}"


def _rate_and_age(fields: dict[str, Any]) -> str:
    if fields["stamp_ns"] is None:
        return "fixed"
    rate = "-" if fields["rate_hz"] is None else f"{fields['rate_hz']:.1f}"
    age_s = fields["age_s"]
    if abs(age_s) > _OTHER_CLOCK_S:
        return f"{rate} Hz, stamped {format_stamp(fields['stamp_ns'])} by another clock"
    age = f"{age_s * 1e3:.0f} ms" if abs(age_s) < _LONG_S else f"{age_s:.0f} s"
    return f"{rate} Hz, {age} old"
