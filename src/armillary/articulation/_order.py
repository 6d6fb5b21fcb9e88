"""An order-maintenance list: a sequence whose places can be compared, whatever is inserted where.

A place is known by an integer label that increases along the sequence. Where two neighbours leave no integer between
them, a few places behind are labelled anew (Dietz and Sleator, "Two algorithms for maintaining order in a list", 1987):
inserting costs O(log n) amortised, comparing is one comparison of integers. A plain list with positions would cost O(n)
for every insertion in front, and a replayed history inserts its operations one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

__all__ = ["OrderedList", "Place"]

_STEP = 1 << 40
"""Distance of labels at the ends; Python's integers do not overflow."""


class Place(Generic[T]):
    """The place of an item. Its label changes when places are labelled anew; how it compares with others never does."""

    __slots__ = ("item", "label", "next", "previous")

    def __init__(self, item: T) -> None:
        self.item = item
        self.label = 0
        self.previous: Place[T] | None = None
        self.next: Place[T] | None = None


class OrderedList(Generic[T]):
    """A sequence of items, by place. Not thread-safe: the owner locks."""

    def __init__(self) -> None:
        self.first: Place[T] | None = None
        self.last: Place[T] | None = None

    def __iter__(self) -> Iterator[Place[T]]:
        """Iterate over the places, first to last."""
        place = self.first
        while place is not None:
            yield place
            place = place.next

    def append(self, item: T) -> Place[T]:
        """Add an item at the end."""
        return self.insert_after(self.last, item)

    def insert_after(self, reference: Place[T] | None, item: T) -> Place[T]:
        """Add an item right behind a place, or in front of all where the reference is None."""
        place = Place(item)
        self.put_after(reference, place)
        return place

    def put_after(self, reference: Place[T] | None, place: Place[T]) -> None:
        """Add a place that was removed, as `insert_after` adds an item."""
        after = self.first if reference is None else reference.next
        place.label = _label_between(reference, after)
        place.previous, place.next = reference, after
        if reference is None:
            self.first = place
        else:
            reference.next = place
        if after is None:
            self.last = place
        else:
            after.previous = place

    def remove(self, place: Place[T]) -> None:
        """Remove a place; `put_after` adds it again."""
        before, after = place.previous, place.next
        if before is None:
            self.first = after
        else:
            before.next = after
        if after is None:
            self.last = before
        else:
            after.previous = before


def _label_between(before: Place[T] | None, after: Place[T] | None) -> int:
    if after is None:
        return 0 if before is None else before.label + _STEP
    if before is None:
        return after.label - _STEP
    if after.label - before.label < 2:  # noqa: PLR2004
        _make_room(before)
    return (before.label + after.label) // 2


def _make_room(place: Place[T]) -> None:
    """Spread the labels behind a place evenly, as far as they are too dense for their number."""
    behind: list[Place[T]] = []
    following = place.next
    while following is not None and following.label - place.label <= (len(behind) + 1) ** 2:
        behind.append(following)
        following = following.next
    step = _STEP if following is None else (following.label - place.label) // (len(behind) + 1)
    for count, each in enumerate(behind, start=1):
        each.label = place.label + count * step
