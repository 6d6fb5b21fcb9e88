"""Beyond the last sample: how far, how surely, and that the answer says so."""

from __future__ import annotations

import time

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, SingleSample
from unit.kit import drive, moved, x_of

ASK = {"of": "robot", "in_frame": "map", "outside": "predict"}


@pytest.fixture
def world() -> World:
    world = World()
    drive(world, 1.0, 2.0)
    return world


class TestAPrediction:
    def test_continues_the_last_motion(self, world):
        pose = world.pose(**ASK, at=seconds(2.5))
        assert (x_of(pose), pose.predicted, pose.held, pose.method) == (2.5, True, (), "predicted")
        assert pose.stamp == seconds(2.5)

    def test_prefers_a_measured_twist(self, world):
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", linear=(3, 0, 0), angular=(0, 0, 0),
                        at=seconds(2), source="wheels")  # fmt: skip
        assert x_of(world.pose(**ASK, at=seconds(2.5))) == 3.5

    def test_changes_nothing_inside_the_history(self, world):
        pose = world.pose(**ASK, at=seconds(1.5))
        assert (x_of(pose), pose.predicted) == (1.5, False)

    def test_of_the_newest_instant_is_not_needed(self, world):
        assert world.pose(**ASK).stamp == seconds(2)

    def test_reaches_as_far_as_the_setting(self, world):
        assert x_of(world.pose(**ASK, at=seconds(3))) == 3.0
        with pytest.raises(AfterHistory, match=r"reaches 1 s.*predict_up_to_s=") as refusal:
            world.pose(**ASK, at=seconds(3.5))
        assert refusal.value.horizon == seconds(1)
        further = World(predict_up_to_s=5.0)
        drive(further, 1.0, 2.0)
        assert x_of(further.pose(**ASK, at=seconds(7))) == 7.0

    def test_does_not_reach_back_nor_begin_from_nothing(self, world):
        with pytest.raises(BeforeHistory):
            world.pose(**ASK, at=seconds(0))
        world.set_pose(of="new", in_frame="map", transform=moved(), at=seconds(2))
        with pytest.raises(SingleSample):
            world.pose(of="new", in_frame="map", at=seconds(2.1), outside="predict")

    def test_grows_uncertain(self):
        world = World(process_noise=[0.1] * 3 + [0.2] * 3)
        for t in (1.0, 2.0):
            world.set_pose(of="robot", in_frame="map", transform=moved(), at=seconds(t), covariance=0.01 * np.eye(6))
        covariance = world.pose(**ASK, at=seconds(2.5)).covariance
        np.testing.assert_allclose(np.diag(covariance), [0.075] * 3 + [0.125] * 3)

    @pytest.mark.parametrize("measured", [False, True])
    def test_is_the_same_everywhere(self, world, measured):
        if measured:
            twist = {"linear": (3, 0, 0), "angular": (0, 0, 0.5), "source": "wheels"}
            world.set_twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(2), **twist)
        world.fix(of="camera", in_frame="robot", transform=moved(1.0))
        at, camera = seconds(2.5), ASK | {"of": "camera"}
        seen = world.pose(**camera, at=at)
        assert seen.xyz[0] == pytest.approx(4.453336177 if measured else 3.5)
        assert world.can_pose(**camera, at=at)
        assert world.transforms(**camera, at=[at])[0] == pytest.approx(seen.transform.matrix)
        named = {"from_frame": "camera", "to_frame": "map", "outside": "predict"}
        assert world.map_points([[0, 0, 0]], **named, at=[at])[0] == pytest.approx(seen.xyz)
        assert world.map_points([0, 0, 0], **named, at=at) == pytest.approx(seen.xyz)
        snapshot = world.snapshot(in_frame="map", at=at, outside="predict")
        assert snapshot["camera"].is_close(seen.transform)
        assert (snapshot.predicted, snapshot.held) == ({"robot", "camera"}, frozenset())
        assert world.wait_for_pose(**camera, at=at, timeout_s=0.0).predicted
        assert world.twist(of="camera", relative_to="map", at=at, outside="predict").predicted

    def test_is_waited_for_until_it_reaches_so_far(self, world):
        answers = []
        world.on_pose(answers.append, **ASK, at=seconds(3.5))
        drive(world, 2.75)
        world.wait_for_pose(**ASK, at=seconds(3.5), timeout_s=10)
        deadline = time.monotonic() + 10
        while not answers and time.monotonic() < deadline:
            time.sleep(0.001)
        assert [x_of(pose) for pose in answers] == [3.5]

    @pytest.mark.parametrize("wrong", [{"predict_up_to_s": -1.0}, {"process_noise": [1, 2, 3]},
                                       {"process_noise": [-1.0] * 6}])  # fmt: skip
    def test_is_not_configured_with_nonsense(self, wrong):
        with pytest.raises(InvalidArgument, match=next(iter(wrong))):
            World(**wrong)
