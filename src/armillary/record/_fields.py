"""Values from saved worlds and from extrinsics, that know where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from armillary.errors import InvalidExtrinsicsFile, InvalidWorldFile
from armillary.scene.files import Field, checked
from armillary.transforms import check_name

__all__ = ["ExtrinsicsField", "WorldField", "name_in"]


@dataclass(frozen=True, slots=True)
class WorldField(Field):
    """One value of a saved world."""

    @classmethod
    def error(cls, file: str, place: str, reason: str, *hint: str) -> ValueError:
        """What such a file is refused with."""
        return InvalidWorldFile(file, place, reason, *hint)


@dataclass(frozen=True, slots=True)
class ExtrinsicsField(Field):
    """One value of a file of extrinsics."""

    @classmethod
    def error(cls, file: str, place: str, reason: str, *hint: str) -> ValueError:
        """What such a file is refused with."""
        return InvalidExtrinsicsFile(file, place, reason, *hint)


def name_in(field: Field) -> str:
    """A name that a frame can have."""
    text = field.text()
    name: str = checked(field, lambda: check_name(text))
    return name
