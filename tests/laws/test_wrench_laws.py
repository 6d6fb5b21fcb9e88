"""Laws of forces and moments: power does not depend on the point, nor on the axes."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from armillary.relations import Force, Orientation, Position, Torque, Twist, Wrench
from strategies import rotations, tangents, vectors

CLOSE_W = 1e-9  # relative to the size of what is added up
NAMES = {"point": "a", "body": "gun", "reference_body": "table", "expressed_in": "map"}


def arm(v: np.ndarray) -> Position:
    """From a to b, both on the gun."""
    names = {"body": "gun", "reference_body": "gun", "expressed_in": "map"}
    return Position(point="b", reference_point="a", coordinates=v, **names)


def wrench(F: np.ndarray, M: np.ndarray, **changes) -> Wrench:
    return Wrench(**(NAMES | {"force": F, "torque": M} | changes))


def twist(v: np.ndarray) -> Twist:
    return Twist(**(NAMES | {"reference_body": "map"}), linear=v[:3], angular=v[3:])


def assert_same_power(actual: float, expected: float, *sizes: np.ndarray) -> None:
    scale = max(1.0, float(np.prod([1.0 + np.linalg.norm(x) for x in sizes])))
    assert abs(actual - expected) <= CLOSE_W * scale


class TestPower:
    @given(vectors(), vectors(), tangents(), vectors())
    def test_is_the_same_at_every_point(self, F, M, v, p):
        power = wrench(F, M).power(twist(v))
        moved = wrench(F, M).change_point(arm(p)).power(twist(v).change_point(arm(p)))
        assert_same_power(moved, power, F, M, v, p)

    @given(vectors(), vectors(), tangents(), rotations())
    def test_is_the_same_along_all_axes(self, F, M, v, turn):
        axes = Orientation(of="map", in_frame="sky", coordinates=turn)
        power = wrench(F, M).power(twist(v))
        turned = wrench(F, M).change_coordinate_frame(axes).power(twist(v).change_coordinate_frame(axes))
        assert_same_power(turned, power, F, M, v)

    @given(vectors(), vectors(), vectors(), vectors(), tangents())
    def test_of_a_sum_is_the_sum(self, F, M, G, N, v):
        both = wrench(F, M) + wrench(G, N, reference_body="wind")
        assert both.reference_body == "table+wind"
        expected = wrench(F, M).power(twist(v)) + wrench(G, N).power(twist(v))
        assert_same_power(both.power(twist(v)), expected, F + G, M + N, v)


class TestWrenches:
    @given(vectors(), vectors(), vectors())
    def test_come_back_from_another_point(self, F, M, p):
        there = wrench(F, M).change_point(arm(p))
        assert (there.point, there.force.tolist()) == ("b", F.tolist())
        np.testing.assert_allclose(there.torque, M - np.cross(p, F), atol=1e-9)
        assert there.change_point(arm(p).inverse()).is_close(wrench(F, M), rad=1e-9)

    @given(vectors(), vectors(), vectors())
    def test_move_like_their_parts(self, F, M, p):
        force = Force(body="gun", reference_body="table", expressed_in="map", coordinates=F)
        torque = Torque(**NAMES, coordinates=M)
        whole = Wrench.from_parts(force, torque)
        assert whole == wrench(F, M)
        assert whole.change_point(arm(p)).as_torque == torque.change_point(arm(p), force=force)

    @given(vectors(), vectors())
    def test_meet_their_reaction(self, F, M):
        back = wrench(F, M).inverse()
        assert (back.body, back.reference_body) == ("table", "gun")
        assert (wrench(F, M) + back._replace(body="gun", reference_body="table")).is_close(wrench(0 * F, 0 * M))
        assert back.inverse() == wrench(F, M)

    @given(vectors(), vectors())
    def test_add_in_either_order(self, F, G):
        force = Force(body="gun", reference_body="table", coordinates=F)
        other = Force(body="gun", reference_body="table", coordinates=G)
        assert force + other == other + force == force @ other
        assert force.inverse().inverse() == force
