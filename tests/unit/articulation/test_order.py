"""Places in an ordered list, which can be compared whatever is inserted where."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from armillary.articulation._order import OrderedList


def items(order: OrderedList) -> list:
    return [place.item for place in order]


def rises(order: OrderedList) -> bool:
    return all(a.label < b.label for a, b in pairwise(order))


class TestAnOrderedList:
    def test_has_room_for_a_million_insertions_at_one_place(self):
        order: OrderedList[int] = OrderedList()
        first = order.append(0)
        for i in range(1, 1_000_000):
            order.insert_after(first, i)
        assert items(order) == [0, *range(999_999, 0, -1)]
        assert rises(order)

    def test_has_room_in_front(self):
        order: OrderedList[int] = OrderedList()
        place = order.append(0)
        for i in range(1, 5000):
            place = order.insert_after(place.previous, i)
        assert items(order) == list(range(4999, -1, -1))
        assert rises(order)

    @pytest.mark.parametrize("seed", range(5))
    def test_is_a_list(self, seed):
        chance = random.Random(seed)
        order, places, expected = OrderedList(), [], []
        for i in range(3000):
            at = chance.randrange(len(places) + 1)
            if places and chance.random() < 0.3:
                removed = places.pop(at % len(places))
                expected.remove(removed.item)
                order.remove(removed)
                continue
            places.insert(at, order.insert_after(places[at - 1] if at else None, i))
            expected.insert(at, i)
        assert items(order) == expected
        assert (order.first, order.last) == (places[0], places[-1])
        assert rises(order)

    def test_takes_a_removed_place_again(self):
        order: OrderedList[int] = OrderedList()
        places = [order.append(i) for i in range(2000)]
        behind = places[1000].previous
        order.remove(places[1000])
        order.put_after(behind, places[1000])
        assert items(order) == list(range(2000))
        assert rises(order)

    def test_knows_the_place_in_front(self):
        order: OrderedList[int] = OrderedList()
        places = [order.append(i) for i in range(2000)]
        assert places[0].previous is None
        assert all(b.previous is a for a, b in pairwise(places))
