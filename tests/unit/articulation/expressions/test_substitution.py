"""Numbers, variables and expressions in place of variables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary.articulation import (
    VectorExpression,
    cos,
    exp,
    less,
    logical_and,
    position,
    rotation_about,
    sin,
    translation,
    velocity,
)
from armillary.errors import InvalidArgument, NotGrounded

a, b, c = position("a"), position("b"), position("c")
wheel = velocity("wheel")
finite = st.floats(-3.0, 3.0)


def numbers(expression, values) -> dict:
    return {key: entry.evaluate(values) for key, entry in expression.gradient().items()}


class TestSubstituting:
    @given(x=finite, y=finite)
    def test_one_after_the_other_is_both_at_once(self, x, y):
        expression = sin(a) * exp(b) + a * b
        partly = expression.substitute({a: x})
        assert partly.free_variables <= {b}  # nothing is left of zero times b
        assert float(partly.substitute({b: y})) == pytest.approx(expression.evaluate({a: x, b: y}))

    def test_happens_all_at_once(self):
        assert (a - 2.0 * b).substitute({a: b, b: a}).evaluate({a: 1.0, b: 10.0}) == 8.0

    def test_can_name_what_it_replaces(self):
        assert sin(a).substitute({a: a + 1.0}).evaluate({a: 0.5}) == pytest.approx(sin(1.5).value())

    def test_leaves_other_variables_alone(self):
        assert sin(a).substitute({b: 1.0}).is_same(sin(a))

    def test_changes_nothing_of_the_original(self):
        expression = sin(a)
        expression.substitute({a: 1.0})
        assert expression.free_variables == {a}

    def test_reaches_every_kind(self):
        pose = translation(a, 0.0, 0.0) @ rotation_about((0, 0, 1), b)
        assert pose.substitute({a: 2.0, b: 0.0}).value().translation.tolist() == [2.0, 0.0, 0.0]
        assert VectorExpression([a, b]).substitute({b: a}).evaluate({a: 3.0}).tolist() == [3.0, 3.0]

    def test_keeps_a_chain_a_chain(self):
        pose = translation(a, 0.0, 0.0) @ rotation_about((0, 0, 1), b) @ translation(1.0, 0.0, 0.0)
        renamed = pose.substitute({b: 2.0 * c})
        expected = 2.0 * pose.body_jacobian([b]).evaluate({a: 1.0, b: 0.6})
        assert renamed.body_jacobian([c]).evaluate({a: 1.0, c: 0.3}) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({3: 1.0}, "position"),
            ({"": 1.0}, "position"),
            ({"a": 1.0, a: 2.0}, "given twice"),
            ({a: "1"}, "number"),
            ([1.0], "variable"),
        ],
    )
    def test_refuses_what_it_cannot_take(self, values, words):
        with pytest.raises(InvalidArgument, match=words):
            sin(a).substitute(values)


class TestGroundedExpressions:
    def test_have_a_value(self):
        grounded = sin(a).substitute({a: 0.0})
        assert grounded.is_grounded
        assert (float(grounded), grounded.value()) == (0.0, 0.0)

    def test_are_those_whose_variables_cancelled_out(self):
        assert (a - a + 2.0).is_grounded

    def test_are_wanted_for_a_value(self):
        with pytest.raises(NotGrounded, match=r"position\('a'\), position\('b'\)"):
            float(a + b)
        with pytest.raises(NotGrounded, match=r"position\('b'\)\. Give"):
            (a + b).evaluate({a: 1.0})

    def test_do_not_mind_numbers_of_others(self):
        assert sin(a).evaluate({a: 0.0, b: 1.0}) == 0.0

    @pytest.mark.parametrize("value", ["x", None, b, [1.0, 2.0]])
    def test_are_not_made_of_what_is_no_number(self, value):
        with pytest.raises((InvalidArgument, NotGrounded)):
            sin(a).evaluate({a: value})


class TestGradientsOfWhatWasSubstituted:
    def setup_method(self):
        self.augmented = (a * b).with_gradient({a.velocity: cos(b), wheel: a + b})

    def test_lose_what_became_a_number(self):
        found = numbers(self.augmented.substitute({a: 2.0}), {b: 0.0})
        assert found == {b.velocity: 2.0, wheel: 2.0}

    def test_follow_a_new_name(self):
        found = numbers(self.augmented.substitute({a: c}), {b: 0.0, c: 5.0})
        assert found == {c.velocity: 1.0, b.velocity: 5.0, wheel: 5.0}

    def test_follow_the_chain_rule(self):
        found = numbers(self.augmented.substitute({a: c * b}), {b: 0.5, c: 3.0})
        assert found[c.velocity] == pytest.approx(cos(0.5).value() * 0.5)
        assert found[b.velocity] == pytest.approx(cos(0.5).value() * 3.0 + 1.5)

    def test_follow_into_conditions(self):
        condition = logical_and(less(a, b), less(b, 2.0)).substitute({b: a * a})
        assert numbers(condition, {a: 3.0}) == {a.velocity: -1.0}

    def test_meet_again_what_they_share(self):
        shared = self.augmented
        found = (sin(shared) - shared * sin(shared)).substitute({a: c})
        slope = cos(1.5).value() - sin(1.5).value() - 1.5 * cos(1.5).value()
        assert numbers(found, {b: 0.5, c: 3.0})[c.velocity] == pytest.approx(cos(0.5).value() * slope)

    def test_follow_a_wheel_that_stands(self):
        assert wheel not in self.augmented.substitute({wheel.integral: 0.0}).gradient()
