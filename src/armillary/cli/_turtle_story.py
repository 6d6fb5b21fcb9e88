"""The turtles from their start to the report."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from armillary.cli._figures import measured
from armillary.cli._live import can_show_live, show_live
from armillary.cli._pictures import draw_pictures
from armillary.cli._report import Report
from armillary.cli._turtles import Turtles
from armillary.stamps import seconds

if TYPE_CHECKING:
    from pathlib import Path

_USUAL_S = 30.0


def tell_turtles(duration_s: float | None, out: Path, *, headless: bool) -> Report:
    """Let them drive, draw them into the folder `out`, and report."""
    lasts_s = _USUAL_S if duration_s is None else duration_s
    turtles, end = Turtles(history=seconds(lasts_s + 1)), seconds(lasts_s)
    begin = perf_counter()
    if headless or not can_show_live():
        turtles.advance(to=end)
    else:
        show_live(turtles, to=end)
    took_s = perf_counter() - begin
    return Report(
        tree=turtles.world.tree(), figures=measured(turtles), pictures=draw_pictures(turtles, out), took_s=took_s
    )
