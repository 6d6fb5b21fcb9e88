"""Rows S1 to S10 of the tf2 conformance table: what `world.fix` shares with static transforms."""

import pytest

from armillary import LATEST, errors, seconds
from conformance.scenes import IDENTITY, assert_close, shifted, turned, x_of

ANY_TIME = [0, seconds(1), seconds(100), seconds(1000)]


@pytest.fixture
def fixed_chain(world):
    """a, b, c: bolted together, one metre apart."""
    world.fix(of="b", in_frame="a", transform=shifted(x=1.0))
    world.fix(of="c", in_frame="b", transform=shifted(x=1.0))
    return world


class TestAFixedPose:
    @pytest.mark.parametrize("at", ANY_TIME)
    def test_s1_holds_at_every_time(self, fixed_chain, at):
        assert fixed_chain.can_pose(of="c", in_frame="a", at=at)
        assert x_of(fixed_chain, of="c", in_frame="a", at=at) == 2.0

    @pytest.mark.parametrize("at", [*ANY_TIME, LATEST])
    def test_s2_has_no_stamp(self, fixed_chain, at):
        assert fixed_chain.pose(of="c", in_frame="a", at=at).stamp is None

    def test_s5_is_replaced_with_its_parent_by_the_next_one(self, fixed_chain):
        fixed_chain.fix(of="c", in_frame="other", transform=shifted(x=7.0))
        assert x_of(fixed_chain, of="c", in_frame="other", at=seconds(5)) == 7.0
        with pytest.raises(errors.NotConnected):
            fixed_chain.pose(of="c", in_frame="a", at=seconds(5))
        assert not fixed_chain.can_pose(of="c", in_frame="a", at=seconds(5))

    def test_s10_is_the_same_long_after_it_was_set(self, world):
        world.fix(of="b", in_frame="a", transform=turned(0.3, x=1.0), at=seconds(1.1))
        assert_close(world.pose(of="b", in_frame="a", at=seconds(1.5)).transform, turned(0.3, x=1.0))


class TestAPathThatIsPartlyFixed:
    def test_s3_has_the_latest_stamp_of_what_moves(self, fixed_chain):
        fixed_chain.set_pose(of="d", in_frame="c", transform=shifted(x=1.0), at=seconds(5))
        fixed_chain.set_pose(of="d", in_frame="c", transform=shifted(x=2.0), at=seconds(6))
        latest = fixed_chain.pose(of="d", in_frame="a", at=LATEST)
        assert latest.stamp == seconds(6)
        assert_close(latest.transform, shifted(x=4.0))

    def test_s3_interpolates_only_what_moves(self, fixed_chain):
        fixed_chain.set_pose(of="d", in_frame="c", transform=shifted(x=1.0), at=seconds(5))
        fixed_chain.set_pose(of="d", in_frame="c", transform=shifted(x=2.0), at=seconds(6))
        pose = fixed_chain.pose(of="d", in_frame="a", at=seconds(5.5))
        assert pose.stamp == seconds(5.5)
        assert_close(pose.transform, shifted(x=3.5))

    @pytest.mark.parametrize(("at_s", "expected"), [(1, False), (10, True), (100, False), (1000, False)])
    def test_s4_reaches_as_far_as_the_sample_at_its_end(self, fixed_chain, at_s, expected):
        fixed_chain.set_pose(of="d", in_frame="c", transform=IDENTITY, at=seconds(10))
        assert fixed_chain.can_pose(of="d", in_frame="a", at=seconds(at_s)) is expected

    def test_s4_has_a_latest_answer(self, fixed_chain):
        fixed_chain.set_pose(of="d", in_frame="c", transform=IDENTITY, at=seconds(10))
        assert fixed_chain.can_pose(of="d", in_frame="a", at=LATEST)


class TestFixedAndSampledByOneSource:
    def test_s6_is_fixed_until_the_first_sample(self, world):
        world.fix(of="b", in_frame="a", transform=shifted(x=1.0))
        world.set_pose(of="b", in_frame="a", transform=shifted(x=5.0), at=seconds(5))
        assert x_of(world, of="b", in_frame="a", at=seconds(1)) == 1.0
        assert x_of(world, of="b", in_frame="a", at=seconds(5)) == 5.0

    def test_s6_is_sampled_from_the_first_sample_on(self, world):
        world.fix(of="b", in_frame="a", transform=shifted(x=1.0))
        world.set_pose(of="b", in_frame="a", transform=shifted(x=5.0), at=seconds(5))
        with pytest.raises(errors.SingleSample):
            world.pose(of="b", in_frame="a", at=seconds(6))

    @pytest.mark.parametrize("at_s", [1, 5, 9])
    def test_s7_forgets_its_samples_when_it_is_fixed_for_ever(self, world, at_s):
        world.set_pose(of="b", in_frame="a", transform=shifted(x=1.0), at=seconds(5))
        world.fix(of="b", in_frame="a", transform=shifted(x=3.0))
        assert x_of(world, of="b", in_frame="a", at=seconds(at_s)) == 3.0

    def test_s7_keeps_its_samples_when_it_is_fixed_from_an_instant_on(self, world):
        world.set_pose(of="b", in_frame="a", transform=shifted(x=1.0), at=seconds(5))
        world.fix(of="b", in_frame="a", transform=shifted(x=3.0), at=seconds(8))
        assert x_of(world, of="b", in_frame="a", at=seconds(5)) == 1.0
        assert x_of(world, of="b", in_frame="a", at=seconds(9)) == 3.0


class TestAClearedWorld:
    def test_s8_keeps_what_is_fixed_and_every_name(self, fixed_chain):
        fixed_chain.set_pose(of="d", in_frame="c", transform=IDENTITY, at=seconds(5))
        before = set(fixed_chain.frames())
        fixed_chain.clear()
        assert set(fixed_chain.frames()) == before
        assert x_of(fixed_chain, of="c", in_frame="a", at=seconds(5)) == 2.0

    def test_s8_has_lost_what_was_sampled(self, fixed_chain):
        fixed_chain.set_pose(of="d", in_frame="c", transform=IDENTITY, at=seconds(5))
        fixed_chain.clear()
        with pytest.raises(errors.NoSamples):
            fixed_chain.pose(of="d", in_frame="c", at=seconds(5))

    @pytest.mark.parametrize("at", ANY_TIME)
    def test_s9_lets_a_frame_that_moved_be_fixed(self, world, at):
        world.set_pose(of="b", in_frame="a", transform=IDENTITY, at=seconds(5))
        world.clear()
        world.fix(of="b", in_frame="a", transform=shifted(x=2.0))
        assert x_of(world, of="b", in_frame="a", at=at) == 2.0
