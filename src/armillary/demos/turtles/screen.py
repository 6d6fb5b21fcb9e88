"""The turtles in a terminal, in real time."""

from __future__ import annotations

import math
from time import monotonic, sleep
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from armillary.demos.turtles.simulation import DELAY, FOLLOWER, LEADER, WORLD, Turtles, distance_m
from armillary.stamps import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from armillary import Transform
    from armillary.transforms import RelationInfo

_NS_PER_S = 1e9
_FRAME_S = 0.1
_WIDTH = 78
_UNKNOWN = "-"
_CLOSE_M = 1e-3
_STYLES = {LEADER: "bold blue", FOLLOWER: "bold dark_orange"}


def show_live(turtles: Turtles, *, to: int) -> None:
    """Run in real time with a live table; Ctrl-C stops early."""
    begin = monotonic()
    with Live(_screen(turtles, to), auto_refresh=False) as live:
        try:
            while turtles.clock.time < to:
                sleep(_FRAME_S)
                turtles.advance(to=min(to, seconds(monotonic() - begin)))
                live.update(_screen(turtles, to), refresh=True)
        except KeyboardInterrupt:
            return


def _screen(turtles: Turtles, to: int) -> RenderableType:
    who, whom = (FOLLOWER, _STYLES[FOLLOWER]), (LEADER, _STYLES[LEADER])
    title = Text.assemble(who, " follows ", whom, ", five seconds behind")
    return Group(title, _table(turtles), *_distances(turtles), _progress(turtles, to))


def _table(turtles: Turtles) -> Table:
    table = Table(width=_WIDTH, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(f"in {WORLD}", no_wrap=True)
    for heading in ("x [m]", "y [m]", "heading [deg]", "samples", "rate [Hz]", "age [ms]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for info in turtles.world.relations():
        if info.kind == "sampled":
            world_T_turtle = turtles.world.pose(of=info.of, in_frame=WORLD).transform
            table.add_row(Text(info.of, style=_STYLES[info.of]), *_pose_cells(world_T_turtle), *_stream_cells(info))
    table.add_row("goal", *_goal_cells(turtles), style="dim")
    return table


def _pose_cells(world_T_turtle: Transform) -> tuple[str, str, str]:
    x_m, y_m, _ = world_T_turtle.translation
    yaw_rad = world_T_turtle.rotation.rpy[2]
    return f"{x_m:.3f}", f"{y_m:.3f}", f"{math.degrees(yaw_rad):.1f}"


def _stream_cells(info: RelationInfo) -> tuple[str, str, str]:
    rate = _UNKNOWN if info.rate_hz is None else f"{info.rate_hz:.1f}"
    age = _UNKNOWN if info.age_s is None else f"{info.age_s * 1e3:.0f}"
    return f"{info.samples:,}", rate, age


def _goal_cells(turtles: Turtles) -> tuple[str, str, str]:
    at = _follower_stamp(turtles) - DELAY
    if at < 0:
        return _UNKNOWN, _UNKNOWN, _UNKNOWN
    return _pose_cells(turtles.world.pose(of=LEADER, in_frame=WORLD, at=at).transform)


def _follower_stamp(turtles: Turtles) -> int:
    """Return the stamp of the newest pose of the follower."""
    return turtles.world.pose(of=FOLLOWER, in_frame=WORLD).stamp or 0


def _distances(turtles: Turtles) -> Iterator[Text]:
    follower_T_leader = turtles.world.pose(of=LEADER, in_frame=FOLLOWER).transform
    yield Text(f"distance to {LEADER:<24}{distance_m(follower_T_leader):8.3f} m")
    at = _follower_stamp(turtles)
    if at < DELAY:
        yield Text("distance to where it was 5 s ago     waiting for five seconds of history", style="dim")
        return
    gap_m = distance_m(turtles.goal(at=at))
    yield Text(f"distance to where it was 5 s ago    {gap_m:8.3f} m", style="green" if gap_m < _CLOSE_M else "")


def _progress(turtles: Turtles, to: int) -> Table:
    now_s, end_s = turtles.clock.time / _NS_PER_S, to / _NS_PER_S
    bar = ProgressBar(total=end_s, completed=now_s, width=40, complete_style="blue", finished_style="blue")
    row = Table.grid(padding=(0, 1))
    row.add_row(bar, f"{now_s:.1f} of {end_s:g} s, Ctrl-C stops")
    return row
