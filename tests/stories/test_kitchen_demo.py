"""The kitchen of `armillary demo`: a robot opens a cupboard and moves a cup, and what it knows is held to the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("casadi")
pytest.importorskip("rich")

from armillary import seconds
from armillary.demos.kitchen.figures import cup_error_m, measure_figures
from armillary.demos.kitchen.names import (
    BASE,
    CUP,
    DOOR,
    DOOR_JOINT,
    HAND,
    HEAD,
    HEAD_CAMERA,
    ISLAND,
    MAP,
    PLATE,
    TOOL,
    WALL,
    WORKTOP,
)
from armillary.demos.kitchen.questions import AGREES_WITHIN, answers, cup_estimates
from armillary.demos.kitchen.scenario import GRASP_S, OPENED_S, RELEASE_S, activity, phase_s
from armillary.demos.kitchen.simulation import BUMP_S, Kitchen
from armillary.demos.models import kitchen as furniture
from armillary.demos.models import mobile_manipulator
from armillary.errors import BeforeHistory
from armillary.fusion.policies import by_source

EXACT_M = 1e-12
ENCODERS_M = 0.01  # what noise of 0.3 mrad in seven joints and in the robot's place makes of a gripper
LENGTH_S = 10.0


@pytest.fixture(scope="module")
def rest():
    """The whole story once."""
    kitchen = Kitchen(history=seconds(30))
    kitchen.advance(to=seconds(LENGTH_S))
    return kitchen


@pytest.fixture(scope="module")
def twice():
    """There, back, and there again."""
    kitchen = Kitchen(history=seconds(40))
    kitchen.advance(to=seconds(27))
    return kitchen


def apart_m(one, other):
    return float(np.linalg.norm(np.subtract(one.translation, other.translation)))


def held(kitchen, at_s, in_frame=TOOL):
    return kitchen.world.pose(of=CUP, in_frame=in_frame, at=seconds(at_s), policy=by_source(HAND)).transform


class TestTheScript:
    def test_keeps_every_joint_within_its_limits(self, rest):
        limits = {joint.name: joint.limits for robot in (furniture(), mobile_manipulator()) for joint in robot.joints}
        for time_s in np.arange(0.0, LENGTH_S, 0.02):
            speeds = rest.scenario.speeds(time_s)
            for name, value in rest.scenario.joints(phase_s(time_s)).items():
                limit = limits[name.partition("/")[2]]
                assert limit.lower is None or limit.lower <= value <= limit.upper, (name, time_s)
                assert abs(speeds[name]) <= limit.velocity, (name, time_s)

    def test_moves_the_gripper_with_the_door(self, rest):
        door_T_tool = [
            rest.world.pose(of=TOOL, in_frame=DOOR, at=seconds(at_s)).transform
            for at_s in np.arange(2.9, OPENED_S, 0.1)
        ]
        assert max(apart_m(place, door_T_tool[0]) for place in door_T_tool) < ENCODERS_M

    def test_runs_back_after_ten_seconds(self):
        assert [phase_s(time_s) for time_s in (0.0, 4.0, 10.0, 14.0, 20.0, 24.0)] == [0.0, 4.0, 10.0, 6.0, 0.0, 4.0]
        assert activity(3.5) == "opens the cupboard"
        assert activity(16.5) == "closes the cupboard"


class TestTheDoor:
    def test_is_opened_and_stays_open(self, rest):
        assert rest.world.joint(DOOR_JOINT, at=seconds(2.5)).value == 0.0
        assert rest.world.joint(DOOR_JOINT, at=seconds(OPENED_S)).value == pytest.approx(1.0)
        assert rest.world.joint(DOOR_JOINT).value == pytest.approx(1.0)

    def test_turns_its_frame(self, rest):
        shut, opened = (rest.world.pose(of=DOOR, in_frame=MAP, at=seconds(at_s)) for at_s in (2.0, 6.0))
        assert shut.transform.inverse().rotation.rpy[2] - opened.transform.inverse().rotation.rpy[2] == pytest.approx(
            -1.0
        )

    def test_is_closed_on_the_way_back(self, twice):
        assert twice.world.joint(DOOR_JOINT, at=seconds(18.0)).value == 0.0


class TestTheGraspedCup:
    def test_keeps_its_pose_in_the_gripper(self, rest):
        poses = [held(rest, at_s) for at_s in np.arange(GRASP_S + 0.1, RELEASE_S - 0.05, 0.1)]
        assert len(poses) > 25
        assert max(apart_m(pose, poses[0]) for pose in poses) < EXACT_M

    def test_goes_where_the_gripper_goes(self, rest):
        moved_m = apart_m(held(rest, 6.0, MAP), held(rest, 9.0, MAP))
        assert moved_m > 1.5

    def test_is_at_rest_on_the_island_afterwards(self, rest):
        places = [held(rest, at_s, MAP) for at_s in (RELEASE_S + 0.1, 9.6, 10.0)]
        assert max(apart_m(place, places[0]) for place in places) < EXACT_M

    def test_has_the_parent_of_that_time(self, rest):
        tree = [
            rest.world.pose(of=CUP, in_frame=MAP, at=seconds(at_s), policy=by_source(HAND)).relations[0][:2]
            for at_s in (7.0, 9.8)
        ]
        assert tree == [(CUP, TOOL), (CUP, ISLAND)]

    def test_is_brought_back_to_the_worktop(self, twice):
        back = twice.world.pose(of=CUP, in_frame=MAP, at=seconds(15), policy=by_source(HAND))
        assert back.relations[0][:2] == (CUP, WORKTOP)

    def test_is_near_the_truth_in_the_hand(self, rest):
        for at_s in (6.5, 7.5, 8.5):
            assert apart_m(held(rest, at_s, MAP), rest.scenario.map_T_cup(at_s)) < 0.04


class TestTwoCameras:
    def test_together_are_nearer_to_the_truth_than_either_on_average(self):
        runs = []
        for seed in (1, 2, 3):
            kitchen = Kitchen(history=seconds(12), seed=seed)
            kitchen.advance(to=seconds(GRASP_S - 0.1))
            runs.append(cup_error_m(kitchen))
        head, wall, together = (np.mean([run[who] for run in runs]) for who in (HEAD, WALL, "together"))
        assert together < head < wall

    def test_are_surer_together(self, rest):
        for at_s in (1.0, 3.0, 5.0):
            estimates = cup_estimates(rest.world, seconds(at_s))
            traces = [np.trace(pose.covariance[:3, :3]) for pose in estimates.by_source.values()]
            assert set(estimates.by_source) == {HEAD, WALL}
            assert np.trace(estimates.fused.covariance[:3, :3]) < min(traces)

    def test_agree_until_somebody_bumps_into_one(self, rest):
        before = [cup_estimates(rest.world, seconds(at_s)) for at_s in np.arange(0.5, BUMP_S - 0.2, 0.25)]
        after = [cup_estimates(rest.world, seconds(at_s)) for at_s in np.arange(8.0, 9.9, 0.2)]
        assert sum(estimates.farthest > AGREES_WITHIN for estimates in before) <= 2  # one of a hundred, by chance
        assert [estimates.odd_one for estimates in after] == [WALL] * len(after)

    def test_leave_a_thing_where_they_saw_it_last(self, twice):
        """On the way back the head looks away from the plate; it does not swing along with the head."""
        seen = [
            twice.world.pose(of=PLATE, in_frame=MAP, at=seconds(at_s), policy=by_source(HEAD)).transform
            for at_s in (15.0, 18.0, 24.0)
        ]
        assert max(apart_m(place, seen[0]) for place in seen) < EXACT_M


class TestTheRobot:
    def test_knows_its_place_better_than_its_wheels_do(self, rest):
        figures = measure_figures(rest)
        assert figures.place_error_m < 0.02 < figures.odometry_error_m

    def test_looks_at_the_cup(self, rest):
        for at_s in (0.5, 5.9, 7.0, 9.0):
            camera_T_cup = rest.world.pose(of=CUP, in_frame=HEAD_CAMERA, at=seconds(at_s), policy=by_source(HEAD))
            x_m, y_m, z_m = camera_T_cup.xyz
            assert math.hypot(x_m, y_m) < 0.2 * z_m


class TestTheQuestions:
    def test_are_all_answered_in_the_end(self, rest):
        for answer in answers(rest.world, cup_estimates(rest.world)):
            assert answer.values, answer.question

    def test_are_those_of_the_world(self, rest):
        on_door, speed, sure, _, before = answers(rest.world, cup_estimates(rest.world))
        then = rest.world.pose(of=TOOL, in_frame=DOOR, at=seconds(LENGTH_S - 0.5)).xyz
        np.testing.assert_allclose(list(on_door.values.values()), then, atol=EXACT_M)
        assert speed.values["speed_m_s"] < 0.1  # the robot is at rest
        assert sure.values["together_m"] < min(sure.values[who] for who in (HEAD, WALL, HAND))
        assert before.values["ahead_m"] < -0.8  # the cup was behind where the robot looks now

    def test_wait_for_history(self):
        young = Kitchen(history=seconds(30))
        young.advance(to=seconds(0.3))
        found = answers(young.world, cup_estimates(young.world))
        assert [bool(answer.values) for answer in found] == [False, False, True, True, False]

    def test_about_the_past_are_answered_with_the_tree_of_then(self, rest):
        seen = rest.world.pose(of=CUP, in_frame=MAP, at=seconds(3.0), policy="fuse")
        assert apart_m(seen.transform, rest.scenario.map_T_cup(3.0)) < 0.05
        seen_from_now = rest.world.pose(
            of=CUP, of_at=seconds(3.0), in_frame=BASE, at=seconds(9.9), fixed_frame=MAP, policy=by_source(HEAD)
        )
        map_T_base = rest.world.pose(of=BASE, in_frame=MAP, at=seconds(9.9)).transform
        by_head = rest.world.pose(of=CUP, in_frame=MAP, at=seconds(3.0), policy=by_source(HEAD)).transform
        assert apart_m(map_T_base @ seen_from_now.transform, by_head) < 1e-9

    def test_before_the_beginning_have_no_answer(self, rest):
        with pytest.raises(BeforeHistory):
            rest.world.pose(of=TOOL, in_frame=DOOR, at=seconds(-0.5))
