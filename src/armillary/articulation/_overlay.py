"""A dictionary that is changed on trial: nothing is written to it before `commit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

__all__ = ["ABSENT", "Absent", "Overlay", "own_list", "swapped"]


class Absent:
    """The value of a key that is not there."""

    __slots__ = ()


ABSENT: Final = Absent()
_UNCHANGED: Final = Absent()


class Overlay(Generic[K, V]):
    """A dictionary as it will be. Reading and writing cost as much as what they touch."""

    __slots__ = ("_base", "_changed")

    def __init__(self, base: dict[K, V]) -> None:
        self._base = base
        self._changed: dict[K, V | Absent] = {}

    def get(self, key: K) -> V | None:
        """Return the value; None where there is none."""
        found = self._changed.get(key, _UNCHANGED)
        if found is _UNCHANGED:
            return self._base.get(key)
        return None if found is ABSENT else found  # type: ignore[return-value]

    def __getitem__(self, key: K) -> V:
        """Return the value, or raise KeyError."""
        found = self._changed.get(key, _UNCHANGED)
        if found is _UNCHANGED:
            return self._base[key]
        if found is ABSENT:
            raise KeyError(key)
        return found  # type: ignore[return-value]

    def __setitem__(self, key: K, value: V) -> None:
        """Change the value here."""
        self._changed[key] = value

    def __contains__(self, key: object) -> bool:
        """Whether the key has a value."""
        if key in self._changed:
            return not isinstance(self._changed[key], Absent)
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, those of the dictionary first."""
        yield from (key for key in self._base if key in self)
        yield from (key for key in self._changed if key not in self._base and key in self)

    def remove(self, key: K) -> None:
        """Remove the key here."""
        self._changed[key] = ABSENT

    def is_own(self, key: K) -> bool:
        """Whether the key was changed here."""
        return key in self._changed

    def before(self, key: K) -> V | None:
        """Return the value without the changes; None where there is none."""
        return self._base.get(key)

    def commit(self) -> dict[K, V | Absent]:
        """Write the changes; return those that undo them."""
        return swapped(self._base, self._changed)


def swapped(base: dict[K, V], changes: dict[K, V | Absent]) -> dict[K, V | Absent]:
    """Write changes into a dictionary; return those that undo them."""
    before: dict[K, V | Absent] = {key: base.get(key, ABSENT) for key in changes}
    for key, value in changes.items():
        if isinstance(value, Absent):
            base.pop(key, None)
        else:
            base[key] = value
    return before


def own_list(lists: Overlay[K, list[T]], key: K) -> list[T]:
    """Return the list of a key as a copy that belongs to the overlay and may be changed."""
    if lists.is_own(key):
        return lists[key]
    own = list(lists.get(key) or ())
    lists[key] = own
    return own
