"""The eighteen probes of augmented gradients, of which the code of the thesis gets eight right."""

from __future__ import annotations

import operator

import pytest

from armillary.articulation import Expression, atan2, exp, less, logical_and, position, sin
from unit.articulation import duals
from unit.articulation.duals import Dual, dual

A, B = 0.7, 0.4
CLOSE = 1e-12


PROBES = {
    "negation": lambda g, h, a, b: -g,
    "number added": lambda g, h, a, b: g + 2.0,
    "number subtracted": lambda g, h, a, b: g - 2.0,
    "subtracted from a number": lambda g, h, a, b: 2.0 - g,
    "times a number": lambda g, h, a, b: 2.0 * g,
    "over a number": lambda g, h, a, b: g / 2.0,
    "number over it": lambda g, h, a, b: 2.0 / g,
    "to a power": lambda g, h, a, b: g**3,
    "sum": lambda g, h, a, b: g + h,
    "product": lambda g, h, a, b: g * h,
    "quotient": lambda g, h, a, b: g / h,
    "sum with its own variable": lambda g, h, a, b: g + a,
    "product with its own variable": lambda g, h, a, b: g * a,
    "variable over it": lambda g, h, a, b: a / g,
    "in place difference": lambda g, h, a, b: operator.isub(g, h),
    "in place product": lambda g, h, a, b: operator.imul(g, h),
}


def augmented():
    a, b = position("a"), position("b")
    g = a.expression.with_gradient({a.velocity: 3.0})
    h = (a * b).with_gradient({b.velocity: 5.0})
    return (g, h, a, b), {a: A, b: B}


def by_hand():
    a, b = position("a").velocity, position("b").velocity
    return Dual(A, {a: 3.0}), Dual(A * B, {a: B, b: 5.0}), Dual(A, {a: 1.0}), Dual(B, {b: 1.0})


def numbers(expression: Expression, values) -> dict:
    return {key: entry.evaluate(values) for key, entry in expression.gradient().items()}


@pytest.mark.parametrize("name", PROBES)
class TestAnAugmentedGradient:
    def test_goes_through(self, name):
        parts, values = augmented()
        expected = dual(PROBES[name](*by_hand()))
        found = PROBES[name](*parts)
        assert found.evaluate(values) == pytest.approx(expected.value, abs=CLOSE)
        assert numbers(found, values) == pytest.approx(expected.gradient, abs=CLOSE)


class TestTheOtherProbes:
    def test_atan2_of_an_augmented_argument(self):
        (g, h, _, b), values = augmented()
        expected = duals.atan2(by_hand()[0], by_hand()[3]) + duals.atan2(2.0, by_hand()[1])
        assert numbers(atan2(g, b) + atan2(2.0, h), values) == pytest.approx(expected.gradient, abs=CLOSE)

    def test_and_is_the_sum_of_its_gradients(self):
        a, b = position("a"), position("b")
        both = logical_and(less(0.0, a), less(1.0, b))
        assert numbers(both, {a: A, b: B}) == {a.velocity: 1.0, b.velocity: 1.0}


class TestTheFiguresOfTheOldCode:
    """What it says, and what is right."""

    def test_an_added_and_a_derived_entry_add_up(self):
        (g, _, a, _), values = augmented()
        assert numbers(g + a, values)[a.velocity] == 4.0  # 3.0 there

    def test_both_factors_count(self):
        (g, _, a, _), values = augmented()
        assert numbers(g * a, values)[a.velocity] == pytest.approx(2.8)  # 2.1 there

    def test_functions_multiply_with_their_slope(self):
        (g, *_), values = augmented()
        expected = duals.apply("sin", by_hand()[0]) * duals.apply("exp", by_hand()[0])
        assert numbers(sin(g) * exp(g), values) == pytest.approx(expected.gradient)
