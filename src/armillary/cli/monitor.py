"""`armillary monitor`: rate, delay, age, jitter and gaps of every relation, and how far rivals disagree."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from armillary.cli._arguments import AsJson, Hertz, Seconds, WorldArgument, WorldOption, as_period_and_duration
from armillary.cli._output import encodable, print_result
from armillary.cli._source import open_world
from armillary.cli._terminal import can_show_live, redraw, update_times
from armillary.errors import ArmillaryError
from armillary.store.nodes import is_of_a_node

if TYPE_CHECKING:
    from armillary import World
    from armillary.transforms import RelationInfo

EXAMPLE = "armillary monitor demo --seconds 2"

_MOST = 200
_NS_PER_S = 1e9
_LONG = 2.5
"""An interval is a gap if it is so many times the median."""
_WIDTH = 80
"""Columns of the output where it is no terminal."""
_UNKNOWN = "-"
_SAMPLED_KINDS = ("sampled", "integrated")
"""Kinds of relations that have samples."""
_LONG_MS = 10_000
_WITHOUT_TERMINAL_S = 2.0


class Arrivals:
    """Measures when samples arrive, by polling a world often."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str, str], int] = {}
        self._delays_s: dict[tuple[str, str, str], deque[float]] = {}

    def look(self, world: World) -> None:
        """Record samples that arrived since the last call; those of the first call have no arrival time."""
        for info in world.relations():
            if info.last is None or info.age_s is None or info.kind == "twist":
                continue
            before = self._newest.setdefault(_edge(info), info.last)
            if info.last > before:
                self._newest[_edge(info)] = info.last
                self._delays_s.setdefault(_edge(info), deque(maxlen=_MOST)).append(info.age_s)

    def delay_s(self, info: RelationInfo) -> float | None:
        """Return the mean time between the stamp of a sample and its arrival [s]; None if none arrived yet."""
        delays_s = self._delays_s.get(_edge(info))
        return None if delays_s is None else fmean(delays_s)


