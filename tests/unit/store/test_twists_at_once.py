"""Twists of many instants said in one call, and asked with their covariances."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import (
    AfterHistory,
    BeforeHistory,
    ConstraintViolation,
    InvalidArgument,
    SamplesDropped,
    UnknownFrame,
)
from randomness import rng
from unit.kit import drive

ROBOT = {"of": "robot", "relative_to": "map"}
COUNT = 200


def turning(world: World) -> World:
    for t in range(3):
        turned = Transform.from_xyz_rpy(xyz=(t, 0, 0), rpy=(0, 0, t))
        world.set_pose(of="robot", in_frame="map", transform=turned, at=seconds(t), covariance=[1e-4] * 6)
    mounting = Transform.from_xyz_rpy(xyz=(0.1, 0, 0), rpy=(1, 2, 3))
    world.fix(of="camera", in_frame="robot", transform=mounting, covariance=[1e-4] * 6)
    return world


def some() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = rng(7)
    spreads = random.normal(size=(COUNT, 6, 6))
    at = random.choice(seconds(2), size=COUNT, replace=False)
    return at, random.normal(size=(COUNT, 6)), spreads @ spreads.transpose(0, 2, 1)


class TestTwistsSaidAtOnce:
    @pytest.mark.parametrize("axes", ["robot", "camera", None])
    def test_are_those_said_one_after_the_other(self, axes):
        at, twists, covariances = some()
        one_by_one, at_once = turning(World(history=None)), turning(World(history=None))
        for stamp, v, covariance in zip(at, twists, covariances, strict=True):
            given = {"linear": v[:3], "angular": v[3:], "expressed_in": axes or "robot", "covariance": covariance}
            one_by_one.set_twist(**ROBOT, **given, at=stamp)
        at_once.set_twists(**ROBOT, at=at, twists=twists, expressed_in=axes, covariances=covariances)
        ours, theirs = (world.twist_samples(**ROBOT) for world in (at_once, one_by_one))
        np.testing.assert_array_equal(ours.stamps, theirs.stamps)
        np.testing.assert_array_equal(ours.twists, theirs.twists)
        np.testing.assert_array_equal(ours.covariances, theirs.covariances)
        where = [world.pose(of="robot", in_frame="map", at=seconds(0.7)) for world in (at_once, one_by_one)]
        assert where[0].transform.is_close(where[1].transform, m=1e-12, rad=1e-12)

    def test_are_all_stored_or_none(self):
        world = turning(World(history=None))
        good = {"at": [0, 1], "twists": np.ones((2, 6))}
        bad = [
            ({"twists": np.ones((2, 5))}, InvalidArgument),
            ({"twists": [[0] * 6, [0, 0, np.nan, 0, 0, 0]]}, InvalidArgument),
            ({"covariances": -np.ones((2, 6))}, InvalidArgument),
            ({"of": "map"}, ConstraintViolation),
            ({"expressed_in": "nowhere"}, UnknownFrame),
            ({"expressed_in": "map", "at": [0, seconds(9)]}, AfterHistory),
        ]
        for change, error in bad:
            with pytest.raises(error):
                world.set_twists(**ROBOT | good | change)
        assert [info.kind for info in world.relations()] == ["sampled", "fixed"]
        with pytest.raises(AfterHistory) as caught:
            world.set_twists(**ROBOT, twists=np.ones((2, 6)), at=[0, seconds(9)], expressed_in="map")
        assert caught.value.row == 1

    def test_of_none_say_nothing(self):
        world = World()
        world.set_twists(**ROBOT, at=[], twists=np.ones((0, 6)))
        assert world.relations() == ()

    def test_are_taken_back_together(self):
        world = World()
        world.set_twists(**ROBOT, at=[0, 1, 2], twists=np.ones((3, 6)))
        assert len(world.twist_samples(**ROBOT)) == 3
        world.undo()
        assert world.relations() == ()

    def test_beyond_the_history_are_refused_or_dropped_aloud(self):
        world = World(history=seconds(1))
        with pytest.warns(SamplesDropped, match="1 of 3 samples of the twist of 'robot'"):
            world.set_twists(**ROBOT, at=[0, seconds(5), seconds(4.5)], twists=np.ones((3, 6)))
        with pytest.raises(BeforeHistory) as caught:
            world.set_twists(**ROBOT, at=[seconds(5.5), seconds(2)], twists=np.ones((2, 6)))
        assert caught.value.row == 1
        assert world.twist_samples(**ROBOT).stamps.tolist() == [seconds(4.5), seconds(5)]


class TestTwistsWithCovariances:
    @pytest.mark.parametrize("policy", ["unique", "latest", lambda candidates: candidates[0]])
    def test_are_those_asked_one_by_one(self, policy):
        at, twists, covariances = some()
        world = turning(World(history=None))
        world.set_twists(**ROBOT, at=at[:10], twists=twists[:10], covariances=covariances[:10])
        stamps = np.sort(at[:10])[1:-1] + 5
        values, spreads = world.twists_with_covariances(**ROBOT, at=stamps, policy=policy)
        np.testing.assert_array_equal(values, world.twists(**ROBOT, at=stamps, policy=policy))
        for stamp, spread in zip(stamps, spreads, strict=True):
            np.testing.assert_array_equal(spread, world.twist(**ROBOT, at=stamp, policy=policy).covariance)

    def test_are_nan_where_it_is_unknown_and_zero_where_nothing_moves(self):
        world = World()
        drive(world, 0, 1)
        world.fix(of="hook", in_frame="robot", transform=Transform.identity())
        _, unknown = world.twists_with_covariances(**ROBOT, at=[0, 1])
        assert np.isnan(unknown).all()
        _, exact = world.twists_with_covariances(of="hook", relative_to="robot", at=[0, 1])
        assert not exact.any()

    def test_name_the_row_that_has_no_answer(self):
        world = World()
        drive(world, 0, 1)
        with pytest.raises(AfterHistory) as caught:
            world.twists_with_covariances(**ROBOT, at=[0, seconds(3)])
        assert caught.value.row == 1


class TestATwistBetweenTwoRuns:
    def test_is_refused_as_the_pose_is(self):
        """Of a run of one sample, too: between two runs it is nowhere."""
        world = World()
        drive(world, 1)
        drive(world, 3, in_frame="table")
        for ask in (world.pose, world.twist):
            names = {"of": "robot", "in_frame" if ask == world.pose else "relative_to": "map"}
            with pytest.raises(AfterHistory, match="1 s after its last sample"):
                ask(**names, at=seconds(2))
