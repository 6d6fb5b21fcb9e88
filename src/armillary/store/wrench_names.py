"""Names of the six variables that a measured wrench is stored in."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["BY", "WrenchName", "wrench_of"]

BY = " pushed by "
_PARTS = tuple(f"{kind} {axis}" for kind in ("force", "torque") for axis in "xyz")
_NAME = re.compile(rf"(?P<of>.*?){BY}(?P<by>.*): (?:{'|'.join(_PARTS)})", re.DOTALL)


class WrenchName(NamedTuple):
    """On which frame and by which body: a force-torque sensor, and the tool that pulls at it."""

    of: str
    by: str

    @property
    def variables(self) -> list[str]:
        """The names of its six variables: force, then torque."""
        return [f"{self.of}{BY}{self.by}: {part}" for part in _PARTS]


def wrench_of(variable: str) -> WrenchName | None:
    """Return what a variable is part of; None for a joint."""
    found = _NAME.fullmatch(variable)
    if found is None or BY in found["by"]:
        return None
    return WrenchName(found["of"], found["by"])
