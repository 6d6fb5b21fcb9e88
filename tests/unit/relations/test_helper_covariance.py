"""What moves a relation to another point or other axes has an error of its own: it counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from armillary import Transform
from armillary.relations import (
    AngularVelocity,
    LinearVelocity,
    Orientation,
    Pose,
    Position,
    RelationGraph,
    Twist,
)
from randomness import rng

DRAWS = 400
SIGMA = 0.02
OF_POSE, OF_TWIST = SIGMA**2 * np.eye(6), SIGMA**2 * np.eye(6)
V = np.array([0.5, -1.0, 0.3, 0.8, -0.4, 1.1])
T = Transform.exp(np.array([0.5, 0.2, -0.4, 0.3, -0.6, 0.9]))


def pose(transform: Transform, covariance=OF_POSE) -> Pose:
    return Pose(of="c", in_frame="d", transform=transform, covariance=covariance)


def twist(v: np.ndarray, axes: str = "c", point: str = "c", covariance=OF_TWIST) -> Twist:
    return Twist(point=point, body="c", reference_body="d", expressed_in=axes, linear=v[:3], angular=v[3:],
                 covariance=covariance)  # fmt: skip


def arm(of: Pose) -> Position:
    p = of.position
    return Position(point="c", reference_point="d", body="c", reference_body="c", expressed_in="d", xyz=p.xyz,
                    covariance=p.covariance)  # fmt: skip


OPERATIONS: dict[str, Callable] = {
    "change_coordinate_frame": lambda v, T: twist(v).change_coordinate_frame(pose(T).orientation),
    "change_coordinate_frame of a pose": lambda v, T: twist(v).change_coordinate_frame(pose(T)),
    "change_point": lambda v, T: twist(v, "d", "d").change_point(arm(pose(T))),
    "to_hybrid": lambda v, T: twist(v).to_hybrid(pose(T)),
    "to_spatial": lambda v, T: twist(v).to_spatial(pose(T)),
    "to_body": lambda v, T: twist(v, "d", "d").to_body(pose(T)),
}


def numbers(value) -> np.ndarray:
    return np.concatenate([value.linear, value.angular]) if isinstance(value, Twist) else np.asarray(value.xyz)


def mean_squared_error(make: Callable, size: int) -> float:
    random, expected, total = rng(11), numbers(make(V, T)), 0.0
    for _ in range(DRAWS):
        v = V + random.multivariate_normal(np.zeros(6), OF_TWIST)
        found = make(v, T @ Transform.exp(random.multivariate_normal(np.zeros(6), OF_POSE)))
        error = numbers(found) - expected
        total += error @ np.linalg.solve(found.covariance, error)
    return 6.0 * total / DRAWS / size


class TestTheCovarianceOfATwist:
    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_takes_in_that_of_the_pose_that_moves_it(self, operation):
        assert 5.0 < mean_squared_error(OPERATIONS[operation], 6) < 7.5

    def test_is_as_before_along_exact_axes(self):
        turned = twist(V).change_coordinate_frame(Orientation(of="c", in_frame="d", rotation=T.rotation))
        np.testing.assert_allclose(turned.covariance, OF_TWIST, atol=1e-12)

    def test_is_unknown_along_axes_of_one_instant_without_a_covariance(self):
        dated = Orientation(of="c", in_frame="d", rotation=T.rotation, stamp=5)
        assert twist(V).change_coordinate_frame(dated).covariance is None

    def test_is_unknown_along_axes_that_were_computed_from_the_same(self):
        same = (("c", "d", "slam"),)
        turn = Orientation(of="c", in_frame="d", rotation=T.rotation, covariance=1e-4 * np.eye(3), relations=same)
        moving = twist(V)._replace(relations=same)
        assert moving.change_coordinate_frame(turn).covariance is None


class TestTheCovarianceOfAVector:
    @pytest.mark.parametrize("kind", [LinearVelocity, AngularVelocity, Position])
    def test_takes_in_that_of_the_axes(self, kind):
        names = {"point": "c"} if kind is not AngularVelocity else {}
        reference = {"reference_point": "p"} if kind is Position else {"reference_body": "p"}

        def make(v: np.ndarray, T: Transform):
            value = kind(**names, **reference, body="b", expressed_in="c", xyz=v[:3], covariance=OF_TWIST[:3, :3])
            return value.change_coordinate_frame(pose(T).orientation)

        assert 5.0 < mean_squared_error(make, 3) < 7.5


class TestARelationGraph:
    def test_is_no_surer_of_a_twist_than_its_poses_allow(self):
        """A pose on the way there and back counts twice: somewhat too careful."""

        def make(v: np.ndarray, T: Transform) -> Twist:
            graph = RelationGraph()
            for name in ("c", "d"):
                graph.add_body(name, frames=[name])
            graph.add_pose(pose(T))
            graph.add_twist(twist(v))
            return graph.twist(of="c", relative_to="d", expressed_in="d")

        assert 3.0 < mean_squared_error(make, 6) < 7.5
