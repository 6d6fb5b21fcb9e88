"""The tf paper's two turtles: one follows where the other was five seconds ago (Foote 2013, VI-B)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import World, seconds
from armillary.demos.turtles.report import follow_error
from armillary.demos.turtles.simulation import (
    DELAY,
    FOLLOWER,
    LEADER,
    REACH_M,
    WORLD,
    Turtles,
    distance_m,
    leader_at,
    planar,
    step_towards,
)
from armillary.errors import BeforeHistory

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9
SAG_M = 6e-5  # how far a chord of one sample period leaves the trefoil: v² Δt² / 8r


@pytest.fixture(scope="module")
def turtles():
    driven = Turtles(history=seconds(60))
    driven.advance(to=seconds(30))
    return driven


class TestTheTwoTimeQuestion:
    def test_is_answered_as_by_hand(self):
        """turtle1 at (1, 0) looking up at 0 s; turtle2 at (4, 1) looking left at 5 s: 1 m to the left, 3 m ahead."""
        world = World()
        world.set_pose(of="turtle1", in_frame="world", transform=planar(1, 0, math.pi / 2), at=0)
        world.set_pose(of="turtle1", in_frame="world", transform=planar(9, 9, 0), at=seconds(5))
        world.set_pose(of="turtle2", in_frame="world", transform=planar(-7, 3, 0), at=0)
        world.set_pose(of="turtle2", in_frame="world", transform=planar(4, 1, math.pi), at=seconds(5))
        goal = world.pose(of="turtle1", of_at=0, in_frame="turtle2", at=seconds(5), fixed_frame="world")
        assert goal.transform.is_close(planar(3, 1, -math.pi / 2), m=CLOSE_M, rad=CLOSE_RAD)
        assert goal.stamp == seconds(5)

    @pytest.mark.parametrize("at_s", [5.0, 11.117, 23.25, 30.0])
    def test_is_the_product_of_equation_3(self, turtles, at_s):
        at = seconds(at_s)
        follower_T_world = turtles.world.pose(of=WORLD, in_frame=FOLLOWER, at=at).transform
        world_T_leader = turtles.world.pose(of=LEADER, in_frame=WORLD, at=at - DELAY).transform
        context = turtles.world.pose(of=LEADER, of_at=at - DELAY, in_frame=FOLLOWER, at=at, fixed_frame=WORLD).transform
        assert context.is_close(follower_T_world @ world_T_leader, m=CLOSE_M, rad=CLOSE_RAD)

    def test_has_no_answer_before_there_are_five_seconds(self):
        young = Turtles(history=seconds(60))
        young.advance(to=seconds(4))
        with pytest.raises(BeforeHistory, match="turtle1"):
            young.goal(at=seconds(4))


class TestTheFollower:
    def test_is_where_the_leader_was_five_seconds_before(self, turtles):
        moves = turtles.world.samples(of=FOLLOWER, in_frame=WORLD, start=turtles.caught_up)
        before = turtles.world.transforms(of=LEADER, in_frame=WORLD, at=moves.stamps - DELAY, as_="xyz_wxyz")
        assert len(moves) > 800
        np.testing.assert_allclose(moves.transforms[:, :3], before[:, :3], atol=CLOSE_M)
        # A quaternion and its negative are one rotation.
        np.testing.assert_allclose(np.abs((moves.transforms[:, 3:] * before[:, 3:]).sum(axis=1)), 1.0, atol=CLOSE_RAD)

    def test_is_on_the_curve_that_the_leader_drove(self, turtles):
        moves = turtles.world.samples(of=FOLLOWER, in_frame=WORLD, start=turtles.caught_up)
        driven = [leader_at((at - DELAY) / 1e9).translation for at in moves.stamps]
        assert np.linalg.norm(moves.transforms[:, :3] - driven, axis=1).max() < SAG_M

    def test_never_moves_faster_than_it_can(self, turtles):
        positions = turtles.world.samples(of=FOLLOWER, in_frame=WORLD).transforms[:, :3]
        assert np.linalg.norm(np.diff(positions, axis=0), axis=1).max() <= REACH_M + CLOSE_M

    def test_waits_until_there_is_something_to_follow(self, turtles):
        positions = turtles.world.samples(of=FOLLOWER, in_frame=WORLD, end=DELAY - 1).transforms[:, :3]
        assert len(positions) == 200
        assert (positions == positions[0]).all()

    def test_keeps_following_for_laps(self):
        long = Turtles(history=seconds(600))
        long.advance(to=seconds(300))
        assert follow_error(long).largest_m < SAG_M


class TestTheFollowError:
    def test_is_the_distance_at_every_sample_of_the_leader(self, turtles):
        error = follow_error(turtles)
        at = np.arange(0, seconds(30) + 1, seconds(0.02))
        at = at[at >= turtles.caught_up]
        now = turtles.world.transforms(of=FOLLOWER, in_frame=WORLD, at=at)[:, :3, 3]
        before = turtles.world.transforms(of=LEADER, in_frame=WORLD, at=at - DELAY)[:, :3, 3]
        distances = np.linalg.norm(now - before, axis=1)
        assert error.instants == len(at)
        assert error.largest_m == pytest.approx(distances.max(), abs=CLOSE_M)
        assert error.mean_m == pytest.approx(distances.mean(), abs=CLOSE_M)

    def test_is_unknown_before_the_follower_has_caught_up(self):
        early = Turtles(history=seconds(60))
        early.advance(to=seconds(6))
        assert follow_error(early) is None


class TestOneStep:
    def test_lands_on_a_goal_within_reach(self):
        goal = planar(0.02, -0.01, 0.3)
        assert step_towards(goal).is_close(goal, m=CLOSE_M, rad=CLOSE_RAD)

    def test_comes_closer_to_a_goal_ahead(self):
        goal = planar(2.0, 0.1, 0.0)
        assert distance_m(step_towards(goal).inverse() @ goal) < distance_m(goal)

    def test_turns_in_place_for_a_goal_behind(self):
        step = step_towards(planar(-2.0, 0.5, 0.0))
        assert distance_m(step) == 0.0
        assert step.rotation.rpy[2] > 0.0


class TestTheWorldOfTheTurtles:
    def test_runs_on_the_simulated_clock(self, turtles):
        assert turtles.world.now() == seconds(30)
        ages_s = {info.of: info.age_s for info in turtles.world.relations() if info.kind == "sampled"}
        assert ages_s == {LEADER: 0.0, FOLLOWER: 0.0}

    def test_is_the_same_however_time_is_cut(self):
        whole, pieces = Turtles(history=seconds(60)), Turtles(history=seconds(60))
        whole.advance(to=seconds(12))
        for to_s in (0.003, 4.0, 4.0, 9.871, 12.0):
            pieces.advance(to=seconds(to_s))
        one, other = (world.samples(of=FOLLOWER, in_frame=WORLD) for world in (whole.world, pieces.world))
        np.testing.assert_array_equal(one.transforms, other.transforms)

    def test_carries_the_heads_along(self, turtles):
        head = turtles.world.pose(of="turtle2_head", in_frame=FOLLOWER)
        assert head.stamp is None
        assert head.transform.is_close(planar(0.12, 0.0, 0.0), m=CLOSE_M, rad=CLOSE_RAD)
