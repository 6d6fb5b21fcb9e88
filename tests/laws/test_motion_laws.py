"""What a world answers about motion, against derivatives and sums in plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from randomness import examples
from reference import ReferenceWorld, Refused, exp
from reference_twists import Link, at_point, chain, numeric_twist, summed_twist, turned
from strategies import (
    BETWEEN,
    FRAMES,
    SOMEWHERE,
    VALUES,
    Twins,
    assert_same_refusal,
    histories,
    outcome,
)

CLOSE_NUMERIC = 2e-6  # of a central difference over 2 us
CLOSE = 1e-9
INTERPOLATION = st.sampled_from(["linear", "screw"])
TWISTS = st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).uniform(-1.0, 1.0, size=6))


def six(twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


def assert_twist(actual, expected: np.ndarray, within: float) -> None:
    assert not isinstance(actual, ArmillaryError), f"{actual!r} where an answer was due"
    np.testing.assert_allclose(six(actual), expected, atol=within * max(1.0, np.abs(expected).max()))


@st.composite
def moving_trees(draw) -> World:
    """Every frame is sampled in an earlier one, at every second; some with a covariance."""
    world = World(default_covariance=draw(st.sampled_from([None, 0.01 * np.eye(6)])))
    for i, name in enumerate(FRAMES[1:], start=1):
        parent = draw(st.sampled_from(FRAMES[:i]))
        for second in range(1, 4):
            transform = Transform.from_matrix(VALUES[draw(st.integers(0, 15))])
            world.set_pose(of=name, in_frame=parent, transform=transform, at=seconds(second))
    return world


INSTANTS = st.integers(seconds(1.0) + 1, seconds(3.0) - 1)


class TestATwistAlongThePoses:
    @given(histories(), SOMEWHERE, SOMEWHERE, st.sampled_from(BETWEEN), INTERPOLATION)
    @examples(60)
    def test_is_the_derivative_of_the_pose(self, statements, of, relative_to, at, how):
        twins = Twins().do_all(statements)
        question = {"of": of, "relative_to": relative_to, "at": at, "interpolation": how}
        expected = outcome(lambda: numeric_twist(twins.reference, **question), Refused)
        actual = outcome(lambda: twins.world.twist(**question), ArmillaryError)
        if isinstance(expected, Refused):
            assert_same_refusal(actual, expected)
        else:
            assert_twist(actual, expected, CLOSE_NUMERIC)

    @given(moving_trees(), st.permutations(FRAMES), INSTANTS, INTERPOLATION)
    @examples(40)
    def test_telescopes(self, world, frames, at, how):
        a, b, c, r, p = frames
        named = {"expressed_in": r, "point": p, "at": at, "interpolation": how}
        near, far, back = (six(world.twist(of=x, relative_to=y, **named)) for x, y in ((a, b), (b, c), (c, a)))
        assert_twist(world.twist(of=a, relative_to=c, **named), near + far, CLOSE)
        np.testing.assert_allclose(back, -(near + far), atol=CLOSE * max(1.0, np.abs(back).max()))

    @given(moving_trees(), st.permutations(FRAMES), INSTANTS)
    @examples(40)
    def test_turns_and_swings_with_the_poses(self, world, frames, at):
        of, relative_to, r, p, _ = frames
        asked = {"of": of, "relative_to": relative_to, "at": at}
        moved = world.twist(**asked, expressed_in=r, point=p)
        R = world.pose(of=relative_to, in_frame=r, at=at).rotation.matrix
        lever = np.subtract(*(world.pose(of=name, in_frame=relative_to, at=at).xyz for name in (p, of)))
        assert_twist(moved, turned(R, at_point(six(world.twist(**asked)), lever)), CLOSE)
        assert moved.covariance is None or np.linalg.eigvalsh(moved.covariance).min() > -CLOSE


@st.composite
def measured_trees(draw):
    """A tree of fixed poses, and measured twists that join bodies without a cycle."""
    world, plain, links = World(), ReferenceWorld(), []
    for i, name in enumerate(FRAMES[1:], start=1):
        edge = {"of": name, "in_frame": draw(st.sampled_from(FRAMES[:i]))}
        value = VALUES[draw(st.integers(0, 15))]
        plain.fix(**edge, transform=value)
        world.fix(**edge, transform=Transform.from_matrix(value), at=0)  # for always they would be one body
    order = draw(st.permutations(FRAMES))
    for i, name in enumerate(order[1:], start=1):
        links.append(Link(name, name, draw(st.sampled_from(order[:i])), draw(TWISTS)))
    return world, plain, links


class TestMeasuredTwists:
    @given(measured_trees(), st.permutations(FRAMES), st.integers(0, 10))
    @examples(60)
    def test_add_up_from_body_to_body(self, tree, frames, at):
        world, plain, links = tree
        for link in links:
            numbers = {"linear": link.twist[:3], "angular": link.twist[3:]}
            world.set_twist(of=link.head, relative_to=link.reference, expressed_in=link.head, at=at, **numbers)
        of, relative_to, r, p, _ = frames
        twist = world.twist(of=of, relative_to=relative_to, expressed_in=r, point=p, at=at)
        steps = chain(links, of, relative_to)
        assert_twist(twist, summed_twist(plain, steps, point=p, expressed_in=r, at=at), CLOSE)
        assert (twist.method, twist.stamp) == ("measured", at)

    @given(measured_trees(), st.permutations(FRAMES), TWISTS)
    @examples(40)
    def test_come_back_along_the_axes_they_were_given_in(self, tree, frames, v):
        world, (of, relative_to, r, *_) = tree[0], frames
        named = {"of": of, "relative_to": relative_to, "expressed_in": r, "at": 5}
        world.set_twist(**named, linear=v[:3], angular=v[3:], covariance=np.eye(6))
        assert_twist(world.twist(**named), v, CLOSE)
        np.testing.assert_allclose(world.twist(**named).covariance, np.eye(6), atol=CLOSE)


class TestPrediction:
    @given(TWISTS, st.integers(1, seconds(1.0)), st.integers(0, 15))
    def test_of_a_screw_motion_is_exact(self, v, ahead, value):
        world, start = World(interpolation="screw"), VALUES[value]
        for t in (0.0, 0.5):
            transform = Transform.from_matrix(start @ exp(v * t))
            world.set_pose(of="a", in_frame="b", transform=transform, at=seconds(t))
        pose = world.pose(of="a", in_frame="b", at=seconds(0.5) + ahead, outside="predict")
        np.testing.assert_allclose(pose.transform.matrix, start @ exp(v * (0.5 + ahead / 1e9)), atol=1e-8)
        twist = world.twist(of="a", relative_to="b", expressed_in="a", at=seconds(0.5) + ahead, outside="predict")
        np.testing.assert_allclose(six(twist), v, atol=1e-8)
        assert pose.predicted
        assert twist.predicted
