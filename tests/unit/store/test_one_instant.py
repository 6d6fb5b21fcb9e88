"""Questions with several frames: one instant, one origin, and the certainty of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Rotation, Transform, World, seconds
from armillary.errors import BeforeHistory, InvalidArgument, NotConnected, StampDiffers
from armillary.relations import LinearVelocity, Pose, Position
from armillary.relations.representations import PositionQuaternion
from unit.kit import drive, moved

SPREAD = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])


def turned(yaw: float, x: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, yaw))


@pytest.fixture
def world():
    """A robot known until 3 s, and a compass that turns, known until 1 s."""
    world = World()
    drive(world, 0, 1, 2, 3)
    for t in (0, 1):
        world.set_pose(of="compass", in_frame="map", transform=turned(t), at=seconds(t))
    return world


ROBOT = {"of": "robot", "in_frame": "map"}
BOTH = (("robot", "map", ""), ("compass", "map", ""))


class TestAPoseAlongOtherAxes:
    def test_is_marked_where_its_axes_were_held(self, world):
        pose = world.pose(**ROBOT, expressed_in="compass", at=seconds(2), outside="hold")
        assert (pose.predicted, pose.method) == (False, "held")
        assert [(sample.relation, sample.age_s) for sample in pose.held] == [(("compass", "map", ""), 1.0)]
        assert pose.relations == BOTH

    def test_is_marked_where_its_axes_were_predicted(self, world):
        pose = world.pose(**ROBOT, expressed_in="compass", at=seconds(1.5), outside="predict")
        assert (pose.held, pose.predicted) == ((), True)
        assert pose.xyz == pytest.approx([1.5 * np.cos(1.5), -1.5 * np.sin(1.5), 0])

    def test_is_of_the_newest_common_instant(self, world):
        pose = world.pose(**ROBOT, expressed_in="compass")
        twist = world.twist(of="robot", relative_to="map", expressed_in="compass")
        assert pose.stamp == twist.stamp == seconds(1)
        assert world.position(**ROBOT, expressed_in="compass").stamp == seconds(1)

    def test_of_a_fixed_frame_has_the_instant_of_the_axes(self, world):
        world.fix(of="cup", in_frame="map", transform=moved(1))
        assert world.pose(of="cup", in_frame="map", expressed_in="compass").stamp == seconds(1)
        assert world.pose(of="cup", in_frame="map", expressed_in="map").stamp is None

    def test_without_a_common_instant_is_refused(self, world):
        for t in (5, 6):
            world.set_pose(of="late", in_frame="map", transform=moved(t), at=seconds(t))
        with pytest.raises(BeforeHistory, match="do not overlap: 'late' in 'map'"):
            world.pose(**ROBOT, expressed_in="late")

    def test_names_the_frames_that_are_apart(self, world):
        drive(world, 1, 2, of="ghost", in_frame="elsewhere")
        with pytest.raises(NotConnected, match=r"'map'.*'ghost'"):
            world.pose(**ROBOT, expressed_in="ghost")

    def test_keeps_its_covariance(self, world):
        world.set_pose(**ROBOT, transform=moved(1), at=seconds(1), covariance=SPREAD)
        pose = world.pose(**ROBOT, expressed_in="compass", at=seconds(1))
        np.testing.assert_allclose(pose.covariance, SPREAD)

    def test_of_two_instants_has_the_axes_of_the_observer(self, world):
        asked = ROBOT | {"at": seconds(0.5), "of_at": seconds(3), "fixed_frame": "map"}
        pose = world.pose(**asked, expressed_in="compass")
        assert (pose.stamp, pose.xyz) == (seconds(0.5), pytest.approx([3 * np.cos(0.5), -3 * np.sin(0.5), 0]))
        assert world.pose(**asked | {"at": LATEST}, expressed_in="compass").stamp == seconds(1)
        with pytest.raises(InvalidArgument, match="of_at and fixed_frame go together"):
            world.pose(**ROBOT, of_at=seconds(1), expressed_in="compass")

    def test_is_marked_as_integrated(self):
        world = World()
        world.set_pose(**ROBOT, transform=moved(), at=0)
        names = {"of": "robot", "relative_to": "map", "expressed_in": "robot"}
        world.set_twist(**names, linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(2))
        world.fix(of="compass", in_frame="map", transform=turned(1))
        assert world.pose(**ROBOT, expressed_in="compass", at=seconds(1)).method == "integrated"
        assert world.position(**ROBOT, expressed_in="compass", at=seconds(1)).integrated


class TestAPointOfAPose:
    def test_is_part_of_what_it_was_computed_from(self, world):
        world.fix(of="camera", in_frame="robot", transform=moved(0.1), covariance=SPREAD)
        pose = world.pose(**ROBOT, point="camera", at=seconds(1))
        assert pose.relations == (("robot", "map", ""), ("camera", "robot", ""))
        assert pose.covariance is None


class TestAPositionAlongUncertainAxes:
    @pytest.fixture
    def world(self):
        world = World()
        world.fix(
            of="a", in_frame="m", transform=Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(1, 0, 0)), covariance=SPREAD
        )
        world.fix(of="c", in_frame="m", transform=turned(0.7), covariance=2 * SPREAD)
        return world

    def numbers(self, world, axes, errors):
        """What the position is when the two relations are a little off."""
        m_T_a, m_T_c = (
            world.pose(of=of, in_frame="m").transform @ Transform.exp(error)
            for of, error in zip("ac", np.split(errors, 2), strict=True)
        )
        return {"c": m_T_c, "a": m_T_a, "m": Transform.identity()}[axes].rotation.inverse() @ m_T_a.translation

    @pytest.mark.parametrize("axes", ["a", "c", "m"])
    def test_is_as_uncertain_as_all_of_them(self, world, axes):
        step = 1e-6
        steps = step * np.eye(12)
        J = np.stack([self.numbers(world, axes, s) - self.numbers(world, axes, -s) for s in steps], axis=1) / (2 * step)
        both = np.block([[SPREAD, np.zeros((6, 6))], [np.zeros((6, 6)), 2 * SPREAD]])
        position = world.position(of="a", in_frame="m", expressed_in=axes)
        np.testing.assert_allclose(position.covariance, J @ both @ J.T, rtol=1e-6, atol=1e-12)

    def test_is_unknown_where_the_axes_are(self, world):
        world.set_pose(of="c", in_frame="m", transform=turned(0.7), at=0)
        assert world.position(of="a", in_frame="m", expressed_in="c", at=0).covariance is None

    def test_is_known_where_they_share_a_relation(self, world):
        world.fix(of="b", in_frame="a", transform=turned(1))
        assert world.position(of="a", in_frame="m", expressed_in="b").covariance is not None


class TestExpressing:
    @pytest.mark.parametrize(("outside", "flags"), [("hold", (True, False)), ("predict", (False, True))])
    def test_is_marked_where_the_axes_were_held_or_predicted(self, world, outside, flags):
        at = {"at": seconds(1.5)}
        twist = world.twist(of="robot", relative_to="map", **at)
        pose = world.pose(**ROBOT, **at)
        for value in (twist, twist.velocity, twist.angular_velocity, pose, pose.position, pose.orientation):
            seen = world.express(value, in_frame="compass", outside=outside)
            assert (bool(seen.held), seen.predicted) == flags
            assert (set(seen.relations), seen.stamp) == (set(BOTH), seconds(1.5))

    def test_takes_all_frames_at_one_instant(self, world):
        world.fix(of="peg", in_frame="robot", transform=moved(0, 1))
        rim = Position(point="rim", reference_point="peg", expressed_in="compass", xyz=(1, 0, 0))
        seen = world.express(rim, in_frame="map")
        assert seen.stamp == seconds(1)
        assert seen.xyz == pytest.approx([1 + np.cos(1), 1 + np.sin(1), 0])
        names = {"of": "cup", "in_frame": "peg", "reference_point": "peg", "expressed_in": "compass"}
        cup = Pose(**names, coordinates=PositionQuaternion((1, 0, 0), Rotation.identity()))
        assert world.express(cup, in_frame="map").xyz == pytest.approx(seen.xyz)
        assert world.express(cup, in_frame="map").stamp == seconds(1)

    def test_of_another_instant_is_refused(self, world):
        velocity = LinearVelocity(point="cup", reference_body="map", xyz=(1, 0, 0), stamp=seconds(1))
        with pytest.raises(StampDiffers):
            world.express(velocity, in_frame="compass", at=seconds(0.5))

    def test_of_a_shared_relation_is_of_unknown_certainty(self, world):
        for t in (0, 1):
            world.set_pose(of="c", in_frame="m", transform=turned(t), at=seconds(t), covariance=SPREAD)
        twist = world.twist(of="c", relative_to="m", at=seconds(0.5))
        assert twist.covariance is not None
        assert world.express(twist, in_frame="c").covariance is None
