"""A bar while something takes its time: on the terminal alone, and gone when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["tracked", "working"]

Item = TypeVar("Item")


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
