"""Refusals about joints: names that no variable has, and sources that contest one."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.errors._base import ArmillaryError
from armillary.errors.format import join_names, list_names, nearest_name

__all__ = ["ContestedJoint", "UnknownVariable"]


class UnknownVariable(ArmillaryError, LookupError):
    """A joint name that no mounted model has."""

    def __init__(self, joint: str, known: Sequence[str]) -> None:
        self.joint, self.known = joint, tuple(known)
        super().__init__(joint)

    def __str__(self) -> str:
        """The sentence; the search for a similar name is left until somebody reads it."""
        return f"No joint named '{self.joint}' in this world. {self._hint()}"

    def _hint(self) -> str:
        near = nearest_name(self.joint, self.known, cutoff=0.7)
        if near is not None:
            return f"Did you mean '{near}'?"
        return f"Known: {list_names(self.known)}." if self.known else "It has no joints yet: mount a model first."


class ContestedJoint(ArmillaryError, LookupError):
    """Two sources say where the same joint is, and nothing says whom to believe."""

    def __init__(self, joint: str, sources: Sequence[str]) -> None:
        self.joint, self.sources = joint, tuple(sorted(sources))
        super().__init__(
            f"Several sources say where joint '{joint}' is: {join_names(self.sources)}. "
            f"Choose one with world.prefer_joint('{joint}', source='{self.sources[0]}')."
        )
