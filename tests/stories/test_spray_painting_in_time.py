"""The painting robot of the paper in a timed world: every number of the relation graph, at its instant."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import ConstraintViolation, NotConnected, SemanticError, StampOutOfRange

CLOSE = 1e-9
AT = seconds(3)
POSES = {  # of, in_frame: xyz, rpy
    ("c", "b"): ((1.2, 0, 0.8), (np.pi, 0, 0)),
    ("o1", "c"): ((0.1, -0.2, 0.7), (0, 0, np.pi / 6)),
    ("e", "b"): ((0.9, 0.1, 0.5), (0, np.pi / 2, 0)),
    ("o2", "e"): ((0, 0, 0.15), (0, 0, np.pi)),
}
TWISTS = {  # of, relative_to, expressed_in: linear, angular
    ("o1", "C", "c"): ((0.2, 0.1, 0.1), (0.05, 0.1, 0.2)),
    ("c", "B", "b"): ((0, 0, 0), (0, 0, 0)),
    ("o2", "E", "o2"): ((0, 0, 0), (0, 0, 0)),
    ("e", "B", "e"): ((0.1, -0.05, 0.02), (0.1, 0.2, -0.1)),
}


def add_bodies(world: World) -> None:
    for body, frames in {"B": "b", "C": "c", "O1": "o1 f1", "E": "e", "O2": "o2"}.items():
        world.add_body(body, frames=frames.split())
    world.fix(of="f1", in_frame="o1", transform=Transform.from_xyz_rpy(xyz=(0.02, 0, 0.2), rpy=(0, 0, np.pi / 4)))


@pytest.fixture
def world():
    world = World()
    add_bodies(world)
    for (of, in_frame), (xyz, rpy) in POSES.items():
        world.set_pose(of=of, in_frame=in_frame, transform=Transform.from_xyz_rpy(xyz=xyz, rpy=rpy), at=AT)
    for (of, body, axes), (linear, angular) in TWISTS.items():
        world.set_twist(of=of, relative_to=body, expressed_in=axes, linear=linear, angular=angular, at=AT)
    return world


def assert_moves(twist, linear, angular):
    assert twist.linear == pytest.approx(linear, abs=CLOSE)
    assert twist.angular == pytest.approx(angular, abs=CLOSE)
    assert twist.method == "measured"


class TestThePaintingRobot:
    @pytest.mark.parametrize("at", [AT, LATEST])
    def test_knows_where_the_nozzle_is(self, world, at):
        pose = world.pose(of="f1", in_frame="o2", at=at)
        rows = [[0, 0, -1], [0.965925826, 0.258819045, 0], [0.258819045, -0.965925826, 0]]
        assert pose.transform.translation == pytest.approx([-0.6, -0.09, 0.267320508], abs=CLOSE)
        assert pose.rotation.matrix == pytest.approx(np.array(rows), abs=CLOSE)
        assert (pose.body, pose.reference_body) == ("O1", "O2")

    def test_keeps_a_twist_in_the_axes_of_its_frame(self, world):
        twist = world.twist(of="o1", relative_to="C", expressed_in="o1", at=AT)
        assert_moves(twist, [0.223205081, -0.013397460, 0.1], [0.093301270, 0.061602540, 0.2])

    def test_knows_how_the_nozzle_moves_over_the_object(self, world):
        twist = world.twist(of="f1", relative_to="o2", at=AT)
        assert repr(twist) == "Twist(f1|O1 relative to O2, in [o2])"
        assert_moves(twist, [0.093696152, -0.058267949, 0.309], [-0.1, 0.3, 0.15])
        assert_moves(twist.inverse(), [-0.093696152, 0.058267949, -0.309], [0.1, -0.3, -0.15])

    def test_converts_to_other_axes_and_the_reverse_direction(self, world):
        along = world.twist(of="f1", relative_to="O2", expressed_in="f1", at=AT)
        assert_moves(along, [0.023692568, -0.313551935, -0.093696152], [0.328600605, -0.067243160, 0.1])
        back = world.twist(of="o2", relative_to="O1", expressed_in="o2", at=AT)
        assert_moves(back, [0, -0.005, -0.12], [0.1, -0.3, -0.15])

    def test_knows_the_parts(self, world):
        position = world.position(of="f1", in_frame="o2", expressed_in="b", at=AT)
        assert position.xyz == pytest.approx([0.267320508, 0.09, -0.6], abs=CLOSE)
        assert world.position(of="o1", in_frame="o2", at=AT).xyz == pytest.approx([-0.4, -0.1, 0.25], abs=CLOSE)
        turning = world.angular_velocity(of="o1", relative_to="E", expressed_in="b", at=AT)
        assert turning.xyz == pytest.approx([0.15, -0.3, -0.1], abs=CLOSE)
        moving = world.linear_velocity(of="o1", relative_to="B", expressed_in="b", at=AT)
        assert moving.xyz == pytest.approx([0.2, -0.1, -0.1], abs=CLOSE)

    def test_goes_where_its_twist_leads(self, world):
        c_T_o1 = world.pose(of="o1", in_frame="c", at=AT)
        later = world.twist(of="o1", relative_to="C", expressed_in="o1", at=AT).integrate(c_T_o1, 0.1)
        assert later.transform.translation == pytest.approx([0.119948586, -0.189825216, 0.709925462], abs=CLOSE)
        assert later.rotation.matrix[0] == pytest.approx([0.855822281, -0.517172348, 0.010049123], abs=CLOSE)


class TestWhatItRefuses:
    def test_is_a_transform_of_a_point_that_is_not_its_frames(self, world):
        with pytest.raises(SemanticError):
            _ = world.pose(of="f1", in_frame="o2", at=AT, point="o1").transform

    def test_is_a_twist_before_its_poses(self):
        world = World()
        add_bodies(world)
        with pytest.raises((NotConnected, StampOutOfRange, LookupError)):
            world.set_twist(of="o1", relative_to="C", expressed_in="c", linear=(1, 0, 0), angular=(0, 0, 0), at=AT)

    def test_is_a_pose_that_moves_within_a_body(self, world):
        with pytest.raises(ConstraintViolation):
            world.set_pose(of="f1", in_frame="o1", transform=Transform.identity(), at=AT)
