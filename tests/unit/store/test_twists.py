"""How things move: bodies, measured twists, derivatives, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary._core import Pose as NativePose
from armillary._core import Twist as NativeTwist
from armillary._core import _use_types
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    BeforeHistory,
    ConstraintViolation,
    InvalidArgument,
    NotConnected,
    SingleSample,
    StampOutOfRange,
    UnknownFrame,
)
from unit.kit import STILL, Mailbox, drive, everything_about, moved

CLOSE = 1e-9
FORWARD = {"linear": (1.0, 0.0, 0.0), "angular": (0.0, 0.0, 0.0)}
TURN = {"linear": (1.0, 0.0, 0.0), "angular": (0.0, 0.0, 1.0)}


def yaw(angle: float, x: float = 0.0, y: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, 0.0), rpy=(0.0, 0.0, angle))


@pytest.fixture
def world() -> World:
    """A robot that drives along x at 1 m/s and turns at 0.5 rad/s, with a camera 1 m ahead of it."""
    world = World()
    for t in (0.0, 1.0, 2.0):
        world.set_pose(of="robot", in_frame="map", transform=yaw(0.5 * t, x=t), at=seconds(t))
    world.fix(of="camera", in_frame="robot", transform=moved(1.0))
    return world


class TestWhatTf2GetsWrong:
    def test_a_rotated_frame_moves_where_it_moves(self):
        """U7: constant yaw of 90 degrees, driving along the observer's x."""
        world = World()
        for t in (1.0, 2.0):
            world.set_pose(of="bar", in_frame="foo", transform=yaw(np.pi / 2, x=t), at=seconds(t))
        twist = world.twist(of="bar", relative_to="foo", at=seconds(1.5))
        np.testing.assert_allclose(twist.linear, (1, 0, 0), atol=CLOSE)
        np.testing.assert_allclose(twist.angular, (0, 0, 0), atol=CLOSE)

    def test_another_point_feels_the_rotation(self):
        """U8: yaw rate 1 rad/s, seen at the point (1, 0, 0)."""
        world = World()
        for t in (0.0, 1.0):
            world.set_pose(of="bar", in_frame="foo", transform=yaw(t), at=seconds(t))
        world.fix(of="tip", in_frame="foo", transform=moved(1.0))
        twist = world.twist(of="bar", relative_to="foo", point="tip", at=seconds(0.5))
        np.testing.assert_allclose(twist.linear, (0, 1, 0), atol=CLOSE)
        np.testing.assert_allclose(twist.angular, (0, 0, 1), atol=CLOSE)

    @pytest.mark.parametrize(("observer", "linear"), [("foo", (0, 0, 0)), ("ahead", (0, 1, 0)), ("above", (0, 0, 0))])
    def test_observers_at_other_places_see_what_they_should(self, observer, linear):
        """U2 to U4 for a turn about z: the velocity of the body's point at the observer."""
        world = World()
        for t in (0.0, 1.0):
            world.set_pose(of="bar", in_frame="foo", transform=yaw(t), at=seconds(t))
        world.fix(of="ahead", in_frame="foo", transform=moved(1.0))
        world.fix(of="foo", in_frame="above", transform=moved(z=-1.0))
        twist = world.twist(of="bar", relative_to=observer, point=observer, at=seconds(0.5))
        np.testing.assert_allclose(twist.linear, linear, atol=CLOSE)
        np.testing.assert_allclose(twist.angular, (0, 0, 1), atol=CLOSE)


