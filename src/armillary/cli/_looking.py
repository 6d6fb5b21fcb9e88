"""Looking again and again at a world that moves: redrawn in a terminal, line after line elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

if TYPE_CHECKING:
    from rich.console import RenderableType

    from armillary.cli._source import OpenedWorld

__all__ = ["looks", "redrawn"]


_GLANCE_S = 0.01


def looks(
    found: OpenedWorld, *, period_s: float, span_s: float | None, glance: Callable[[], None] | None = None
) -> Iterator[float]:
    """The seconds since the beginning, at each look. A world in which nothing moves is looked at once.

    `glance` is called more often, between the looks.
    """
    begin = monotonic()
    while True:
        since_s = monotonic() - begin
        if found.catch_up is not None:
            found.catch_up()
        yield since_s
        if found.catch_up is None or (span_s is not None and since_s + period_s > span_s):
            return
        if glance is None:
            sleep(period_s)
        else:
            _glances(found.catch_up, glance, until_s=monotonic() + period_s)


def _glances(catch_up: Callable[[], None], glance: Callable[[], None], *, until_s: float) -> None:
    while (left_s := until_s - monotonic()) > 0.0:
        sleep(min(_GLANCE_S, left_s))
        catch_up()
        glance()


def redrawn(screen: Callable[[], RenderableType], ticks: Iterator[float]) -> None:
    """The screen at each look; Ctrl-C stops."""
    with Live(console=Console(), auto_refresh=False) as live:
        try:
            for _ in ticks:
                live.update(screen(), refresh=True)
        except KeyboardInterrupt:
            return
