"""What the command line can do about errors whose own words are for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import AmbiguousPath, ArmillaryError, NoPathChosen, NoSamples, StampOutOfRange, UnknownFrame

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis

__all__ = ["hint_about", "hint_for"]

_CHOOSE = "--source NAME, or --policy latest, most_certain or fuse"
_LOOK = "'armillary list' shows the names, 'armillary find' looks for things of the scene"
_BY_CAUSE = {
    "contested": f"'armillary pose' with {_CHOOSE}",
    "unknown name": _LOOK,
    "late": "--at latest",
    "separate trees": "'armillary fix' says in a saved world where a frame is",
}


def hint_about(error: ArmillaryError) -> str:
    """What to type, or nothing."""
    match error:
        case AmbiguousPath(motion=False) | NoPathChosen():
            return _said(_CHOOSE)
        case UnknownFrame() if not str(error).endswith("?"):
            return _said(_LOOK)
        case StampOutOfRange(requested=int()) if not isinstance(error, NoSamples):
            return _said("--at latest")
    return ""


def hint_for(found: Diagnosis) -> str:
    """The same for what the doctor found, where he does not say which name was meant."""
    is_told = found.hint.startswith(("Did you mean", "In the scene"))
    return "" if is_told or found.cause not in _BY_CAUSE else _said(_BY_CAUSE[found.cause])


def _said(what: str) -> str:
    return f"On the command line: {what}."