class TestATwist:
    def test_has_all_its_names(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        twist = world.twist(of="camera", relative_to="map", expressed_in="robot", at=seconds(0.5))
        assert (twist.point, twist.body) == ("camera", "rover")
        assert (twist.reference_body, twist.expressed_in) == ("map", "robot")
        assert repr(twist) == "Twist(camera|rover relative to map, in [robot])"
        assert (twist.stamp, twist.method, twist.covariance) == (seconds(0.5), "differentiated", None)
        assert twist.relations == (("camera", "robot", ""), ("robot", "map", ""))

    def test_of_a_lever_adds_the_rotation(self, world):
        twist = world.twist(of="camera", relative_to="map", expressed_in="robot", at=seconds(0))
        np.testing.assert_allclose(twist.linear, (1.0, 0.5, 0.0), atol=CLOSE)

    def test_is_a_value(self, world):
        ask = {"of": "camera", "relative_to": "map", "at": seconds(0.5)}
        a, b = world.twist(**ask), world.twist(**ask)
        assert a == b
        assert hash(a) == hash(b)
        assert a != world.twist(**ask, expressed_in="robot")
        assert a.is_close(b)
        assert pickle.loads(pickle.dumps(a)) == a
        assert copy.copy(a) == a
        with pytest.raises(ValueError, match="read-only"):
            a.linear[0] = 3.0
        with pytest.raises(AttributeError):
            a.point = "other"

    def test_is_made_by_hand(self):
        twist = NativeTwist(point="a", reference_body="b", **TURN, covariance=np.eye(6), stamp=5, method="joints")
        assert (twist.body, twist.expressed_in, twist.stamp, twist.method) == ("a", "b", 5, "joints")
        assert pickle.loads(pickle.dumps(twist)) == twist
        with pytest.raises(InvalidArgument, match="either linear"):
            NativeTwist(point="a", reference_body="b", linear=(0, 0, 0))

    def test_within_a_body_is_zero_exactly(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        for twist in (world.twist(of="camera", relative_to="robot"), world.twist(of="camera", relative_to="rover",
                                                                                expressed_in="map")):  # fmt: skip
            assert (twist.method, twist.stamp) == ("fixed", None)
            assert not np.any(np.concatenate([twist.linear, twist.angular]))
            np.testing.assert_array_equal(twist.covariance, np.zeros((6, 6)))

    def test_over_a_window_is_a_mean(self, world):
        world.set_pose(of="robot", in_frame="map", transform=yaw(1.0, x=6.0), at=seconds(3))
        speeds = [world.twist(of="robot", relative_to="map", at=seconds(2), window=w).linear[0]
                  for w in (None, seconds(1), seconds(100))]  # fmt: skip
        np.testing.assert_allclose(speeds, (4.0, 2.5, 2.0))

    def test_at_the_newest_instant_has_its_stamp(self, world):
        assert world.twist(of="camera", relative_to="map").stamp == seconds(2)
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", **FORWARD, at=seconds(1.5))
        twist = world.twist(of="robot", relative_to="map", at=LATEST)
        assert (twist.stamp, twist.method) == (seconds(1.5), "measured")

    def test_without_data_names_what_is_missing(self, world):
        world.set_pose(of="lonely", in_frame="map", transform=STILL, at=0)
        world.add_frame("moon")
        for of, at, error in [("robot", 3, AfterHistory), ("robot", -1, BeforeHistory), ("lonely", 0, SingleSample),
                              ("moon", 1, NotConnected), ("nobody", 1, UnknownFrame)]:  # fmt: skip
            with pytest.raises(error):
                world.twist(of=of, relative_to="map", at=seconds(at))

    def test_held_is_zero(self, world):
        twist = world.twist(of="robot", relative_to="map", at=seconds(9), outside="hold")
        assert ([sample.age_s for sample in twist.held], twist.linear.tolist()) == ([7.0], [0, 0, 0])

    def test_has_the_uncertainty_of_its_poses(self):
        world = World()
        for t in (0.0, 1.0):
            transform = moved(t)
            world.set_pose(of="a", in_frame="b", transform=transform, at=seconds(t), covariance=0.01 * np.eye(6))
        covariance = world.twist(of="a", relative_to="b", at=0).covariance
        np.testing.assert_allclose(covariance[0, 0], 0.02, atol=1e-12)
        np.testing.assert_allclose(covariance[3, 3], 0.02, atol=1e-12)


class TestAMeasuredTwist:
    def test_comes_back_with_its_uncertainty(self, world):
        world.set_twist(
            of="robot", relative_to="map", expressed_in="robot", **TURN, at=seconds(1), covariance=np.eye(6)
        )
        twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(1))
        np.testing.assert_allclose(twist.linear, (1, 0, 0), atol=CLOSE)
        np.testing.assert_allclose(twist.covariance, np.eye(6), atol=CLOSE)
        assert (twist.method, twist.relations) == ("measured", (("robot", "map", ""),))

    def test_is_turned_with_the_poses_of_its_instant(self, world):
        world.set_twist(of="robot", relative_to="map", expressed_in="map", **FORWARD, at=seconds(2))
        ask = {"of": "robot", "relative_to": "map", "at": seconds(2)}
        before = world.twist(**ask, expressed_in="robot").linear
        np.testing.assert_allclose(before, (np.cos(1.0), -np.sin(1.0), 0), atol=CLOSE)
        world.set_pose(of="robot", in_frame="map", transform=yaw(0.0, x=2.0), at=seconds(2))
        np.testing.assert_array_equal(world.twist(**ask, expressed_in="robot").linear, before)

    def test_and_poses_together_are_mixed(self, world):
        drive(world, 0.0, 1.0, 2.0, of="gripper", in_frame="robot")
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", **TURN, at=seconds(1))
        assert world.twist(of="camera", relative_to="map", at=seconds(1)).method == "measured"
        assert world.twist(of="gripper", relative_to="map", at=seconds(1)).method == "mixed"
        assert world.twist(of="gripper", relative_to="robot", at=seconds(1)).method == "differentiated"

    def test_without_its_poses_is_refused_and_changes_nothing(self, world):
        before = everything_about(world)
        with pytest.raises(AfterHistory):
            world.set_twist(of="robot", relative_to="map", expressed_in="map", **FORWARD, at=seconds(9))
        with pytest.raises(UnknownFrame):
            world.set_twist(of="new", relative_to="map", expressed_in="map", **FORWARD, at=seconds(1))
        with pytest.raises(ConstraintViolation, match="C8b"):
            world.set_twist(of="robot", relative_to="robot", expressed_in="robot", **FORWARD, at=seconds(1))
        assert everything_about(world) == before

    def test_waits_for_its_poses_when_pending(self, world):
        world.set_twist(of="robot", relative_to="map", expressed_in="map", **FORWARD, at=seconds(3), pending=True)
        assert "twist" not in {info.kind for info in world.relations()}
        world.set_pose(of="robot", in_frame="map", transform=yaw(np.pi / 2), at=seconds(3))
        twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(3))
        np.testing.assert_allclose(twist.linear, (0, -1, 0), atol=CLOSE)
        assert twist.method == "measured"

    def test_that_can_never_be_rotated_is_reported(self, world):
        complaints = Mailbox()
        world.on_error = complaints
        world.set_twist(of="robot", relative_to="map", expressed_in="map", **FORWARD, at=seconds(9), pending=True)
        drive(world, 100.0)
        assert isinstance(complaints.wait()[0], StampOutOfRange)

    def test_of_two_sources_is_contested_until_one_is_preferred(self, world):
        for source, speed in (("wheels", 1.0), ("imu", 2.0)):
            numbers = {"linear": (speed, 0, 0), "angular": (0, 0, 0), "at": seconds(1), "source": source}
            world.set_twist(of="robot", relative_to="map", expressed_in="robot", **numbers)
        with pytest.raises(AmbiguousPath, match=r"'imu' and 'wheels'|'wheels' and 'imu'") as refusal:
            world.twist(of="robot", relative_to="map", at=seconds(1))
        assert refusal.value.motion
        world.prefer(of="robot", source="imu")
        assert world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(1)).linear[0] == 2.0

    def test_is_listed_and_removed_with_the_rest(self, world):
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", **TURN, at=seconds(1))
        listed = [info for info in world.relations() if info.kind == "twist"]
        assert [(info.of, info.in_frame, info.samples) for info in listed] == [("robot", "map", 1)]
        world.clear()
        assert [info.samples for info in world.relations() if info.kind == "twist"] == [0]
        world.remove_frame("camera")
        world.remove_frame("robot")
        assert world.relations() == ()

    def test_older_than_the_history_is_refused(self, world):
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", **TURN, at=seconds(100))
        with pytest.raises(BeforeHistory):
            world.set_twist(of="robot", relative_to="map", expressed_in="robot", **TURN, at=seconds(1))


