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


Item = TypeVar("Item")
_POLL_S = 0.01


@contextmanager
def progress_bar(what: str) -> Iterator[None]:
    """Show a progress bar of unknown duration."""
    with _bar() as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def progress_fraction(what: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar, and give a function that moves it: from 0 to 1."""
    with _bar() as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda done: bar.update(task, completed=done)


def track_progress(what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """Yield the items, and advance a progress bar with each."""
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


def update_times(
    found: OpenedWorld, *, period_s: float, span_s: float | None, poll: Callable[[], None] | None = None
) -> Iterator[float]:
    """Yield the time since the beginning [s] periodically; a static world yields once.

    `poll` is called more often, in between.
    """
    begin = monotonic()
    while True:
        since_s = monotonic() - begin
        if found.catch_up is not None:
            found.catch_up()
        yield since_s
        if found.catch_up is None or (span_s is not None and since_s + period_s > span_s):
            return
        if poll is None:
            sleep(period_s)
        else:
            _poll_until(found.catch_up, poll, until_s=monotonic() + period_s)


def _poll_until(catch_up: Callable[[], None], poll: Callable[[], None], *, until_s: float) -> None:
    while (left_s := until_s - monotonic()) > 0.0:
        sleep(min(_POLL_S, left_s))
        catch_up()
        poll()


def redraw(screen: Callable[[], RenderableType], ticks: Iterator[float]) -> None:
    """Redraw the screen at each tick; Ctrl-C stops."""
    with Live(console=Console(), auto_refresh=False) as live:
        try:
            for _ in ticks:
                live.update(screen(), refresh=True)
        except KeyboardInterrupt:
            return
