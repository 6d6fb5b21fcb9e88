"""Places in a sequence that never run out of room between two of them.

A place is known by two integers: the label of its block and its own label in that block. Where two neighbours leave no
integer between them, the labels of one block are spread anew, and where a block is full it is cut in two. So comparing
is exact whatever was inserted where, and an insertion costs the same in a sequence of a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

__all__ = ["Place", "Places"]

_MOST = 512
"""Places in a block: above it, the block is cut in two."""
_ROOM = 1 << 62


class _Block(Generic[T]):
    __slots__ = ("label", "places")

    def __init__(self, label: int) -> None:
        self.label = label
        self.places: list[Place[T]] = []


class Place(Generic[T]):
    """Where an item stands. Its key changes when labels are spread anew; how it compares with others never does."""

    __slots__ = ("block", "item", "label")

    def __init__(self, item: T, block: _Block[T], label: int) -> None:
        self.item = item
        self.block, self.label = block, label

    @property
    def key(self) -> tuple[int, int]:
        """What places are compared by, as long as nothing is inserted."""
        return (self.block.label, self.label)


class Places(Generic[T]):
    """A sequence of items, by place.

    Inserting is O(1) amortised, wherever. Not thread-safe: who owns it locks.
    """

    def __init__(self) -> None:
        self._blocks: list[_Block[T]] = [_Block(0)]
        self._size = 0

    def __len__(self) -> int:
        """How many places there are."""
        return self._size

    def __iter__(self) -> Iterator[Place[T]]:
        """The places, first to last."""
        for block in self._blocks:
            yield from block.places

    def last(self) -> Place[T] | None:
        """The place at the end; None where there is none."""
        places = self._blocks[-1].places
        return places[-1] if places else None

    def before(self, place: Place[T]) -> Place[T] | None:
        """The place in front of this one; None for the first."""
        block = place.block
        index = _index(block, place)
        if index:
            return block.places[index - 1]
        above = self._index_of(block) - 1
        return self._blocks[above].places[-1] if above >= 0 else None

    def append(self, item: T) -> Place[T]:
        """At the end."""
        return self.insert_after(self.last(), item)

    def insert_after(self, reference: Place[T] | None, item: T) -> Place[T]:
        """Right behind a place, or in front of all where the reference is None."""
        place = Place(item, self._blocks[0], 0)
        self.put_after(reference, place)
        return place

    def insert_before(self, reference: Place[T], item: T) -> Place[T]:
        """Right in front of a place."""
        return self.insert_after(self.before(reference), item)

    def put_after(self, reference: Place[T] | None, place: Place[T]) -> None:
        """As `insert_after`, with a place that was removed."""
        block = self._blocks[0] if reference is None else reference.block
        index = 0 if reference is None else _index(block, reference) + 1
        label = _between(block, index)
        if label is None:
            _spread(block)
            label = _between(block, index)
        place.block, place.label = block, label or 0
        block.places.insert(index, place)
        self._size += 1
        if len(block.places) > _MOST:
            self._cut(block)

    def remove(self, place: Place[T]) -> None:
        """Take a place out; `put_after` brings it back."""
        block = place.block
        del block.places[_index(block, place)]
        self._size -= 1
        if not block.places and len(self._blocks) > 1:
            del self._blocks[self._index_of(block)]

    def _cut(self, block: _Block[T]) -> None:
        """Move the second half of a block into a new one behind it."""
        index = self._index_of(block)
        above = self._blocks[index + 1].label if index + 1 < len(self._blocks) else block.label + 2 * _ROOM
        if above - block.label < 2:  # noqa: PLR2004
            for i, other in enumerate(self._blocks):
                other.label = i * _ROOM
            above = block.label + _ROOM
        new = _Block[T]((block.label + above) // 2)
        new.places = block.places[_MOST // 2 :]
        del block.places[_MOST // 2 :]
        for place in new.places:
            place.block = new
        _spread(block)
        _spread(new)
        self._blocks.insert(index + 1, new)

    def _index_of(self, block: _Block[T]) -> int:
        low, high = 0, len(self._blocks)
        while low < high:
            middle = (low + high) // 2
            if self._blocks[middle].label < block.label:
                low = middle + 1
            else:
                high = middle
        return low


def _index(block: _Block[T], place: Place[T]) -> int:
    low, high, label, places = 0, len(block.places), place.label, block.places
    while low < high:
        middle = (low + high) // 2
        if places[middle].label < label:
            low = middle + 1
        else:
            high = middle
    return low


def _between(block: _Block[T], index: int) -> int | None:
    """A label for a new place at this index, or None where its neighbours touch.

    At the end the step is small, so that appending does not use up the room.
    """
    places = block.places
    low = places[index - 1].label if index else 0
    if index == len(places):
        return low + _ROOM // (2 * _MOST)
    high = places[index].label
    return (low + high) // 2 if high - low > 1 else None


def _spread(block: _Block[T]) -> None:
    step = _ROOM // (2 * _MOST)
    for i, place in enumerate(block.places):
        place.label = (i + 1) * step
