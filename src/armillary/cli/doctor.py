"""`armillary doctor`: why one frame cannot be seen from another."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._hints import hint_for
from armillary.cli._nodes import frame_meant, shortened
from armillary.cli._output import say
from armillary.cli._source import opened

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis

EXAMPLE = "armillary doctor camera base --world kitchen.json"


def doctor(
    *, of: Frame, in_frame: InFrame, world: WorldOption = None, at: At = "latest", as_json: AsJson = False
) -> None:
    """Say why a frame cannot be seen from another, and the hint. The exit status is 0 where it can be seen."""
    known = opened(world).world
    of, in_frame = frame_meant(known, of), frame_meant(known, in_frame)
    found = known.diagnose(of=of, in_frame=in_frame, at=as_instant(at))
    say(as_json=as_json, fields=asdict(found), text=_text(found))
    if not found.is_visible:
        raise typer.Exit(1)


def _text(found: Diagnosis) -> str:
    """With what the command line can do, in lines that fit the terminal, if it is one."""
    heading, *rest = shortened(str(found)).splitlines()
    told = [rest.pop(0)] if found.hint else []
    lines = [heading, *told, *filter(None, [hint_for(found)]), *rest]
    if not sys.stdout.isatty():
        return "\n".join(lines)
    width = shutil.get_terminal_size().columns
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def _wrapped(line: str, width: int) -> list[str]:
    margin = line[: len(line) - len(line.lstrip())]
    wrapper = textwrap.TextWrapper(width, subsequent_indent=f"{margin}  ", break_on_hyphens=False)
    return wrapper.wrap(line)
