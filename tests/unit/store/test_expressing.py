"""Data in other frames: what tf2 does to messages, and what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Rotation, Transform, World, seconds
from armillary.errors import InvalidArgument, StampOutOfRange
from armillary.relations import (
    AngularVelocity,
    Force,
    LinearVelocity,
    Orientation,
    Pose,
    Position,
    Torque,
    Twist,
    Wrench,
)
from armillary.relations.representations import PositionQuaternion
from unit.kit import moved

CLOSE = 1e-9
AT = seconds(2)
A_T_B = Transform.from_xyz_xyzw(xyz=(10, 20, 30), xyzw=(1, 0, 0, 0))  # half a turn about x
QUARTER = Rotation.from_rpy((0, 0, np.pi / 2))
FRAME_COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])


@pytest.fixture
def world():
    """As in the tests of tf2: "b" is placed in "a", at 2 s."""
    world = World()
    world.set_pose(of="b", in_frame="a", transform=A_T_B, at=AT)
    return world


@pytest.fixture
def uncertain():
    world = World()
    at = Transform.from_rotation(QUARTER, xyz=(1, 2, 0))
    world.fix(of="b", in_frame="a", transform=at, covariance=FRAME_COVARIANCE)
    return world


class TestAPose:
    def test_is_seen_from_the_other_frame(self, world):
        a_T_cup = Transform.from_xyz_xyzw(xyz=(1, 2, 3), xyzw=(1, 0, 0, 0))
        seen = world.express(Pose(of="cup", in_frame="a", transform=a_T_cup), in_frame="b", at=AT)
        assert (seen.of, seen.in_frame) == ("cup", "b")
        assert seen.transform.translation == pytest.approx([-9, 18, 27], abs=CLOSE)
        assert seen.rotation.is_close(Rotation.identity())

    def test_is_less_certain_over_a_lever_arm(self, uncertain):
        b_T_cup = Transform.from_xyz_rpy(xyz=(3, 0, 0), rpy=(0, 0, 0))
        cup = Pose(of="cup", in_frame="b", transform=b_T_cup, covariance=np.zeros((6, 6)))
        seen = uncertain.express(cup, in_frame="a")
        J = b_T_cup.inverse().adjoint
        assert seen.covariance == pytest.approx(J @ FRAME_COVARIANCE @ J.T)
        assert seen.covariance[1, 1] == pytest.approx(0.02 + 9 * 0.003)  # tf2: 0.02 at best, in fact nothing

    def test_of_unknown_certainty_stays_unknown(self, world):
        cup = Pose(of="cup", in_frame="a", transform=moved(1), covariance=np.eye(6))
        assert world.express(cup, in_frame="b", at=AT).covariance is None

    @pytest.mark.parametrize("axes", ["b", "b2", "grip"])
    def test_of_a_point_is_seen_from_the_other_origin(self, uncertain, axes):
        """As from the frame form of the same thing."""
        uncertain.fix(of="b2", in_frame="b", transform=Transform.from_rotation(QUARTER, xyz=(0, 0, 1)))
        b_T_grip = Transform.from_xyz_rpy(xyz=(3, 1, 0), rpy=(0.1, 0.2, 0.3))
        turns = {"b": Rotation.identity(), "b2": QUARTER.inverse(), "grip": b_T_grip.rotation.inverse()}
        tip = b_T_grip @ np.array([0.5, 0, 0])
        place = turns[axes] @ (tip - np.array([0, 0, 1]))
        names = {"of": "grip", "point": "tip", "body": "gun", "in_frame": "b", "reference_point": "b2"}
        pose = Pose(**names, expressed_in=axes, coordinates=PositionQuaternion(place, b_T_grip.rotation))
        seen = uncertain.express(pose._replace(covariance=np.zeros((6, 6))), in_frame="a")
        a_T_b = uncertain.pose(of="b", in_frame="a").transform
        assert seen.xyz == pytest.approx(a_T_b @ tip, abs=CLOSE)
        assert repr(seen) == "Pose((tip, [grip])|gun in a|a, in [a])"
        assert seen.rotation.is_close(a_T_b.rotation @ b_T_grip.rotation)
        if axes == "b2":
            assert seen.covariance is None
        else:
            J = Transform.from_rotation(b_T_grip.rotation, xyz=tip).inverse().adjoint
            assert seen.covariance == pytest.approx(J @ FRAME_COVARIANCE @ J.T)

    def test_is_taken_at_its_own_stamp(self, world):
        cup = Pose(of="cup", in_frame="a", transform=moved(1), stamp=seconds(9))
        with pytest.raises(StampOutOfRange):
            world.express(cup, in_frame="b")


class TestOtherRelations:
    def test_position_is_seen_from_the_other_origin(self, world):
        rim = Position(point="rim", reference_point="a", coordinates=(1, 2, 3))
        seen = world.express(rim, in_frame="b", at=AT)
        assert (seen.point, seen.reference_point, seen.expressed_in) == ("rim", "b", "b")
        assert seen.xyz == pytest.approx([-9, 18, 27], abs=CLOSE)

    def test_parts_are_as_certain_as_the_whole(self, uncertain):
        """Less certain over a lever arm, and along uncertain axes."""
        b_T_cup = Transform.from_xyz_rpy(xyz=(3, 1, 0), rpy=(0.1, 0.2, 0.3))
        cup = Pose(of="cup", in_frame="b", transform=b_T_cup, covariance=0.01 * np.eye(6), stamp=5)
        seen = uncertain.express(cup, in_frame="a")
        for part in ("position", "orientation"):
            answer = uncertain.express(getattr(cup, part), in_frame="a")
            assert answer.covariance == pytest.approx(getattr(seen, part).covariance)
            assert answer.stamp == 5

    def test_orientation_is_turned(self, world):
        turned = Orientation(of="cup", in_frame="a", coordinates=Rotation.from_xyzw((1, 0, 0, 0)))
        assert world.express(turned, in_frame="b", at=AT).rotation.is_close(Rotation.identity())

    @pytest.mark.parametrize("kind", [LinearVelocity, AngularVelocity, Force])
    def test_vector_gets_other_axes_and_keeps_its_meaning(self, world, kind):
        names = {"point": "cup"} if kind is LinearVelocity else {"body": "cup"}
        value = kind(**names, reference_body="table", expressed_in="a", coordinates=(1, 2, 3))
        seen = world.express(value, in_frame="b", at=AT)
        assert seen.xyz == pytest.approx([1, -2, -3])
        assert (seen.reference_body, seen.expressed_in) == ("table", "b")

    def test_wrench_is_taken_about_the_other_origin(self):
        """The numbers of tf2's own test: yaw -90 degrees, 2 m aside."""
        world = World()
        world.fix(of="b", in_frame="a", transform=Transform.from_xyz_rpy(xyz=(0, -2, 0), rpy=(0, 0, -np.pi / 2)))
        push = Wrench(
            point="b", body="tool", reference_body="wall", expressed_in="b", force=(2, 1, 3), torque=(2, 1, 3)
        )
        seen = world.express(push, in_frame="a")
        assert seen.force == pytest.approx([1, -2, 3])
        assert seen.torque == pytest.approx([-5, -2, 5])
        assert (seen.point, seen.body, seen.expressed_in) == ("a", "tool", "a")

    def test_torque_alone_is_refused_with_a_hint(self, world):
        torque = Torque(point="b", body="tool", reference_body="wall", coordinates=(1, 2, 3))
        with pytest.raises(InvalidArgument, match="Pass the Wrench"):
            world.express(torque, in_frame="a", at=AT)

    def test_twist_is_less_certain_along_uncertain_axes(self, uncertain):
        twist = Twist(point="cup", reference_body="b", linear=(2, 0, 0), angular=(0, 0, 1), covariance=np.zeros((6, 6)))
        seen = uncertain.express(twist, in_frame="a")
        assert seen.linear == pytest.approx([0, 2, 0])
        assert seen.covariance == pytest.approx(_spread_of_turned(twist), abs=CLOSE)
        for part in ("velocity", "angular_velocity"):
            alone = uncertain.express(getattr(twist, part), in_frame="a")
            assert alone.covariance == pytest.approx(getattr(seen, part).covariance, abs=CLOSE)

    def test_anything_else_is_refused(self, world):
        with pytest.raises(InvalidArgument, match="takes a relation"):
            world.express((1, 2, 3), in_frame="b")


