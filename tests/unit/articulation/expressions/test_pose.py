"""Poses, rotations, points: against the numbers of `Transform`, and against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Rotation, Transform
from armillary.articulation import (
    DirectionExpression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
    cross,
    diagonal,
    dot,
    norm,
    pose,
    position,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    sin,
    stack,
    trace,
    translation,
)
from armillary.errors import InvalidArgument, NoSuchEntry

CLOSE = 1e-12
STEP = 1e-6
NEARLY = 1e-8
a, b, c, d = (position(name) for name in "abcd")
angles = st.one_of(st.sampled_from([0.0, math.pi, -math.pi, math.pi / 2, 1e-9]), st.floats(-6.0, 6.0))


def chain():
    return (
        translation(0.1, a, 0.3)
        @ rotation_about((0, 0, 1), b)
        @ Transform.from_xyz_rpy(xyz=(1.0, 0.2, 0.0), rpy=(0.3, -0.4, 0.5))
        @ rotation_about((1, 2, -1), c)
        @ pose(rotation_from_rpy(a, 0.2 * b, d), (d, 0.0, sin(c)))
    )


class TestPoses:
    @given(x=angles, y=angles, z=angles)
    def test_turn_as_rotations_do(self, x, y, z):
        found = rotation_from_rpy(a, b, c).evaluate({a: x, b: y, c: z})
        expected = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(x, y, z)).rotation
        assert found.matrix == pytest.approx(expected.matrix, abs=CLOSE)

    @given(angle=angles, axis=st.sampled_from([(1, 0, 0), (0, 3, 0), (0, 0, -1), (1, -2, 0.5)]))
    def test_turn_about_axes(self, angle, axis):
        unit = np.array(axis) / np.linalg.norm(axis)
        expected = Rotation.exp(unit * angle).matrix
        numeric = rotation_about(axis, a).evaluate({a: angle})
        symbolic = rotation_about(DirectionExpression(*unit), a).evaluate({a: angle})
        assert numeric.matrix == pytest.approx(expected, abs=CLOSE)
        assert symbolic.matrix == pytest.approx(expected, abs=CLOSE)

    @given(angle=angles)
    def test_turn_by_quaternions(self, angle):
        w, z = math.cos(angle / 2), math.sin(angle / 2)
        found = rotation_from_quaternion(a, 0.0, 0.0, b).evaluate({a: w, b: z})
        assert found.matrix == pytest.approx(Rotation.exp((0.0, 0.0, angle)).matrix, abs=CLOSE)

    def test_are_chained_as_transforms_are(self):
        one = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
        other = Transform.from_xyz_rpy(xyz=(-1, 0, 2), rpy=(0.4, -0.2, 0.3))
        product = PoseExpression.from_transform(one) @ PoseExpression.from_transform(other)
        for found in (product, PoseExpression.from_transform(one) @ other, one @ PoseExpression.from_transform(other)):
            assert found.value().matrix == pytest.approx((one @ other).matrix, abs=CLOSE)

    def test_are_undone_by_their_inverse(self):
        values = {a: 0.3, b: 1.0, c: -2.0, d: 0.4}
        there_and_back = (chain() @ chain().inverse()).evaluate(values)
        assert there_and_back.matrix == pytest.approx(np.eye(4), abs=CLOSE)

    def test_turn_and_shift_points_and_only_turn_directions(self):
        quarter = translation(1.0, 0.0, 0.0) @ rotation_about((0, 0, 1), math.pi / 2)
        assert (quarter @ PointExpression(1, 0, 0)).value() == pytest.approx([1, 1, 0])
        assert (quarter @ DirectionExpression(1, 0, 0)).value() == pytest.approx([0, 1, 0])
        assert type(quarter @ PointExpression(1, 0, 0)) is PointExpression
        assert type(quarter @ DirectionExpression(1, 0, 0)) is DirectionExpression

    def test_have_parts(self):
        values = {a: 0.3, b: 1.0, c: -2.0, d: 0.4}
        whole = chain().evaluate(values)
        assert chain().translation.evaluate(values) == pytest.approx(whole.translation)
        assert chain().rotation.evaluate(values).matrix == pytest.approx(whole.rotation.matrix)
        assert chain().matrix.evaluate(values) == pytest.approx(whole.matrix)

    def test_refuse_what_does_not_fit(self):
        with pytest.raises(TypeError):
            translation(1, 0, 0) @ 3.0
        with pytest.raises(InvalidArgument, match="RotationExpression"):
            pose(3.0, (0, 0, 0))
        with pytest.raises(InvalidArgument, match="not all zero"):
            rotation_about((0, 0, 0), a)
        with pytest.raises(InvalidArgument, match="Transform"):
            PoseExpression.from_transform(np.eye(4))


def numeric_body_jacobian(expression, variables, values):
    here = expression.evaluate(values).inverse()
    columns = []
    for variable in variables:
        ahead, behind = ({**values, variable: values[variable] + step} for step in (STEP, -STEP))
        logs = ((here @ expression.evaluate(moved)).log() for moved in (ahead, behind))
        columns.append(np.subtract(*logs) / (2 * STEP))
    return np.array(columns).T


class TestBodyJacobians:
    @given(x=angles, y=angles, z=angles, w=angles)
    def test_are_the_differences_of_the_pose(self, x, y, z, w):
        values = {a: x, b: y, c: z, d: w}
        found = chain().body_jacobian([a, b, c, d]).evaluate(values)
        assert found == pytest.approx(numeric_body_jacobian(chain(), [a, b, c, d], values), abs=NEARLY)

    def test_of_a_chain_are_those_of_its_matrix(self):
        values = {a: 0.3, b: 1.0, c: -2.0, d: 0.4}
        whole = PoseExpression.of_term(chain().motion.term)
        assert chain().body_jacobian([a, b, c, d]).evaluate(values) == pytest.approx(
            whole.body_jacobian([a, b, c, d]).evaluate(values), abs=CLOSE
        )

    def test_have_a_column_for_whatever_is_asked(self):
        found = chain().body_jacobian([position("other"), b]).evaluate({a: 0.3, b: 1.0, c: -2.0, d: 0.4})
        assert not found[:, 0].any()
        assert found[:, 1].any()

    def test_do_not_depend_on_how_a_chain_was_grouped(self):
        parts = [translation(a, 0, 0), rotation_about((0, 0, 1), b), translation(0, c, 0), rotation_about((1, 0, 0), d)]
        first = parts[0] @ parts[1] @ parts[2] @ parts[3]
        second = parts[0] @ (parts[1] @ (parts[2] @ parts[3]))
        values = {a: 0.3, b: 1.0, c: -2.0, d: 0.4}
        one, other = (chained.body_jacobian([a, b, c, d]).evaluate(values) for chained in (first, second))
        assert one == pytest.approx(other, abs=CLOSE)


class TestTapesOfPoses:
    def test_hold_the_upper_rows_and_the_jacobian(self):
        values = [0.3, 1.0, -2.0, 0.4]
        numbers = dict(zip((a, b, c, d), values, strict=True))
        order = [a, b, c, d]
        upper = chain().value_tape(order).run(np.array(values)).reshape(3, 4)
        assert upper == pytest.approx(chain().evaluate(numbers).matrix[:3], abs=CLOSE)
        jacobian = chain().jacobian_tape(order, [b, d.velocity]).run(np.array(values)).reshape(6, 2)
        assert jacobian == pytest.approx(chain().body_jacobian([b, d]).evaluate(numbers), abs=CLOSE)


class TestVectors:
    def test_are_calculated_with(self):
        vector = VectorExpression([a, 2.0, b])
        values = {a: 1.0, b: 3.0}
        assert (2.0 * vector + np.ones(3)).evaluate(values).tolist() == [3.0, 5.0, 7.0]
        assert (np.ones(3) - vector / 2.0).evaluate(values).tolist() == [0.5, 0.0, -0.5]
        assert [float(entry) for entry in (-vector).substitute(values)] == [-1.0, -2.0, -3.0]
        assert (vector[-1].evaluate(values), len(vector), vector.shape) == (3.0, 3, (3,))

    def test_have_products(self):
        assert float(dot([1.0, 2.0], [3.0, 4.0])) == 11.0
        assert cross((1, 0, 0), (0, 1, 0)).value().tolist() == [0.0, 0.0, 1.0]
        assert float(norm([3.0, 4.0])) == 5.0

    def test_distinguish_points_from_directions(self):
        here, there = PointExpression(1, 2, 3), PointExpression(a, 0, 0)
        assert type(there - here) is DirectionExpression
        assert type(here + (there - here)) is PointExpression
        assert type(here - (there - here)) is PointExpression
        assert (here + (there - here)).evaluate({a: 4.0}).tolist() == [4.0, 0.0, 0.0]
        with pytest.raises(InvalidArgument, match="no place"):
            here + there

    def test_refuse_other_lengths(self):
        with pytest.raises(InvalidArgument, match="equal shapes"):
            VectorExpression([a, b]) + VectorExpression([a])
        with pytest.raises(InvalidArgument, match="3 entries"):
            PointExpression.of([a, b])


class TestEntries:
    """Against numpy, which holds the same letters."""

    letters = np.array([["a", "b", "c"], ["d", "e", "f"]])
    matrix = MatrixExpression([[position(letter) for letter in row] for row in letters])

    @pytest.mark.parametrize(
        "place",
        [
            *(0, -1, np.int64(1), slice(1, None), slice(None, None, -1)),
            *((1, 2), (-2, -3), (0, slice(None)), (slice(None), -1), (1, slice(None, None, 2))),
            *((slice(0, 9), slice(-2, None)), (slice(0, 1), slice(1, 2))),
        ],
    )
    def test_are_those_of_numpy(self, place):
        chosen, expected = self.matrix[place], self.letters[place]
        assert chosen.shape == expected.shape
        assert _letters(chosen) == expected.tolist()

    def test_of_vectors_are_those_of_numpy(self):
        vector, letters = self.matrix[0], self.letters[0]
        for place in (0, -3, slice(1, None), slice(None, None, -1), slice(-2, 9)):
            assert _letters(vector[place]) == letters[place].tolist()

    def test_come_one_after_the_other(self):
        assert len(self.matrix) == 2
        assert [_letters(row) for row in self.matrix] == self.letters.tolist()
        assert [str(entry) for entry in list(self.matrix[1])] == ["d", "e", "f"]

    @pytest.mark.parametrize("place", [2, -3, (0, 3), (0, -4), slice(2, 2), "x", 1.0, None, (0, 0, 0), ...])
    def test_that_are_not_there_are_refused(self, place):
        with pytest.raises(IndexError, match=r"was asked of . (rows|columns)\. Count from 0"):
            self.matrix[place]

    @pytest.mark.parametrize("place", [3, -4, slice(5, 7), "x"])
    def test_that_a_vector_has_not_are_refused(self, place):
        with pytest.raises(NoSuchEntry, match=r"was asked of 3 entries\. Count from 0 to 2"):
            self.matrix[0][place]


def _letters(part):
    return [_letters(each) for each in part] if part.shape else str(part)


class TestMatrices:
    def test_are_calculated_with(self):
        matrix = MatrixExpression([[a, 1.0], [0.0, b]])
        values = {a: 2.0, b: 3.0}
        assert (matrix @ matrix.T).evaluate(values).tolist() == [[5.0, 3.0], [3.0, 9.0]]
        assert (matrix @ [1.0, 2.0]).evaluate(values).tolist() == [4.0, 6.0]
        assert (np.eye(2) @ matrix - matrix).evaluate(values).tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert trace(matrix).evaluate(values) == 5.0
        assert diagonal([a, b]).evaluate(values).tolist() == [[2.0, 0.0], [0.0, 3.0]]

    def test_have_entries_rows_and_columns(self):
        matrix = MatrixExpression([[a, 1.0], [0.0, b]])
        values = {a: 2.0, b: 3.0}
        assert matrix[0, 0].evaluate(values) == 2.0
        assert matrix[0].evaluate(values).tolist() == [2.0, 1.0]
        assert matrix[:, 1].evaluate(values).tolist() == [1.0, 3.0]
        assert matrix[:1, :].evaluate(values).tolist() == [[2.0, 1.0]]

    def test_are_stacked(self):
        assert stack([a, VectorExpression([b, 1.0])]).evaluate({a: 2.0, b: 3.0}).tolist() == [2.0, 3.0, 1.0]
        poses = [translation(a, 0, 0), translation(b, 0, 0)]
        stacked = stack(poses).compile(order=[a, b])([2.0, 3.0]).reshape(-1, 4, 4)
        assert stacked[:, 0, 3].tolist() == [2.0, 3.0]
        with pytest.raises(InvalidArgument, match="equally wide"):
            stack([a, translation(a, 0, 0)])

    def test_refuse_what_does_not_fit(self):
        with pytest.raises(InvalidArgument, match="as many columns"):
            MatrixExpression([[a, 1.0]]) @ MatrixExpression([[a, 1.0]])
        with pytest.raises(InvalidArgument, match="rows of one length"):
            MatrixExpression([[a, 1.0], [b]])


small = st.sampled_from([0.0, 1e-12, 1e-6, 1e-4, 2e-4, 0.1])
near_half = st.sampled_from([math.pi - gap for gap in (1e-12, 1e-9, 1e-6, 1e-4, 1e-2)])


def inverse_right_jacobian(vector):
    """1 + [v]/2 + (1/t^2 - (1 + cos t) / (2 t sin t)) [v]^2, in the form that is defined at half a turn as well."""
    x, y, z = vector
    skew, angle = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.linalg.norm(vector)
    if angle < 1e-4:
        return np.eye(3) + skew / 2.0 + skew @ skew / 12.0
    return np.eye(3) + skew / 2.0 + (1.0 - angle / 2.0 / math.tan(angle / 2.0)) / angle**2 * skew @ skew


class TestRotations:
    @given(
        angle=st.one_of(small, st.floats(0.0, math.pi - 1e-9), near_half),
        axis=st.sampled_from([(1, 0, 0), (0, -1, 0), (1, 2, -2)]),
    )
    def test_have_an_angle_and_a_vector(self, angle, axis):
        unit = np.array(axis) / np.linalg.norm(axis)
        turned = rotation_about(axis, a)
        assert turned.angle().evaluate({a: angle}) == pytest.approx(angle, abs=1e-9)
        assert turned.vector().evaluate({a: angle}) == pytest.approx(unit * angle, abs=1e-9)
        assert turned.vector().gradient()[a.velocity].evaluate({a: angle}) == pytest.approx(unit, abs=1e-9)

    @given(
        wxyz=st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
        is_half=st.booleans(),
    )
    def test_have_a_vector_whose_gradient_is_that_of_the_rotation(self, wxyz, is_half):
        """Along all three directions: the vector changes by the inverse of the right Jacobian of the rotation."""
        q = np.array([1e-9, *wxyz[1:]]) if is_half and np.linalg.norm(wxyz[1:]) > 0.1 else np.array(wxyz)
        turned = Rotation.from_wxyz(q / np.linalg.norm(q))
        spun = RotationExpression(turned)
        for axis, name in zip(np.eye(3), "abc", strict=True):
            spun = spun @ rotation_about(axis, position(name))
        zero = dict.fromkeys("abc", 0.0)
        vector = spun.vector().evaluate(zero)
        assert Rotation.exp(vector).matrix == pytest.approx(turned.matrix, abs=1e-12)
        found = spun.vector().jacobian(["a", "b", "c"]).evaluate(zero)
        np.testing.assert_allclose(found, inverse_right_jacobian(vector), atol=1e-9)

    def test_have_axes(self):
        quarter = rotation_about((0, 0, 1), math.pi / 2)
        found = [axis.value() for axis in (quarter.x_axis, quarter.y_axis, quarter.z_axis)]
        assert np.array(found) == pytest.approx(np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), abs=CLOSE)

    def test_turn_vectors_and_one_another(self):
        quarter = rotation_about((0, 0, 1), math.pi / 2)
        assert (quarter @ (1.0, 0.0, 0.0)).value() == pytest.approx([0.0, 1.0, 0.0])
        assert (quarter @ quarter.inverse()).value().matrix == pytest.approx(np.eye(3))
        assert (quarter @ Rotation.exp((0, 0, math.pi / 2))).value().matrix[0, 0] == pytest.approx(-1.0)
        assert RotationExpression.identity().value().matrix.tolist() == np.eye(3).tolist()
