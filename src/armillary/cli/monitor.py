"""`armillary monitor`: a top for frames."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from armillary.cli._arguments import AsJson, Hertz, Seconds, WorldHere, WorldOption, as_span
from armillary.cli._arrivals import Arrivals
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
_FED = ("sampled", "integrated")
"""Kinds of relations that samples come for, or are still to come for."""
_LONG_MS = 10_000
_WITHOUT_TERMINAL_S = 2.0


def monitor(
    *,
    here: WorldHere = None,
    world: WorldOption = None,
    hertz: Hertz = 4.0,
    span_s: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Watch how well every frame is fed: rate, delay, age, jitter, gaps, who says so, and which rivals disagree."""
    period_s, span_s = as_span(hertz, span_s)
    found, arrivals = opened(world, here), Arrivals()
    glance = partial(arrivals.look, found.world)
    if can_show_live() and not as_json:
        ticks = looks(found, period_s=period_s, span_s=span_s, glance=glance)
        redrawn(lambda: screen(found.world, arrivals), ticks)
        return
    for _ in looks(found, period_s=period_s, span_s=span_s or _WITHOUT_TERMINAL_S, glance=glance):
        pass
    console = Console(width=_WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(screen(found.world, arrivals))
    fields = [asdict(stream) for stream in streams(found.world, arrivals)]
    say(as_json=as_json, fields=fields, text=writable(captured.get().rstrip("\n")))


def screen(world: World, arrivals: Arrivals) -> Group:
    """What comes in, as a table that fits into 80 columns; the rest is counted."""
    every = streams(world, arrivals)
    fed = [stream for stream in every if stream.kind in _FED or stream.rivals] or every
    rest = len(every) - len(fed)
    told = [Text(f"{rest} more {'is' if rest == 1 else 'are'} fixed, or driven by joints", style="dim")] if rest else []
    return Group(_table(fed), Text("delay, age and jitter in ms; apart: how far rivals disagree", style="dim"), *told)


def _table(found: list[Stream]) -> Table:
    has_rivals = any(stream.rivals for stream in found)
    table = Table(width=_WIDTH, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading, share in (("frame", 3), ("in", 2), ("source", 2)):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=share)
    for heading in ("Hz", "delay", "age", "jitter", "gaps", *(["apart"] if has_rivals else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for stream in found:
        apart = [_apart(stream)] if has_rivals else []
        table.add_row(Text(stream.of), Text(stream.in_frame), Text(stream.source), *_figures(stream), *apart)
    return table


def _figures(stream: Stream) -> tuple[str, ...]:
    if stream.kind not in _FED:
        return stream.kind, "", "", "", ""
    if stream.age_s is None:
        return _UNKNOWN, _UNKNOWN, "never", _UNKNOWN, ""
    rate = _UNKNOWN if stream.rate_hz is None else f"{stream.rate_hz:.1f}"
    times = (_ms(time_s) for time_s in (stream.delay_s, stream.age_s, stream.jitter_s))
    return rate, *times, f"{stream.gaps}" if stream.gaps else ""


def _ms(time_s: float | None) -> str:
    if time_s is None:
        return _UNKNOWN
    time_ms = time_s * 1e3
    return f"{time_ms:.1f}" if abs(time_ms) < _LONG_MS else f"{time_ms:.3g}"


def _apart(stream: Stream) -> str:
    if not stream.rivals:
        return ""
    if stream.apart_m is None or stream.apart_rad is None:
        return "contested" if stream.is_contested else "settled"
    return f"{stream.apart_m * 1e3:.0f} mm {math.degrees(stream.apart_rad):.1f}\N{DEGREE SIGN}"
