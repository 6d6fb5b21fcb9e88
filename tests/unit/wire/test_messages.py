"""Messages are checked before anything of them is used."""

from __future__ import annotations

import random

import numpy as np
import pytest

import randomness
from armillary.errors import InvalidMessage
from armillary.wire.messages import pack, pack_samples, unpack, unpack_samples


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One byte changed, some cut off, some added, or a part given twice."""
    at = rng.randrange(len(data))
    return rng.choice(
        [
            data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :],
            data[:at],
            data + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9))),
            data[:at] + data[at // 2 : at] + data[at:],
        ]
    )


class TestAMessage:
    @pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8", "bool"])
    def test_returns_what_was_packed(self, kind):
        array = np.arange(12).reshape(3, 4).astype(kind)
        header, arrays = unpack(pack({"s": 3}, [array, np.empty((0, 7))]))
        assert header["s"] == 3
        assert np.array_equal(arrays[0], array)
        assert arrays[0].dtype == array.dtype
        assert arrays[1].shape == (0, 7)

    def test_is_refused_when_it_is_too_large(self):
        with pytest.raises(InvalidMessage, match="10 are the most"):
            unpack(pack({}), max_bytes=10)

    def test_of_another_version_is_refused(self):
        with pytest.raises(InvalidMessage, match="its version is not 1"):
            unpack(pack({}).replace(b'"v":1', b'"v":2'))

    def test_that_asks_for_more_than_there_is_is_refused(self):
        with pytest.raises(InvalidMessage, match="cut off"):
            unpack(pack({}, [np.zeros(3)]).replace(b"[3]", b"[9]"))

    def test_that_names_objects_of_python_is_refused(self):
        with pytest.raises(InvalidMessage, match="unknown form"):
            unpack(pack({}, [np.zeros(3)]).replace(b"<f8", b"|O8"))

    def test_that_was_damaged_is_refused_or_read(self):
        rng = random.Random(randomness.SEED)
        good = pack({"records": ["a", 1.5], "held": [["00ff", [[1, 2]]]]}, [np.arange(6.0).reshape(2, 3)])
        refused = 0
        for _ in range(10_000):
            try:
                unpack(mutated(good, rng))
            except InvalidMessage:
                refused += 1
        assert refused > 5000


class TestSamples:
    def test_are_returned_as_they_were_packed(self):
        stamps, rows = np.array([3, 1], dtype=np.int64), np.arange(14.0).reshape(2, 7)
        found = unpack_samples(pack_samples(4, 9, (5, 6), stamps, rows))
        assert (found.channel, found.sequence, found.base) == (4, 9, (5, 6))
        assert np.array_equal(found.stamps, stamps)
        assert np.array_equal(found.rows, rows)

    def test_take_few_bytes(self):
        message = pack_samples(1, 0, (0, 0), np.zeros(1, dtype=np.int64), np.zeros((1, 39)))
        assert len(message) == 36 + 8 * (1 + 39)

    def test_that_were_damaged_are_refused_or_read(self):
        rng = random.Random(randomness.SEED)
        good = pack_samples(4, 9, (5, 6), np.arange(3, dtype=np.int64), np.arange(21.0).reshape(3, 7))
        refused = 0
        for _ in range(10_000):
            try:
                unpack_samples(mutated(good, rng))
            except InvalidMessage:
                refused += 1
        assert refused > 5000
