"""SE(3) for arrays of poses, against the matrix exponential and quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform
from armillary.fusion.se3 import adjoints, compose, inverses, rotation_matrices, skew
from se3_reference import exponentials, inverse_right_jacobians, logarithms, right_jacobians

ANGLES = (0.0, 1e-12, 1e-6, 9e-3, 1.1e-2, 0.09, 0.11, 0.49, 0.51, 1.0, 2.0, 3.0, np.pi - 1e-9)
CLOSE = 1e-13


@pytest.fixture
def tangents():
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(len(ANGLES), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return np.concatenate([rng.normal(size=(len(ANGLES), 3)), np.array(ANGLES)[:, None] * axes], axis=1)


def bracket(x):
    """The matrix of the Lie bracket with a tangent."""
    ad = np.zeros((6, 6))
    ad[:3, :3] = ad[3:, 3:] = skew(x[3:])
    ad[:3, 3:] = skew(x[:3])
    return ad


def exponential_of(matrix):
    """The matrix exponential by its series, scaled and squared: nothing is shared with what is tested."""
    small, total, power = matrix / 2.0**10, np.eye(len(matrix)), np.eye(len(matrix))
    for n in range(1, 12):
        power = power @ small / n
        total = total + power
    for _ in range(10):
        total = total @ total
    return total


class TestPosesAsRows:
    def test_exponentials_are_those_of_transform(self, tangents):
        expected = [Transform.exp(x).matrix for x in tangents]
        found = exponentials(tangents)
        np.testing.assert_allclose(rotation_matrices(found[:, 3:]), np.array(expected)[:, :3, :3], atol=CLOSE)
        np.testing.assert_allclose(found[:, :3], np.array(expected)[:, :3, 3], atol=CLOSE)

    def test_logarithms_undo_exponentials(self, tangents):
        np.testing.assert_allclose(logarithms(exponentials(tangents)), tangents, atol=CLOSE)

    def test_logarithms_take_either_sign_of_the_quaternion(self, tangents):
        rows = exponentials(tangents)
        rows[:, 3:] *= -1.0
        np.testing.assert_allclose(logarithms(rows), tangents, atol=CLOSE)

    def test_products_and_inverses_are_those_of_transform(self, tangents):
        a, b = exponentials(tangents), exponentials(tangents[::-1])
        for one, other, product, back in zip(a, b, compose(a, b), inverses(a), strict=True):
            first = Transform.from_xyz_wxyz(xyz=one[:3], wxyz=one[3:])
            second = Transform.from_xyz_wxyz(xyz=other[:3], wxyz=other[3:])
            expected = (first @ second).matrix
            np.testing.assert_allclose(product[:3], expected[:3, 3], atol=CLOSE)
            np.testing.assert_allclose(rotation_matrices(product[3:]), expected[:3, :3], atol=CLOSE)
            np.testing.assert_allclose(back[:3], first.inverse().translation, atol=CLOSE)

    def test_adjoints_are_exponentials_of_the_bracket(self, tangents):
        expected = np.array([exponential_of(bracket(x)) for x in tangents])
        np.testing.assert_allclose(adjoints(exponentials(tangents)), expected, atol=1e-11)


class TestRightJacobians:
    def test_are_the_integral_of_adjoints(self, tangents):
        nodes, weights = np.polynomial.legendre.leggauss(24)
        for x, found in zip(tangents, right_jacobians(tangents), strict=True):
            parts = [w / 2 * exponential_of(-(s + 1) / 2 * bracket(x)) for s, w in zip(nodes, weights, strict=True)]
            np.testing.assert_allclose(found, sum(parts), atol=1e-11)

    def test_have_their_inverse_in_closed_form(self, tangents):
        product = right_jacobians(tangents) @ inverse_right_jacobians(tangents)
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(6), product.shape), atol=1e-13)
