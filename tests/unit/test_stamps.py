"""Instants: integer nanoseconds, and `LATEST` for the newest one."""

from __future__ import annotations

import copy
import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest

import armillary
from armillary import LATEST, Latest, seconds, stamp
from armillary.errors import InvalidStamp


class TestSeconds:
    @pytest.mark.parametrize(
        ("value", "ns"),
        [
            (0, 0),
            (1.5, 1_500_000_000),
            (-1.5, -1_500_000_000),
            (1e-9, 1),
            (0.1, 100_000_000),
            (0.3, 300_000_000),
            (-0.1, -100_000_000),
            (1_700_000_000, 1_700_000_000_000_000_000),
            (Fraction(1, 4), 250_000_000),
        ],
    )
    def test_are_the_nearest_nanosecond(self, value, ns):
        assert seconds(value) == ns

    def test_that_are_whole_lose_nothing(self):
        assert seconds(2**60 + 1) == (2**60 + 1) * 10**9

    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8])
    def test_may_be_any_number_of_numpy(self, kind):
        assert seconds(kind(5)) == 5_000_000_000
        assert type(seconds(kind(5))) is int

    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
    def test_keep_the_fraction_of_a_small_float(self, kind):
        assert seconds(kind(0.25)) == 250_000_000

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1.5", None, [1.0], 1j])
    def test_that_are_no_number_are_refused(self, value):
        with pytest.raises(InvalidStamp, match="seconds"):
            seconds(value)


class TestStamp:
    def test_is_exact_where_a_float_is_not(self):
        assert stamp(sec=1_700_000_000, nanosec=123_456_789) == 1_700_000_000_123_456_789

    def test_has_whole_seconds_by_default(self):
        assert stamp(sec=3) == seconds(3)

    def test_takes_numpy_integers(self):
        assert stamp(sec=np.int32(2_000_000_000), nanosec=np.uint32(7)) == 2_000_000_000_000_000_007

    @pytest.mark.parametrize("parts", [{"sec": 1.9}, {"sec": 1, "nanosec": 0.5}, {"sec": "1"}, {"sec": None}])
    def test_refuses_what_it_would_have_to_round(self, parts):
        with pytest.raises(InvalidStamp, match="seconds"):
            stamp(**parts)


class TestLatest:
    def test_is_one_object(self):
        assert Latest() is LATEST
        assert repr(LATEST) == "LATEST"

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
    def test_stays_that_object(self, again):
        assert again(LATEST) is LATEST

    def test_is_no_stamp(self, world):
        with pytest.raises(InvalidStamp, match="got LATEST"):
            world.set_pose(of="a", in_frame="b", transform=armillary.Transform.identity(), at=LATEST)


class TestNow:
    def test_is_the_wall_clock_in_whole_nanoseconds(self):
        before, now, after = time.time_ns(), armillary.now(), time.time_ns()
        assert before <= now <= after
        assert type(now) is int
