"""Rows E1 to E19 of the tf2 conformance table: which instants are answered, and which errors are raised."""

import pytest

from armillary import LATEST, World, errors, seconds
from conformance.scenes import IDENTITY, assert_close, pairs, set_along_x, shifted, x_of


def set_often(world, *, of, in_frame, at_s):
    for stamp in at_s:
        world.set_pose(of=of, in_frame=in_frame, transform=IDENTITY, at=seconds(stamp))


def latest_s(world, of, in_frame):
    return world.pose(of=of, in_frame=in_frame, at=LATEST).stamp / seconds(1)


class TestTheLatestAnswer:
    def test_e1_is_as_new_as_the_oldest_of_the_newest_samples(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[1, 2, 3, 4])
        set_along_x(world, of="c", in_frame="b", at_s=[1, 2, 2.5])
        latest = world.pose(of="c", in_frame="a", at=LATEST)
        assert latest.stamp == seconds(2.5)
        assert_close(latest.transform, shifted(x=5.0))

    def test_e2_follows_the_edge_that_lags(self):
        with World(history=seconds(1000)) as world:
            set_often(world, of="a", in_frame="parent", at_s=[50, 100])
            set_often(world, of="parent", in_frame="grandparent", at_s=[50, 200])
            assert latest_s(world, "a", "grandparent") == 100
            set_often(world, of="a", in_frame="parent", at_s=[300])
            assert latest_s(world, "a", "grandparent") == 200

    @pytest.mark.parametrize(("of", "in_frame"), [("a", "b"), ("a", "c"), ("a", "d"), ("b", "a"), ("d", "a")])
    def test_e2_counts_both_branches(self, of, in_frame):
        with World(history=seconds(1000)) as world:
            set_often(world, of="a", in_frame="parent", at_s=[50, 300])
            set_often(world, of="b", in_frame="parent", at_s=[50, 400])
            set_often(world, of="c", in_frame="b", at_s=[50, 300])
            set_often(world, of="d", in_frame="c", at_s=[50, 900])
            assert latest_s(world, of, in_frame) == 300

    def test_e2_sees_late_samples_for_what_they_are(self, world):
        set_often(world, of="b", in_frame="a", at_s=[0, 1, 0.5])
        assert latest_s(world, "b", "a") == 1

    def test_e2_does_not_exist_for_an_unknown_frame(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1])
        with pytest.raises(errors.UnknownFrame):
            world.pose(of="b", in_frame="ghost", at=LATEST)

    def test_e3_does_not_exist_where_histories_never_met(self, world):
        set_often(world, of="b", in_frame="a", at_s=range(10, 21))
        set_often(world, of="c", in_frame="b", at_s=range(1, 6))
        with pytest.raises(errors.BeforeHistory) as caught:
            world.pose(of="c", in_frame="a", at=LATEST)
        assert caught.value.edge[:2] == ("b", "a")


