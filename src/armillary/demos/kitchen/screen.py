"""The kitchen in a terminal, in real time: activity, sources, queries and answers."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from armillary.demos.kitchen.names import CUP
from armillary.demos.kitchen.questions import Answer, CupEstimates, answers, cup_estimates, spread_m
from armillary.demos.kitchen.scenario import activity
from armillary.demos.kitchen.simulation import Kitchen
from armillary.stamps import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from armillary.relations import Pose

_NS_PER_S = 1e9
_FRAME_S = 0.2
_WIDTH = 78
_FIRST = seconds(0.2)  # both cameras have at least two samples


def show_live(kitchen: Kitchen, *, to: int, page: str) -> None:
    """Run in real time with a live screen; Ctrl-C stops early. `page` is a line about the viewer."""
    kitchen.advance(to=_FIRST)
    begin = monotonic() - _FIRST / _NS_PER_S
    with Live(screen(kitchen, to, page), auto_refresh=False) as live:
        try:
            while kitchen.clock.time < to:
                sleep(_FRAME_S)
                kitchen.advance(to=min(to, seconds(monotonic() - begin)))
                live.update(screen(kitchen, to, page), refresh=True)
        except KeyboardInterrupt:
            return


def screen(kitchen: Kitchen, to: int, page: str) -> RenderableType:
    """Return the screen, for 80 columns and 24 lines."""
    estimates = cup_estimates(kitchen.world)
    now_s = kitchen.clock.time / _NS_PER_S
    lines = [line for answer in answers(kitchen.world, estimates) for line in _lines(answer)]
    where = [Text(page, style="dim")] if page else []
    return Group(_title(now_s, to / _NS_PER_S), _cup(kitchen, estimates), *lines, *where)


def _title(now_s: float, end_s: float) -> Table:
    bar = ProgressBar(total=end_s, completed=now_s, width=16, complete_style="blue", finished_style="blue")
    row = Table.grid(padding=(0, 1))
    row.add_column(width=42)
    row.add_row(Text.assemble("The robot ", (activity(now_s), "bold blue")), bar, f"{now_s:.1f} of {end_s:g} s")
    return row


def _cup(kitchen: Kitchen, estimates: CupEstimates) -> Table:
    """Return a table of the estimates of the cup."""
    table = Table(width=_WIDTH, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("the cup is at, says", no_wrap=True)
    for heading in ("x [m]", "y [m]", "z [m]", "\u00b1 [mm]", "rate [Hz]", "age [ms]"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    streams = _streams(kitchen)
    for source, pose in sorted(estimates.by_source.items()):
        style = "red" if source == estimates.odd_one else ""
        table.add_row(f"the {source}", *_cells(pose), *streams.get(source, ("", "")), style=style)
    table.add_row("together", *_cells(estimates.fused), style="bold")
    return table


def _cells(pose: Pose) -> tuple[str, ...]:
    return (*(f"{value:.3f}" for value in pose.xyz), f"{1e3 * spread_m(pose):.0f}")


def _streams(kitchen: Kitchen) -> dict[str, tuple[str, str]]:
    """Return the rate and the age of the samples of the cup, by source."""
    return {
        info.source: (f"{info.rate_hz or 0.0:.1f}", f"{1e3 * (info.age_s or 0.0):.0f}")
        for info in kitchen.world.relations()
        if info.of == CUP and info.kind == "sampled"
    }


def _lines(answer: Answer) -> Iterator[Text]:
    yield Text(answer.question)
    yield Text(f"  {answer.call}", style="dim")
    yield Text(f"  {answer.answer}", style="green" if answer.values else "dim")