def _spread_of_turned(twist: Twist) -> np.ndarray:
    """By differences: how the numbers move when the axes are turned a little."""
    step, columns = 1e-6, []
    for k in range(3):
        ahead, behind = (QUARTER @ Rotation.exp(sign * step * np.eye(3)[k]) for sign in (1, -1))
        moves = [ahead @ part - behind @ part for part in (twist.linear, twist.angular)]
        columns.append(np.concatenate(moves) / (2 * step))
    J = np.stack(columns, axis=1)
    return J @ FRAME_COVARIANCE[3:, 3:] @ J.T


class TestArrays:
    def test_of_points_are_mapped(self, world):
        points = world.express([[1, 2, 3], [0, 0, 0]], kind="points", from_frame="a", in_frame="b", at=AT)
        assert points == pytest.approx(world.map_points([[1, 2, 3], [0, 0, 0]], from_frame="a", to_frame="b", at=AT))

    def test_of_directions_are_only_turned(self, world):
        assert world.express((1, 2, 3), kind="directions", from_frame="a", in_frame="b", at=AT) == pytest.approx(
            [1, -2, -3]
        )

    def test_of_poses_are_composed(self, world):
        row = np.array([1, 2, 3, 0, 1, 0, 0], dtype=float)
        (seen,) = world.express([row], kind="poses", from_frame="a", in_frame="b", at=AT)
        expected = world.pose(of="a", in_frame="b", at=AT).transform @ Transform.from_xyz_wxyz(
            xyz=row[:3], wxyz=row[3:]
        )
        assert Transform.from_xyz_wxyz(xyz=seen[:3], wxyz=seen[3:]).is_close(expected)

    def test_of_wrenches_turn_and_shift(self, world):
        """As tf2's: a weight 0.1 m aside."""
        world.fix(of="arm", in_frame="hand", transform=moved(-0.1))
        weight = world.express((0, -9.81, 0, 0, 0, 0), kind="wrenches", from_frame="arm", in_frame="hand")
        assert weight[5] == pytest.approx(0.981)

    def test_take_a_stamp_for_each_row(self, world):
        world.set_pose(of="b", in_frame="a", transform=moved(0), at=seconds(3))
        stamps = np.array([seconds(2), seconds(3)])
        rows = world.express(np.zeros((2, 3)), kind="points", from_frame="b", in_frame="a", at=stamps)
        assert rows == pytest.approx(np.array([[10, 20, 30], [0, 0, 0]]))

    def test_of_poses_propagate_their_covariances(self, uncertain):
        rows = np.array([[3, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 1]], dtype=float)
        own = np.stack([np.eye(6) * 0.1, np.eye(6) * 0.2])
        asked = {"kind": "poses", "from_frame": "b", "in_frame": "a"}
        poses, covariances = uncertain.express(rows, covariances=own, **asked)
        for row, spread, pose, answer in zip(rows, own, poses, covariances, strict=True):
            b_T_cup = Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:])
            one = uncertain.express(Pose(of="cup", in_frame="b", transform=b_T_cup, covariance=spread), in_frame="a")
            assert answer == pytest.approx(one.covariance)
            assert pose == pytest.approx(one.transform.xyz_wxyz)

    def test_of_poses_propagate_their_covariances_at_a_stamp_for_each_row(self, world):
        for at in (2, 3):
            spread = at * FRAME_COVARIANCE
            world.set_pose(of="b", in_frame="a", transform=moved(at), at=seconds(at), covariance=spread)
        rows = np.array([[3, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 1]], dtype=float)
        asked = {"kind": "poses", "from_frame": "b", "in_frame": "a", "covariances": np.zeros((2, 6, 6))}
        poses, covariances = world.express(rows, at=np.array([seconds(3), seconds(2)]), **asked)
        for k, at in enumerate((3, 2)):
            alone = world.express(rows, at=seconds(at), **asked)
            assert poses[k] == pytest.approx(alone[0][k])
            assert covariances[k] == pytest.approx(alone[1][k])
        with pytest.raises(InvalidArgument, match="one per row"):
            world.express(rows, at=[seconds(2)] * 3, **asked)
        none = world.express(np.empty((0, 4, 4)), at=[], **asked | {"covariances": np.empty((0, 6, 6))})
        assert [part.shape for part in none] == [(0, 4, 4), (0, 6, 6)]

    def test_of_poses_may_be_matrices(self, world):
        poses = [Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, yaw)) for yaw in (0.3, 2.9)]
        asked = {"kind": "poses", "from_frame": "a", "in_frame": "b", "at": AT}
        matrices = world.express(np.stack([pose.matrix for pose in poses]), **asked)
        b_T_a = world.pose(of="a", in_frame="b", at=AT).transform
        assert matrices == pytest.approx(np.stack([(b_T_a @ pose).matrix for pose in poses]), abs=CLOSE)
        assert world.express(poses[0].matrix, **asked) == pytest.approx(matrices[0])
        answer, unknown = world.express(poses[0].matrix, covariances=np.zeros((1, 6, 6)), **asked)
        assert (answer.shape, unknown) == ((1, 4, 4), None)

    @pytest.mark.parametrize(
        ("value", "asked", "text"),
        [
            ([[1, 2]], {"kind": "points", "from_frame": "a"}, r"\(N, 3\)"),
            ([[1, 2, np.nan]], {"kind": "points", "from_frame": "a"}, "finite"),
            ([[1, 2, 3]], {"kind": "dots", "from_frame": "a"}, "points, directions"),
            ([[1, 2, 3]], {"kind": "points"}, "both kind= and from_frame="),
            ([[0, 0, 0, 2, 0, 0, 0]], {"kind": "poses", "from_frame": "a"}, "unit length"),
            (np.zeros((3, 3)), {"kind": "points", "from_frame": "a", "at": np.array([AT, AT])}, "one per row"),
        ],
    )
    def test_that_are_invalid_are_refused(self, world, value, asked, text):
        with pytest.raises(InvalidArgument, match=text):
            world.express(value, in_frame="b", **({"at": AT} | asked))