class TestAnInstantOutsideTheHistory:
    @pytest.mark.parametrize("at", [seconds(5) - 1, seconds(5) + 1, 0, seconds(100)])
    def test_e4_is_reported_as_beside_the_only_sample(self, world, at):
        set_often(world, of="b", in_frame="a", at_s=[5])
        with pytest.raises(errors.SingleSample) as caught:
            world.pose(of="b", in_frame="a", at=at)
        assert isinstance(caught.value, errors.StampOutOfRange)
        assert world.can_pose(of="b", in_frame="a", at=seconds(5))

    def test_e5_is_refused_one_nanosecond_after_the_newest(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        with pytest.raises(errors.AfterHistory):
            world.pose(of="b", in_frame="a", at=seconds(2) + 1)

    def test_e5_is_refused_one_nanosecond_before_the_oldest(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        with pytest.raises(errors.BeforeHistory):
            world.pose(of="b", in_frame="a", at=seconds(1) - 1)

    def test_e6_is_reported_to_the_nanosecond(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        with pytest.raises(errors.AfterHistory) as caught:
            world.pose(of="b", in_frame="a", at=seconds(2) + 1)
        evidence = caught.value
        assert (evidence.requested, evidence.first, evidence.last) == (seconds(2) + 1, seconds(1), seconds(2))

    def test_e6_is_reported_to_the_nanosecond_in_the_text(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        sentences = set()
        for beside in (1, 2, 3):
            with pytest.raises(errors.AfterHistory) as caught:
                world.pose(of="b", in_frame="a", at=seconds(2) + beside)
            sentences.add(str(caught.value))
        assert len(sentences) == 3

    @pytest.mark.parametrize(("at_s", "kind"), [(0.5, errors.BeforeHistory), (2.5, errors.AfterHistory)])
    def test_e18_is_distinguished_by_the_class_of_the_error(self, world, at_s, kind):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        assert world.can_pose(of="b", in_frame="a", at=seconds(at_s)) is False
        with pytest.raises(errors.StampOutOfRange) as caught:
            world.pose(of="b", in_frame="a", at=seconds(at_s))
        assert type(caught.value) is kind

    def test_e19_is_not_blurred_by_the_size_of_the_stamp(self, world):
        today = seconds(1_000_000_000) + 1
        world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=today)
        assert world.pose(of="b", in_frame="a", at=today).stamp == today
        assert not world.can_pose(of="b", in_frame="a", at=today - 1)


class TestANameInAQuestion:
    def test_e7_must_be_known(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1])
        with pytest.raises(errors.UnknownFrame) as caught:
            world.pose(of="ghost", in_frame="a", at=seconds(1))
        assert caught.value.frame == "ghost"
        assert not world.can_pose(of="ghost", in_frame="a", at=seconds(1))

    @pytest.mark.parametrize("name", ["", "/a"])
    def test_e8_is_neither_empty_nor_led_by_a_slash(self, world, name):
        set_often(world, of="b", in_frame="a", at_s=[1])
        with pytest.raises(errors.InvalidName):
            world.pose(of="b", in_frame=name, at=seconds(1))
        with pytest.raises(errors.InvalidName):
            world.pose(of=name, in_frame="b", at=seconds(1))

    @pytest.mark.parametrize("name", ["", "/a"])
    def test_e8_makes_can_pose_false(self, world, name):
        set_often(world, of="b", in_frame="a", at_s=[1])
        assert not world.can_pose(of="b", in_frame=name, at=seconds(1))

    def test_e10_may_ask_for_itself(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1])
        for name, at in [("a", seconds(7)), ("b", seconds(7)), ("a", 0)]:
            itself = world.pose(of=name, in_frame=name, at=at)
            assert_close(itself.transform, IDENTITY)
            assert itself.stamp == at

    def test_e10_has_no_stamp_when_the_latest_of_itself_is_asked(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1])
        assert world.pose(of="b", in_frame="b", at=LATEST).stamp is None

    def test_e10_must_be_known_even_then(self, world):
        with pytest.raises(errors.UnknownFrame):
            world.pose(of="ghost", in_frame="ghost", at=seconds(1))
        assert not world.can_pose(of="ghost", in_frame="ghost", at=seconds(1))

    def test_e11_must_be_known_between_two_instants_too(self, world):
        with pytest.raises(errors.UnknownFrame):
            world.pose(of="x", in_frame="x", at=seconds(1), of_at=seconds(1), fixed_frame="x")


class TestFramesInDifferentTrees:
    def test_e9_are_not_connected(self, world):
        set_often(world, of="b", in_frame="a", at_s=[11, 12, 13])
        set_often(world, of="q", in_frame="p", at_s=[11, 12, 13])
        with pytest.raises(errors.NotConnected):
            world.pose(of="q", in_frame="b", at=seconds(12))

    def test_e9_are_not_connected_even_when_data_is_missing(self, world):
        set_often(world, of="b", in_frame="a", at_s=[11, 12, 13])
        set_often(world, of="q", in_frame="p", at_s=[3])
        for of, in_frame in [("q", "b"), ("b", "q")]:
            with pytest.raises(errors.NotConnected):
                world.pose(of=of, in_frame=in_frame, at=seconds(12))


class TestAskingAboutTwoInstants:
    @pytest.fixture
    def siblings(self, world):
        """child and other, both under parent, from 10 s to 19 s."""
        set_often(world, of="child", in_frame="parent", at_s=range(10, 20))
        set_often(world, of="other", in_frame="parent", at_s=range(10, 20))
        return world

    @pytest.mark.parametrize("of", ["parent", "other"])
    @pytest.mark.parametrize("at_s", [0, 5, 15, 25])
    @pytest.mark.parametrize(("of_at_s", "expected"), [(15, True), (5, False), (25, False)])
    def test_e12_needs_no_data_to_see_from_the_fixed_frame(self, siblings, of, at_s, of_at_s, expected):
        can = siblings.can_pose(of=of, in_frame="child", at=seconds(at_s), of_at=seconds(of_at_s), fixed_frame="child")
        assert can is expected

    @pytest.mark.parametrize("of_at_s", [0, 5, 15, 25])
    @pytest.mark.parametrize(("at_s", "expected"), [(15, True), (5, False), (25, False)])
    def test_e12_needs_no_data_of_the_fixed_frame(self, siblings, of_at_s, at_s, expected):
        can = siblings.can_pose(
            of="parent", in_frame="child", at=seconds(at_s), of_at=seconds(of_at_s), fixed_frame="parent"
        )
        assert can is expected

    def test_e12_may_ask_for_the_latest_on_either_side(self, siblings):
        assert siblings.can_pose(of="parent", in_frame="child", at=LATEST, of_at=seconds(5), fixed_frame="parent")
        assert siblings.can_pose(of="other", in_frame="child", at=seconds(15), of_at=LATEST, fixed_frame="parent")


