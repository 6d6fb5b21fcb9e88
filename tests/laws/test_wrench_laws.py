"""Laws of forces and moments: power does not depend on the point, nor on the axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Rotation, Transform, World, seconds
from armillary.relations import Force, Orientation, Position, Torque, Twist, Wrench
from randomness import examples
from reference import exp
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


SEEDS = st.integers(0, 2**32 - 1)
STEP = 1e-6
CLOSE_SPREAD = 1e-6  # of a central difference, of the largest number


def spread(random: np.random.Generator, size: int, scale: float = 1.0) -> np.ndarray:
    root = scale * random.normal(size=(size, size))
    return root @ root.T


def slopes(f: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    return np.transpose([(f(STEP * e) - f(-STEP * e)) / (2.0 * STEP) for e in np.eye(size)])


def six(value: Wrench) -> np.ndarray:
    return np.concatenate([value.force, value.torque])


class TestTheUncertaintyOfAWrench:
    """Against differences: small errors of all that it is made of."""

    @given(SEEDS)
    def test_takes_in_the_error_of_the_arm(self, seed):
        random = np.random.default_rng(seed)
        F, M, p = random.normal(size=(3, 3))
        S, P = spread(random, 6), spread(random, 3)
        lever = arm(p)._replace(covariance=P, stamp=5)
        moved = wrench(F, M, covariance=S, stamp=5).change_point(lever)
        by_wrench = slopes(lambda d: six(wrench(F + d[:3], M + d[3:]).change_point(arm(p))), 6)
        by_arm = slopes(lambda d: six(wrench(F, M).change_point(arm(p + d))), 3)
        expected = by_wrench @ S @ by_wrench.T + by_arm @ P @ by_arm.T
        np.testing.assert_allclose(moved.covariance, expected, atol=CLOSE_SPREAD * np.abs(expected).max())
        np.testing.assert_array_equal(moved.as_force.covariance, moved.covariance[:3, :3])
        assert wrench(F, M, covariance=S, stamp=5).change_point(arm(p)._replace(stamp=5)).covariance is None
        assert moved.stamp == 5

    @given(SEEDS)
    def test_takes_in_the_error_of_the_axes(self, seed):
        random = np.random.default_rng(seed)
        F, M, turn = random.normal(size=(3, 3))
        S, P = spread(random, 6), spread(random, 3)
        R = Rotation.exp(turn)
        axes = Orientation(of="map", in_frame="sky", coordinates=R, covariance=P)

        def turned(d: np.ndarray, e: np.ndarray | float = 0.0) -> np.ndarray:
            new = Orientation(of="map", in_frame="sky", coordinates=R @ Rotation.exp(e))
            return six(wrench(F + d[:3], M + d[3:]).change_coordinate_frame(new))

        by_wrench = slopes(lambda d: turned(d, np.zeros(3)), 6)
        by_turn = slopes(lambda e: turned(np.zeros(6), e), 3)
        expected = by_wrench @ S @ by_wrench.T + by_turn @ P @ by_turn.T
        found = wrench(F, M, covariance=S).change_coordinate_frame(axes).covariance
        np.testing.assert_allclose(found, expected, atol=CLOSE_SPREAD * np.abs(expected).max())

    @given(SEEDS)
    def test_adds_up_of_different_data_only(self, seed):
        random = np.random.default_rng(seed)
        S, P = spread(random, 6), spread(random, 6)
        first, second = wrench(*np.eye(2, 3), covariance=S), wrench(*np.eye(2, 3), covariance=P)
        np.testing.assert_allclose((first + second).covariance, S + P)
        shared = {"relations": (("a", "table", ""),)}
        assert (first._replace(**shared) + second._replace(**shared)).covariance is None
        assert (first.stamped(3) + second).stamp == 3


PARENTS = {"base": "map", "arm": "base", "sensor": "arm", "tool": "base", "camera": "map"}
FRAMES = ["map", *PARENTS]


class TestAWrenchInAWorld:
    @given(SEEDS, st.sampled_from(FRAMES), st.sampled_from(FRAMES))
    @examples(60)
    def test_is_moved_as_matrices_say_with_each_error_once(self, seed, point, axes):
        """Each edge has one error, however often it is on the ways to the point, to the axes and to the sensor."""
        random = np.random.default_rng(seed)
        edges = {of: exp(random.uniform(-1.0, 1.0, 6)) for of in PARENTS}
        spreads = {of: spread(random, 6, 1e-2) for of in PARENTS}
        world = World()
        for of, in_frame in PARENTS.items():
            given = {"of": of, "in_frame": in_frame, "covariance": spreads[of]}
            given |= {"transform": Transform.from_matrix(edges[of])}
            if of == "tool":
                world.fix(**given)
            else:
                for second in (0, 2):
                    world.set_pose(**given, at=seconds(second))
        first, second = random.normal(size=(2, 6))
        sure = [spread(random, 6), spread(random, 6)]
        for i, numbers in enumerate((first, second)):
            names = {"of": "sensor", "by": "table", "at": seconds(i), "covariance": sure[i]}
            world.set_wrench(**names, force=numbers[:3], torque=numbers[3:])
        u = 0.25

        def moved(numbers: np.ndarray, places: dict[str, np.ndarray]) -> np.ndarray:
            def place(frame: str) -> np.ndarray:
                return np.eye(4) if frame == "map" else place(PARENTS[frame]) @ places[frame]

            sensor, about, along = place("sensor"), place(point), place(axes)
            R = along[:3, :3].T @ sensor[:3, :3]
            lever = along[:3, :3].T @ (sensor[:3, 3] - about[:3, 3])
            return np.concatenate([R @ numbers[:3], R @ numbers[3:] + np.cross(lever, R @ numbers[:3])])

        numbers = (1 - u) * first + u * second
        J = slopes(lambda d: moved(numbers + d, edges), 6)
        expected = J @ ((1 - u) * sure[0] + u * sure[1]) @ J.T
        for of, in_frame in PARENTS.items():
            known = world.pose(of=of, in_frame=in_frame, at=seconds(u)).covariance
            J = slopes(lambda d, of=of: moved(numbers, edges | {of: edges[of] @ exp(d)}), 6)
            expected = expected + J @ known @ J.T
        found = world.wrench(of="sensor", by="table", point=point, expressed_in=axes, at=seconds(u))
        np.testing.assert_allclose(six(found), moved(numbers, edges), atol=1e-9)
        np.testing.assert_allclose(found.covariance, expected, atol=CLOSE_SPREAD * np.abs(expected).max())
        assert (found.point, found.expressed_in, found.stamp) == (point, axes, seconds(u))
