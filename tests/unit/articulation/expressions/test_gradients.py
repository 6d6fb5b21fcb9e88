"""Entries that were added or overridden go wherever derivatives go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary.articulation import (
    DirectionExpression,
    MatrixExpression,
    PointExpression,
    VectorExpression,
    atan2,
    cos,
    dot,
    exp,
    floor,
    norm,
    position,
    rotation_about,
    sin,
    stack,
    translation,
    velocity,
)
from armillary.errors import InvalidArgument
from unit.articulation import duals
from unit.articulation.duals import Dual

CLOSE = 1e-9
a, b, theta = position("a"), position("b"), position("theta")
left, right = velocity("left"), velocity("right")
R, L = 0.06, 0.3748


def numbers(expression, values) -> dict:
    return {key: entry.evaluate(values) for key, entry in expression.gradient().items()}


TAME = st.one_of(st.sampled_from([0.5, 1.0, 2.0, 1e-3]), st.floats(0.3, 2.0))
FUNCTIONS = ("sin", "cos", "tanh", "atan", "exp", "asinh")
OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / (2.0 + y * y),
    "**": lambda x, y: (1.0 + x * x) ** y,
}
steps = st.lists(
    st.tuples(st.sampled_from([*FUNCTIONS, *OPERATIONS, "atan2", "augment"]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=8,
)


class TestARandomExpression:
    """Grown step by step, with its oracle beside it; some steps give what there is another gradient."""

    @given(steps=steps, x=TAME, y=TAME)
    def test_has_the_gradient_of_the_rules(self, steps, x, y):
        pairs = [(a.expression, Dual(x, {a.velocity: 1.0})), (b.expression, Dual(y, {b.velocity: 1.0}))]
        for name, i, j in steps:
            pairs.append(self.grown(name, pairs[i % len(pairs)], pairs[j % len(pairs)]))
            if not abs(pairs[-1][1].value) < 1e3:
                return
        found, expected = pairs[-1]
        values = {a: x, b: y}
        assert found.evaluate(values) == pytest.approx(expected.value, rel=CLOSE, abs=CLOSE)
        entries = numbers(found, values)
        for key in {*entries, *expected.gradient}:
            wanted = expected.gradient.get(key, 0.0)
            assert entries.get(key, 0.0) == pytest.approx(wanted, rel=1e-7, abs=1e-7)

    def grown(self, name, one, other):
        (expression, oracle), (more, oracle_of_more) = one, other
        if name in FUNCTIONS:
            return duals.UNARY[name][0](expression), duals.apply(name, oracle)
        if name == "atan2":
            return atan2(expression, 1.0 + more * more), duals.atan2(oracle, 1.0 + oracle_of_more * oracle_of_more)
        if name == "augment":
            given_one = expression.with_gradient({left: more, a.velocity: 0.5})
            return given_one, Dual(oracle.value, {**oracle.gradient, left: oracle_of_more.value, a.velocity: 0.5})
        return OPERATIONS[name](expression, more), OPERATIONS[name](oracle, oracle_of_more)


class TestWithGradient:
    def test_adds_and_overrides(self):
        found = numbers((a * b).with_gradient({left: 7.0, a.velocity: 5.0}), {a: 2.0, b: 3.0})
        assert found == {a.velocity: 5.0, b.velocity: 2.0, left: 7.0}

    def test_replaces_on_request(self):
        found = numbers((a * b).with_gradient({left: 7.0}, replace=True), {a: 2.0, b: 3.0})
        assert found == {left: 7.0}

    def test_leaves_the_value_alone(self):
        changed = (a * b).with_gradient({left: theta}, replace=True)
        assert changed.free_variables == {a, b}
        assert changed.evaluate({a: 2.0, b: 3.0}) == 6.0

    def test_takes_velocities_only(self):
        with pytest.raises(InvalidArgument, match=r"Use velocity\('a'\)"):
            (a * b).with_gradient({a: 1.0})

    def test_takes_entries_of_its_own_shape(self):
        with pytest.raises(InvalidArgument, match="shape"):
            VectorExpression([a, b]).with_gradient({left: VectorExpression([a, b, a])})

    def test_can_be_given_twice(self):
        twice = a.expression.with_gradient({left: 1.0}).with_gradient({right: 2.0})
        assert numbers(twice * twice, {a: 3.0}) == {a.velocity: 6.0, left: 6.0, right: 12.0}


def differential_drive():
    """Eq. 3.12 of the thesis, left and right the right way round."""
    turned = theta.expression.with_gradient({left: -R / L, right: R / L})
    x = a.expression.with_gradient({left: R / 2 * cos(turned), right: R / 2 * cos(turned)})
    y = b.expression.with_gradient({left: R / 2 * sin(turned), right: R / 2 * sin(turned)})
    return x, y, turned


VALUES = {a: 0.4, b: -0.3, theta: 0.9}


class TestADifferentialDrive:
    def test_moves_a_point_on_the_robot(self):
        x, y, turned = differential_drive()
        point = translation(x, y, 0.0) @ rotation_about((0, 0, 1), turned) @ PointExpression(0.5, 0.2, 1.0)
        c, s = math.cos(0.9), math.sin(0.9)
        across = np.array([-s * 0.5 - c * 0.2, c * 0.5 - s * 0.2, 0.0])
        ahead = np.array([c, s, 0.0])
        jacobian = point.jacobian([left, right, theta]).evaluate(VALUES)
        assert jacobian[:, 0] == pytest.approx(R / 2 * ahead - R / L * across)
        assert jacobian[:, 1] == pytest.approx(R / 2 * ahead + R / L * across)
        assert jacobian[:, 2] == pytest.approx(across)

    def test_has_the_body_velocity_of_its_wheels(self):
        x, y, turned = differential_drive()
        map_T_base = translation(x, y, 0.0) @ rotation_about((0, 0, 1), turned)
        jacobian = map_T_base.body_jacobian([left, right]).evaluate(VALUES)
        expected = [[R / 2, R / 2], [0, 0], [0, 0], [0, 0], [0, 0], [-R / L, R / L]]
        assert jacobian == pytest.approx(np.array(expected), abs=1e-15)

    def test_has_the_same_body_velocity_as_one_matrix(self):
        x, y, turned = differential_drive()
        chain = translation(x, y, 0.0) @ rotation_about((0, 0, 1), turned) @ translation(0.1, 0.0, 0.3)
        whole = type(chain).of_term(chain.motion.term)
        variables = [left, right, a, theta]
        expected = whole.body_jacobian(variables).evaluate(VALUES)
        assert chain.body_jacobian(variables).evaluate(VALUES) == pytest.approx(expected, abs=1e-15)

    def test_accelerates_by_turning(self):
        """The second derivative goes through the first one's own augmented parts."""
        x, _, _ = differential_drive()
        speeds = {left: 3.0, right: 5.0, a.velocity: 0.0, b.velocity: 0.0, theta.velocity: 0.0}
        pushes = dict.fromkeys((left.acceleration, right.acceleration), 0.0)
        still = dict.fromkeys((a.acceleration, b.acceleration, theta.acceleration), 0.0)
        turning = R / L * (5.0 - 3.0)
        expected = -R / 2 * math.sin(0.9) * turning * (3.0 + 5.0)
        assert x.velocity().velocity().evaluate({**VALUES, **speeds, **pushes, **still}) == pytest.approx(expected)