def _edge(info: RelationInfo) -> tuple[str, str, str]:
    return info.of, info.in_frame, info.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Quality of the samples of one relation.

    Attributes:
        of: Child frame.
        in_frame: Parent frame.
        source: Source of the relation.
        kind: "fixed", "sampled", "integrated" or "driven".
        rate_hz: Mean rate [Hz]; None for fewer than two samples.
        delay_s: Mean time between the stamp of a sample and its arrival [s]; None if none arrived yet.
        age_s: Age of the newest sample [s].
        jitter_s: Standard deviation of the time between samples [s].
        gaps: Number of intervals longer than 2.5 times the median.
        longest_gap_s: Longest time between samples [s].
        rivals: Other sources of the same frame.
        is_contested: Whether no preference selects one of the sources.
        apart_m: Largest distance between the sources [m]; None if unknown.
        apart_rad: Largest angle between the sources [rad]; None if unknown.
    """

    of: str
    in_frame: str
    source: str
    kind: str
    rate_hz: float | None
    delay_s: float | None
    age_s: float | None
    jitter_s: float | None
    gaps: int
    longest_gap_s: float | None
    rivals: tuple[str, ...]
    is_contested: bool
    apart_m: float | None
    apart_rad: float | None


def streams(world: World, arrivals: Arrivals) -> list[Stream]:
    """Return the quality of all pose relations, without those of scene nodes."""
    infos = [info for info in world.relations() if info.kind != "twist" and not is_of_a_node(info.of)]
    sources: dict[str, list[str]] = defaultdict(list)
    for info in infos:
        if info.source not in sources[info.of]:
            sources[info.of].append(info.source)
    contested = {of for of, note in world.tree().notes.items() if note.startswith("contested")}
    return [_stream(world, info, sources[info.of], arrivals, is_contested=info.of in contested) for info in infos]


def _stream(
    world: World, info: RelationInfo, sources: Sequence[str], arrivals: Arrivals, *, is_contested: bool
) -> Stream:
    intervals_s = _intervals_s(world, info)
    has_intervals = len(intervals_s) > 0
    apart = _disagreement(world, info) if len(sources) > 1 else None
    return Stream(
        of=info.of,
        in_frame=info.in_frame,
        source=info.source,
        kind=info.kind,
        rate_hz=info.rate_hz,
        delay_s=arrivals.delay_s(info),
        age_s=info.age_s,
        jitter_s=float(intervals_s.std()) if has_intervals else None,
        gaps=int((intervals_s > _LONG * np.median(intervals_s)).sum()) if has_intervals else 0,
        longest_gap_s=float(intervals_s.max()) if has_intervals else None,
        rivals=tuple(source for source in sources if source != info.source),
        is_contested=is_contested,
        apart_m=None if apart is None else apart[0],
        apart_rad=None if apart is None else apart[1],
    )


def _intervals_s(world: World, info: RelationInfo) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if not info.samples:
        return np.empty(0)
    stamps = world.samples(of=info.of, in_frame=info.in_frame, source=info.source).stamps
    return np.diff(stamps) / _NS_PER_S


def _disagreement(world: World, info: RelationInfo) -> tuple[float, float] | None:
    """Return the largest distance and angle between any two sources, at their newest common time."""
    policy = _DisagreementPolicy()
    try:
        world.pose(of=info.of, in_frame=info.in_frame, policy=policy)
    except ArmillaryError:
        return None
    return policy.apart


class _DisagreementPolicy:
    """Policy that records how far all paths disagree, and takes the first."""

    at_one_instant = True

    def __init__(self) -> None:
        self.apart: tuple[float, float] | None = None

    def __call__(self, candidates: Sequence[Any]) -> Any:
        places = [candidate.pose.transform for candidate in candidates]
        pairs = [a.inverse() @ b for i, a in enumerate(places) for b in places[i + 1 :]]
        if pairs:
            angles = [math.hypot(*pair.rotation.log()) for pair in pairs]
            self.apart = max(math.hypot(*pair.translation) for pair in pairs), max(angles)
        return candidates[0]


def monitor(
    *,
    here: WorldArgument = None,
    world: WorldOption = None,
    hertz: Hertz = 4.0,
    span_s: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Watch rate, delay, age, jitter and gaps of every relation, its source, and how far rivals disagree."""
    period_s, span_s = as_period_and_duration(hertz, span_s)
    found, arrivals = open_world(world, here), Arrivals()
    poll = partial(arrivals.look, found.world)
    if can_show_live() and not as_json:
        ticks = update_times(found, period_s=period_s, span_s=span_s, poll=poll)
        redraw(lambda: screen(found.world, arrivals), ticks)
        return
    for _ in update_times(found, period_s=period_s, span_s=span_s or _WITHOUT_TERMINAL_S, poll=poll):
        pass
    console = Console(width=_WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(screen(found.world, arrivals))
    fields = [asdict(stream) for stream in streams(found.world, arrivals)]
    print_result(as_json=as_json, fields=fields, text=encodable(captured.get().rstrip("\n")))


def screen(world: World, arrivals: Arrivals) -> Group:
    """Return a table of all sampled relations, as wide as the terminal; the others are counted."""
    every = streams(world, arrivals)
    sampled = [stream for stream in every if stream.kind in _SAMPLED_KINDS or stream.rivals] or every
    rest = len(every) - len(sampled)
    others = (
        [Text(f"{rest} more {'is' if rest == 1 else 'are'} fixed, or driven by joints", style="dim")] if rest else []
    )
    return Group(
        _table(sampled), Text("delay, age and jitter in ms; apart: how far rivals disagree", style="dim"), *others
    )


def _table(found: list[Stream]) -> Table:
    has_rivals = any(stream.rivals for stream in found)
    table = Table(expand=True, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading, share in (("frame", 3), ("in", 2), ("source", 2)):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=share)
    for heading in ("Hz", "delay", "age", "jitter", "gaps", *(["apart"] if has_rivals else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for stream in found:
        apart = [_apart(stream)] if has_rivals else []
        table.add_row(Text(stream.of), Text(stream.in_frame), Text(stream.source), *_figures(stream), *apart)
    return table


def _figures(stream: Stream) -> tuple[str, ...]:
    if stream.kind not in _SAMPLED_KINDS:
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
        return "contested" if stream.is_contested else "resolved"
    return f"{stream.apart_m * 1e3:.0f} mm {math.degrees(stream.apart_rad):.1f}\N{DEGREE SIGN}"
