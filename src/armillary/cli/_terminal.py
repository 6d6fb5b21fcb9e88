"""Terminal output that is redrawn: progress bars and live screens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from armillary.cli._source import OpenedWorld

__all__ = [
    "looks",
    "redrawn",
    "tracked",
    "working",
]

Item = TypeVar("Item")
_GLANCE_S = 0.01


@contextmanager
def working(what: str) -> Iterator[None]:
    """Something of which nobody knows how long it takes."""
    with _bar() as bar:
        bar.add_task(what, total=None)
        yield


def tracked(what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """Each of the items, one step of the bar apart."""
    with _bar() as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def can_show_live() -> bool:
    """Whether the output is a terminal that can redraw its lines."""
    console = Console()
    return console.file.isatty() and not console.is_dumb_terminal


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
