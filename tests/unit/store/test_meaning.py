"""Answers with all their names: points, axes, parts, and how far two accounts of a motion disagree."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Pose, Rotation, Transform, World, relations, seconds
from armillary.errors import (
    AfterHistory,
    HelperBodiesDiffer,
    InvalidArgument,
    InvalidTransform,
    NotMeasured,
    SemanticError,
    UnknownFrame,
)
from unit.kit import moved

AT = seconds(1)
QUARTER = Rotation.from_rpy((0, 0, np.pi / 2))


@pytest.fixture
def world():
    """A gun with a tip, turned a quarter on a table with a corner; the table is in a hall."""
    world = World()
    world.add_body("gun", frames=["grip", "tip"])
    world.add_body("table", frames=["top", "corner"])
    world.fix(of="tip", in_frame="grip", transform=moved(0.3))
    world.fix(of="corner", in_frame="top", transform=moved(0.1))
    world.fix(of="top", in_frame="hall", transform=Transform.from_rotation(QUARTER, xyz=(5, 0, 0)))
    for at in (0, 1, 2):
        transform = Transform.from_rotation(QUARTER, xyz=(1 + at, 2, 0))
        world.set_pose(of="grip", in_frame="top", transform=transform, at=seconds(at))
    return world


class TestAnAnswer:
    def test_is_a_relation(self, world):
        pose = world.pose(of="grip", in_frame="top", at=AT)
        assert type(pose) is relations.Pose is Pose
        assert type(world.twist(of="grip", relative_to="top", at=AT)) is relations.Twist
        assert (pose.body, pose.reference_body) == ("gun", "table")

    def test_composes_with_what_was_made_by_hand(self, world):
        top_T_grip = world.pose(of="grip", in_frame="top", at=AT)
        grip_T_sight = Pose(of="sight", in_frame="grip", body="gun", reference_body="gun", transform=moved(1))
        assert (top_T_grip @ grip_T_sight).transform.translation == pytest.approx([2, 3, 0])

    def test_of_two_that_do_not_meet_is_refused(self, world):
        top_T_grip = world.pose(of="grip", in_frame="top", at=AT)
        with pytest.raises(SemanticError, match="'grip' and 'top'"):
            top_T_grip @ top_T_grip


class TestAPoseWithOtherPoints:
    def test_is_of_the_point_along_the_axes_asked_for(self, world):
        asked = {"point": "tip", "reference_point": "corner", "expressed_in": "hall"}
        pose = world.pose(of="grip", in_frame="top", at=AT, **asked)
        assert pose.xyz == pytest.approx([-2.3, 1.9, 0])  # (2, 2.3) less (0.1, 0), a quarter turned
        assert pose.rotation.is_close(QUARTER)
        assert repr(pose) == "Pose((tip, [grip])|gun in (corner, [top])|table, in [hall])"

    def test_is_no_transform(self, world):
        with pytest.raises(SemanticError, match="xyz"):
            _ = world.pose(of="grip", in_frame="top", at=AT, point="tip").transform

    def test_equals_the_algebra_of_its_parts(self, world):
        tip = world.pose(of="tip", in_frame="top", at=AT)
        assert world.pose(of="grip", in_frame="top", at=AT, point="tip").xyz == pytest.approx(tip.xyz)

    def test_that_may_move_on_the_body_is_refused(self, world):
        with pytest.raises(HelperBodiesDiffer, match="add_body"):
            world.pose(of="grip", in_frame="top", at=AT, reference_point="grip")

    def test_keeps_when_and_from_what_it_was_known(self, world):
        pose = world.pose(of="grip", in_frame="top", at=seconds(0.5), point="tip")
        assert pose.stamp == seconds(0.5)
        assert pose.relations == (("grip", "top", ""), ("tip", "grip", ""))

    def test_can_be_held(self, world):
        assert world.pose(of="grip", in_frame="top", at=seconds(9), point="tip", outside="hold").held


class TestParts:
    def test_of_a_pose(self, world):
        position = world.position(of="grip", in_frame="top", expressed_in="hall", at=AT)
        assert position.xyz == pytest.approx([-2, 2, 0])
        assert world.orientation(of="grip", in_frame="top", at=AT).rotation.is_close(QUARTER)

    def test_of_a_twist(self, world):
        linear = world.linear_velocity(of="grip", relative_to="top", at=AT, expressed_in="hall")
        assert linear.xyz == pytest.approx([0, 1, 0])
        assert world.angular_velocity(of="grip", relative_to="top", at=AT).xyz == pytest.approx([0, 0, 0])

    def test_know_when_from_what_and_how_well(self):
        world, spread = World(), np.diag([1.0, 2, 3, 4, 5, 6])
        for at in (0, 1):
            turned = Transform.from_rotation(QUARTER, xyz=(at, 0, 0))
            world.set_pose(of="a", in_frame="b", transform=turned, at=seconds(at), covariance=spread)
        held = {"at": seconds(1.5), "outside": "hold"}
        position = world.position(of="a", in_frame="b", **held)
        assert (position.stamp, len(position.held), position.predicted) == (seconds(1.5), 1, False)
        assert position.relations == (("a", "b", ""),)
        assert np.diag(position.covariance) == pytest.approx([2, 1, 3])
        assert np.diag(world.orientation(of="a", in_frame="b", **held).covariance) == pytest.approx([4, 5, 6])
        velocity = world.linear_velocity(of="a", relative_to="b", at=seconds(0.5))
        assert (velocity.stamp, velocity.method) == (seconds(0.5), "differentiated")
        assert velocity.covariance.shape == (3, 3)

    def test_at_another_point_are_less_certain(self, world):
        """A lever arm of 0.3 m along x: what yaw does to y."""
        spread = np.diag([0.0, 0, 0, 0, 0, 0.01])
        world.set_pose(of="grip", in_frame="top", transform=moved(1), at=seconds(3), covariance=spread)
        pose = world.pose(of="grip", in_frame="top", at=seconds(3), point="tip", reference_point="corner")
        assert pose.covariance[1, 1] == pytest.approx(0.01 * 0.3**2)
        assert pose.position.covariance == pytest.approx(np.diag([0, 0.0009, 0]))

    def test_of_points_are_asked_as_points(self, world):
        asked = {"point": "tip", "reference_point": "corner"}
        assert world.position(**asked, at=AT).xyz == pytest.approx([1.9, 2.3, 0])
        named = world.position(of="grip", in_frame="top", at=AT, expressed_in="hall", **asked)
        assert named.xyz == pytest.approx([-2.3, 1.9, 0])
        assert repr(named) == "Position(tip|gun from corner|table, in [hall])"
        with pytest.raises(InvalidArgument, match="Pass of="):
            world.position(in_frame="top")

    def test_along_other_axes_stay_as_certain(self, world):
        spread = np.diag([1.0, 2, 3, 0, 0, 0])
        world.set_pose(of="grip", in_frame="top", transform=moved(1), at=seconds(3), covariance=spread)
        position = world.position(of="grip", in_frame="top", at=seconds(3), expressed_in="hall")
        assert np.diag(position.covariance) == pytest.approx([2, 1, 3])

    def test_of_an_orientation_are_along_its_reference(self, world):
        asked = {"of": "grip", "in_frame": "top", "at": AT}
        assert world.orientation(**asked, expressed_in="top") == world.orientation(**asked)
        with pytest.raises(SemanticError, match="always along the axes of its reference frame 'top'"):
            world.orientation(**asked, expressed_in="hall")


class TestABodyInAQuestion:
    def test_turns_as_its_frames_do(self, world):
        asked = {"relative_to": "table", "expressed_in": "top", "at": AT}
        assert world.angular_velocity(of="gun", **asked) == world.angular_velocity(of="tip", **asked)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("gun", "'gun' in this world. It is a body: name one of its frames, 'grip', 'tip'."),
            ("guns", "Did you mean the body 'gun'?"),
            ("tips", "Did you mean 'tip'?"),
            ("ghost", "It is a body without frames"),
        ],
    )
    def test_that_needs_a_frame_is_refused_as_such(self, world, name, text):
        world.add_body("ghost")
        with pytest.raises(UnknownFrame) as refusal:
            world.pose(of=name, in_frame="top")
        assert text in str(refusal.value)
        if name == "ghost":
            with pytest.raises(UnknownFrame, match="without frames"):
                world.angular_velocity(of=name, relative_to="top")


class TestAnInstantTooLate:
    def test_names_every_remedy(self, world):
        with pytest.raises(AfterHistory, match="outside='hold' to accept the nearest sample, or outside='predict'"):
            world.pose(of="grip", in_frame="top", at=seconds(9))


class TestMeasuredAgainstDerived:
    def test_is_how_far_they_are_apart(self, world):
        axes = {"of": "grip", "relative_to": "top", "expressed_in": "top"}
        world.set_twist(**axes, linear=(1.25, 0, 0), angular=(0, 0, 0.5), at=AT)
        residual = world.twist_residual(of="grip", relative_to="top", at=AT)
        assert residual.linear == pytest.approx([0.25, 0, 0])
        assert residual.angular == pytest.approx([0, 0, 0.5])
        assert (residual.measured.method, residual.derived.method) == ("measured", "differentiated")
        assert residual.mahalanobis is None

    def test_is_weighed_by_what_is_known(self):
        world = World()
        for at in (0, 1):
            asked = {"of": "a", "in_frame": "b", "at": seconds(at)}
            world.set_pose(**asked, transform=moved(at), covariance=np.diag([0.5] * 6))
        spread = np.diag([3.0] * 6)
        twist = {"of": "a", "relative_to": "b", "expressed_in": "b", "linear": (3, 0, 0), "angular": (0, 0, 0)}
        world.set_twist(**twist, at=0, covariance=spread)
        # 2 m/s apart; variances 3 + 0.5 + 0.5.
        assert world.twist_residual(of="a", relative_to="b", at=0).mahalanobis == pytest.approx(1.0, rel=0.01)

    def test_needs_a_measurement(self, world):
        with pytest.raises(NotMeasured, match="set_twist"):
            world.twist_residual(of="grip", relative_to="top", at=AT)


class TestAPoseInOtherCoordinates:
    """Stored as a transform, exact to rounding."""

    SOME = Transform.from_xyz_rpy(xyz=(1, -2, 0.5), rpy=(0.4, -0.7, 2.9))

    @pytest.mark.parametrize(
        "representation",
        [relations.HOMOGENEOUS_MATRIX, relations.POSITION_QUATERNION, relations.position_euler("intrinsic ZYX")],
        ids=lambda representation: representation.name,
    )
    @pytest.mark.parametrize("call", ["set_pose", "fix"])
    def test_is_taken(self, representation, call):
        world = World()
        given = Pose(of="a", in_frame="b", transform=self.SOME).converted(representation).coordinates
        getattr(world, call)(of="a", in_frame="b", transform=given, at=AT)
        assert world.pose(of="a", in_frame="b", at=AT).transform.is_close(self.SOME, m=1e-15, rad=1e-15)

    def test_is_taken_from_other_libraries(self):
        pinocchio = pytest.importorskip("pinocchio")
        world = World()
        world.fix(of="a", in_frame="b", transform=pinocchio.SE3(self.SOME.matrix))
        world.fix(of="c", in_frame="b", transform=np.array(self.SOME.matrix))
        for name in "ac":
            assert world.pose(of=name, in_frame="b").transform.is_close(self.SOME, m=1e-15, rad=1e-15)

    @pytest.mark.parametrize("given", [np.eye(3), "here", 5, np.diag([1, 1, 2, 1])])
    def test_that_is_none_is_refused(self, given):
        world = World()
        with pytest.raises((InvalidArgument, InvalidTransform), match=r"transform|rotation|orthonormal"):
            world.fix(of="a", in_frame="b", transform=given)
        assert world.frames() == ()


class TestVelocitiesThatTf2Knows:
    """Its own fixture: samples every 0.1 s, from 0.1 to 6 s."""

    @staticmethod
    def world(xyz=(0, 0, 0), turning=(0, 0, 0)):
        world = World()
        for t in np.arange(1, 61) / 10:
            transform = Transform.from_rotation(Rotation.exp(t * np.array(turning)), xyz=t * np.array(xyz))
            world.set_pose(of="bar", in_frame="foo", transform=transform, at=seconds(t))
        world.fix(of="ahead", in_frame="foo", transform=moved(1.0))
        world.fix(of="foo", in_frame="above", transform=moved(z=-1.0))
        return world

    @pytest.mark.parametrize("observer", ["foo", "ahead", "above"])
    @pytest.mark.parametrize("xyz", [*np.eye(3), *-np.eye(3)], ids=str)
    def test_u1_are_the_same_for_observers_at_rest(self, observer, xyz):
        velocity = self.world(xyz=xyz).linear_velocity(of="bar", relative_to=observer, at=seconds(2.5))
        assert velocity.xyz == pytest.approx(xyz, abs=1e-9)

    @pytest.mark.parametrize("turning", [*np.eye(3), *-np.eye(3)], ids=str)
    @pytest.mark.parametrize(("observer", "place"), [("foo", (0, 0, 0)), ("ahead", (1, 0, 0)), ("above", (0, 0, 1))])
    def test_u2_u3_u4_of_a_turning_body_are_those_of_the_named_point(self, observer, place, turning):
        twist = self.world(turning=turning).twist(of="bar", relative_to=observer, point=observer, at=seconds(2.55))
        assert twist.angular == pytest.approx(turning, abs=1e-9)
        assert twist.linear == pytest.approx(np.cross(turning, place), abs=1e-9)

    @pytest.mark.parametrize(("speed", "window"), [(1.0, 0.1), (0.3, 4.001), (3.0, 4.001)])
    def test_u5_u6_over_a_window_are_those_of_the_data(self, speed, window):
        world = self.world(xyz=(speed, 0, 0))
        for at in (2.5, 5.99):
            asked = {"of": "bar", "relative_to": "foo", "at": seconds(at)}
            assert world.linear_velocity(**asked, window=seconds(window)).xyz[0] == pytest.approx(speed)
