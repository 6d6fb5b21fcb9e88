"""Pose: the answer to a question, as a value."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from armillary import Pose, World, seconds
from armillary.errors import InvalidArgument, InvalidName, InvalidStamp
from unit.kit import STILL, drive, moved, x_of

COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])


def base_in_map(**changes) -> Pose:
    return Pose(**({"of": "base", "in_frame": "map", "transform": moved(1)} | changes))


class TestMakingAPose:
    def test_has_what_it_is_made_of(self):
        pose = base_in_map(stamp=seconds(2), covariance=COVARIANCE)
        assert (pose.of, pose.in_frame, pose.transform, pose.stamp) == ("base", "map", moved(1), seconds(2))
        assert pose.covariance.tolist() == COVARIANCE.tolist()

    def test_leaves_out_what_is_not_known(self):
        pose = base_in_map()
        assert (pose.stamp, pose.covariance, pose.relations) == (None, None, ())
        assert not pose.held
        assert not pose.predicted

    def test_names_point_body_and_axes(self):
        pose = base_in_map()
        assert (pose.point, pose.body) == ("base", "base")
        assert (pose.reference_point, pose.reference_body, pose.expressed_in) == ("map", "map", "map")

    @pytest.mark.parametrize(
        ("changes", "kind", "sentence"),
        [
            ({"of": 5}, InvalidName, "of must be a name"),
            ({"of": ""}, InvalidName, "empty"),
            ({"in_frame": "/map"}, InvalidName, "Drop it"),
            ({"of": "\ud800"}, InvalidName, "control character"),
            ({"stamp": 1.5}, InvalidStamp, r"Pass seconds\(1\.5\)"),
            ({"stamp": 2**80}, InvalidStamp, "146 years"),
            ({"transform": np.eye(4)}, InvalidArgument, r"Make one with Transform\.from_matrix"),
            ({"covariance": np.eye(3)}, InvalidArgument, r"covariance must have shape \(6, 6\)"),
            ({"covariance": -np.eye(6)}, InvalidArgument, "positive semi-definite"),
            ({"covariance": np.full((6, 6), np.nan)}, InvalidArgument, "finite"),
            ({"covariance": np.triu(np.ones((6, 6)))}, InvalidArgument, "symmetric"),
        ],
    )
    def test_is_refused_with_a_hint(self, changes, kind, sentence):
        with pytest.raises(kind, match=sentence):
            base_in_map(**changes)


class TestAPoseThatIsRead:
    def test_gives_a_covariance_that_cannot_be_changed(self):
        covariance = base_in_map(covariance=COVARIANCE).covariance
        with pytest.raises(ValueError, match="read-only"):
            covariance[0, 0] = 9

    def test_does_not_keep_the_array_of_the_caller(self):
        given = COVARIANCE.copy()
        pose = base_in_map(covariance=given)
        given[:] = 9
        assert pose.covariance.tolist() == COVARIANCE.tolist()

    @pytest.mark.parametrize("name", ["of", "in_frame", "transform", "stamp", "held", "covariance", "relations"])
    def test_cannot_be_changed(self, name):
        with pytest.raises(AttributeError):
            setattr(base_in_map(), name, 0)

    def test_prints_as_a_sentence(self):
        assert repr(base_in_map(stamp=seconds(0.5))) == "Pose(base in map at 0.5 s: xyz=(1, 0, 0), rpy=(0, 0, 0))"
        assert repr(base_in_map()) == "Pose(base in map: xyz=(1, 0, 0), rpy=(0, 0, 0))"

    def test_prints_that_it_is_held(self, world):
        drive(world, 1, 2)
        pose = world.pose(of="robot", in_frame="map", at=seconds(3), outside="hold")
        assert repr(pose).endswith(", held: 'robot' in 'map' for 1 s)")


class TestComparingPoses:
    def test_is_exact_with_equals(self):
        assert base_in_map(stamp=3) == base_in_map(stamp=3)
        assert hash(base_in_map(stamp=3)) == hash(base_in_map(stamp=3))

    @pytest.mark.parametrize(
        "changes",
        [{"of": "cup"}, {"in_frame": "odom"}, {"transform": moved(2)}, {"stamp": 3}, {"covariance": COVARIANCE}],
    )
    def test_sees_every_difference(self, changes):
        assert base_in_map(**changes) != base_in_map()

    def test_knows_a_pose_from_other_things(self):
        assert base_in_map() != moved(1)
        assert base_in_map() != "base"

    def test_has_tolerances_with_units(self):
        assert base_in_map(transform=moved(1.01)).is_close(base_in_map(), m=0.0101)
        assert not base_in_map(transform=moved(1.01)).is_close(base_in_map(), rad=1.0)

    def test_does_not_find_poses_of_other_frames_close(self):
        assert not base_in_map().is_close(base_in_map(of="cup"), m=9.0, rad=9.0)


class TestKeepingPoses:
    @pytest.fixture
    def poses(self, world):
        drive(world, 1, 2, covariance=COVARIANCE)
        world.fix(of="cup", in_frame="robot", transform=moved(0, 1))
        held = world.pose(of="cup", in_frame="map", at=seconds(3), outside="hold")
        return [base_in_map(stamp=3), world.pose(of="cup", in_frame="map"), held]

    @pytest.mark.parametrize(
        "again",
        [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))],
        ids=["copy", "deepcopy", "pickle"],
    )
    def test_changes_nothing(self, poses, again):
        twins = [again(pose) for pose in poses]
        assert twins == poses
        assert [(twin.held, twin.relations) for twin in twins] == [(pose.held, pose.relations) for pose in poses]


class TestThePoseAWorldAnswers:
    def test_stays_valid_without_the_world(self):
        world = World(name="me")
        drive(world, 1, 2)
        pose = world.pose(of="robot", in_frame="map")
        del world
        assert (x_of(pose), pose.relations) == (2.0, (("robot", "map", "me"),))

    def test_does_not_change_when_the_world_does(self, world):
        drive(world, 1, 2)
        pose = world.pose(of="robot", in_frame="map")
        relations = pose.relations
        drive(world, 3)
        world.remove_frame("robot")
        assert (x_of(pose), pose.stamp, pose.relations) == (2.0, seconds(2), relations)

    def test_lists_its_relations_upwards_and_down(self, world):
        world.fix(of="hand", in_frame="arm", transform=STILL, source="urdf")
        world.fix(of="arm", in_frame="base", transform=STILL)
        world.fix(of="eye", in_frame="base", transform=STILL)
        relations = world.pose(of="hand", in_frame="eye").relations
        assert relations == (("hand", "arm", "urdf"), ("arm", "base", ""), ("eye", "base", ""))

    def test_has_names_that_are_plain_text(self, world):
        class Name(str):
            __slots__ = ()

        world.fix(of=Name("cup"), in_frame="map", transform=STILL)
        pose = world.pose(of=Name("cup"), in_frame=Name("map"))
        assert (type(pose.of), type(pose.in_frame)) == (str, str)

    def test_shows_how_it_was_obtained(self, world):
        drive(world, 1, 2)
        assert world.pose(of="robot", in_frame="map").method == "sampled"
