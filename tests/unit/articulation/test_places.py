"""Places in a sequence that never run out of room."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from armillary.articulation._places import Places


def items(order: Places) -> list:
    return [place.item for place in order]


def rises(order: Places) -> bool:
    return all(a.key < b.key for a, b in pairwise(order))


class TestPlaces:
    def test_has_room_for_a_million_insertions_at_one_place(self):
        order: Places[int] = Places()
        first = order.append(0)
        for i in range(1, 1_000_000):
            order.insert_after(first, i)
        assert items(order) == [0, *range(999_999, 0, -1)]
        assert rises(order)

    def test_has_room_in_front(self):
        order: Places[int] = Places()
        place = order.append(0)
        for i in range(1, 5000):
            place = order.insert_before(place, i)
        assert items(order) == list(range(4999, -1, -1))
        assert rises(order)

    @pytest.mark.parametrize("seed", range(5))
    def test_is_a_list(self, seed):
        chance = random.Random(seed)
        order, places, expected = Places(), [], []
        for i in range(3000):
            at = chance.randrange(len(places) + 1)
            if places and chance.random() < 0.3:
                gone = places.pop(at % len(places))
                expected.remove(gone.item)
                order.remove(gone)
                continue
            places.insert(at, order.insert_after(places[at - 1] if at else None, i))
            expected.insert(at, i)
        assert items(order) == expected
        assert len(order) == len(expected)
        assert rises(order)

    def test_takes_back_what_was_taken_out(self):
        order: Places[int] = Places()
        places = [order.append(i) for i in range(2000)]
        behind = order.before(places[1000])
        order.remove(places[1000])
        order.put_after(behind, places[1000])
        assert items(order) == list(range(2000))
        assert rises(order)

    def test_knows_who_is_in_front(self):
        order: Places[int] = Places()
        places = [order.append(i) for i in range(2000)]
        assert order.before(places[0]) is None
        assert all(order.before(b) is a for a, b in pairwise(places))
