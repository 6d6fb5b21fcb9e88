"""Motions at many instants, what is stored of them, and how much of it is kept."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, InvalidStamp, SingleSample
from unit.kit import drive, moved

SPREAD = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
ROBOT = {"of": "robot", "relative_to": "map"}
ARM = {"of": "arm", "relative_to": "robot"}


def yaw(angle: float, x: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, angle))


@pytest.fixture
def world():
    world = World()
    for t in range(5):
        world.set_pose(of="robot", in_frame="map", transform=yaw(0.3 * t * t, x=t), at=seconds(t))
    world.fix(of="camera", in_frame="robot", transform=moved(1))
    names = {"of": "camera", "relative_to": "robot", "expressed_in": "camera"}
    world.fix(of="compass", in_frame="map", transform=yaw(1))
    world.set_pose(of="arm", in_frame="robot", transform=yaw(0.1), at=0)
    for t in (0, 2, 4):
        world.set_pose(of="arm", in_frame="robot", transform=yaw(0.1 * t, x=0.2), at=seconds(t))
        twist = names | {"of": "arm", "expressed_in": "arm"}
        world.set_twist(**twist, linear=(0, 0, t), angular=(0, 0, 0.1), at=seconds(t), covariance=SPREAD)
    return world


AT = np.array([0, 1, 15, 20, 31, 40, 7]) * seconds(0.1)


class TestManyTwists:
    @pytest.mark.parametrize(
        "asked",
        [
            ROBOT,
            ROBOT | {"expressed_in": "compass", "point": "camera"},
            ROBOT | {"of": "arm"},
            ROBOT | {"of": "arm", "measured": False, "interpolation": "screw"},
            ROBOT | {"window": seconds(0.4)},
            ROBOT | {"relative_to": "compass", "of": "camera"},
        ],
        ids=str,
    )
    def test_are_what_one_after_the_other_is(self, world, asked):
        rows = world.twists(**asked, at=AT)
        alone = [world.twist(**asked, at=int(at)) for at in AT]
        assert (rows.shape, rows.dtype) == ((len(AT), 6), np.float64)
        np.testing.assert_array_equal(rows, [[*twist.linear, *twist.angular] for twist in alone])

    def test_may_be_none(self, world):
        assert world.twists(**ROBOT, at=[]).shape == (0, 6)

    def test_may_be_held(self, world):
        late = {"at": [seconds(9)]}
        assert world.twists(**ROBOT, **late, outside="hold").tolist() == [[0] * 6]
        with pytest.raises(AfterHistory, match="row 1 of the batch"):
            world.twists(**ROBOT, at=[seconds(1), seconds(9), seconds(10)])

    def test_are_refused_as_one_is(self, world):
        with pytest.raises(InvalidStamp, match="integer nanoseconds"):
            world.twists(**ROBOT, at=[0.5])
        with pytest.raises(InvalidArgument, match="at least 2 ns"):
            world.twists(**ROBOT, at=[0], window=1)


class TestAWindow:
    def test_that_is_too_short_names_what_it_covers(self, world):
        with pytest.raises(
            InvalidArgument, match=r"half of it lies before the instant.*window=seconds\(0.1\), or None"
        ):
            world.twist(**ROBOT, at=seconds(1), window=1)
        assert world.twist(**ROBOT, at=seconds(1), window=2).method == "differentiated"

    def test_over_a_single_sample_raises_single_sample(self):
        world = World()
        drive(world, 1)
        with pytest.raises(SingleSample, match=r"where its only sample is, and one pose does not move.*set_twist"):
            world.twist(**ROBOT, at=seconds(1), window=seconds(1))


class TestStoredTwists:
    def test_are_read_back(self, world):
        samples = world.twist_samples(**ARM, start=seconds(1))
        assert (len(samples), samples.stamps.tolist()) == (2, [seconds(2), seconds(4)])
        np.testing.assert_allclose(samples.twists, [[0, 0, 2, 0, 0, 0.1], [0, 0, 4, 0, 0, 0.1]])
        np.testing.assert_allclose(samples.covariances, [SPREAD, SPREAD])

    def test_are_along_the_axes_of_their_frame(self, world):
        turning = {"linear": (1, 0, 0), "angular": (0, 0, 0)}
        world.set_twist(of="camera", relative_to="map", expressed_in="compass", at=0, source="eye", **turning)
        samples = world.twist_samples(of="camera", relative_to="map", end=0)
        np.testing.assert_allclose(samples.twists, [[np.cos(1), np.sin(1), 0, 0, 0, 0]], atol=1e-12)
        assert samples.covariances is None

    def test_are_found_by_any_frame_of_the_body(self, world):
        world.add_body("base", frames=["robot", "camera"])
        assert len(world.twist_samples(of="arm", relative_to="camera")) == 3
        assert len(world.twist_samples(of="arm", relative_to="base")) == 3

    def test_of_rivals_need_a_source(self, world):
        twist = ARM | {"expressed_in": "arm", "linear": (0, 0, 0), "angular": (0, 0, 0), "at": 0}
        for source in ("left", "right"):
            world.set_twist(**twist, source=source)
        assert len(world.twist_samples(**ARM, source="left")) == 1
        assert len(world.twist_samples(**ARM)) == 3  # of the world itself

    def test_that_were_never_measured_are_refused(self, world):
        for call in (world.twist_samples, world.keep_twists):
            with pytest.raises(InvalidArgument, match=r"measures how 'robot' moves relative to 'map'.*world.twists"):
                call(**ROBOT)

    def test_are_kept_shorter_on_request(self, world):
        world.keep_twists(**ARM, history=seconds(2))
        assert world.twist_samples(**ARM).stamps.tolist() == [seconds(2), seconds(4)]
        with pytest.raises(BeforeHistory):
            world.set_twist(**ARM, expressed_in="arm", linear=(0, 0, 0), angular=(0, 0, 0), at=0)
        world.keep_twists(**ARM, max_samples=1)
        assert world.twist_samples(**ARM).stamps.tolist() == [seconds(4)]
        assert len(world.samples(of="arm", in_frame="robot")) == 3
