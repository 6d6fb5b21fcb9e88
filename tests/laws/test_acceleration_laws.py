"""Accelerations do not add like velocities: each rule against finite differences of three moving bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from armillary.relations import (
    AngularAcceleration,
    AngularVelocity,
    LinearAcceleration,
    LinearVelocity,
    Position,
)
from randomness import examples

H = 1e-3
CLOSE = 1e-5
FEWER = examples(15)
SEEDS = st.integers(0, 2**32 - 1)
POINT_ON_C = np.array([0.3, -0.2, 0.5])


class Motion:
    """T(t) of a body in another, smooth: exp(a + b t + c t^2 + d t^3)."""

    def __init__(self, seed: int) -> None:
        self.coefficients = 0.5 * np.random.default_rng(seed).normal(size=(4, 6))

    def __call__(self, t: float) -> np.ndarray:
        a, b, c, d = self.coefficients
        return reference.exp(a + t * (b + t * (c + t * d)))


def rates(T, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """v, a, w, dw of the point p (in the moving body) at 0 s, along the axes of the reference, by differences."""
    place = [(T(t) @ [*p, 1.0])[:3] for t in (-H, 0.0, H)]
    spin = [spin_at(T, t) for t in (-H, 0.0, H)]
    v, a = (place[2] - place[0]) / (2 * H), (place[2] - 2 * place[1] + place[0]) / H**2
    return v, a, spin[1], (spin[2] - spin[0]) / (2 * H)


def spin_at(T, t: float) -> np.ndarray:
    W = (T(t + H) - T(t - H))[:3, :3] / (2 * H) @ T(t)[:3, :3].T
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


class Body:
    """What is known of a point of one body relative to another, along the axes of `axes`."""

    def __init__(self, T, p, *, bodies: str, turn: np.ndarray, axes: str = "e", point: str = "p") -> None:
        v, a, w, dw = (turn @ x for x in rates(T, p))
        names = {"body": bodies[0], "reference_body": bodies[1], "expressed_in": axes}
        self.velocity = LinearVelocity(point=point, coordinates=v, **names)
        self.acceleration = LinearAcceleration(point=point, coordinates=a, **names)
        self.angular_velocity = AngularVelocity(coordinates=w, **names)
        self.angular_acceleration = AngularAcceleration(coordinates=dw, **names)


def three_bodies(seed: int) -> tuple[Body, Body, Body, np.ndarray]:
    """d in e, c in d, c in e; the same point p, here of c, there of d where it is just then."""
    d_in_e, c_in_d = Motion(seed), Motion(seed + 1)
    R = d_in_e(0.0)[:3, :3]
    in_d = (c_in_d(0.0) @ [*POINT_ON_C, 1.0])[:3]
    outer = Body(d_in_e, in_d, bodies="de", turn=np.eye(3))
    inner = Body(c_in_d, POINT_ON_C, bodies="cd", turn=R)
    whole = Body(lambda t: d_in_e(t) @ c_in_d(t), POINT_ON_C, bodies="ce", turn=np.eye(3))
    return outer, inner, whole, R


def assert_close(actual, expected) -> None:
    np.testing.assert_allclose(actual.xyz, expected.xyz, atol=CLOSE * max(1.0, np.abs(expected.xyz).max()))
    assert repr(actual) == repr(expected)


class TestComposition:
    @given(SEEDS)
    @FEWER
    def test_of_angular_accelerations_has_a_cross_term(self, seed):
        outer, inner, whole, _ = three_bodies(seed)
        composed = outer.angular_acceleration.compose(
            inner.angular_acceleration,
            angular_velocity=outer.angular_velocity,
            other_angular_velocity=inner.angular_velocity,
        )
        assert_close(composed, whole.angular_acceleration)

    @given(SEEDS)
    @FEWER
    def test_of_linear_accelerations_has_the_coriolis_term(self, seed):
        outer, inner, whole, _ = three_bodies(seed)
        composed = outer.acceleration.compose(
            inner.acceleration, angular_velocity=outer.angular_velocity, other_velocity=inner.velocity
        )
        assert_close(composed, whole.acceleration)

    @given(SEEDS)
    @FEWER
    def test_of_velocities_has_none(self, seed):
        outer, inner, whole, _ = three_bodies(seed)
        assert_close(outer.velocity @ inner.velocity, whole.velocity)
        assert_close(outer.angular_velocity @ inner.angular_velocity, whole.angular_velocity)


class TestInversion:
    def both_ways(self, seed: int) -> tuple[Body, Body]:
        T = Motion(seed)
        R, in_d = T(0.0)[:3, :3], (T(0.0) @ [*POINT_ON_C, 1.0])[:3]
        there = Body(T, POINT_ON_C, bodies="cd", turn=np.eye(3), axes="d")
        back = Body(lambda t: np.linalg.inv(T(t)), in_d, bodies="dc", turn=R, axes="d")
        return there, back

    @given(SEEDS)
    @FEWER
    def test_of_a_linear_acceleration_has_the_coriolis_term(self, seed):
        there, back = self.both_ways(seed)
        inverse = there.acceleration.inverse(angular_velocity=there.angular_velocity, velocity=there.velocity)
        assert_close(inverse, back.acceleration)

    @given(SEEDS)
    @FEWER
    def test_of_an_angular_acceleration_has_none(self, seed):
        there, back = self.both_ways(seed)
        assert_close(there.angular_acceleration.inverse(), back.angular_acceleration)
        assert_close(there.velocity.inverse(), back.velocity)


class TestAnotherPoint:
    @given(SEEDS)
    @FEWER
    def test_is_accelerated_by_turning(self, seed):
        T, q = Motion(seed), np.array([-0.4, 0.6, 0.2])
        R = T(0.0)[:3, :3]
        here, there = (Body(T, x, bodies="ce", turn=np.eye(3), point=name) for x, name in ((POINT_ON_C, "p"), (q, "q")))
        arm = Position(
            point="q",
            body="c",
            reference_point="p",
            reference_body="c",
            expressed_in="e",
            coordinates=R @ (q - POINT_ON_C),
        )
        moved = here.acceleration.change_point(
            arm, angular_velocity=here.angular_velocity, angular_acceleration=here.angular_acceleration
        )
        assert_close(moved, there.acceleration)


STEP = 1e-6
CLOSE_SPREAD = 1e-6
NAMES = {"body": "c", "reference_body": "d", "expressed_in": "e"}
INNER = {"body": "d", "reference_body": "e", "expressed_in": "e"}
AT = {"point": "p"}
AT_P = NAMES | AT
ARM = {"point": "q", "reference_point": "p", "body": "c", "reference_body": "c", "expressed_in": "e"}
OPERATIONS = {
    "inverse": (
        lambda a, w, v: a.inverse(angular_velocity=w, velocity=v),
        [
            (LinearAcceleration, AT_P),
            (AngularVelocity, NAMES),
            (LinearVelocity, AT_P),
        ],
    ),
    "compose": (
        lambda a, b, w, v: a.compose(b, angular_velocity=w, other_velocity=v),
        [
            (LinearAcceleration, INNER | AT),
            (LinearAcceleration, AT_P),
            (AngularVelocity, INNER),
            (LinearVelocity, AT_P),
        ],
    ),
    "compose angular": (
        lambda a, b, w, v: a.compose(b, angular_velocity=w, other_angular_velocity=v),
        [
            (AngularAcceleration, INNER),
            (AngularAcceleration, NAMES),
            (AngularVelocity, INNER),
            (AngularVelocity, NAMES),
        ],
    ),
    "change_point": (
        lambda a, p, w, dw: a.change_point(p, angular_velocity=w, angular_acceleration=dw),
        [
            (LinearAcceleration, AT_P),
            (Position, ARM),
            (AngularVelocity, NAMES),
            (AngularAcceleration, NAMES),
        ],
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
class TestTheUncertaintyOfAnAcceleration:
    @given(SEEDS)
    @FEWER
    def test_takes_in_the_errors_of_all_that_it_is_made_of(self, operation, seed):
        random = np.random.default_rng(seed)
        combine, kinds = OPERATIONS[operation]
        means = random.normal(size=(len(kinds), 3))
        roots = random.normal(size=(len(kinds), 3, 3))

        def parts(numbers: np.ndarray, **origin) -> list:
            spreads = [root @ root.T for root in roots] if origin else [None] * len(kinds)
            return [
                kind(**names, coordinates=x, covariance=C, **origin)
                for (kind, names), x, C in zip(kinds, numbers, spreads, strict=True)
            ]

        expected = np.zeros((3, 3))
        for i, root in enumerate(roots):
            steps = [np.where(np.arange(len(kinds))[:, None] == i, STEP * e, 0.0) for e in np.eye(3)]
            ends = [[combine(*parts(means + sign * step)).xyz for sign in (1, -1)] for step in steps]
            J = np.transpose([(ahead - back) / (2 * STEP) for ahead, back in ends])
            expected += J @ root @ root.T @ J.T
        found = combine(*parts(means, stamp=7))
        np.testing.assert_allclose(found.covariance, expected, atol=CLOSE_SPREAD * np.abs(expected).max())
        assert found.stamp == 7

    def test_is_unknown_where_one_is_or_two_come_from_the_same_data(self, operation):
        combine, kinds = OPERATIONS[operation]
        plain = [kind(**names, coordinates=np.ones(3), stamp=7, covariance=np.eye(3)) for kind, names in kinds]
        assert combine(*plain).covariance is not None
        assert combine(*plain[:-1], plain[-1]._replace(covariance=None)).covariance is None
        shared = [part._replace(relations=(("c", "d", ""),)) for part in plain]
        assert combine(*shared).covariance is None


def test_a_plain_sum_would_be_wrong():
    """The terms that are easily forgotten are not small."""
    outer, inner, whole, _ = three_bodies(7)
    assert np.linalg.norm(outer.acceleration.xyz + inner.acceleration.xyz - whole.acceleration.xyz) > 0.1
    with pytest.raises(ValueError, match="do not add like velocities"):
        outer.acceleration @ inner.acceleration