class TestABody:
    def test_names_itself_in_every_answer(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        pose = world.pose(of="camera", in_frame="map", at=seconds(1))
        assert (pose.body, pose.reference_body) == ("rover", "map")
        assert (world.body_of("camera"), world.body_of("map"), world.bodies()) == ("rover", "map", ("rover",))

    def test_takes_in_frames_that_come_later(self, world):
        world.add_body("rover", frames=["robot", "camera", "lid"])
        world.fix(of="lid", in_frame="robot", transform=moved(y=1.0))
        world.add_body("rover", frames=["lamp"])
        world.add_frame("rover")
        assert {world.body_of(name) for name in ("lid", "lamp", "rover")} == {"rover"}

    def test_does_not_take_in_what_moves_or_belongs_to_another(self, world):
        world.add_body("rover", frames=["camera"])
        before = everything_about(world)
        with pytest.raises(ConstraintViolation, match=r"can move.*C5"):
            world.add_body("everything", frames=["robot", "map"])
        with pytest.raises(ConstraintViolation, match=r"rover.*C2"):
            world.add_body("eye", frames=["camera", "lens"])
        assert everything_about(world) == before

    def test_is_rigid(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        with pytest.raises(ConstraintViolation, match="Move 'robot'"):
            world.set_pose(of="camera", in_frame="robot", transform=moved(2.0), at=seconds(3))
        with pytest.raises(ConstraintViolation, match="recalibrate=True"):
            world.fix(of="camera", in_frame="robot", transform=moved(2.0))
        world.fix(of="camera", in_frame="robot", transform=moved(1.0))
        world.fix(of="camera", in_frame="robot", transform=moved(2.0), recalibrate=True)
        assert world.pose(of="camera", in_frame="robot").xyz[0] == 2.0

    def test_is_reached_once(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        world.fix(of="shelf", in_frame="map", transform=STILL)
        world.fix(of="hook", in_frame="robot", transform=STILL)
        before = everything_about(world)
        with pytest.raises(ConstraintViolation, match=r"'rover' would be reached twice.*C6b"):
            world.set_pose(of="camera", in_frame="shelf", transform=STILL, at=seconds(1), source="other")
        with pytest.raises(ConstraintViolation, match="C6b"):
            world.attach(of="camera", to="map", at=seconds(1))
        with pytest.raises(ConstraintViolation, match=r"not on 'pair'.*C6b"):
            world.add_body("pair", frames=["shelf", "hook"])
        assert everything_about(world) == before

    def test_is_relative_to_without_a_frame_of_its_name(self, world):
        world.add_body("rover", frames=["robot", "camera"])
        world.set_twist(of="drone", relative_to="rover", expressed_in="drone", **FORWARD, at=seconds(1))
        twist = world.twist(of="map", relative_to="rover", expressed_in="map", at=seconds(0.5))
        np.testing.assert_allclose(twist.angular, (0, 0, -0.5), atol=CLOSE)
        assert twist.reference_body == "rover"
        with pytest.raises(InvalidArgument, match="expressed_in="):
            world.twist(of="map", relative_to="rover", at=seconds(0.5))


class TestSubclassesOfAnswers:
    def test_are_made_by_queries_and_products(self, world):
        class Pose(NativePose):
            __slots__ = ()

            def compose(self, other):
                return (self, other)

        class Twist(NativeTwist):
            __slots__ = ()

        usual = {"Pose": type(world.pose(of="robot", in_frame="map"))}
        usual["Twist"] = type(world.twist(of="robot", relative_to="map"))
        _use_types(Pose=Pose, Twist=Twist)
        try:
            a = world.pose(of="robot", in_frame="map", at=seconds(1))
            b = world.pose(of="camera", in_frame="robot", at=seconds(1))
            assert type(a @ b) is type(world.wait_for_pose(of="camera", in_frame="map")) is Pose
            assert (a @ b).is_close(world.pose(of="camera", in_frame="map", at=seconds(1)))
            assert (a @ b).relations == (*b.relations, *a.relations)
            assert a @ a == (a, a)
            assert type(world.twist(of="robot", relative_to="map")) is Twist
        finally:
            _use_types(**usual)

    def test_must_be_subclasses(self):
        with pytest.raises(InvalidArgument):
            _use_types(Pose=int, Twist=NativeTwist)


class TestAPoseOfOtherPoints:
    def test_keeps_its_seven_names(self):
        pose = NativePose(of="a", in_frame="b", transform=moved(1.0), point="p", reference_point="q", expressed_in="r",
                          body="A", reference_body="B", relations=(("x", "y", "z"),))  # fmt: skip
        assert (pose.point, pose.body, pose.reference_point, pose.reference_body) == ("p", "A", "q", "B")
        assert (pose.expressed_in, pose.is_frame_form, pose.xyz[0]) == ("r", False, 1.0)
        assert pose.relations == (("x", "y", "z"),)
        assert pickle.loads(pickle.dumps(pose)) == pose
        assert pose != NativePose(of="a", in_frame="b", transform=moved(1.0))

    def test_is_no_transform(self):
        pose = NativePose(of="a", in_frame="b", transform=STILL, point="p")
        with pytest.raises(Exception, match=r"\.xyz and \.rotation"):
            _ = pose.transform
