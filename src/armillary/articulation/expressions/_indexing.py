"""Which entries a number or a slice chooses, as in numpy."""

from __future__ import annotations

from operator import index
from typing import Any

from armillary.errors import NoSuchEntry

__all__ = ["chosen"]


def chosen(place: Any, count: int, what: str) -> int | list[int]:
    """One place counted from 0, or those of a slice; `what` are the things that there are `count` of."""
    if isinstance(place, slice):
        places = list(range(*place.indices(count)))
        if not places:
            raise NoSuchEntry(place, count, what)
        return places
    try:
        number = index(place)
    except TypeError:
        raise NoSuchEntry(place, count, what) from None
    if not -count <= number < count:
        raise NoSuchEntry(place, count, what)
    return number % count
