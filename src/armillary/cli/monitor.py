"""`armillary monitor`: a top for frames."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from armillary.cli._arguments import AsJson, Hertz, Seconds, WorldHere, WorldOption, as_span
from armillary.cli._live import can_show_live
from armillary.cli._looking import looks, redrawn
from armillary.cli._output import say, writable
from armillary.cli._source import opened
from armillary.cli._streams import Stream, streams

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary monitor demo --seconds 2"

_WIDTH = 80
_UNKNOWN = "-"
_WITHOUT_TERMINAL_S = 2.0


def monitor(
    *,
    here: WorldHere = None,
    world: WorldOption = None,
    hertz: Hertz = 4.0,
    span_s: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Watch how well every frame is fed: rate, age, jitter, gaps, who says so, and which rivals disagree."""
    period_s, span_s = as_span(hertz, span_s)
    found = opened(world, here)
    if can_show_live() and not as_json:
        redrawn(lambda: screen(found.world), looks(found, period_s=period_s, span_s=span_s))
        return
    for _ in looks(found, period_s=period_s, span_s=span_s or _WITHOUT_TERMINAL_S):
        pass
    console = Console(width=_WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(screen(found.world))
    fields = [asdict(stream) for stream in streams(found.world)]
    say(as_json=as_json, fields=fields, text=writable(captured.get().rstrip("\n")))


def screen(world: World) -> Table:
    """The table; it fits into 80 columns."""
    found = streams(world)
    has_rivals = any(stream.rivals for stream in found)
    table = Table(width=_WIDTH, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading, share in (("frame", 3), ("in", 2), ("source", 2)):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=share)
    for heading in ("Hz", "age ms", "jitter ms", "gaps", *(["rivals apart"] if has_rivals else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for stream in found:
        apart = [_apart(stream)] if has_rivals else []
        table.add_row(Text(stream.of), Text(stream.in_frame), Text(stream.source), *_figures(stream), *apart)
    return table


def _figures(stream: Stream) -> tuple[str, str, str, str]:
    if stream.rate_hz is None and stream.age_s is None:
        return stream.kind, "", "", ""
    rate = _UNKNOWN if stream.rate_hz is None else f"{stream.rate_hz:.1f}"
    return rate, _ms(stream.age_s), _ms(stream.jitter_s), f"{stream.gaps}" if stream.gaps else ""


def _ms(time_s: float | None) -> str:
    return _UNKNOWN if time_s is None else f"{time_s * 1e3:.1f}"


def _apart(stream: Stream) -> str:
    if not stream.rivals:
        return ""
    if stream.apart_m is None or stream.apart_rad is None:
        return "settled"
    return f"{stream.apart_m * 1e3:.0f} mm {math.degrees(stream.apart_rad):.1f} deg"