class TestVelocities:
    @given(x=st.floats(-2, 2), y=st.floats(-2, 2))
    def test_of_velocities_are_accelerations(self, x, y):
        values = {a: x, b: y, a.velocity: 0.3, b.velocity: -0.7, a.acceleration: 1.1, b.acceleration: -0.2}
        expression = sin(a) * exp(b)
        s, c, e = math.sin(x), math.cos(x), math.exp(y)
        first = c * e * 0.3 + s * e * -0.7
        second = -s * e * 0.09 + 2 * c * e * 0.3 * -0.7 + s * e * 0.49 + c * e * 1.1 + s * e * -0.2
        assert expression.velocity().evaluate(values) == pytest.approx(first, abs=CLOSE)
        assert expression.velocity().velocity().evaluate(values) == pytest.approx(second, abs=1e-8)

    def test_of_a_constant_are_zero(self):
        assert float((0.0 * a + 3.0).velocity()) == 0.0

    def test_have_both_kinds_of_columns(self):
        rate = (a * a).velocity()
        values = {a: 2.0, a.velocity: 5.0}
        assert rate.jacobian([a, a.velocity]).evaluate(values).tolist() == [[10.0, 4.0]]

    def test_of_flat_functions_are_zero_and_still_listed(self):
        assert numbers(floor(a), {a: 0.5}) == {a.velocity: 0.0}


