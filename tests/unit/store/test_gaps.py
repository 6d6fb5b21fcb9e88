"""Nothing is interpolated over samples that are known to lack, and nothing answered after those that have ended."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, NotReceived, SingleSample, StampOutOfRange
from armillary.scene import AddJoints


def at_x(x):
    return Transform.from_translation((float(x), 0.0, 0.0))


@pytest.fixture
def world():
    with World("here", history=None) as one:
        for k in range(10):
            one.set_pose(of="base", in_frame="map", transform=at_x(k), at=seconds(k))
        yield one


def number(world):
    return "pose", world.store.relation_id("base", "map", "here")


def x_of(world, at, **how):
    return float(world.pose(of="base", in_frame="map", at=at, **how).xyz[0])


class TestAGap:
    def test_is_answered_as_between_two_parents(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        with pytest.raises(AfterHistory) as raised:
            x_of(world, seconds(4.5))
        assert raised.value.last == seconds(3)

    def test_begins_and_ends_at_samples_that_are_there(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        assert [x_of(world, seconds(at)) for at in (2.5, 3, 6, 6.5)] == [2.5, 3, 6, 6.5]

    def test_holds_the_sample_before_where_that_is_asked_for(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        pose = world.pose(of="base", in_frame="map", at=seconds(4.5), outside="hold")
        assert (pose.xyz[0], bool(pose.held)) == (4.0, True)

    def test_does_not_bear_on_the_newest(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        assert world.pose(of="base", in_frame="map").xyz[0] == 9

    def test_fails_a_whole_batch(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        with pytest.raises(AfterHistory, match="row 2"):
            world.transforms(of="base", in_frame="map", at=[seconds(1), seconds(2), seconds(4.5)])

    def test_gives_no_motion_over_it(self, world):
        world.store.add_gap(*number(world), seconds(8), seconds(9))
        with pytest.raises(SingleSample):
            world.twist(of="base", relative_to="map", at=seconds(9))

    def test_is_over_once_it_is_filled(self, world):
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        world.store.close_gaps(*number(world), seconds(2), seconds(7))
        assert x_of(world, seconds(4.5)) == 4.5

    @given(gaps=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4), asked=st.integers(-2, 20))
    def test_is_all_that_does_not_answer(self, gaps, asked):
        """Halves of seconds against a list of intervals."""
        at = asked / 2
        with World("here", history=None) as world:
            for k in range(10):
                world.set_pose(of="base", in_frame="map", transform=at_x(k), at=seconds(k))
            for start, end in gaps:
                world.store.add_gap(*number(world), seconds(start), seconds(end))
            joined = [(start, end) for start, end in gaps if start < end]
            is_sample = at == int(at)
            is_known = 0 <= at <= 9 and (is_sample or not any(start < at < end for start, end in joined))
            assert world.can_pose(of="base", in_frame="map", at=seconds(at)) == is_known
            if is_known:
                assert x_of(world, seconds(at)) == at

    def test_in_a_correction_that_steps_is_not_held_over(self, world):
        world.store.add_relation(of="base", in_frame="map", source="here", interpolation="step", at=None)
        world.store.add_gap(*number(world), seconds(3), seconds(6))
        with pytest.raises(AfterHistory):
            x_of(world, seconds(4.5))
        assert x_of(world, seconds(6.5)) == 6

    def test_in_joints_is_none_for_their_poses_either(self):
        with World("here") as world:
            world.apply([AddJoints({"slide": "linear", "drawer": "hold"})])
            for k in (0, 1, 5, 6):
                world.set_joints({"slide": k, "drawer": k}, at=seconds(k))
            forms = {"has_velocities": False, "has_covariance": False, "has_velocity_covariance": False}
            channel = world.store.joints_number(joints=["slide", "drawer"], source="here", is_integrated=False, **forms)
            world.store.add_gap("joints", channel, seconds(1), seconds(5))
            for joint in ("slide", "drawer"):
                with pytest.raises(AfterHistory):
                    world.joint(joint, at=seconds(3))
                assert world.joint(joint, at=seconds(1)).value == 1
            assert world.joint("slide", at=seconds(5.5)).value == 5.5


class TestCoverageThatHasEnded:
    @pytest.mark.parametrize("outside", ["raise", "hold", "predict"])
    def test_is_not_answered_after_its_end(self, world, outside):
        world.store.end_coverage(*number(world))
        for asked in ({}, {"at": seconds(9.5)}):
            with pytest.raises(NotReceived, match="share"):
                world.pose(of="base", in_frame="map", outside=outside, **asked)

    def test_is_answered_inside(self, world):
        world.store.end_coverage(*number(world))
        assert [x_of(world, seconds(at)) for at in (0, 4.5, 9)] == [0, 4.5, 9]

    def test_of_a_relation_without_samples_says_so_too(self, world):
        world.clear()
        world.set_pose(of="base", in_frame="map", transform=at_x(0), at=seconds(0))
        world.store.end_coverage(*number(world))
        with pytest.raises(NotReceived):
            x_of(world, seconds(0.5))

    def test_goes_on_without_a_gap(self, world):
        world.store.end_coverage(*number(world))
        world.store.resume_coverage(*number(world))
        world.set_pose(of="base", in_frame="map", transform=at_x(10), at=seconds(10))
        assert x_of(world, seconds(9.5)) == 9.5

    def test_goes_on_behind_a_gap(self, world):
        world.store.end_coverage(*number(world))
        world.set_pose(of="base", in_frame="map", transform=at_x(12), at=seconds(12))
        world.store.resume_coverage(*number(world), seconds(12))
        assert world.pose(of="base", in_frame="map").xyz[0] == 12
        with pytest.raises(AfterHistory):
            x_of(world, seconds(10))

    def test_of_one_of_two_sources_leaves_neither_alone(self, world):
        for k in (8, 9):
            world.set_pose(of="base", in_frame="map", transform=at_x(k), at=seconds(k), source="camera")
        world.prefer(of="base", source="here")
        assert world.can_pose(of="base", in_frame="map", at=seconds(9))
        world.store.end_coverage("pose", world.store.relation_id("base", "map", "camera"))
        world.set_pose(of="base", in_frame="map", transform=at_x(10), at=seconds(10))
        with pytest.raises(NotReceived):
            x_of(world, seconds(10))

    def test_is_left_out_by_no_policy(self, world):
        for k in (8, 9):
            world.set_pose(of="base", in_frame="map", transform=at_x(k), at=seconds(k), source="camera")
        world.store.end_coverage("pose", world.store.relation_id("base", "map", "camera"))
        for policy in ("latest", "filter"):
            with pytest.raises(NotReceived):
                world.pose(of="base", in_frame="map", policy=policy)


class TestADemand:
    def test_is_noted_for_who_sees_to_it(self, world):
        demands = world.store.open_demands(0.05)
        world.store.end_coverage(*number(world))
        with pytest.raises(NotReceived):
            world.pose(of="base", in_frame="map")
        noted, _ = demands.drain()
        assert noted == [(*number(world), False)]

    def test_that_is_seen_to_is_answered(self, world):
        demands = world.store.open_demands(10.0)
        world.store.end_coverage(*number(world))

        def see_to_it():
            assert demands.wait(10.0)
            _, last = demands.drain()
            rows = np.array([[1.0, 0, 0, 0, 10, 0, 0]])
            world.store.merge_pose_rows(of="base", in_frame="map", source="here", at=[seconds(10)], rows=rows)
            world.store.resume_coverage(*number(world))
            demands.serve(last)

        thread = threading.Thread(target=see_to_it)
        thread.start()
        assert world.pose(of="base", in_frame="map").xyz[0] == 10
        thread.join()

    def test_of_a_wait_says_that_somebody_waits(self, world):
        demands = world.store.open_demands(0.05)
        world.store.end_coverage(*number(world))
        with pytest.raises(TimeoutError):
            world.wait_for_pose(of="base", in_frame="map", at=seconds(20), timeout_s=0.05)
        noted, _ = demands.drain()
        assert noted == [(*number(world), True)]

    def test_that_is_refused_fails_at_once(self, world):
        demands = world.store.open_demands(60.0)
        world.store.end_coverage(*number(world))
        demands.refuse(*number(world))
        with pytest.raises(NotReceived):
            world.pose(of="base", in_frame="map")
        demands.allow_all()
        demands.close()
        with pytest.raises(StampOutOfRange):
            world.pose(of="base", in_frame="map")
