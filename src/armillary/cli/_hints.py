"""Command-line options that help after an error.

This module imports no optional dependency, because it is used to report a missing one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import (
    AmbiguousPath,
    ArmillaryError,
    NoPathChosen,
    NoSamples,
    StampOutOfRange,
    UnknownCovariance,
    UnknownFrame,
)

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis


_CHOOSE = "--source NAME, or --policy latest, most_certain or fuse"
_LOOK = "'armillary list' shows the names, 'armillary find' finds nodes of the scene"
_BY_CAUSE = {
    "contested": f"'armillary pose' with {_CHOOSE}",
    "unknown name": _LOOK,
    "late": "--at latest",
    "separate trees": "'armillary fix' writes a fixed pose into a saved world",
}


def hint_about(error: ArmillaryError, *, gave_instant: bool = True) -> str:
    """Return the options that help after an error; empty if there are none.

    Args:
        error: The error.
        gave_instant: Whether `--at` was given; otherwise the newest instant was asked for already.
    """
    match error:
        case AmbiguousPath(motion=False) | NoPathChosen():
            return _on_command_line(_CHOOSE)
        case UnknownCovariance():
            return _on_command_line("--source NAME, or --policy latest")
        case UnknownFrame() if not str(error).endswith("?"):
            return _on_command_line(_LOOK)
        case StampOutOfRange(requested=int()) if gave_instant and not isinstance(error, NoSamples):
            return _on_command_line("--at latest")
    return ""


def hint_for(found: Diagnosis) -> str:
    """Return the options that help after a diagnosis, unless its own hint names a frame."""
    names_a_frame = found.hint.startswith(("Did you mean", "In the scene"))
    return "" if names_a_frame or found.cause not in _BY_CAUSE else _on_command_line(_BY_CAUSE[found.cause])


def _on_command_line(what: str) -> str:
    return f"On the command line: {what}."
