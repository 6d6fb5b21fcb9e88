"""Relations as values: their names, their printing, and that they do not change."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest

from armillary import Rotation, Transform, seconds
from armillary.errors import InvalidArgument, InvalidName, InvalidStamp, InvalidTransform, KindDiffers, StampDiffers
from armillary.relations import (
    AngularVelocity,
    LinearVelocity,
    Orientation,
    Pose,
    Position,
    Torque,
    Twist,
    Wrench,
)
from unit.relations import kit

each_kind = pytest.mark.parametrize("value", kit.ONE_OF_EACH, ids=lambda value: type(value).__name__)
NUMBERS = (1.0, 2.0, 3.0)
STILL = Transform.identity()


class TestNamesThatAreNotGiven:
    def test_of_a_position_follow_its_points(self):
        tip = Position(point="tip", reference_point="base", coordinates=NUMBERS)
        assert (tip.body, tip.reference_body, tip.expressed_in) == ("tip", "base", "base")

    def test_of_an_orientation_follow_its_frames(self):
        tip = Orientation(of="tip", in_frame="base", coordinates=Rotation.identity())
        assert (tip.body, tip.reference_body, tip.expressed_in) == ("tip", "base", "base")

    def test_of_a_pose_follow_its_frames(self):
        camera = Pose(of="camera", in_frame="base", transform=STILL)
        assert (camera.point, camera.body) == ("camera", "camera")
        assert (camera.reference_point, camera.reference_body, camera.expressed_in) == ("base", "base", "base")

    def test_of_velocities_follow_point_and_reference(self):
        line = LinearVelocity(point="tip", reference_body="table", coordinates=NUMBERS)
        assert (line.body, line.expressed_in) == ("tip", "table")
        turn = AngularVelocity(body="gun", reference_body="table", coordinates=NUMBERS)
        assert turn.expressed_in == "table"

    def test_of_what_is_exerted_follow_point_and_reference(self):
        moment = Torque(point="tip", reference_body="table", coordinates=NUMBERS)
        assert (moment.body, moment.expressed_in) == ("tip", "table")


class TestPrinting:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (kit.position(), "Position(tip|gun from base|gun, in [map])"),
            (kit.orientation(), "Orientation([tip]|gun in [base]|gun, in [base])"),
            (kit.pose(), "Pose(base|gun in corner|table, in [corner])"),
            (
                kit.free_pose(point="tip", reference_point="edge"),
                "Pose((tip, [base])|gun in (edge, [corner])|table, in [map])",
            ),
            (kit.linear_velocity(), "LinearVelocity(base|gun relative to table, in [map])"),
            (kit.angular_velocity(), "AngularVelocity(gun relative to table, in [map])"),
            (kit.twist(point="gun_tip"), "Twist(gun_tip|gun relative to table, in [map])"),
            (kit.force(), "Force(on gun by table, in [map])"),
            (kit.torque(), "Torque(about base|gun by table, in [map])"),
            (kit.wrench(), "Wrench(about base|gun by table, in [map])"),
            (kit.angular_acceleration(), "AngularAcceleration(gun relative to table, in [map])"),
            (kit.linear_acceleration(), "LinearAcceleration(base|gun relative to table, in [map])"),
        ],
    )
    def test_has_the_meaning(self, value, text):
        assert repr(value) == text


@each_kind
class TestEachKind:
    def test_is_equal_to_its_twin_only(self, value):
        twin = pickle.loads(pickle.dumps(value))
        assert value == twin
        assert hash(value) == hash(twin)
        assert value != 5
        assert value != value._replace(expressed_in="elsewhere")

    def test_survives_copies(self, value):
        assert copy.copy(value) == copy.deepcopy(value) == value

    def test_is_close_to_itself(self, value):
        assert value.is_close(value, m=0.0, rad=1e-15)
        assert not value.is_close(value._replace(body="ghost"))

    def test_cannot_be_changed(self, value):
        with pytest.raises(AttributeError, match="frozen"):
            value.body = "other"
        with pytest.raises(AttributeError, match="frozen"):
            del value.body
        with pytest.raises(AttributeError):
            value.anything = 1

    def test_has_read_only_numbers_after_a_pickle(self, value):
        twin = pickle.loads(pickle.dumps(value))
        arrays = [x for x in vars_of(twin) if isinstance(x, np.ndarray)]
        assert all(not array.flags.writeable for array in arrays)


def vars_of(value):
    yield from (getattr(value, name) for name in value._FIELDS)
    for name in ("xyz", "linear", "angular", "force", "torque"):
        if hasattr(value, name):
            yield getattr(value, name)


class TestTheNumbers:
    def test_are_a_copy_of_what_was_given(self):
        given = np.array(NUMBERS)
        tip = Position(point="tip", reference_point="base", coordinates=given)
        given[:] = 9
        assert tip.xyz.tolist() == [1.0, 2.0, 3.0]

    def test_are_compared_exactly_or_closely(self):
        tip = kit.position()
        near = kit.position(coordinates=(1.0, 2.0, 3.0 + 1e-10))
        assert tip != near
        assert tip.is_close(near)
        assert not tip.is_close(near, m=1e-11)

    def test_of_a_pose_are_read_in_parts(self):
        base = kit.pose()
        assert base.transform == kit.SOME
        assert base.xyz.tolist() == kit.SOME.translation.tolist()
        assert base.position.xyz.tolist() == kit.SOME.translation.tolist()
        assert base.orientation.rotation == base.rotation == kit.SOME.rotation

    def test_of_a_twist_are_read_in_parts(self):
        moving = kit.twist()
        assert moving.velocity == kit.linear_velocity(coordinates=moving.linear)
        assert moving.angular_velocity == kit.angular_velocity(coordinates=moving.angular)

    def test_of_a_wrench_are_read_in_parts(self):
        assert kit.wrench().as_force == kit.force()
        assert kit.wrench().as_torque == kit.torque()

    @pytest.mark.parametrize("value", [None, "abc", (1.0, 2.0), (1.0, 2.0, np.nan), 5.0, object()])
    def test_that_are_no_vector_are_refused(self, value):
        with pytest.raises(InvalidArgument):
            Position(point="tip", reference_point="base", coordinates=value)

    def test_that_are_no_rotation_are_refused(self):
        with pytest.raises(InvalidTransform):
            Orientation(of="tip", in_frame="base", coordinates=np.ones((3, 3)))
        with pytest.raises(InvalidTransform):
            Pose(of="tip", in_frame="base", coordinates=np.ones((4, 4)))


class TestMakingAPose:
    @pytest.mark.parametrize(
        ("changes", "kind", "sentence"),
        [
            ({"of": 5}, InvalidName, "of must be a name"),
            ({"of": ""}, InvalidName, "empty"),
            ({"in_frame": "/map"}, InvalidName, "Drop it"),
            ({"stamp": 1.5}, InvalidStamp, r"Pass seconds\(1\.5\)"),
            ({"stamp": 2**80}, InvalidStamp, "146 years"),
            ({"transform": np.eye(4)}, InvalidArgument, r"Make one with Transform\.from_matrix"),
            ({"transform": None}, InvalidArgument, "either transform= or coordinates="),
            ({"coordinates": STILL}, InvalidArgument, "either transform= or coordinates="),
            ({"covariance": np.eye(3)}, InvalidArgument, r"covariance must have shape \(6, 6\)"),
            ({"covariance": -np.eye(6)}, InvalidArgument, "positive semi-definite"),
            ({"covariance": np.full((6, 6), np.nan)}, InvalidArgument, "finite"),
            ({"covariance": np.triu(np.ones((6, 6)))}, InvalidArgument, "symmetric"),
        ],
    )
    def test_is_refused_with_the_cure(self, changes, kind, sentence):
        with pytest.raises(kind, match=sentence):
            kit.pose(**changes)

    def test_has_how_it_was_obtained(self):
        assert kit.pose().method == "fixed"
        assert kit.pose(stamp=1).method == "sampled"
        assert kit.pose(stamp=1, held=(kit.OLD,)).method == "held"
        assert kit.pose(stamp=1, held=(kit.OLD,), predicted=True).method == "predicted"

    def test_is_equal_by_value_wherever_it_comes_from(self):
        assert kit.pose() == kit.pose(held=(kit.OLD,), relations=(("a", "b", ""),))
        assert kit.pose() != kit.pose(stamp=1)
        assert kit.pose() != kit.pose(covariance=kit.COVARIANCE)
        assert kit.twist() == kit.twist(method="joints")

    def test_can_be_of_another_instant(self):
        assert kit.pose(stamp=seconds(1)).stamped(None).stamp is None
        assert kit.twist().stamped(np.int64(7)).stamp == 7

    def test_of_a_frame_in_itself_is_the_identity(self):
        assert Pose.identity("map").transform == STILL


class TestMakingATwistOrAWrench:
    def test_takes_two_vectors_or_coordinates(self):
        names = {"point": "tip", "reference_body": "table"}
        for wrong in ({}, {"linear": NUMBERS}, {"linear": NUMBERS, "angular": NUMBERS, "coordinates": 1}):
            with pytest.raises(InvalidArgument, match="either linear= and angular=, or coordinates="):
                Twist(**names, **wrong)
        with pytest.raises(InvalidArgument, match="either force= and torque="):
            Wrench(**names, force=NUMBERS)

    def test_wants_to_know_what_six_numbers_mean(self):
        with pytest.raises(InvalidArgument, match="LinearAngular, BodyTwist"):
            Twist(point="tip", reference_body="table", coordinates=np.zeros(6))

    def test_of_no_motion_is_exact(self):
        still = Twist.zero(point="tip", reference_body="table")
        assert not still.linear.any()
        assert not still.angular.any()
        assert not still.covariance.any()


class TestPartsOfAPoseOrTwist:
    """They are known when, from what, and how well the whole is."""

    ORIGIN: ClassVar = {"stamp": 7, "held": (kit.OLD,), "predicted": True, "relations": (("base", "corner", ""),)}
    FULL = 0.01 * (np.eye(6) + np.ones((6, 6)))

    def origin(self, value):
        return {name: getattr(value, name) for name in self.ORIGIN}

    def test_keep_its_origin(self):
        pose, twist = kit.pose(**self.ORIGIN), kit.twist(**self.ORIGIN, method="mixed")
        for part in (pose.position, pose.orientation, twist.velocity, twist.angular_velocity):
            assert self.origin(part) == self.ORIGIN
            assert part.covariance is None
        assert twist.velocity.method == twist.angular_velocity.method == "mixed"

    def test_of_a_pose_have_its_covariance_about_their_axes(self):
        pose, R = kit.pose(covariance=self.FULL), kit.SOME.rotation.matrix
        assert pose.position.covariance == pytest.approx(R @ self.FULL[:3, :3] @ R.T)
        assert pose.orientation.covariance == pytest.approx(self.FULL[3:, 3:])

    def test_along_axes_that_the_pose_does_not_know_are_of_unknown_certainty(self):
        assert kit.free_pose(covariance=self.FULL).position.covariance is None

    def test_of_a_twist_have_its_covariance(self):
        twist = kit.twist(covariance=self.FULL)
        assert twist.velocity.covariance == pytest.approx(self.FULL[:3, :3])
        assert twist.angular_velocity.covariance == pytest.approx(self.FULL[3:, 3:])

    def test_make_the_whole_again(self):
        twist = kit.twist(**self.ORIGIN, method="mixed")
        assert Twist.from_parts(twist.velocity, twist.angular_velocity) == twist
        pose = kit.pose(**self.ORIGIN)
        again = Pose.from_parts(pose.position, pose.orientation)
        assert self.origin(again) == self.ORIGIN
        with pytest.raises(StampDiffers):
            Pose.from_parts(pose.position.stamped(8), pose.orientation)

    def test_are_compared_with_stamp_and_covariance(self):
        tip = kit.position(stamp=7, covariance=np.eye(3))
        assert tip == pickle.loads(pickle.dumps(tip))
        assert tip != tip.stamped(8)
        assert tip != kit.position(stamp=7)
        assert tip == tip._replace(held=(kit.OLD,))

    @pytest.mark.parametrize("spread", [np.eye(6), np.diag([1, 1, -1]), [[1, 2], [3, 4]]])
    def test_refuse_what_is_no_covariance(self, spread):
        with pytest.raises(InvalidArgument, match="covariance"):
            kit.position(covariance=spread)


class TestTheCovarianceOfAPart:
    SPREAD = np.diag([0.01, 0.02, 0.03])

    def test_turns_with_the_axes(self):
        turned = kit.angular_velocity(covariance=self.SPREAD).change_coordinate_frame(
            Orientation(of="map", in_frame="hall", rotation=kit.QUARTER)
        )
        assert turned.covariance == pytest.approx(np.diag([0.02, 0.01, 0.03]))

    def test_adds_up(self):
        ahead = Position(point="b", reference_point="a", expressed_in="m", xyz=NUMBERS, covariance=self.SPREAD)
        on = Position(point="c", reference_point="b", expressed_in="m", xyz=NUMBERS, covariance=self.SPREAD)
        assert (ahead @ on).covariance == pytest.approx(2 * self.SPREAD)
        assert (ahead @ on.inverse().inverse()).covariance == pytest.approx(2 * self.SPREAD)

    def test_is_unknown_for_what_shares_a_relation(self):
        shared = {"expressed_in": "m", "xyz": NUMBERS, "covariance": self.SPREAD, "relations": (("a", "b", ""),)}
        whole = Position(point="b", reference_point="a", **shared) @ Position(point="c", reference_point="b", **shared)
        assert whole.covariance is None
        assert whole.relations == (("a", "b", ""),)

    def test_is_unknown_at_another_point(self):
        spread = {"covariance": self.SPREAD}
        assert kit.position(**spread).change_point(kit.position(point="end", reference_point="tip")).covariance is None
        moved = kit.linear_velocity(**spread).change_point(kit.position(), angular_velocity=kit.angular_velocity())
        assert moved.covariance is None

    def test_of_orientations_is_that_of_poses(self):
        a_T_b = Pose(of="b", in_frame="a", transform=kit.SOME, covariance=kit.COVARIANCE)
        b_T_c = Pose(of="c", in_frame="b", transform=kit.OTHER, covariance=kit.COVARIANCE)
        composed = a_T_b.orientation @ b_T_c.orientation
        assert composed.covariance == pytest.approx((a_T_b @ b_T_c).orientation.covariance)
        assert a_T_b.orientation.inverse().covariance == pytest.approx(a_T_b.inverse().orientation.covariance)


class TestAnOrientation:
    @pytest.mark.parametrize("call", ["change_point", "change_reference_point"])
    def test_has_no_point_to_change(self, call):
        with pytest.raises(KindDiffers, match="axes have directions, and no place"):
            getattr(kit.orientation(), call)(kit.position())
