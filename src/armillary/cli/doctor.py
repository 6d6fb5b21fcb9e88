"""`armillary doctor`: why the pose of one frame in another is unknown."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from armillary.cli._arguments import AsJson, At, Frame, InFrame, WorldOption, as_instant
from armillary.cli._hints import hint_for
from armillary.cli._nodes import abbreviate_ids, resolve_frame
from armillary.cli._output import print_result
from armillary.cli._source import open_world

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis

EXAMPLE = "armillary doctor camera base --world kitchen.json"


def doctor(
    *, of: Frame, in_frame: InFrame, world: WorldOption = None, at: At = "latest", as_json: AsJson = False
) -> None:
    """Explain why the pose of a frame in another is unknown, with a hint. The exit status is 0 if it is known."""
    known = open_world(world).world
    of, in_frame = resolve_frame(known, of), resolve_frame(known, in_frame)
    found = known.diagnose(of=of, in_frame=in_frame, at=as_instant(at))
    print_result(as_json=as_json, fields=asdict(found), text=_text(found))
    if not found.is_visible:
        raise typer.Exit(1)


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
