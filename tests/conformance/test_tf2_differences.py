"""What docs/tf2_differences.md states about tf2 is true of the tf2 that Debian ships.

The other column of that page is held by the tests of the same row id in the neighbouring files.
"""

import math

import pytest

from armillary import seconds
from conformance.scenes import CLOSE_M, about_z

UPRIGHT = [1.0, 0.0, 0.0, 0.0]
LATEST = 0
HISTORY_S = 10


@pytest.fixture
def tf2(tf2_buffer):
    return Speaker(tf2_buffer)


class Speaker:
    """Short calls for messages to tf2: a frame at x metres."""

    def __init__(self, buffer):
        self.buffer = buffer

    def insert(self, parent, child, at_s, *, x=0.0, wxyz=UPRIGHT):
        self.buffer.send("insert", parent, child, seconds(at_s), [x, 0.0, 0.0], list(wxyz))

    def insert_static(self, parent, child, *, x=0.0):
        self.buffer.send("insert_static", parent, child, 0, [x, 0.0, 0.0], UPRIGHT)

    def x(self, target, source, at_s):
        return self.buffer.ask("lookup", target, source, seconds(at_s))["xyz"][0]

    def error(self, target, source, at_s):
        return self.buffer.ask("lookup", target, source, seconds(at_s))["error"]

    def stamp(self, target, source, at_s):
        return self.buffer.ask("lookup", target, source, seconds(at_s))["stamp"]


class TestInsertingIntoTf2:
    def test_takes_infinity_i6(self, tf2):
        tf2.insert("a", "b", 1, x=math.inf)
        assert math.isnan(tf2.x("a", "b", 1))

    def test_keeps_a_quaternion_too_long_i8(self, tf2):
        tf2.insert("a", "b", 1, wxyz=[math.sqrt(1.0099), 0.0, 0.0, 0.0])
        tf2.insert("a", "refused", 1, wxyz=[math.sqrt(1.0101), 0.0, 0.0, 0.0])
        assert tf2.buffer.ask("lookup", "a", "b", LATEST)["wxyz"][0] == pytest.approx(1.00494, abs=1e-5)
        assert tf2.error("a", "refused", 1) == "LookupException"

    def test_drops_a_slash_i10(self, tf2):
        tf2.insert("/a", "//b", 1)
        assert sorted(tf2.buffer.ask("frames")) == ["/b", "a"]
        assert tf2.error("a", "/b", 1) == "InvalidArgumentException"

    def test_forgets_by_the_newest_under_any_parent_i12(self, tf2):
        tf2.insert("a", "b", 1)
        tf2.insert("other", "b", 1 + 2 * HISTORY_S)
        assert tf2.error("a", "b", 1) == "ExtrapolationException"

    def test_keeps_the_first_sample_i14(self, tf2):
        tf2.insert("a", "b", 1, x=1.0)
        tf2.insert("a", "b", 1, x=2.0)
        assert tf2.x("a", "b", 1) == 1.0

    def test_takes_a_loop_i19(self, tf2):
        tf2.insert("a", "b", 1)
        tf2.insert("b", "a", 1)
        tf2.insert("c", "d", 1)
        assert tf2.error("d", "a", 1) == "LookupException"

    def test_knows_the_parent_of_a_dropped_sample_i20(self, tf2):
        tf2.insert("a", "b", 100)
        tf2.insert("ghost", "b", 1)
        assert "ghost" in tf2.buffer.ask("frames")


class TestStaticTransformsOfTf2:
    def test_are_stamped_as_asked_s2(self, tf2):
        tf2.insert_static("a", "b")
        assert tf2.stamp("a", "b", 7) == seconds(7)
        assert tf2.stamp("a", "b", LATEST) == 0

    def test_stay_static_when_they_move_s6(self, tf2):
        tf2.insert_static("a", "b", x=1.0)
        tf2.insert("a", "b", 5, x=5.0)
        assert (tf2.x("a", "b", 1), tf2.x("a", "b", 9)) == (5.0, 5.0)

    def test_do_not_become_static_afterwards_s7(self, tf2):
        tf2.insert("a", "b", 5, x=5.0)
        tf2.insert_static("a", "b", x=1.0)
        assert tf2.error("a", "b", 9) == "ExtrapolationException"

    def test_do_not_become_static_after_clearing_s9(self, tf2):
        tf2.insert("a", "b", 5)
        tf2.buffer.send("clear")
        tf2.insert_static("a", "b")
        assert tf2.error("a", "b", 9) == "ExtrapolationException"


class TestAskingTf2:
    def test_ignores_the_smallest_turns_v11(self, tf2):
        tf2.insert("a", "b", 1)
        tf2.insert("a", "b", 2, wxyz=about_z(1e-8))
        halfway = tf2.buffer.ask("lookup", "a", "b", seconds(1.5))["wxyz"]
        assert halfway == UPRIGHT

    def test_for_the_latest_may_miss_the_path_of_then_e1(self, tf2):
        """c moved to b after a had ended: today's path has common data, its stamp belongs to yesterday's."""
        tf2.insert("w", "b", 3)
        tf2.insert("w", "a", 1)
        tf2.insert("a", "c", 1)
        tf2.insert("a", "c", 4)
        tf2.insert("b", "c", 5)
        assert tf2.error("w", "c", LATEST) == "ExtrapolationException"

    def test_across_trees_complains_about_data_e9(self, tf2):
        tf2.insert("a", "b", 12)
        tf2.insert("p", "q", 3)
        assert tf2.error("b", "q", 12) == "ExtrapolationException"

    def test_for_a_name_from_itself_never_fails_e10(self, tf2):
        assert tf2.stamp("ghost", "ghost", 5) == seconds(5)
        tf2.insert("a", "b", 3)
        assert tf2.stamp("b", "b", LATEST) == seconds(3)

    def test_takes_a_thousand_and_one_edges_for_a_loop_e15(self, tf2):
        for depth in range(1001):
            tf2.insert_static(f"f{depth}", f"f{depth + 1}", x=1.0)
        assert abs(tf2.x("f0", "f1000", LATEST) - 1000.0) < CLOSE_M
        assert tf2.error("f0", "f1001", LATEST) == "LookupException"

    def test_holds_across_a_move_e16(self, tf2):
        tf2.insert_static("w", "a", x=100.0)
        tf2.insert_static("w", "b", x=200.0)
        tf2.insert("a", "c", 1, x=1.0)
        tf2.insert("b", "c", 3, x=7.0)
        assert [tf2.x("w", "c", at_s) for at_s in (2, 3, LATEST)] == [101.0, 207.0, 207.0]

    def test_after_clearing_gives_two_different_errors_e17(self, tf2):
        tf2.insert("a", "b", 1)
        tf2.buffer.send("clear")
        assert tf2.error("a", "b", LATEST) == "ConnectivityException"
        assert tf2.error("a", "b", 1) == "ExtrapolationException"

    def test_blurs_the_stamps_of_today_e19(self, tf2):
        today = seconds(1_700_000_000) + 100_000_001
        tf2.buffer.send("insert", "a", "b", today, [0.0, 0.0, 0.0], UPRIGHT)
        assert tf2.buffer.ask("latest", "a", "b") != today

    def test_lists_the_child_before_its_parent_x3(self, tf2):
        tf2.insert("a", "b", 1)
        assert tf2.buffer.ask("frames") == ["b", "a"]
