"""Every function: its value against Python's own, its gradient against the rule and against differences."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import armillary.articulation as art
from armillary.articulation import atan2, clip, if_else, position
from armillary.errors import InvalidArgument
from unit.articulation import duals
from unit.articulation.duals import RANGES, UNARY, Dual

CLOSE = 1e-9
STEP = 1e-6
NEARLY = 1e-5  # what a difference with this step can tell
EDGES = (0.0, -0.0, 1e-9, -1e-9, 0.5, -0.5, 1.0, -1.0, math.pi / 4, 2.0, -2.5)
q, p = position("q"), position("p")


def inside(name):
    lowest, highest = RANGES.get(name, (-20.0, 20.0))
    edges = [edge for edge in EDGES if lowest <= edge <= highest]
    return st.one_of(st.sampled_from(edges), st.floats(lowest, highest)) if edges else st.floats(lowest, highest)


def difference(function, x):
    return (function(x + STEP) - function(x - STEP)) / (2.0 * STEP)


@pytest.mark.parametrize("name", UNARY)
class TestAFunction:
    @given(data=st.data())
    def test_has_the_value_of_pythons(self, name, data):
        x = data.draw(inside(name))
        ours, function, _ = UNARY[name]
        assert ours(q).evaluate({q: x}) == pytest.approx(function(x), rel=CLOSE, abs=CLOSE)

    @given(data=st.data())
    def test_has_the_derivative_of_the_book(self, name, data):
        x = data.draw(inside(name))
        ours, _, slope = UNARY[name]
        assert ours(q).gradient()[q.velocity].evaluate({q: x}) == pytest.approx(slope(x), rel=CLOSE, abs=CLOSE)

    @given(data=st.data())
    def test_has_the_derivative_of_its_differences(self, name, data):
        x = data.draw(inside(name).filter(lambda x: abs(x - round(x)) > 2 * STEP))
        lowest, highest = RANGES.get(name, (-20.0, 20.0))
        x = min(max(x, lowest + 2 * STEP), highest - 2 * STEP)
        ours, function, _ = UNARY[name]
        slope = ours(q).gradient()[q.velocity].evaluate({q: x})
        assert slope == pytest.approx(difference(function, x), rel=NEARLY, abs=NEARLY * (1 + abs(function(x))))

    def test_takes_numbers_and_expressions(self, name):
        x = sum(RANGES.get(name, (0.1, 0.3))) / 2.0
        ours, function, _ = UNARY[name]
        assert float(ours(x)) == pytest.approx(function(x))
        assert ours(2.0 * q).evaluate({q: x / 2.0}) == pytest.approx(function(x))

    def test_refuses_what_is_no_scalar(self, name):
        with pytest.raises(InvalidArgument, match="a number, a variable or an expression"):
            UNARY[name][0]("q")


TAME = st.one_of(st.sampled_from([edge for edge in EDGES if edge]), st.floats(-5.0, 5.0).filter(lambda x: abs(x) > 0.1))


class TestFunctionsOfTwo:
    @given(y=TAME, x=TAME)
    def test_atan2_is_the_angle_of_a_point(self, y, x):
        expected = duals.atan2(Dual(y, {q.velocity: 1.0}), Dual(x, {p.velocity: 1.0}))
        gradient = atan2(q, p).gradient()
        assert atan2(q, p).evaluate({q: y, p: x}) == pytest.approx(expected.value)
        assert {k: e.evaluate({q: y, p: x}) for k, e in gradient.items()} == pytest.approx(expected.gradient)

    @given(x=st.floats(-9, 9), y=st.floats(-9, 9))
    def test_min_and_max_follow_the_one_they_take(self, x, y):
        values = {q: x, p: y}
        for ours, pythons in ((art.min, min), (art.max, max)):
            assert ours(q, p).evaluate(values) == pythons(x, y)
            slope = ours(q, p).gradient()[q.velocity].evaluate(values)
            assert slope == (0.5 if x == y else float(pythons(x, y) == x))

    def test_min_and_max_take_as_many_as_one_likes(self):
        assert float(art.min(3.0, 1.0, 2.0)) == 1.0
        assert float(art.max(3.0)) == 3.0

    @given(x=st.floats(-9, 9))
    def test_clip_keeps_within_its_bounds(self, x):
        assert clip(q, -1.0, 2.0).evaluate({q: x}) == min(max(x, -1.0), 2.0)

    @given(base=st.floats(0.1, 5.0), exponent=st.floats(-3.0, 3.0))
    def test_a_power_changes_with_both(self, base, exponent):
        expected = Dual(base, {q.velocity: 1.0}) ** Dual(exponent, {p.velocity: 1.0})
        found = {key: entry.evaluate({q: base, p: exponent}) for key, entry in (q**p).gradient().items()}
        assert found == pytest.approx(expected.gradient, rel=1e-9, abs=1e-9)


class TestIfElse:
    def test_takes_one_and_leaves_the_other(self):
        chosen = if_else(q, p, 1.0 / p)
        assert [chosen.evaluate({q: truth, p: 4.0}) for truth in (0.0, 0.5, 0.6, 1.0)] == [0.25, 0.25, 4.0, 4.0]

    def test_is_not_disturbed_by_the_other(self):
        assert if_else(q, 1.0, art.log(p)).evaluate({q: 1.0, p: -1.0}) == 1.0

    def test_has_the_gradient_of_the_one_it_takes(self):
        gradient = if_else(q, 3.0 * p, 5.0 * p).gradient()
        assert [gradient[p.velocity].evaluate({q: truth, p: 1.0}) for truth in (0.0, 1.0)] == [5.0, 3.0]
        assert gradient[q.velocity].evaluate({q: 1.0, p: 1.0}) == 0.0

    def test_has_that_gradient_beside_what_has_none(self):
        """Also the second time: infinity times zero is no number, and nobody asked for it."""
        root = if_else(art.greater(q, 0.0), art.sqrt(q), 2.0 * q)
        there = {q: -1.0, q.velocity: 3.0, q.acceleration: 0.0}
        assert root.gradient()[q.velocity].evaluate(there) == 2.0
        assert root.velocity().velocity().evaluate(there) == 0.0
        assert if_else(q, 1.0, 1.0 / p).gradient()[p.velocity].evaluate({q: 1.0, p: 0.0}) == 0.0

    def test_chooses_between_poses(self):
        there = if_else(q, art.translation(p, 0, 0), art.translation(0, p, 0)).evaluate({q: 1.0, p: 2.0})
        assert there.translation.tolist() == [2.0, 0.0, 0.0]

    def test_refuses_two_kinds(self):
        with pytest.raises(InvalidArgument, match="one kind and shape"):
            if_else(q, p, art.translation(p, 0, 0))
