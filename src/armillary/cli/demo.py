"""`armillary demo`: demonstrations of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol

import typer

from armillary.cli._output import encodable
from armillary.cli._terminal import can_show_live
from armillary.errors import InvalidArgument

EXAMPLE = "armillary demo turtles --seconds 5"

_DEMOS = ("kitchen", "push", "turtles")
_SHORTEST_S = 1.0
_LONGEST_S = 600.0

_Name = Annotated[str, typer.Argument(help="Which demonstration: kitchen, push or turtles.")]
_Headless = Annotated[
    bool, typer.Option("--headless", help="Without screen, browser and waiting; the default without a terminal.")
]
_Seconds = Annotated[
    float | None,
    typer.Option("--seconds", help="Simulated seconds, 1 to 600; by default 10 of the kitchen, 60 in a terminal."),
]
_Out = Annotated[Path, typer.Option("--out", help="Folder for the pictures; created if missing.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON, without a screen.")]


class _Report(Protocol):
    """Result of a demonstration."""

    def json(self) -> str: ...

    def text(self) -> str: ...


class _Demonstration(Protocol):
    """Runs a simulation, draws it into a folder, and reports."""

    def __call__(self, duration_s: float | None, out: Path, *, live: bool) -> _Report: ...


def demo(
    *,
    name: _Name = "kitchen",
    headless: _Headless = False,
    duration_s: _Seconds = None,
    out: _Out = Path("armillary_demo"),
    as_json: _Json = False,
) -> None:
    """Run a demonstration with pictures: a robot in a kitchen, robots that push it shut, or two turtles."""
    _check(name, duration_s, out)
    run = _demonstration(name)
    out.mkdir(parents=True, exist_ok=True)
    report = run(duration_s, out, live=can_show_live() and not (headless or as_json))
    typer.echo(report.json() if as_json else encodable(report.text()))


def _check(name: str, duration_s: float | None, out: Path) -> None:
    if name not in _DEMOS:
        raise InvalidArgument(f"No demonstration named '{name}'. There are: {', '.join(_DEMOS)}.")
    if duration_s is not None and not _SHORTEST_S <= duration_s <= _LONGEST_S:
        raise InvalidArgument(f"--seconds must be between {_SHORTEST_S:g} and {_LONGEST_S:g}, got {duration_s:g}.")
    if out.exists() and not out.is_dir():
        raise InvalidArgument(f"--out must name a folder, and '{out}' is a file. Name another one.")


def _demonstration(name: str) -> _Demonstration:
    """Import one demonstration; the kitchen needs more extras than the turtles."""
    if name == "turtles":
        from armillary.demos.turtles.report import run_turtles  # noqa: PLC0415

        return run_turtles
    if name == "push":
        from armillary.demos.push.report import run_push  # noqa: PLC0415

        return run_push
    from armillary.demos.kitchen.report import run_kitchen  # noqa: PLC0415

    return run_kitchen
