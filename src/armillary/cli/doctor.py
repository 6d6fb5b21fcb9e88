"""`armillary doctor`: why the pose of one frame in another is unknown."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary import World
from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._hints import hint_for
from armillary.cli._nodes import abbreviate_ids, resolve_frame
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.cli._terminal import progress_bar
from armillary.errors import InvalidArgument
from armillary.formats.logs import is_log

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis

EXAMPLE = "armillary doctor camera base --world kitchen.json"

_NS_PER_DAY = 86_400_000_000_000


_AskedAt = Annotated[
    str | None, typer.Option("--asked-at", help="Of a log: when the pose was asked for; at the instant of --at itself.")
]
_Last = Annotated[
    str | None, typer.Argument(metavar="", help="With a log before the frames: doctor LOG FRAME IN_FRAME.")
]


def doctor(
    *,
    of: Frame,
    in_frame: InFrame,
    last: _Last = None,
    world: WorldOption = None,
    at: At = "latest",
    asked_at: _AskedAt = None,
    as_json: AsJson = False,
) -> None:
    """Explain why the pose of a frame in another is unknown, with a hint. The exit status is 0 if it is known.

    Of a log, and with --at: why it could not be looked up then, with what had come until then.
    """
    if last is not None:  # doctor LOG FRAME IN_FRAME
        world, of, in_frame = of, in_frame, last
    if world is not None and is_log(Path(world)) and at != "latest":
        _explain_lookup(Path(world), of, in_frame, at, asked_at, as_json=as_json)
        return
    if asked_at is not None:
        raise InvalidArgument("--asked-at is for logs, together with --at.", asked_at)
    known = open_world(world).world
    of, in_frame = resolve_frame(known, of), resolve_frame(known, in_frame)
    found = known.diagnose(of=of, in_frame=in_frame, at=as_instant(at))
    print_result(as_json=as_json, fields=asdict(found), text=_text(found))
    if not found.is_visible:
        raise typer.Exit(1)


def _explain_lookup(log: Path, of: str, in_frame: str, at: str, asked_at: str | None, *, as_json: bool) -> None:
    with progress_bar(f"Reading {log}"):
        if ":" in at or (asked_at is not None and ":" in asked_at):
            report = World.from_log(log).log
            day = 0 if report is None or report.first is None else report.first
            at, asked_at = _on_the_day(at, day), None if asked_at is None else _on_the_day(asked_at, day)
        asked = None if asked_at is None else as_instant(asked_at)
        found = World.explain_lookup(log, of=of, in_frame=in_frame, at=as_instant(at), asked_at=asked)  # type: ignore[arg-type]
    fields = asdict(found) | {"reason": found.reason, "hint": found.hint, "answerable_from": found.answerable_from}
    print_result(as_json=as_json, fields=fields, text=str(found))
    if not found.then.is_visible:
        raise typer.Exit(1)


def _on_the_day(text: str, stamp: int) -> str:
    """Return a time of day, as in 12:03:07.5 (UTC), on the day of a stamp, in seconds; anything else as it is."""
    parts = text.split(":")
    if len(parts) not in {2, 3}:
        return text
    try:
        hours, minutes, seconds = (Decimal(part) for part in [*parts, "0"][:3])
    except InvalidOperation:
        return text
    return str(Decimal(stamp // _NS_PER_DAY) * 86_400 + hours * 3600 + minutes * 60 + seconds)


def _text(found: Diagnosis) -> str:
    """Format a diagnosis with the hint for the command line, wrapped to the width of the terminal."""
    heading, *rest = abbreviate_ids(str(found)).splitlines()
    hint = [rest.pop(0)] if found.hint else []
    lines = [heading, *hint, *filter(None, [hint_for(found)]), *rest]
    if not sys.stdout.isatty():
        return "\n".join(lines)
    width = shutil.get_terminal_size().columns
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def _wrapped(line: str, width: int) -> list[str]:
    margin = line[: len(line) - len(line.lstrip())]
    wrapper = textwrap.TextWrapper(width, subsequent_indent=f"{margin}  ", break_on_hyphens=False)
    return wrapper.wrap(line)
