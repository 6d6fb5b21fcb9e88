"""The kitchen from its beginning to the report."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from armillary.cli._kitchen.figures import measured
from armillary.cli._kitchen.kitchen import Kitchen
from armillary.cli._kitchen.live import show_live
from armillary.cli._kitchen.opinions import opinions
from armillary.cli._kitchen.page import shown_in_browser
from armillary.cli._kitchen.pictures import draw_pictures
from armillary.cli._kitchen.questions import answers, moments
from armillary.cli._kitchen.report import Report
from armillary.cli._live import can_show_live
from armillary.stamps import seconds

if TYPE_CHECKING:
    from pathlib import Path

_HEADLESS_S = 10.0
_MOMENTS_S = (1.0, 3.2, 4.0, 5.0, 5.8, 7.0, 8.8, 9.8)
_LIVE_S = 60.0


def tell_kitchen(duration_s: float | None, out: Path, *, headless: bool) -> Report:
    """Let it happen, draw it into the folder `out`, and report."""
    is_live = not headless and can_show_live()
    usual_s = _LIVE_S if is_live else _HEADLESS_S
    lasts_s = usual_s if duration_s is None else duration_s
    kitchen, begin = Kitchen(history=seconds(lasts_s + 1)), perf_counter()
    _run(kitchen, seconds(lasts_s), is_live=is_live)
    took_s = perf_counter() - begin
    return _report(kitchen, out, took_s)


def _run(kitchen: Kitchen, end: int, *, is_live: bool) -> None:
    if not is_live:
        kitchen.advance(to=end)
        return
    with shown_in_browser(kitchen.world) as page:
        show_live(kitchen, to=end, page=page)


def _report(kitchen: Kitchen, out: Path, took_s: float) -> Report:
    return Report(
        answers=answers(kitchen.world, opinions(kitchen.world)),
        moments=moments(
            kitchen.world, [time_s for time_s in _MOMENTS_S if seconds(time_s + 0.2) <= kitchen.clock.time]
        ),
        figures=measured(kitchen),
        pictures=draw_pictures(kitchen, out),
        took_s=took_s,
    )
