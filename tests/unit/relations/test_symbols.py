"""The same algebra yields expressions: a representation written outside the library."""

from __future__ import annotations

import numpy as np
import pytest

casadi = pytest.importorskip("casadi")

from armillary import Rotation, Transform  # noqa: E402
from armillary.errors import NotNumeric, RepresentationDiffers  # noqa: E402
from armillary.relations import Orientation, Pose, Position, Twist  # noqa: E402
from armillary.relations.representations import (  # noqa: E402
    PoseCoordinates,
    Representation,
    RotationCoordinates,
    TwistCoordinates,
    VectorCoordinates,
)
from symbolic import (  # noqa: E402
    SYMBOLIC,
    SymbolicPose,
    SymbolicRepresentation,
    SymbolicRotation,
    SymbolicTwist,
    SymbolicVector,
)
from unit.relations import kit  # noqa: E402

CLOSE = 1e-12
ANGLE = 0.7


def value_of(expression, values: dict) -> np.ndarray:
    return np.array(casadi.Function("f", list(values), [expression])(*values.values()), dtype=float)


def exp(_, linear, angular, duration_s):
    """Of a twist that turns (spec B2.4)."""
    rate = casadi.norm_2(angular.sx)
    angle, W = rate * duration_s, casadi.skew(angular.sx) / rate
    one, cosine, sine = casadi.SX.eye(3), casadi.cos(angle), casadi.sin(angle)
    R = one + sine * W + (1 - cosine) * W @ W
    V = duration_s * (one + (1 - cosine) / angle * W + (1 - sine / angle) * W @ W)
    return SymbolicPose(SymbolicVector(V @ linear.sx), SymbolicRotation(R))


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
        numbers = value_of(whole.coordinates.position.sx, {q: ANGLE}).reshape(3)
        expected = np.array([1, 0, 0]) + turned(ANGLE) @ kit.SOME.translation
        np.testing.assert_allclose(numbers, expected, atol=CLOSE)

    def test_invert_along_the_same_axes(self, q):
        back = hinge(q).inverse()
        assert (back.of, back.in_frame, back.expressed_in) == ("wall", "door", "wall")
        numbers = value_of(back.coordinates.rotation.sx, {q: ANGLE})
        np.testing.assert_allclose(numbers, turned(ANGLE).T, atol=CLOSE)

    def test_have_no_numbers(self, q):
        for read in (lambda pose: pose.transform, lambda pose: pose.xyz, lambda pose: pose.is_close(pose)):
            with pytest.raises(NotNumeric, match="Evaluate them"):
                read(hinge(q))

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
        arm = (hinge(q) @ handle().converted(SYMBOLIC)).position.coordinates.sx - casadi.SX([1, 0, 0])
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
        difference = moved.coordinates.linear.sx - expected
        np.testing.assert_allclose(value_of(difference, {q: ANGLE, rate: 0.3}), 0.0, atol=CLOSE)

    def test_integrate_in_their_own_way(self, q, monkeypatch):
        monkeypatch.setattr(SymbolicRepresentation, "exp", exp, raising=False)
        rate = casadi.SX.sym("rate")
        along = SymbolicTwist(SymbolicVector(casadi.SX([0.1, 0, 0])), SymbolicVector(casadi.vertcat(0, 0, rate)))
        moving = Twist(point="door", reference_body="wall", expressed_in="door", coordinates=along)
        later = moving.integrate(hinge(q), 0.5)
        values = {q: ANGLE, rate: 0.3}
        still = Pose(of="door", in_frame="wall", coordinates=Transform.from_rotation(about_z(ANGLE), xyz=(1, 0, 0)))
        numeric = Twist(
            point="door", reference_body="wall", expressed_in="door", linear=(0.1, 0, 0), angular=(0, 0, 0.3)
        )
        expected = numeric.integrate(still, 0.5)
        parts = later.coordinates.position.sx, later.coordinates.rotation.sx
        np.testing.assert_allclose(value_of(parts[0], values).reshape(3), expected.xyz, atol=CLOSE)
        np.testing.assert_allclose(value_of(parts[1], values), expected.rotation.matrix, atol=CLOSE)

    def test_turn_to_other_axes(self, q):
        turn = Orientation(of="map", in_frame="base", coordinates=SYMBOLIC.rotation(kit.QUARTER))
        moving = kit.twist().converted(SYMBOLIC).change_coordinate_frame(turn)
        numbers = value_of(moving.coordinates.linear.sx, {q: ANGLE}).reshape(3)
        np.testing.assert_allclose(numbers, kit.QUARTER @ kit.twist().linear, atol=CLOSE)

    def test_that_cannot_be_integrated_say_so(self, q):
        still = SymbolicTwist(SymbolicVector(q * casadi.SX.ones(3)), SymbolicVector(casadi.SX.zeros(3)))
        moving = Twist(point="door", reference_body="wall", expressed_in="door", coordinates=still)
        with pytest.raises(NotNumeric):
            moving.integrate(hinge(q), 0.5)

    def test_are_printed_by_their_names(self, q):
        door = hinge(q)
        moving = kit.twist().converted(SYMBOLIC)
        for value in (door, door.position, door.orientation, moving, moving.velocity, kit.wrench().converted(SYMBOLIC)):
            assert str(value) == repr(value)


def about_z(angle: float) -> Rotation:
    return Rotation.from_rpy((0.0, 0.0, angle))


def turned(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
