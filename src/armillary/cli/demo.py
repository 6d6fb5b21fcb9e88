"""`armillary demo`: see the library work."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from armillary.cli._figures import measured
from armillary.cli._live import can_show_live, show_live
from armillary.cli._pictures import draw_pictures
from armillary.cli._report import Report
from armillary.cli._turtles import Turtles
from armillary.errors import InvalidArgument
from armillary.stamps import seconds

_DEMOS = ("turtles",)
_SHORTEST_S = 1.0
_LONGEST_S = 600.0  # about two seconds of computing

_Name = Annotated[str, typer.Argument(help="Which demonstration: turtles.")]
_Headless = Annotated[bool, typer.Option("--headless", help="No table, no waiting; the default without a terminal.")]
_Seconds = Annotated[float, typer.Option("--seconds", help="How many seconds the turtles drive, 1 to 600.")]
_Out = Annotated[Path, typer.Option("--out", help="Folder for the pictures; made if it is not there.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON, without a table.")]


def demo(
    *,
    name: _Name = "turtles",
    headless: _Headless = False,
    duration_s: _Seconds = 30.0,
    out: _Out = Path("armillary_demo"),
    as_json: _Json = False,
) -> None:
    """Two turtles, one following five seconds behind the other, with pictures of their tracks and frames."""
    _check(name, duration_s, out)
    out.mkdir(parents=True, exist_ok=True)
    turtles, end = Turtles(history=seconds(duration_s + 1)), seconds(duration_s)
    begin = perf_counter()
    if headless or as_json or not can_show_live():
        turtles.advance(to=end)
    else:
        show_live(turtles, to=end)
    report = _report(turtles, out, took_s=perf_counter() - begin)
    typer.echo(report.json() if as_json else _writable(report.text()))


def _check(name: str, duration_s: float, out: Path) -> None:
    if name not in _DEMOS:
        raise InvalidArgument(f"No demonstration named '{name}'. There is: {', '.join(_DEMOS)}.")
    if not _SHORTEST_S <= duration_s <= _LONGEST_S:
        raise InvalidArgument(f"--seconds must be between {_SHORTEST_S:g} and {_LONGEST_S:g}, got {duration_s:g}.")
    if out.exists() and not out.is_dir():
        raise InvalidArgument(f"--out must name a folder, and '{out}' is a file. Name another one.")


def _report(turtles: Turtles, out: Path, took_s: float) -> Report:
    return Report(
        tree=turtles.world.tree(),
        figures=measured(turtles),
        pictures=draw_pictures(turtles, out),
        took_s=took_s,
    )


def _writable(text: str) -> str:
    """The text without what the output's encoding cannot say; the lines of the tree are not ASCII."""
    encoding = sys.stdout.encoding
    return text.encode(encoding, "replace").decode(encoding)
