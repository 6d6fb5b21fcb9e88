"""Two equal robots in one world: their maps are joined where they meet, corrected later, and taken apart again."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AlreadyConnected, NotConnected
from unit.kit import moved

DRIFT = np.diag([0.01] * 3 + [0.005] * 3) ** 2
TRUE_JOIN = Transform.from_xyz_rpy(xyz=(4, -2, 0), rpy=(0, 0, 0.8))  # B's odom in A's
SURE = [1e-4] * 6


def where(prefix, k):
    start = moved() if prefix == "A/" else moved(0.5, 0.5)
    return start @ Transform.exp((0.1 * k, 0, 0, 0, 0, 0.02 * k))


@pytest.fixture
def fleet():
    robot, both = World("robot"), World("fleet", history=None)
    robot.fix(of="lidar", in_frame="base", transform=moved(0, 0, 0.5))
    for prefix in ("A/", "B/"):
        both.merge(robot.scene.changes(), prefix=prefix)
        for k in range(61):
            base = {"of": f"{prefix}base", "in_frame": f"{prefix}odom", "source": prefix}
            both.set_pose(**base, transform=where(prefix, k), at=seconds(k), covariance=DRIFT)
    return both


def meet(both, k, **more):
    seen = where("A/", k).inverse() @ TRUE_JOIN @ where("B/", k)
    given = {"of": "B/base", "in_frame": "A/base", "transform": seen, "covariance": SURE, "source": "rendezvous"}
    return both.connect_trees(**given | more, at=seconds(k))


class TestTwoMaps:
    def test_are_apart_until_the_robots_meet(self, fleet):
        with pytest.raises(NotConnected):
            fleet.pose(of="B/lidar", in_frame="A/odom", at=seconds(40))
        meet(fleet, 30)
        found = fleet.pose(of="B/lidar", in_frame="A/odom", at=seconds(40))
        expected = TRUE_JOIN @ where("B/", 40) @ moved(0, 0, 0.5)
        np.testing.assert_allclose(found.transform.matrix, expected.matrix, atol=1e-9)
        assert found.covariance is not None

    def test_carry_points_of_one_robot_into_the_map_of_the_other(self, fleet):
        meet(fleet, 30)
        points, stamps = np.random.default_rng(1).normal(size=(500, 3)), np.linspace(31e9, 59e9, 500).astype(np.int64)
        found = fleet.map_points(points, from_frame="B/lidar", to_frame="A/odom", at=stamps)
        one = fleet.pose(of="B/lidar", in_frame="A/odom", at=int(stamps[77])).transform @ points[77]
        np.testing.assert_allclose(found[77], one, atol=1e-9)

    def test_are_checked_and_corrected_when_they_meet_again(self, fleet):
        meet(fleet, 30)
        with pytest.raises(AlreadyConnected) as caught:
            meet(fleet, 50)
        assert np.abs(caught.value.residual).max() < 1e-9
        wrong = where("A/", 50).inverse() @ TRUE_JOIN @ moved(0.3) @ where("B/", 50)
        meet(fleet, 50, transform=wrong, update=True)
        later = fleet.pose(of="B/odom", in_frame="A/odom", at=seconds(55)).transform
        np.testing.assert_allclose(later.matrix, (TRUE_JOIN @ moved(0.3)).matrix, atol=1e-9)

    def test_are_taken_apart_in_one_call(self, fleet):
        meet(fleet, 30)
        fleet.undo()
        assert not fleet.can_pose(of="B/lidar", in_frame="A/odom", at=seconds(40))
        assert fleet.can_pose(of="B/base", in_frame="B/odom", at=seconds(59))
