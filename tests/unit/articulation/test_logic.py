"""Conditions: their values, and the gradients that lead to them (eq. 3.18, 3.19, 4.21 of the thesis)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary.articulation import Expression, greater, less, logical_and, logical_not, logical_or, position, velocity
from armillary.errors import InvalidArgument

a, b, c = position("a"), position("b"), position("c")
away = st.floats(-5.0, 5.0)


def numbers(expression, values) -> dict:
    return {key: entry.evaluate(values) for key, entry in expression.gradient().items()}


class TestComparisons:
    @given(x=away, y=away.filter(lambda y: abs(y) > 1e-6))
    def test_are_true_or_false(self, x, y):
        values = {a: x, b: x + y}
        assert less(a, b).evaluate(values) == float(y > 0)
        assert greater(a, b).evaluate(values) == float(y < 0)

    def test_are_undecided_between_equals(self):
        assert float(less(1.0, 1.0)) == 0.5

    def test_become_true_along_their_gradient(self):
        assert numbers(less(2.0 * a, b), {a: 9.0, b: -9.0}) == {a.velocity: -2.0, b.velocity: 1.0}
        assert numbers(greater(2.0 * a, b), {a: 9.0, b: -9.0}) == {a.velocity: 2.0, b.velocity: -1.0}

    def test_hand_on_what_their_arguments_were_given(self):
        wheel = velocity("wheel")
        moved = a.expression.with_gradient({wheel: 3.0})
        assert numbers(less(moved, 1.0), {a: 5.0})[wheel] == -3.0

    def test_can_be_soft(self):
        assert 0.5 < float(less(0.0, 0.1, steepness=1.0)) < 0.6


truths = list(itertools.product((0.0, 1.0), repeat=2))


class TestConnectives:
    @pytest.mark.parametrize(("x", "y"), truths)
    def test_have_the_truth_table(self, x, y):
        assert float(logical_and(x, y)) == float(bool(x) and bool(y))
        assert float(logical_or(x, y)) == float(bool(x) or bool(y))
        assert float(logical_not(x)) == float(not x)

    def test_take_as_many_as_one_likes(self):
        assert float(logical_and(1.0, 1.0, 1.0)) == 1.0
        assert float(logical_or(0.0, 0.0, 1.0)) == 1.0
        with pytest.raises(InvalidArgument, match="at least one"):
            logical_and()

    def test_add_the_gradients_of_their_parts(self):
        parts = less(a, 1.0), less(2.0, b), less(b, c)
        values = {a: 0.0, b: 0.0, c: 0.0}
        assert numbers(logical_and(*parts), values) == {a.velocity: -1.0, b.velocity: 0.0, c.velocity: 1.0}
        assert numbers(logical_or(*parts), values) == {a.velocity: -1.0, b.velocity: 0.0, c.velocity: 1.0}

    def test_nest_as_they_stand_side_by_side(self):
        one, two, three = less(a, 1.0), less(2.0, b), less(b, c)
        values = {a: 0.0, b: 0.0, c: 0.0}
        nested = logical_and(one, logical_and(two, three))
        assert numbers(nested, values) == numbers(logical_and(one, two, three), values)

    def test_turn_the_gradient_of_what_they_deny(self):
        assert numbers(logical_not(less(a, 1.0)), {a: 0.0}) == {a.velocity: 1.0}

    def test_leave_what_is_met_in_peace_on_request(self):
        both = logical_and(less(a, 1.0), less(2.0, b), guidance="unmet")
        assert numbers(both, {a: 0.0, b: 0.0}) == {a.velocity: 0.0, b.velocity: 1.0}
        assert numbers(both, {a: 5.0, b: 5.0}) == {a.velocity: -1.0, b.velocity: 0.0}
        either = logical_or(less(a, 1.0), less(2.0, b), guidance="unmet")
        assert numbers(either, {a: 0.0, b: 0.0}) == {a.velocity: -1.0, b.velocity: 0.0}

    def test_refuse_other_guidance(self):
        with pytest.raises(InvalidArgument, match="'all' or 'unmet'"):
            logical_and(a, b, guidance="some")

    def test_go_on_in_products(self):
        lock = logical_and(less(a, 1.0), less(2.0, b)) * c
        values = {a: 0.0, b: 3.0, c: 7.0}
        assert isinstance(lock, Expression)
        assert numbers(lock, values) == {a.velocity: -7.0, b.velocity: 7.0, c.velocity: 1.0}