class TestWhatIsAboveTheCommonAncestor:
    @pytest.mark.parametrize(("of", "in_frame"), [("b", "c"), ("c", "b"), ("b", "a"), ("a", "c")])
    def test_e13_does_not_matter(self, world, of, in_frame):
        set_often(world, of="a", in_frame="w", at_s=[1, 2, 3])
        set_often(world, of="b", in_frame="a", at_s=[1, 8])
        set_often(world, of="c", in_frame="a", at_s=[1, 8])
        assert world.can_pose(of=of, in_frame=in_frame, at=seconds(6))

    def test_e13_matters_to_those_who_ask_for_it(self, world):
        set_often(world, of="a", in_frame="w", at_s=[1, 2, 3])
        set_often(world, of="b", in_frame="a", at_s=[1, 8])
        with pytest.raises(errors.AfterHistory) as caught:
            world.pose(of="b", in_frame="w", at=seconds(6))
        assert caught.value.edge[:2] == ("a", "w")


class TestALoop:
    def test_e14_is_refused_where_it_would_begin(self, world):
        set_often(world, of="b", in_frame="a", at_s=[1, 5])
        set_often(world, of="c", in_frame="b", at_s=[1, 5])
        with pytest.raises(errors.FrameLoop) as caught:
            world.set_pose(of="a", in_frame="c", transform=IDENTITY, at=seconds(3))
        assert {"a", "b", "c"} <= set(caught.value.path)
        assert all(world.can_pose(of=of, in_frame=to, at=seconds(3)) for of, to in pairs("abc"))

    def test_e14_is_a_loop_only_at_one_instant(self, world):
        set_along_x(world, of="a", in_frame="b", at_s=[1, 5])
        set_along_x(world, of="b", in_frame="a", at_s=[6, 9])
        assert x_of(world, of="a", in_frame="b", at=seconds(3)) == pytest.approx(3.0)
        assert x_of(world, of="b", in_frame="a", at=seconds(8)) == pytest.approx(8.0)

    @pytest.mark.parametrize("at", [seconds(3), seconds(8), LATEST])
    def test_e14_is_none_where_a_relation_was_turned_round_and_both_ways_answer(self, world, at):
        set_along_x(world, of="a", in_frame="b", at_s=[1, 5])
        set_along_x(world, of="b", in_frame="a", at_s=[6, 9])
        there = world.pose(of="a", in_frame="b", at=at)
        back = world.pose(of="b", in_frame="a", at=at)
        assert_close(there.transform, back.transform.inverse())
        assert there.stamp == back.stamp == (seconds(9) if at is LATEST else at)

    @pytest.mark.parametrize("depth", [1001, 1500])
    def test_e15_is_not_suspected_in_a_long_chain(self, world, depth):
        for number in range(depth):
            world.fix(of=f"f{number + 1}", in_frame=f"f{number}", transform=shifted(x=1.0))
        assert x_of(world, of=f"f{depth}", in_frame="f0") == depth
        assert x_of(world, of="f0", in_frame=f"f{depth}") == -depth


class TestAFrameThatMoves:
    @pytest.fixture
    def moving(self, world):
        """c: in a at 1 s, in b at 3 s; a and b are at 100 m and 200 m in w."""
        world.fix(of="a", in_frame="w", transform=shifted(x=100.0))
        world.fix(of="b", in_frame="w", transform=shifted(x=200.0))
        world.set_pose(of="c", in_frame="a", transform=shifted(x=1.0), at=seconds(1))
        world.set_pose(of="c", in_frame="b", transform=shifted(x=7.0), at=seconds(3))
        return world

    @pytest.mark.parametrize(("at", "x"), [(seconds(1), 101.0), (seconds(3), 207.0), (LATEST, 207.0)])
    def test_e16_is_where_its_samples_say(self, moving, at, x):
        assert x_of(moving, of="c", in_frame="w", at=at) == x

    def test_e16_is_nowhere_between_two_parents(self, moving):
        with pytest.raises(errors.StampOutOfRange):
            moving.pose(of="c", in_frame="w", at=seconds(2))
        assert not moving.can_pose(of="c", in_frame="w", at=seconds(2))

    def test_e16_is_held_there_on_request_and_marked(self, moving):
        held = moving.pose(of="c", in_frame="w", at=seconds(2), outside="hold")
        assert held.transform.translation[0] == 101.0
        assert held.held
        assert held.stamp == seconds(2)


class TestAClearedWorld:
    @pytest.mark.parametrize("at", [seconds(1), seconds(2), LATEST])
    def test_e17_says_that_the_samples_are_gone(self, world, at):
        set_often(world, of="b", in_frame="a", at_s=[1, 2])
        world.clear()
        with pytest.raises(errors.NoSamples) as caught:
            world.pose(of="b", in_frame="a", at=at)
        assert caught.value.edge[:2] == ("b", "a")

    def test_e17_does_not_bring_back_what_a_move_had_ended(self, world):
        world.fix(of="b", in_frame="table", transform=IDENTITY)
        set_often(world, of="b", in_frame="hand", at_s=[5])
        world.fix(of="b", in_frame="tray", transform=IDENTITY, at=seconds(9))
        world.clear()
        assert world.can_pose(of="b", in_frame="table", at=seconds(4))
        assert world.can_pose(of="b", in_frame="tray", at=seconds(9))
        with pytest.raises(errors.NoSamples):
            world.pose(of="b", in_frame="hand", at=seconds(7))
