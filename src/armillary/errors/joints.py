"""Refusals about joints: names that no variable has, and sources that contest one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from armillary.errors._base import ArmillaryError

_MANY = 12


class UnknownVariable(ArmillaryError, LookupError):
    """A joint name that no mounted model has."""

    def __init__(self, joint: str, known: Sequence[str]) -> None:
        self.joint, self.known = joint, tuple(known)
        super().__init__(joint)

    def __str__(self) -> str:
        """The sentence; the search for a similar name is left until somebody reads it."""
        return f"No joint named '{self.joint}' in this world. {self._hint()}"

    def _hint(self) -> str:
        near = get_close_matches(self.joint, self.known, n=1, cutoff=0.7)
        if near:
            return f"Did you mean '{near[0]}'?"
        if not self.known:
            return "It has no joints yet: mount a model first."
        more = f", and {len(self.known) - _MANY} more" if len(self.known) > _MANY else ""
        return f"Known: {', '.join(self.known[:_MANY])}{more}."


class ContestedJoint(ArmillaryError, LookupError):
    """Two sources say where the same joint is, and nothing says whom to believe."""

    def __init__(self, joint: str, sources: Sequence[str]) -> None:
        self.joint, self.sources = joint, tuple(sorted(sources))
        names = " and ".join(f"'{source}'" for source in self.sources)
        super().__init__(
            f"Several sources say where joint '{joint}' is: {names}. "
            f"Choose one with world.prefer_joint('{joint}', source='{self.sources[0]}')."
        )


for _error in (UnknownVariable, ContestedJoint):
    _error.__module__ = "armillary.errors"
