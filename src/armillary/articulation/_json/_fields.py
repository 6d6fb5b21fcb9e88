"""A value from the file of a model, that knows where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from armillary.errors import InvalidModelFile
from armillary.scene.files import Field

__all__ = ["ModelField"]

_INFINITIES = {"inf": float("inf"), "-inf": float("-inf")}
"""JSON has no infinity: it is written {"float": "inf"}."""


@dataclass(frozen=True, slots=True)
class ModelField(Field):
    """One value of such a file."""

    @classmethod
    def error(cls, file: str, place: str, reason: str, *hint: str) -> ValueError:
        """What the file of a model is refused with."""
        return InvalidModelFile(file, place, reason, *hint)

    def real(self) -> float:
        """A number, or an infinity."""
        if not isinstance(self.value, dict):
            return float(self.number())
        said = self.members(("float",))["float"]
        if said.text() not in _INFINITIES:
            raise said.refused("'inf' or '-inf' is expected")
        return _INFINITIES[said.text()]

    def truth_value(self) -> bool:
        """Either of the two."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false is expected")
        return self.value
