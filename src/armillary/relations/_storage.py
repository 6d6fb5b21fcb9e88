"""Where the names and coordinates of a relation are kept: frozen, comparable, and apart from the algebra.

The algebra uses attributes and `_replace` only, so that a native class can take the place of this one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from armillary.errors import InvalidName
from armillary.transforms import check_name

_NAMES_REMEMBERED = 4096


@lru_cache(maxsize=_NAMES_REMEMBERED)
def _checked(name: str) -> str:
    return check_name(name)


def as_name(value: object, what: str) -> str:
    """The name in its stored form; a refusal says which name it was."""
    if not isinstance(value, str):
        raise InvalidName(f"{what} must be a name (str), got {value!r}.")
    return _checked(value)


def as_names(names: dict[str, str | None], defaults: dict[str, str]) -> dict[str, str]:
    """Every name checked; one that is not given is that of the name it defaults to."""
    result: dict[str, str] = {}
    for what, value in names.items():
        is_given = value is not None or what not in defaults
        result[what] = as_name(value, what) if is_given else result[defaults[what]]
    return result


_Value = TypeVar("_Value", bound="Stored")


class Stored:
    """A frozen value of named fields."""

    __slots__ = ()
    _FIELDS: ClassVar[tuple[str, ...]] = ()
    _NAMES: ClassVar[tuple[str, ...]] = ()
    _COMPARED: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def _face(coordinates: Any) -> Any:
        """The coordinates with the methods of their protocol."""
        return coordinates

    def _fill(self, fields: dict[str, Any]) -> None:
        for name in self._FIELDS:
            object.__setattr__(self, name, fields[name])

    def _replace(self, **changes: Any) -> Self:
        """With other fields that are known to be good."""
        return trusted(type(self), **(self._fields() | changes))

    def _check(self) -> None:
        """What a new value of this kind must fulfil, beyond good names and coordinates."""

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._FIELDS}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: it cannot get another '{name}'. Make a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: it cannot lose its '{name}'.")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(self._same(name, getattr(self, name), getattr(other, name)) for name in self._COMPARED)

    def _same(self, name: str, mine: Any, other: Any) -> bool:
        if name == "coordinates":
            return type(mine) is type(other) and bool(self._face(mine) == self._face(other))
        if isinstance(mine, np.ndarray) and isinstance(other, np.ndarray):
            return np.array_equal(mine, other)
        return bool(mine is other or (type(mine) is type(other) and mine == other))

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self._NAMES)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._fields())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    def _same_names(self, other: Stored) -> bool:
        return all(getattr(self, name) == getattr(other, name) for name in self._NAMES)


def trusted(kind: type[_Value], **fields: Any) -> _Value:
    """From fields that are known to be good: nothing is checked again."""
    value = kind.__new__(kind)
    value._fill(fields)  # noqa: SLF001 - its own part
    return value


def _restored(kind: type[Stored], fields: dict[str, Any]) -> Stored:
    for value in fields.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return trusted(kind, **fields)