class TestVectorsAndMatrices:
    def setup_method(self):
        self.x = a.expression.with_gradient({left: 2.0})
        self.values = {a: 0.7, b: 0.4}

    def test_a_matrix_product_keeps_added_entries(self):
        matrix = MatrixExpression([[self.x, b], [1.0, self.x * b]])
        entry = (matrix @ matrix).gradient()[left].evaluate(self.values)
        assert entry == pytest.approx(self.of_a_product(0.7, 0.4))

    @staticmethod
    def of_a_product(x, y):
        matrix, change = np.array([[x, y], [1.0, x * y]]), 2.0 * np.array([[1.0, 0.0], [0.0, y]])
        return change @ matrix + matrix @ change

    def test_an_inverse_pose_keeps_added_entries(self):
        pose = translation(self.x, 0.0, 0.0) @ rotation_about((0, 0, 1), self.x)
        there_and_back = (pose @ pose.inverse()).matrix
        assert there_and_back.gradient()[left].evaluate(self.values) == pytest.approx(np.zeros((4, 4)), abs=1e-15)
        assert pose.inverse().matrix.gradient()[left].evaluate(self.values).any()

    def test_norms_and_products_keep_added_entries(self):
        vector = DirectionExpression(self.x, b, 2.0)
        length = math.hypot(0.7, 0.4, 2.0)
        assert numbers(norm(vector), self.values)[left] == pytest.approx(2.0 * 0.7 / length)
        assert numbers(dot(vector, vector), self.values)[left] == pytest.approx(4.0 * 0.7)
        assert vector.cross((0.0, 0.0, 1.0)).gradient()[left].evaluate(self.values).tolist() == [0.0, -2.0, 0.0]

    def test_a_vector_can_be_augmented_as_a_whole(self):
        vector = VectorExpression([a, b]).with_gradient({left: VectorExpression([1.0, b])})
        found = (2.0 * vector).gradient()
        assert found[left].evaluate(self.values).tolist() == [2.0, 0.8]
        assert found[a.velocity].evaluate(self.values).tolist() == [2.0, 0.0]


class TestTheJacobian:
    """One meaning: each row is that of its entry, whatever stands beside it."""

    PARTS = (3.0 * a, a.velocity.expression, a * a.velocity, sin(b) + a, 2.0 * a.acceleration)
    ASKED = (a, a.velocity, b, b.velocity, a.acceleration)

    def test_of_a_stack_is_the_stack_of_the_jacobians(self):
        values = {"a": 2.0, "a'": 5.0, "a''": 0.5, "b": 1.0}
        together = stack(self.PARTS).jacobian(self.ASKED).evaluate(values)
        apart = [part.jacobian(self.ASKED).evaluate(values)[0] for part in self.PARTS]
        np.testing.assert_array_equal(together, apart)
        np.testing.assert_array_equal(stack([3.0 * a, a.velocity]).jacobian([a.velocity]).value(), [[3.0], [1.0]])

    def test_has_a_column_for_each_variable_where_two_are_one_direction(self):
        np.testing.assert_array_equal((3.0 * a).jacobian([a, a.velocity]).value(), [[3.0, 3.0]])
        turned = rotation_about((0, 0, 1), a) @ translation(1.0, 0.0, 0.0)
        found = turned.body_jacobian([a, a.velocity]).value()
        np.testing.assert_array_equal(found[:, 0], found[:, 1])
        assert found[1, 0] == 1.0
