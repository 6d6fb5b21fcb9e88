"""How sure a twist is, in numbers that can be checked by hand; the law is in `laws/test_twist_covariance_laws.py`."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from unit.kit import STILL

CLOSE = 1e-12
SPEED_M_S, SIGMA_M, SIGMA_RAD = 20.0, 0.01, 0.02
OF_POSE = np.diag([SIGMA_M**2] * 3 + [SIGMA_RAD**2] * 3)
OF_TWIST = np.diag([1e-4] * 3 + [4e-4] * 3)
ALONG_MAP = {"of": "car", "relative_to": "map", "expressed_in": "map", "linear": (1, 0, 0), "angular": (0, 0, 0)}


@pytest.fixture
def driving() -> World:
    """Straight ahead, seen ten times a second."""
    world = World()
    for k in range(4):
        ahead = Transform.from_xyz_rpy(xyz=(0.1 * SPEED_M_S * k, 0, 0), rpy=(0, 0, 0))
        world.set_pose(of="car", in_frame="map", transform=ahead, at=seconds(0.1 * k), covariance=OF_POSE)
    return world


def sigmas(world: World, axes: str, **asked) -> np.ndarray:
    twist = world.twist(of="car", relative_to="map", expressed_in=axes, **asked)
    return np.sqrt(np.diag(twist.covariance))[:3]


class TestADerivative:
    def test_along_the_map_has_the_errors_of_two_positions(self, driving):
        for at in (0.0, 0.05, 0.1, 0.3):
            assert np.allclose(sigmas(driving, "map", at=seconds(at)), np.sqrt(2) * SIGMA_M / 0.1, atol=CLOSE)

    def test_along_its_own_axes_has_that_of_the_heading_as_well(self, driving):
        """At a sample that of one heading, halfway the mean of two; the line itself does not turn with them."""
        line = 2 * (SIGMA_M / 0.1) ** 2
        for at, share in ((0.0, 1.0), (0.05, 0.5), (0.3, 1.0)):
            across = np.sqrt(line + share * (SPEED_M_S * SIGMA_RAD) ** 2)
            assert np.allclose(sigmas(driving, "car", at=seconds(at)), [np.sqrt(line), across, across], atol=CLOSE)

    def test_over_a_window_has_the_errors_of_its_ends(self, driving):
        whole = sigmas(driving, "map", at=seconds(0.1), window=seconds(0.2))
        assert np.allclose(whole, np.sqrt(2) * SIGMA_M / 0.2, atol=CLOSE)

    def test_over_a_window_within_one_interval_is_the_derivative(self, driving):
        inside = sigmas(driving, "car", at=seconds(0.15), window=seconds(0.02))
        assert np.allclose(inside, sigmas(driving, "car", at=seconds(0.15)), atol=CLOSE)

    def test_is_unknown_where_one_of_its_samples_is(self, driving):
        driving.set_pose(of="car", in_frame="map", transform=STILL, at=seconds(0.4))
        assert driving.twist(of="car", relative_to="map", at=seconds(0.3)).covariance is None
        assert driving.twist(of="car", relative_to="map", at=seconds(0.2)).covariance is not None


class TestATwistAlongOtherAxes:
    def test_keeps_its_covariance(self, driving):
        driving.set_twist(**ALONG_MAP, at=0, covariance=OF_TWIST)
        twist = driving.twist(of="car", relative_to="map", at=0)
        np.testing.assert_allclose(twist.covariance, OF_TWIST, atol=CLOSE)

    def test_is_less_sure_along_its_own_by_the_turn(self, driving):
        driving.set_twist(**ALONG_MAP, at=0, covariance=OF_TWIST)
        twist = driving.twist(of="car", relative_to="map", expressed_in="car", at=0)
        turned = OF_TWIST + np.diag([0, SIGMA_RAD**2, SIGMA_RAD**2, 0, 0, 0])
        np.testing.assert_allclose(twist.covariance, turned, atol=CLOSE)

    def test_keeps_its_covariance_for_any_pose(self):
        world = World()
        world.set_pose(of="car", in_frame="map", transform=STILL, at=0)
        world.set_twist(**ALONG_MAP, at=0, covariance=OF_TWIST)
        asked = {"of": "car", "relative_to": "map", "at": 0}
        np.testing.assert_allclose(world.twist(**asked).covariance, OF_TWIST, atol=CLOSE)
        assert world.twist(**asked, expressed_in="car").covariance is None

    def test_takes_the_default_for_a_turn_that_is_unknown(self):
        world = World(default_covariance=OF_POSE)
        world.set_pose(of="car", in_frame="map", transform=STILL, at=0)
        world.set_twist(**ALONG_MAP, at=0, covariance=OF_TWIST)
        twist = world.twist(of="car", relative_to="map", expressed_in="car", at=0)
        assert twist.covariance[1, 1] == pytest.approx(OF_TWIST[1, 1] + SIGMA_RAD**2, abs=CLOSE)

    def test_needs_no_more_than_an_exact_turn(self):
        world = World()
        world.fix(
            of="car", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0, 0, np.pi / 2)), at=0
        )
        world.set_twist(**ALONG_MAP, at=0, covariance=np.diag([1.0, 2, 3, 4, 5, 6]))
        twist = world.twist(of="car", relative_to="map", expressed_in="car", at=0)
        np.testing.assert_allclose(np.diag(twist.covariance), [2, 1, 3, 5, 4, 6], atol=CLOSE)

    def test_is_integrated_without_a_covariance_where_the_turn_is_not_exact(self):
        world = World()
        world.set_pose(of="car", in_frame="map", transform=STILL, at=0, covariance=OF_POSE)
        world.fix(of="gyro", in_frame="car", transform=STILL, covariance=OF_POSE)
        for axes, at in (("car", 1.0), ("gyro", 2.0)):
            world.set_twist(**ALONG_MAP | {"expressed_in": axes}, at=seconds(at), covariance=OF_TWIST)
        assert world.pose(of="car", in_frame="map", at=seconds(1)).covariance is not None
        assert world.pose(of="car", in_frame="map", at=seconds(2)).covariance is None
