"""What a world answers about frames that are sampled, fixed, moved and disputed."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from armillary import LATEST, Transform, World, seconds
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    BeforeHistory,
    FrameInUse,
    FrameLoop,
    InvalidArgument,
    NoSamples,
    NotConnected,
    UnknownFrame,
)
from strategies import (
    ANY_PAIR,
    BETWEEN,
    CLOSE_M,
    FRAMES,
    LONG_HISTORY,
    STAMPS,
    Twins,
    assert_close,
    forests,
    histories,
    preferences,
    questions,
    samples,
    transforms,
    two_time_questions,
)

QUESTIONS = st.lists(questions(), min_size=1, max_size=20)


def put(world, of, in_frame, places, *, source=None):
    """Samples along x: seconds -> metres."""
    for second, metres in places.items():
        transform, at = Transform.exp([metres, 0, 0, 0, 0, 0]), seconds(float(second))
        world.set_pose(of=of, in_frame=in_frame, transform=transform, at=at, source=source)


def bolt(world, of, in_frame, metres, *, at=None, source=None):
    transform = Transform.exp([metres, 0, 0, 0, 0, 0])
    at = None if at is None else seconds(float(at))
    world.fix(of=of, in_frame=in_frame, transform=transform, at=at, source=source)


def where(world, of, in_frame, second, **how):
    """Along x, in metres."""
    at = LATEST if second is LATEST else seconds(float(second))
    x, y, z = world.pose(of=of, in_frame=in_frame, at=at, **how).transform.translation
    assert (y, z) == (0.0, 0.0)
    return pytest.approx(x, abs=CLOSE_M)


@pytest.fixture
def world():
    return World(history=LONG_HISTORY)


@pytest.fixture
def grasp(world):
    """A cup on the table until 2 s, in the gripper from 4 s to 6 s."""
    bolt(world, "table", "map", 10.0)
    bolt(world, "gripper", "map", 20.0)
    put(world, "cup", "table", {0: 0.0, 2: 2.0})
    put(world, "cup", "gripper", {4: 4.0, 6: 6.0})
    return world


@pytest.fixture
def dispute(world):
    """Two cameras that disagree about a cup from 2 s on; a straw is placed in the cup."""
    put(world, "cup", "map", {0: 0.0, 4: 4.0}, source="left")
    put(world, "cup", "map", {2: 102.0, 4: 104.0}, source="right")
    bolt(world, "straw", "cup", 0.5)
    bolt(world, "ice", "cup", 0.25)
    return world


class TestAWorld:
    @given(histories(), QUESTIONS)
    def test_answers_like_the_reference(self, history, asked):
        twins = Twins().do_all(history)
        for question in asked:
            twins.ask(question)

    @given(histories(), st.lists(preferences(), max_size=6), QUESTIONS)
    def test_answers_like_the_reference_when_rivals_are_preferred(self, history, preferred, asked):
        twins = Twins().do_all(history)
        twins.do_all([statement for statement in preferred if statement[1]["of"] in twins.reference.frames])
        for question in asked:
            twins.ask(question)

    @given(histories(ANY_PAIR), QUESTIONS)
    def test_refuses_the_loops_the_reference_refuses_and_no_others(self, history, asked):
        twins = Twins().do_all(history)
        for question in asked:
            twins.ask(question)

    @given(histories(), st.lists(two_time_questions(), min_size=1, max_size=20))
    def test_answers_between_two_times_like_the_reference(self, history, asked):
        twins = Twins().do_all(history)
        for question in asked:
            twins.ask(question)

    @given(histories(ANY_PAIR), QUESTIONS)
    def test_forgets_like_the_reference(self, history, asked):
        twins = Twins(history=seconds(3.0)).do_all(history)
        for question in asked:
            twins.ask(question)

    @given(histories(ANY_PAIR))
    def test_knows_the_frames_of_what_it_accepted_and_no_others(self, history):
        twins = Twins().do_all(history)
        assert set(twins.world.frames()) - {"map"} == twins.reference.frames

    @given(histories(), questions(), st.lists(st.sampled_from(STAMPS + BETWEEN), min_size=1))
    def test_answers_many_stamps_as_it_answers_each(self, history, question, stamps):
        Twins().do_all(history).ask_many(question, stamps)

    @given(histories(), questions())
    def test_shows_all_frames_as_it_answers_each(self, history, question):
        Twins().do_all(history).ask_for_all(question)


class TestTheOrderOfArrival:
    @given(
        st.lists(samples(), max_size=20, unique_by=lambda sample: (sample[1]["of"], sample[1]["at"])),
        st.randoms(use_true_random=False),
        QUESTIONS,
    )
    def test_does_not_matter(self, history, random, asked):
        twins, in_order = Twins(), Twins().do_all(history)
        random.shuffle(history)
        twins.do_all(history).reference = in_order.reference
        for question in asked:
            twins.ask(question)

    def test_does_not_matter_before_two_samples_at_the_same_stamp(self):
        answers = set()
        for sources in (("left", "right"), ("right", "left")):
            world = World()
            for source in sources:
                put(world, "cup", f"{source} camera", {2: 0.0}, source=source)
            answers.add(tuple(sorted(world.snapshot(in_frame="cup", at=0, outside="hold"))))
        assert len(answers) == 1

    @given(st.permutations(range(8)), st.integers(0, 8))
    def test_does_not_matter_for_batches(self, order, cut):
        rows = np.array([[i, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] for i in order])
        stamps = np.array(order, dtype=np.int64) * seconds(1.0)
        world = World(history=LONG_HISTORY)
        for part in (slice(cut, None), slice(cut)):
            world.set_poses(of="base", in_frame="map", transforms=rows[part], at=stamps[part])
        for tenths in range(71):
            assert where(world, "base", "map", tenths / 10) == tenths / 10


class TestAQuery:
    @given(st.lists(transforms(), min_size=4, max_size=4), st.integers(0, 4), st.integers(0, 4))
    def test_equals_the_product_of_its_edges(self, edges, i, j):
        world = World()
        for n, edge in enumerate(edges):
            world.set_pose(of=FRAMES[n + 1], in_frame=FRAMES[n], transform=edge, at=0)
        expected = Transform.identity()
        for edge in edges[min(i, j) : max(i, j)]:
            expected = expected @ edge
        expected = expected if i <= j else expected.inverse()
        assert_close(world.pose(of=FRAMES[j], in_frame=FRAMES[i], at=0).transform, expected)

    @given(forests(), st.permutations(FRAMES))
    def test_through_a_third_frame_gives_the_same(self, forest, frames):
        world = Twins().do_all(forest).world
        a, b, c = frames[:3]
        assume({a, b, c} <= set(world.frames()))
        assume(world.can_pose(of=b, in_frame=a) and world.can_pose(of=c, in_frame=b))
        a_T_b = world.pose(of=b, in_frame=a).transform
        b_T_c = world.pose(of=c, in_frame=b).transform
        assert_close(world.pose(of=c, in_frame=a).transform, a_T_b @ b_T_c)

    @given(histories(), questions())
    def test_is_the_inverse_of_the_reverse_query(self, history, question):
        world = Twins().do_all(history).world
        there = {"of": question["of"], "in_frame": question["in_frame"]}
        back = {"of": question["in_frame"], "in_frame": question["of"]}
        assume(set(there.values()) <= set(world.frames()))
        assert world.can_pose(**there) is world.can_pose(**back)
        assume(world.can_pose(**there))
        assert_close(world.pose(**there).transform, world.pose(**back).transform.inverse())

    @given(st.sampled_from(STAMPS))
    def test_of_a_frame_in_itself_is_the_identity_at_the_stamp_asked(self, at):
        world = World()
        world.add_frame("cup")
        pose = world.pose(of="cup", in_frame="cup", at=at)
        assert_close(pose.transform, np.eye(4))
        assert pose.stamp == at
        assert world.pose(of="cup", in_frame="cup").stamp is None

    def test_of_frames_in_two_trees_is_refused_even_without_data(self, world):
        put(world, "cup", "table", {0: 0.0, 1: 1.0})
        put(world, "saw", "bench", {0: 0.0, 1: 1.0})
        with pytest.raises(NotConnected):
            where(world, "cup", "saw", 50)


class TestAMove:
    def test_leaves_the_past_under_the_old_parent(self, grasp):
        assert where(grasp, "cup", "map", 1) == 11.0
        assert where(grasp, "cup", "map", 5) == 25.0

    def test_is_not_interpolated_across(self, grasp):
        with pytest.raises(AfterHistory) as caught:
            where(grasp, "cup", "map", 3)
        assert tuple(caught.value.edge) == ("cup", "table", "")

    def test_holds_the_last_sample_before_the_gap_when_asked_to(self, grasp):
        pose = grasp.pose(of="cup", in_frame="map", at=seconds(3.0), outside="hold")
        assert pose.held
        assert pose.stamp == seconds(3.0)
        assert where(grasp, "cup", "map", 3, outside="hold") == 12.0

    def test_happens_at_the_first_sample_under_the_new_parent(self, grasp):
        assert where(grasp, "cup", "map", 4) == 24.0

    def test_of_a_late_sample_splits_what_was_one_run(self, grasp):
        put(grasp, "cup", "gripper", {1: 7.0})
        assert where(grasp, "cup", "map", 1) == 27.0
        with pytest.raises(AfterHistory):
            where(grasp, "cup", "map", 0.5)
        with pytest.raises(AfterHistory):
            where(grasp, "cup", "map", 1.5)

    def test_at_the_stamp_of_a_sample_replaces_it(self, grasp):
        put(grasp, "cup", "gripper", {2: 2.0})
        assert where(grasp, "cup", "map", 2) == 22.0
        assert where(grasp, "cup", "map", 3) == 23.0

    def test_by_a_fixing_leaves_no_gap_at_its_end(self, grasp):
        bolt(grasp, "cup", "table", 0.5, at=3)
        assert where(grasp, "cup", "map", 3.999) == 10.5
        assert where(grasp, "cup", "map", 4) == 24.0


class TestRivals:
    def test_are_refused_with_their_names(self, dispute):
        with pytest.raises(AmbiguousPath) as caught:
            where(dispute, "straw", "map", 3)
        assert caught.value.frame == "cup"
        assert set(caught.value.sources) == {"left", "right"}
        assert not dispute.can_pose(of="straw", in_frame="map", at=seconds(3.0))

    def test_do_not_exist_before_the_first_sample_of_the_second(self, dispute):
        assert where(dispute, "cup", "map", 1) == 1.0

    def test_do_not_matter_above_the_common_ancestor(self, dispute):
        assert where(dispute, "straw", "ice", 3) == 0.25
        assert where(dispute, "straw", "cup", 3) == 0.5

    @pytest.mark.parametrize(("source", "expected"), [("left", 3.5), ("right", 103.5)])
    def test_are_resolved_by_a_preference(self, dispute, source, expected):
        dispute.prefer(of="cup", source=source)
        assert where(dispute, "straw", "map", 3) == expected

    def test_are_not_resolved_by_a_preference_that_was_removed(self, dispute):
        dispute.prefer(of="cup", source="left")
        dispute.prefer(of="cup", source=None)
        with pytest.raises(AmbiguousPath):
            where(dispute, "straw", "map", 3)

    def test_answer_where_the_preferred_one_has_not_spoken_yet(self, dispute):
        dispute.prefer(of="cup", source="right")
        assert where(dispute, "cup", "map", 1) == 1.0


class TestTheLatestPose:
    def test_is_the_newest_that_all_edges_cover(self, world):
        put(world, "base", "map", {0: 0.0, 4: 4.0})
        put(world, "cup", "base", {0: 0.0, 2: 20.0, 6: 60.0})
        assert where(world, "cup", "map", LATEST) == 44.0
        assert world.pose(of="cup", in_frame="map").stamp == seconds(4.0)

    def test_has_no_stamp_where_everything_is_fixed(self, world):
        bolt(world, "cup", "table", 1.0)
        bolt(world, "table", "map", 1.0, at=3)
        assert world.pose(of="cup", in_frame="map").stamp is None
        assert world.pose(of="cup", in_frame="map", at=seconds(5.0)).stamp is None

    def test_goes_back_before_a_gap(self, grasp):
        put(grasp, "robot", "map", {0: 0.0, 3: 3.0})
        pose = grasp.pose(of="cup", in_frame="robot")
        assert pose.stamp == seconds(2.0)
        assert where(grasp, "cup", "robot", LATEST) == 10.0

    def test_does_not_exist_where_histories_do_not_overlap(self, world):
        put(world, "base", "map", {0: 0.0, 4: 4.0})
        put(world, "cup", "base", {5: 0.0, 6: 20.0})
        with pytest.raises(BeforeHistory) as caught:
            where(world, "cup", "map", LATEST)
        assert tuple(caught.value.edge) == ("cup", "base", "")


class TestALoop:
    @pytest.mark.parametrize("second", [1, 3, 5])
    def test_at_one_instant_is_refused_and_nothing_changes(self, world, second):
        put(world, "a", "b", {1: 1.0, 5: 5.0})
        bolt(world, "c", "a", 1.0)
        with pytest.raises(FrameLoop):
            put(world, "b", "c", {second: 1.0})
        assert where(world, "c", "b", second) == second + 1.0
        assert len(world.relations()) == 2

    def test_is_no_loop_when_the_two_turn_round(self, world):
        put(world, "a", "b", {1: 1.0, 5: 5.0})
        put(world, "b", "a", {6: 6.0, 8: 8.0})
        assert where(world, "a", "b", 3) == 3.0
        assert where(world, "b", "a", 3) == -3.0
        assert where(world, "b", "a", 7) == 7.0
        assert where(world, "a", "b", 7) == -7.0
        assert where(world, "b", "a", LATEST) == 8.0

    def test_closed_by_a_late_sample_in_between_is_refused(self, world):
        put(world, "a", "b", {1: 1.0, 5: 5.0})
        put(world, "b", "a", {6: 6.0})
        with pytest.raises(FrameLoop):
            put(world, "a", "b", {7: 7.0})

    def test_ends_with_the_fixing_that_is_part_of_it(self, world):
        bolt(world, "a", "b", 1.0, at=0)
        put(world, "a", "map", {5: 5.0})
        put(world, "b", "a", {5: 10.0})
        assert where(world, "a", "b", 4) == 1.0
        assert where(world, "b", "map", 5) == 15.0
        with pytest.raises(FrameLoop):
            put(world, "b", "a", {4: 10.0})

    def test_that_is_refused_leaves_nobody_behind_to_prefer(self, world):
        put(world, "b", "a", {4: 4.0})
        with pytest.raises(FrameLoop):
            put(world, "a", "b", {4: 4.0}, source="left")
        with pytest.raises(InvalidArgument):
            world.prefer(of="a", source="left")

    def test_of_two_sources_is_a_loop_too(self, world):
        put(world, "a", "b", {1: 1.0, 5: 5.0}, source="left")
        with pytest.raises(FrameLoop):
            put(world, "b", "a", {3: 3.0}, source="right")


class TestForgetting:
    def test_keeps_the_sample_that_is_exactly_as_old_as_the_history(self):
        world = World(history=seconds(2.0))
        put(world, "base", "map", {0: 0.0, 1: 1.0, 2: 2.0})
        assert where(world, "base", "map", 0) == 0.0

    def test_drops_what_is_older_and_refuses_it_when_it_comes_late(self):
        world = World(history=seconds(2.0))
        put(world, "base", "map", {0: 0.0, 1: 1.0, 3: 3.0})
        with pytest.raises(BeforeHistory):
            where(world, "base", "map", 0.5)
        with pytest.raises(BeforeHistory):
            put(world, "base", "map", {0.5: 0.0})

    def test_refuses_a_batch_as_a_whole(self):
        world = World(history=seconds(2.0))
        put(world, "base", "map", {10: 10.0})
        rows = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]] * 2)
        stamps = np.array([seconds(11.0), seconds(3.0)])
        with pytest.raises(BeforeHistory):
            world.set_poses(of="base", in_frame="map", transforms=rows, at=stamps)
        assert world.pose(of="base", in_frame="map").stamp == seconds(10.0)

    @given(at=st.lists(st.integers(1 - 2**62, 2**62 - 1), min_size=1, max_size=20, unique=True), data=st.data())
    def test_without_end_keeps_every_sample(self, at, data):
        world = World(history=None)
        for stamp in data.draw(st.permutations(at)):
            world.set_pose(of="base", in_frame="map", transform=Transform.identity(), at=stamp)
        assert world.samples(of="base", in_frame="map").stamps.tolist() == sorted(at)
        assert all(world.can_pose(of="base", in_frame="map", at=stamp) for stamp in at)

    def test_can_be_set_for_one_relation(self, world):
        put(world, "base", "map", {0: 0.0, 1: 1.0, 3: 3.0})
        put(world, "cup", "map", {0: 0.0, 3: 3.0})
        world.keep(of="base", in_frame="map", history=seconds(2.0))
        put(world, "base", "map", {4: 4.0})
        assert where(world, "cup", "map", 0) == 0.0
        with pytest.raises(BeforeHistory):
            where(world, "base", "map", 0.5)

    def test_does_not_bring_back_what_was_before(self):
        world = World(history=seconds(3.0))
        bolt(world, "cup", "table", 0.0)
        put(world, "cup", "gripper", {5: 5.0, 6: 6.0})
        put(world, "cup", "tray", {7: 7.0})
        put(world, "cup", "gripper", {20: 20.0})
        assert not world.can_pose(of="cup", in_frame="table", at=seconds(5.5))
        with pytest.raises(BeforeHistory):
            where(world, "cup", "gripper", 5.5)

    def test_does_not_join_what_a_move_has_parted(self):
        world = World(history=seconds(3.0))
        for second, parent in {1: "tray", 2: "gripper", 3: "tray", 20: "gripper"}.items():
            put(world, "cup", parent, {second: 1.0})
        assert not world.can_pose(of="cup", in_frame="tray", at=seconds(2.0))


class TestClearing:
    def test_removes_samples_and_keeps_parents(self, grasp):
        grasp.clear()
        with pytest.raises(NoSamples):
            where(grasp, "cup", "map", 5)
        assert where(grasp, "gripper", "table", 5) == 10.0
        put(grasp, "cup", "table", {9: 9.0})
        assert where(grasp, "cup", "map", LATEST) == 19.0

    def test_does_not_bring_back_what_was_before(self, world):
        bolt(world, "cup", "table", 0.5)
        put(world, "cup", "gripper", {5: 5.0})
        world.clear()
        assert not world.can_pose(of="cup", in_frame="table")
        with pytest.raises(NoSamples):
            where(world, "cup", "gripper", LATEST)


class TestRemovingAFrame:
    def test_is_refused_while_it_is_a_parent_at_any_time(self, grasp):
        with pytest.raises(FrameInUse) as caught:
            grasp.remove_frame("table")
        assert set(caught.value.frames) == {"cup"}
        assert where(grasp, "cup", "map", 1) == 11.0

    def test_erases_it_with_its_history(self, grasp):
        grasp.remove_frame("cup")
        with pytest.raises(UnknownFrame):
            where(grasp, "cup", "map", 1)
        grasp.remove_frame("table")
        assert {"cup", "table"}.isdisjoint(grasp.frames())

    def test_removes_its_subtree_when_asked_to(self, grasp):
        grasp.remove_frame("table", subtree=True)
        assert {"cup", "table"}.isdisjoint(grasp.frames())
        assert where(grasp, "gripper", "map", 1) == 20.0


class TestTwoTimes:
    def test_meet_in_the_frame_that_did_not_move(self, world):
        put(world, "robot", "map", {0: 0.0, 4: 4.0})
        put(world, "cup", "map", {0: 0.0, 4: 40.0})
        pose = world.pose(of="cup", of_at=seconds(1.0), in_frame="robot", at=seconds(3.0), fixed_frame="map")
        assert_close(pose.transform, Transform.exp([10.0 - 3.0, 0, 0, 0, 0, 0]))
        assert pose.stamp == seconds(3.0)
