"""A value from a file with its path in it: what is wrong is refused with that path."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from armillary._core import NodeId
from armillary.errors import ArmillaryError, InvalidSceneFile

__all__ = ["FORMAT", "VERSION", "Field", "parsed"]

FORMAT = "armillary.scene"
VERSION = 1
"""Of scene files; `docs/scene.schema.json` describes the format."""

_NAME = re.compile(r"[A-Za-z_]\w*")
_INT64 = 2**63
_FURTHEST_NS = 2**62
_SHOWN = 60
_FORMATS = {
    "armillary.scene": ("a saved scene", "world.scene.load"),
    "armillary.world": ("a saved world", "World.load"),
    "armillary.model": ("a saved model", "ArticulationModel.load"),
    "armillary.extrinsics": ("a file of extrinsics", "world.load_extrinsics"),
}
"""The format that a file names, what it is, and what loads it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a file.

    Attributes:
        value: The value, as JSON gives it.
        file: The name of the file.
        above: The value that contains it, under `key`; None for the whole file.
    """

    value: Any
    file: str
    above: Field | None = None
    key: str | int = ""

    @property
    def place(self) -> str:
        """Its path from the top, as in `nodes[3].attributes.mass`."""
        if self.above is None:
            return ""
        before = self.above.place
        if isinstance(self.key, str) and _NAME.fullmatch(self.key):
            return f"{before}.{self.key}" if before else self.key
        return f"{before}[{_shown(self.key)}]"

    @classmethod
    def error(cls, file: str, place: str, reason: str, *hint: str) -> ValueError:
        """The error for a file of this kind; `hint` replaces the default one."""
        return InvalidSceneFile(file, place, reason, *hint)

    def refused(self, reason: str, *hint: str) -> ValueError:
        """The error about this value."""
        return self.error(self.file, self.place, reason, *hint)

    def at(self, key: str | int) -> Self:
        """The value under a key or an index."""
        return type(self)(self.value[key], self.file, self, key)

    def check_format(self, expected: str, version: int) -> None:
        """Refuse a whole file of another format or version, with the call that loads it."""
        parts = self.mapping()
        for key in ("format", "version"):
            if key not in parts:
                raise self.refused(f"'{key}' is missing")
        kind = parts["format"]
        if kind.value != expected:
            known = _FORMATS.get(kind.value) if isinstance(kind.value, str) and self.above is None else None
            if known is None:
                raise kind.refused(f"'{expected}' is expected, and it is {_shown(kind.value)}")
            what, load = known
            hint = f"load it with {load}('{self.file}')"
            raise kind.refused(f"it is {what} ('{kind.value}'), and '{expected}' is expected", hint)
        if parts["version"].integer() != version:
            raise parts["version"].refused(f"version {version} is what this release reads")

    def members(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Self]:
        """The members of an object with these keys and no others."""
        needed = set(required)
        if not isinstance(self.value, dict):
            raise self.refused(f"an object is expected, and it is {_shown(self.value)}")
        missing, strange = needed - self.value.keys(), self.value.keys() - needed - set(optional)
        if missing:
            raise self.refused(f"'{min(missing)}' is missing")
        if strange:
            raise self.at(min(strange)).refused("there is no such key here")
        return {key: self.at(key) for key in self.value}

    def mapping(self) -> dict[str, Self]:
        """The members of an object with any keys."""
        if not isinstance(self.value, dict):
            raise self.refused(f"an object is expected, and it is {_shown(self.value)}")
        return {key: self.at(key) for key in self.value}

    def items(self, length: int | None = None) -> list[Self]:
        """The entries of a list, of this length if given."""
        if not isinstance(self.value, list):
            raise self.refused(f"a list is expected, and it is {_shown(self.value)}")
        if length is not None and len(self.value) != length:
            raise self.refused(f"{length} entries are expected, and there are {len(self.value)}")
        return [self.at(i) for i in range(len(self.value))]

    def text(self) -> str:
        """A text that is valid Unicode."""
        if not isinstance(self.value, str):
            raise self.refused(f"a text is expected, and it is {_shown(self.value)}")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.refused("it holds half a character (a lone surrogate)") from None
        return self.value

    def integer(self) -> int:
        """An integer of 64 bits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.refused(f"a whole number is expected, and it is {_shown(self.value)}")
        if not -_INT64 <= self.value < _INT64:
            raise self.refused("it does not fit into 64 bits")
        return self.value

    def stamp(self) -> int:
        """A stamp [ns] that a world accepts."""
        instant = self.integer()
        if abs(instant) >= _FURTHEST_NS:
            raise self.refused("stamps lie within 146 years of zero")
        return instant

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refused(f"a number is expected, and it is {_shown(self.value)}")
        if not _is_finite(self.value):
            raise self.refused(f"a finite number is expected, and it is {_shown(self.value)}")
        return self.value

    def numbers(self, length: int) -> list[float]:
        """A list of so many finite numbers."""
        return [item.number() for item in self.items(length)]

    def node(self) -> NodeId:
        """The id of a node."""
        try:
            return NodeId(self.text())
        except (ArmillaryError, ValueError):
            raise self.refused(f"an id is expected, and it is {_shown(self.value)}") from None


def _is_finite(value: float) -> bool:
    """Whether a number is finite; JSON may have an integer that is larger than any float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


F = TypeVar("F", bound=Field)


def parsed(data: bytes, file: str, kind: type[F]) -> F:
    """Parse a whole file; raises the error of this kind of file."""
    try:
        return kind(json.loads(data, object_pairs_hook=_Pairs(file, kind)), file)
    except RecursionError:
        raise kind.error(file, "", "it is nested too deep") from None
    except ValueError as error:
        if isinstance(error, ArmillaryError):
            raise
        raise kind.error(file, "", f"it is no JSON ({error})") from None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Refuses objects with a key twice, which JSON allows without a meaning."""

    file: str
    kind: type[Field]

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise self.kind.error(self.file, twice, "this key is given twice in one object")
        return found
