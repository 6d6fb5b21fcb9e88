"""What a world answers between two samples."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from armillary import Transform, World, seconds
from armillary.errors import AfterHistory, BeforeHistory
from strategies import (
    CLOSE_M,
    CLOSE_RAD,
    LONG_HISTORY,
    STAMPS,
    VALUES,
    assert_close,
    axes,
    modest_transforms,
    quaternions,
    stamp_pairs,
    transforms,
)

HOW = ("linear", "screw")
ONE_SECOND = (0, seconds(1.0))


def between(first, second, stamps=ONE_SECOND, *, interpolation="linear"):
    """A world with two samples of `base` in `map`."""
    world = World(history=LONG_HISTORY, interpolation=interpolation)
    for at, transform in zip(stamps, (first, second), strict=True):
        world.set_pose(of="base", in_frame="map", transform=transform, at=at)
    return world


def ask(world, at, **how):
    return world.pose(of="base", in_frame="map", at=at, **how).transform


def turn_between(a, b):
    """Angle in radians, without the arc cosine that is blind below 1e-8."""
    return np.linalg.norm(reference.rotation_log(a.matrix[:3, :3].T @ b.matrix[:3, :3]))


class TestBothEnds:
    @pytest.mark.parametrize("how", HOW)
    @given(transforms(), transforms(), stamp_pairs())
    def test_are_the_stored_samples(self, how, first, second, stamps):
        world = between(first, second, stamps, interpolation=how)
        assert_close(ask(world, stamps[0]), first)
        assert_close(ask(world, stamps[1]), second)

    @given(transforms(), transforms(), stamp_pairs())
    def test_are_where_the_history_ends_to_the_nanosecond(self, first, second, stamps):
        world = between(first, second, stamps)
        with pytest.raises(BeforeHistory):
            ask(world, stamps[0] - 1)
        with pytest.raises(AfterHistory):
            ask(world, stamps[1] + 1)


class TestTheMiddle:
    @given(modest_transforms(), modest_transforms())
    def test_is_half_the_way_and_half_the_turn(self, first, second):
        middle = ask(between(first, second), seconds(0.5))
        mean = (first.translation + second.translation) / 2
        assert np.abs(middle.translation - mean).max() < CLOSE_M
        whole = turn_between(first, second)
        assert abs(turn_between(first, middle) - whole / 2) < CLOSE_RAD
        assert abs(turn_between(middle, second) - whole / 2) < CLOSE_RAD

    @given(quaternions(), axes())
    def test_of_exactly_half_a_turn_is_a_quarter_turn_from_both(self, wxyz, axis):
        first = Transform.from_xyz_wxyz(xyz=(0, 0, 0), wxyz=wxyz)
        second = first @ Transform.from_xyz_wxyz(xyz=(0, 0, 0), wxyz=(0.0, *axis))
        middle = ask(between(first, second), seconds(0.5))
        assert abs(turn_between(first, middle) - math.pi / 2) < CLOSE_RAD
        assert abs(turn_between(middle, second) - math.pi / 2) < CLOSE_RAD

    @given(modest_transforms(), modest_transforms())
    def test_of_a_screw_is_reached_by_the_same_motion_twice(self, first, second):
        middle = ask(between(first, second, interpolation="screw"), seconds(0.5))
        half = first.inverse() @ middle
        assert_close(first @ half @ half, second)


class TestAnyInstantBetween:
    @pytest.mark.parametrize("how", HOW)
    @given(modest_transforms(), modest_transforms(), stamp_pairs(), st.floats(0.0, 1.0))
    def test_agrees_with_the_reference(self, how, first, second, stamps, part):
        start, end = stamps
        at = start + int(part * (end - start))
        u = (at - start) / (end - start)
        expected = reference.interpolate(first.matrix, second.matrix, u, how)
        assert_close(ask(between(first, second, stamps, interpolation=how), at), expected)

    @given(transforms(), transforms(), st.floats(0.0, 1.0))
    def test_turns_at_constant_speed(self, first, second, part):
        at = int(part * seconds(1.0))
        middle = ask(between(first, second), at)
        expected = at / seconds(1.0) * turn_between(first, second)
        assert abs(turn_between(first, middle) - expected) < CLOSE_RAD * 10

    @given(modest_transforms(), modest_transforms(), st.floats(0.0, 1.0))
    def test_may_be_asked_for_the_other_interpolation(self, first, second, part):
        at = int(part * seconds(1.0))
        linear, screw = between(first, second), between(first, second, interpolation="screw")
        assert_close(ask(linear, at, interpolation="screw"), ask(screw, at))
        assert_close(ask(screw, at, interpolation="linear"), ask(linear, at))

    @pytest.mark.parametrize("how", HOW)
    @given(transforms(), st.floats(0.0, 1.0))
    def test_of_a_frame_at_rest_is_its_pose(self, how, still, part):
        world = between(still, still, interpolation=how)
        assert_close(ask(world, int(part * seconds(1.0))), still)

    @given(modest_transforms(), modest_transforms(), st.floats(0.0, 1.0))
    def test_is_the_inverse_of_the_reverse_question(self, first, second, part):
        world, at = between(first, second), int(part * seconds(1.0))
        reverse = world.pose(of="map", in_frame="base", at=at).transform
        assert_close(reverse.inverse(), ask(world, at))


class TestTheShortestArc:
    @given(quaternions(), quaternions(), st.floats(0.0, 1.0))
    def test_does_not_depend_on_the_signs_of_the_quaternions(self, a, b, part):
        assume(abs(a @ b) > CLOSE_RAD)
        at = int(part * seconds(1.0))
        answers = [
            ask(between(*(Transform.from_xyz_wxyz(xyz=(0, 0, 0), wxyz=q) for q in pair)), at)
            for pair in ((a, b), (a, -b), (-a, b), (-a, -b))
        ]
        for answer in answers[1:]:
            assert_close(answer, answers[0])

    @given(transforms(), transforms(), st.floats(0.0, 1.0))
    def test_is_never_longer_than_half_a_turn(self, first, second, part):
        middle = ask(between(first, second), int(part * seconds(1.0)))
        there = turn_between(first, middle) + turn_between(middle, second)
        assert there < math.pi + CLOSE_RAD * 10


class TestAScrew:
    @given(modest_transforms(), modest_transforms(), st.tuples(*[st.integers(0, 10)] * 2))
    def test_moves_with_one_constant_twist(self, first, second, tenths):
        world = between(first, second, interpolation="screw")
        i, j = sorted(tenths)
        Ti, Tj = (ask(world, n * seconds(0.1)) for n in (i, j))
        xi = (first.inverse() @ second).log()
        assert_close(Ti.inverse() @ Tj, Transform.exp((j - i) / 10 * xi))

    @given(modest_transforms(), modest_transforms(), transforms(), st.integers(0, 10))
    def test_does_not_depend_on_the_frame_it_is_seen_from(self, first, second, odom_T_map, n):
        world = between(first, second, interpolation="screw")
        seen = between(odom_T_map @ first, odom_T_map @ second, interpolation="screw")
        assert_close(ask(seen, n * seconds(0.1)), odom_T_map @ ask(world, n * seconds(0.1)))


class TestManyStamps:
    @pytest.mark.parametrize("how", HOW)
    @given(st.permutations(VALUES), st.lists(st.floats(0.0, 1.0), max_size=20))
    def test_at_once_equal_one_by_one(self, how, values, parts):
        world = World(history=LONG_HISTORY, interpolation=how)
        for at, value in zip(STAMPS, values, strict=False):
            transform = Transform.from_matrix(value)
            world.set_pose(of="base", in_frame="map", transform=transform, at=at)
        asked = [STAMPS[0] + int(part * (STAMPS[-1] - STAMPS[0])) for part in parts]
        stamps = np.array([*asked, *STAMPS], dtype=np.int64)
        matrices = world.transforms(of="base", in_frame="map", at=stamps)
        assert matrices.shape == (len(stamps), 4, 4)
        for matrix, at in zip(matrices, stamps, strict=True):
            assert_close(ask(world, int(at)), matrix)
