"""Names of the three variables that an angular or a linear velocity is stored in which was measured alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["RELATIVE", "VelocityName", "velocities_of", "velocity_of"]

RELATIVE = " relative to "  # in cpp/src/graph/variables.cpp as well
_NAME = re.compile(rf"(?P<of>.*?){RELATIVE}(?P<relative_to>.*): (?P<kind>angular|linear) [xyz]", re.DOTALL)


class VelocityName(NamedTuple):
    """Which velocity: of a gyro or a Doppler log, relative to a body or a frame on it."""

    kind: str
    of: str
    relative_to: str

    @property
    def variables(self) -> list[str]:
        """The names of its three variables."""
        return [f"{self.of}{RELATIVE}{self.relative_to}: {self.kind} {axis}" for axis in "xyz"]


def velocity_of(variable: str) -> VelocityName | None:
    """Return what a variable is part of; None for a joint."""
    found = _NAME.fullmatch(variable)
    if found is None or RELATIVE in found["relative_to"]:
        return None
    return VelocityName(found["kind"], found["of"], found["relative_to"])


def velocities_of(variables: Iterable[str]) -> list[VelocityName]:
    """Return the velocities that variables are of: angular ones first, each kind in the order it came."""
    found = (velocity_of(name) for name in variables if RELATIVE in name)
    return sorted(dict.fromkeys(name for name in found if name is not None), key=lambda name: name.kind)
