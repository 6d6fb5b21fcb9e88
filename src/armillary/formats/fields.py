"""Values of the library's own formats, checked one by one.

A `Field` is a value of a file with its path in it. What is wrong is refused with that path and with the error of this
kind of file.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from armillary._core import NodeId
from armillary.errors import ArmillaryError
from armillary.transforms import check_name

__all__ = ["Field", "FileError", "parse_json"]

FileError = Callable[..., ValueError]
"""The error of one kind of file, as `InvalidSceneFile`: (file, place, reason), and a hint if not the usual one."""

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*")
_INT64 = 2**63
_FURTHEST_NS = 2**62
_SHOWN = 60
_INFINITIES = {"inf": float("inf"), "-inf": float("-inf")}
"""JSON has no infinity: it is written {"float": "inf"}."""
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
        error: The error of this kind of file.
        above: The value that contains it, under `key`; None for the whole file.
    """

    value: Any
    file: str
    error: FileError
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

    def refused(self, reason: str, *hint: str) -> ValueError:
        """Make the error about this value; `hint` replaces the usual one."""
        return self.error(self.file, self.place, reason, *hint)

    def checked(self, make: Callable[[], T]) -> T:
        """Call `make`, and refuse what it refuses with the place in the file."""
        try:
            return make()
        except (ArmillaryError, TypeError, ValueError, OverflowError) as error:
            raise self.refused(str(error).rstrip(".")) from None

    def at(self, key: str | int) -> Field:
        """Return the value under a key or an index."""
        return Field(self.value[key], self.file, self.error, self, key)

    def without(self, *keys: str) -> Field:
        """Return the same object without some of its keys."""
        return replace(self, value={key: value for key, value in self.value.items() if key not in keys})

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

    def members(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Field]:
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

    def mapping(self) -> dict[str, Field]:
        """The members of an object with any keys."""
        if not isinstance(self.value, dict):
            raise self.refused(f"an object is expected, and it is {_shown(self.value)}")
        return {key: self.at(key) for key in self.value}

    def items(self, length: int | None = None) -> list[Field]:
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

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false is expected")
        return self.value

    def one_of(self, allowed: Collection[str]) -> str:
        """One of these texts."""
        if not isinstance(self.value, str) or self.value not in allowed:
            raise self.refused(f"one of {', '.join(allowed)} is expected")
        return self.value

    def name(self) -> str:
        """A name that a frame or a joint can have, in its stored form."""
        text = self.text()
        return self.checked(lambda: check_name(text))

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

    def real(self) -> float:
        """A number or an infinity, which is an object: {"float": "inf"}."""
        if not isinstance(self.value, dict):
            return float(self.number())
        return _INFINITIES[self.members(("float",))["float"].one_of(_INFINITIES)]

    def numbers(self, length: int) -> list[float]:
        """A list of so many finite numbers."""
        return [item.number() for item in self.items(length)]

    def matrix(self, size: int) -> list[list[float]]:
        """A square matrix of this size, as a list of its rows."""
        return [row.numbers(size) for row in self.items(size)]

    def optional(self, read: Callable[[Field], T]) -> T | None:
        """What `read` makes of the value; None where it is null."""
        return None if self.value is None else read(self)

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


def parse_json(data: bytes, file: str, error: FileError) -> Field:
    """Parse a whole file; a key that an object has twice is refused, which JSON allows without a meaning."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            raise error(file, twice, "this key is given twice in one object")
        return found

    try:
        return Field(json.loads(data, object_pairs_hook=unique), file, error)
    except RecursionError:
        raise error(file, "", "it is nested too deep") from None
    except ValueError as wrong:
        if isinstance(wrong, ArmillaryError):
            raise
        raise error(file, "", f"it is no JSON ({wrong})") from None
