"""A dictionary that is changed on trial: nothing is written to it before `commit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

__all__ = ["GONE", "Gone", "Overlay", "changed_list", "swapped"]


class Gone:
    """What stands for a key that is not there."""

    __slots__ = ()


GONE: Final = Gone()


class Overlay(Generic[K, V]):
    """What a dictionary will be. Reading and writing cost as much as what they touch."""

    __slots__ = ("_base", "_changed")

    def __init__(self, base: dict[K, V]) -> None:
        self._base = base
        self._changed: dict[K, V | Gone] = {}

    def get(self, key: K) -> V | None:
        """The value; None where there is none."""
        found = self._changed.get(key, GONE) if key in self._changed else self._base.get(key, GONE)
        return None if isinstance(found, Gone) else found

    def __getitem__(self, key: K) -> V:
        """The value, or KeyError."""
        found = self._changed[key] if key in self._changed else self._base[key]
        if isinstance(found, Gone):
            raise KeyError(key)
        return found

    def __setitem__(self, key: K, value: V) -> None:
        """Change it here."""
        self._changed[key] = value

    def __contains__(self, key: object) -> bool:
        """Whether it has a value."""
        if key in self._changed:
            return not isinstance(self._changed[key], Gone)
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        """The keys, those that were there first."""
        yield from (key for key in self._base if key in self)
        yield from (key for key in self._changed if key not in self._base and key in self)

    def remove(self, key: K) -> None:
        """Leave it out."""
        self._changed[key] = GONE

    def is_own(self, key: K) -> bool:
        """Whether it was changed here."""
        return key in self._changed

    def before(self, key: K) -> V | None:
        """The value without the changes; None where there is none."""
        return self._base.get(key)

    def commit(self) -> dict[K, V | Gone]:
        """Write the changes; what to write to take them back."""
        return swapped(self._base, self._changed)


def swapped(base: dict[K, V], changes: dict[K, V | Gone]) -> dict[K, V | Gone]:
    """Write changes into a dictionary; what was there instead."""
    before: dict[K, V | Gone] = {key: base.get(key, GONE) for key in changes}
    for key, value in changes.items():
        if isinstance(value, Gone):
            base.pop(key, None)
        else:
            base[key] = value
    return before


def changed_list(lists: Overlay[K, list[T]], key: K) -> list[T]:
    """The list under a key, as one's own that may be changed."""
    if not lists.is_own(key):
        lists[key] = list(lists.get(key) or ())
    return lists[key]
