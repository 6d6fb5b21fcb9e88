"""`armillary plot`: how a pose changed, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from armillary.cli._arguments import AsJson, Frame, InFrame, Policy, Source, WorldOption, as_instant, as_policy
from armillary.cli._nodes import resolve_frame
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.cli._terminal import progress_bar
from armillary.errors import InvalidArgument
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from armillary.view.theme import Theme

EXAMPLE = "armillary plot turtle2 world --world turtles --out turtle2.svg"

_THEMES = ("light", "dark")
_Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The picture to write, .svg or .png.")]
_Start = Annotated[str | None, typer.Option("--start", help="First instant in seconds; by default the oldest known.")]
_End = Annotated[str | None, typer.Option("--end", help="Last instant in seconds; by default the newest known.")]
_Paper = Annotated[str, typer.Option("--theme", help="light or dark paper.")]


def plot(
    *,
    of: Frame,
    in_frame: InFrame,
    world: WorldOption = None,
    out: _Out = Path("history.svg"),
    start: _Start = None,
    end: _End = None,
    policy: Policy = "unique",
    source: Source = None,
    theme: _Paper = "light",
    as_json: AsJson = False,
) -> None:
    """Plot how a pose changed: position, angles, speed and turning, with bands of two standard deviations."""
    if theme not in _THEMES:
        raise InvalidArgument(f"--theme takes one of {', '.join(_THEMES)}, got '{theme}'.", theme)
    known = open_world(world).world
    of, in_frame = resolve_frame(known, of), resolve_frame(known, in_frame)
    chosen = as_policy(known, policy, source)
    first, last = _stamp(start, "--start"), _stamp(end, "--end")
    with progress_bar(f"Drawing {out}"):
        file = known.plot_history(
            out,
            of=of,
            in_frame=in_frame,
            start=first,
            end=last,
            policy=chosen,
            theme=cast("Theme", theme),
        )
    fields = {"file": str(file), "of": of, "in_frame": in_frame}
    print_result(as_json=as_json, fields=fields, text=f"The pose of '{of}' in '{in_frame}' is plotted in {file}.")


def _stamp(seconds: str | None, option: str) -> int | None:
    """Convert an end of the interval to nanoseconds; None where it is left to the history."""
    instant = LATEST if seconds is None else as_instant(seconds, option)
    return None if isinstance(instant, Latest) else instant
