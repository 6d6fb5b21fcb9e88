"""The same algebra yields expressions: a representation written outside the library."""

from __future__ import annotations

import numpy as np
import pytest

casadi = pytest.importorskip("casadi")

from armillary.errors import NotNumeric, RepresentationDiffers  # noqa: E402
from armillary.relations import Orientation, Pose, Position, Twist  # noqa: E402
from armillary.relations.representations import (  # noqa: E402
    PoseCoordinates,
    Representation,
    RotationCoordinates,
    TwistCoordinates,
    VectorCoordinates,
)
from unit.relations import kit  # noqa: E402
from unit.relations.symbols import (  # noqa: E402
    SYMBOLIC,
    SymbolicPose,
    SymbolicRotation,
    SymbolicTwist,
    SymbolicVector,
    value_of,
)

CLOSE = 1e-12
ANGLE = 0.7


@pytest.fixture
def q():
    return casadi.SX.sym("q")


def hinge(q) -> Pose:
    """A door that turns about z, one metre along x."""
    R = casadi.vertcat(
        casadi.horzcat(casadi.cos(q), -casadi.sin(q), 0),
        casadi.horzcat(casadi.sin(q), casadi.cos(q), 0),
        casadi.horzcat(0, 0, 1),
    )
    coordinates = SymbolicPose(SymbolicVector(casadi.SX([1, 0, 0])), SymbolicRotation(R))
    return Pose(of="door", in_frame="wall", coordinates=coordinates)


def handle() -> Pose:
    return Pose(of="handle", in_frame="door", body="door", reference_body="door", transform=kit.SOME)


class TestExpressions:
    def test_have_the_protocols(self, q):
        pose = hinge(q).coordinates
        assert isinstance(SYMBOLIC, Representation)
        assert isinstance(pose, PoseCoordinates)
        assert isinstance(pose.position, VectorCoordinates)
        assert isinstance(pose.rotation, RotationCoordinates)
        assert isinstance(SymbolicTwist(pose.position, pose.position), TwistCoordinates)

    def test_compose(self, q):
        whole = hinge(q) @ handle().converted(SYMBOLIC)
        numbers = value_of(whole.coordinates.position.entries, {q: ANGLE}).reshape(3)
        expected = np.array([1, 0, 0]) + turned(ANGLE) @ kit.SOME.translation
        np.testing.assert_allclose(numbers, expected, atol=CLOSE)

    def test_invert_along_the_same_axes(self, q):
        back = hinge(q).inverse()
        assert (back.of, back.in_frame, back.expressed_in) == ("wall", "door", "wall")
        numbers = value_of(back.coordinates.rotation.entries, {q: ANGLE})
        np.testing.assert_allclose(numbers, turned(ANGLE).T, atol=CLOSE)

    def test_have_no_numbers(self, q):
        with pytest.raises(NotNumeric, match="Evaluate them first"):
            _ = hinge(q).transform
        assert handle().converted(SYMBOLIC).is_close(handle(), m=CLOSE, rad=CLOSE)

    def test_do_not_mix_with_numbers(self, q):
        with pytest.raises(RepresentationDiffers, match="casadi and Transform"):
            hinge(q) @ handle()

    def test_leave_a_covariance_unknown(self, q):
        door = hinge(q)._replace(covariance=kit.COVARIANCE)
        assert (door @ handle().converted(SYMBOLIC)).covariance is None
        assert door.inverse().covariance is None

    def test_differentiate_to_the_twist_of_the_handle(self, q):
        rate = casadi.SX.sym("rate")
        along = SymbolicTwist(SymbolicVector(casadi.SX([0, 0, 0])), SymbolicVector(casadi.vertcat(0, 0, rate)))
        door = Twist(point="door", reference_body="wall", coordinates=along)
        arm = (hinge(q) @ handle().converted(SYMBOLIC)).position.coordinates.entries - casadi.SX([1, 0, 0])
        lever = Position(
            point="handle",
            body="door",
            reference_point="door",
            reference_body="door",
            expressed_in="wall",
            coordinates=SymbolicVector(arm),
        )
        moved = door.change_point(lever)
        expected = casadi.jtimes(arm, q, rate)
        difference = moved.coordinates.linear.entries - expected
        np.testing.assert_allclose(value_of(difference, {q: ANGLE, rate: 0.3}), 0.0, atol=CLOSE)

    def test_turn_to_other_axes(self, q):
        turn = Orientation(of="map", in_frame="base", coordinates=SYMBOLIC.rotation(kit.QUARTER))
        moving = kit.twist().converted(SYMBOLIC).change_coordinate_frame(turn)
        np.testing.assert_allclose(moving.linear, kit.QUARTER @ kit.twist().linear, atol=CLOSE)


def turned(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
