"""Frames that compiled expressions drive."""

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary._core import TAPE_OPS, Tape
from armillary.errors import InvalidArgument, SingleSample
from armillary.scene import AddJoints, ClosedForm, Drive, TapeForm
from strategies import CLOSE_M, assert_close


def tape(*lines, constants=(0.0, 1.0), inputs, outputs):
    """Lines of (op, target, a, b)."""
    code = np.array([(TAPE_OPS[op], *(*numbers, 0, 0)[:3]) for op, *numbers in lines], dtype=np.uint32)
    return Tape(code, np.array(constants), inputs=inputs, outputs=outputs)


ZERO, ONE, SIN, COS, MINUS, Q = range(6)
NUMBERS = [("constant", ZERO, 0), ("constant", ONE, 1), ("input", Q, 0)]
TURN = tape(
    *NUMBERS,
    ("sin", SIN, Q),
    ("cos", COS, Q),
    ("neg", MINUS, SIN),
    *[("output", i, r) for i, r in enumerate([COS, MINUS, ZERO, ZERO, SIN, COS, ZERO, ZERO, ZERO, ZERO, ONE, ZERO])],
    inputs=1,
    outputs=12,
)
TURN_RATE = tape(*NUMBERS, *[("output", i, ONE if i == 5 else ZERO) for i in range(6)], inputs=1, outputs=6)
REST = tape(
    *NUMBERS,
    *[("output", i, ONE if i in {0, 5, 10} else Q if i == 3 else ZERO) for i in range(12)],
    inputs=1,
    outputs=12,
)
WHEELS = tape(
    *NUMBERS,
    *[("output", i, ONE if i in {0, 1, 10} else ZERO) for i in range(12)],
    inputs=1,
    outputs=12,
)  # forwards with both wheels, turning with the left


def drive_tape(world, *, of, in_frame, value, jacobian=TURN_RATE, positions=("hinge",), velocities=("hinge",)):
    form = TapeForm(value=value, jacobian=jacobian, positions=positions, velocities=velocities)
    world.apply([Drive(of=of, in_frame=in_frame, form=form)])


@pytest.fixture
def door():
    world = World()
    form = ClosedForm(kind="revolute", origin=Transform.identity(), axes=((0, 0, 1),), variables=("hinge",))
    world.apply([AddJoints({"hinge": "linear"}), Drive(of="twin", in_frame="wall", form=form)])
    drive_tape(world, of="door", in_frame="wall", value=TURN)
    return world


@pytest.fixture
def cart():
    world = World()
    world.apply([AddJoints({"x": "linear", "left": "velocity", "right": "velocity"})])
    drive_tape(
        world, of="cart", in_frame="map", value=REST, jacobian=WHEELS, positions=("x",), velocities=("left", "right")
    )
    return world


class TestATape:
    def test_moves_as_the_joint_it_is_made_of(self, door):
        door.set_joints({"hinge": 0.1}, at=0, velocities={"hinge": 2.0})
        door.set_joints({"hinge": 0.7}, at=seconds(1), velocities={"hinge": 1.0}, covariance=[0.01])
        for at in (0, seconds(0.3), seconds(1)):
            assert_close(door.pose(of="door", in_frame="twin", at=at).transform, np.eye(4))
            twist = door.twist(of="door", relative_to="wall", at=at)
            assert twist.method == "joints"
            np.testing.assert_allclose(
                twist.angular, door.twist(of="twin", relative_to="wall", at=at).angular, atol=CLOSE_M
            )

    def test_has_the_covariance_of_its_joint(self, door):
        door.set_joints({"hinge": 0.7}, at=0, covariance=[[0.01]])
        for frame in ("door", "twin"):
            covariance = door.pose(of=frame, in_frame="wall", at=0).covariance
            np.testing.assert_allclose(covariance, np.diag([0, 0, 0, 0, 0, 0.01]), atol=CLOSE_M)
        assert np.abs(door.pose(of="door", in_frame="twin", at=0).covariance).max() < CLOSE_M

    def test_is_part_of_the_digest_of_the_world(self, door):
        before, twin = door.digest(), door.copy()
        assert twin.digest() == before
        drive_tape(door, of="door", in_frame="wall", value=REST)
        assert door.digest() != before
        door.set_joints({"hinge": 1.0}, at=0)
        assert twin.digest() == before

    def test_refuses_other_numbers_of_variables(self, door):
        with pytest.raises(InvalidArgument, match="to 12 numbers"):
            drive_tape(door, of="d", in_frame="w", value=TURN, velocities=())


class TestAWheel:
    """It has a velocity and no position."""

    def test_moves_what_it_drives(self, cart):
        cart.set_joints({"x": 1.0}, at=0, velocities={"left": 2.0, "right": 3.0})
        twist = cart.twist(of="cart", relative_to="map", at=0)
        np.testing.assert_allclose([*twist.linear, *twist.angular], [5.0, 0, 0, 0, 0, 2.0], atol=CLOSE_M)
        assert cart.joint("left").value is None
        assert cart.joint("left").velocity == 2.0

    def test_may_be_applied_alone(self, cart):
        cart.set_joints({}, at=0, velocities={"left": 2.0})
        assert cart.joint_samples("left").velocities.tolist() == [2.0]
        assert np.isnan(cart.joint_samples("left").positions).all()

    def test_is_needed_for_the_motion_and_not_for_the_pose(self, cart):
        cart.set_joints({"x": 1.0}, at=0)
        cart.set_joints({}, at=seconds(1), velocities={"left": 2.0, "right": 1.0})
        assert cart.pose(of="cart", in_frame="map", at=0).transform.translation[0] == 1.0
        with pytest.raises(SingleSample):
            cart.twist(of="cart", relative_to="map", at=0)

    def test_has_no_position_to_be_given(self, cart):
        with pytest.raises(InvalidArgument, match="Give it in velocities="):
            cart.set_joints({"left": 1.0}, at=0)
