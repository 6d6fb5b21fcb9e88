"""Measured twists that come as relations or coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument, NotNumeric, StampOutOfRange, UnknownFrame
from armillary.relations import Pose, Twist
from armillary.relations.representations import BodyTwist, HybridTwist, LinearAngular, SpatialTwist
from unit.kit import everything_about

V, W = np.array([1.0, -0.2, 0.3]), np.array([0.1, 0.4, -0.7])
SPREAD = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
MAP_T_BASE = Transform.from_xyz_rpy(xyz=(3, 1, -2), rpy=(0.3, -0.4, 1.2))
AT = seconds(1)
BASE = {"of": "base", "relative_to": "map", "at": AT}


@pytest.fixture
def world():
    world = World()
    world.add_body("car", frames=["base"])
    world.set_pose(of="base", in_frame="map", transform=MAP_T_BASE, at=AT, covariance=SPREAD)
    return world


@pytest.fixture
def drive():
    """In free coordinates, as the base itself measures it."""
    names = {"point": "base", "body": "car", "reference_body": "map", "expressed_in": "base"}
    return Twist(**names, linear=V, angular=W)


def stored(world):
    return world.twist_samples(of="base", relative_to="map").twists[-1]


MAP_T_CAR = Pose(of="base", body="car", in_frame="map", transform=MAP_T_BASE)
FORMS = {"body": BodyTwist, "hybrid": HybridTwist, "spatial": SpatialTwist}


class TestATwistInOtherCoordinates:
    @pytest.mark.parametrize("form", FORMS)
    def test_is_the_same_motion(self, world, drive, form):
        twist = getattr(drive, f"to_{form}")(MAP_T_CAR)
        assert type(twist.coordinates) is FORMS[form]
        for value in (twist, twist.coordinates):
            world.set_twist(**BASE, twist=value)
            assert stored(world) == pytest.approx([*V, *W])

    def test_may_be_free(self, world, drive):
        world.set_twist(**BASE, twist=drive)
        assert stored(world) == pytest.approx([*V, *W])
        world.set_twist(
            **BASE, twist=LinearAngular(linear=MAP_T_BASE.rotation @ V, angular=(0, 0, 0)), expressed_in="map"
        )
        assert stored(world) == pytest.approx([*V, 0, 0, 0])

    def test_may_come_from_pinocchio(self, world):
        pinocchio = pytest.importorskip("pinocchio")
        world.set_twist(**BASE, twist=pinocchio.Motion(V, W), expressed_in="base")
        assert stored(world) == pytest.approx([*V, *W])

    def test_brings_its_covariance(self, world, drive):
        world.set_twist(**BASE, twist=drive._replace(covariance=SPREAD))
        np.testing.assert_allclose(world.twist(**BASE, expressed_in="base").covariance, SPREAD)
        world.set_twist(**BASE, twist=drive._replace(covariance=SPREAD), covariance=2 * SPREAD)
        np.testing.assert_allclose(world.twist_samples(of="base", relative_to="map").covariances[0], 2 * SPREAD)

    def test_of_the_other_body_is_as_certain_as_the_pose_allows(self, world, drive):
        """A spatial twist, brought to the base by a pose that may be a little off."""
        spatial = drive.to_spatial(MAP_T_CAR)
        world.set_twist(**BASE, twist=spatial, covariance=SPREAD)
        step, V_map = 1e-6, np.concatenate([spatial.linear, spatial.angular])
        by_pose = [
            ((MAP_T_BASE @ Transform.exp(s)).inverse().adjoint - (MAP_T_BASE @ Transform.exp(-s)).inverse().adjoint)
            @ V_map
            for s in step * np.eye(6)
        ]
        J, own = np.stack(by_pose, axis=1) / (2 * step), MAP_T_BASE.inverse().adjoint
        expected = own @ SPREAD @ own.T + J @ SPREAD @ J.T
        (spread,) = world.twist_samples(of="base", relative_to="map").covariances
        np.testing.assert_allclose(spread, expected, rtol=1e-6, atol=1e-9)

    def test_of_the_other_body_needs_the_pose(self, world):
        spatial = SpatialTwist(linear=V, angular=W)
        with pytest.raises(StampOutOfRange):
            world.set_twist(**BASE | {"at": 0}, twist=spatial)
        with pytest.raises(UnknownFrame):
            world.set_twist(**BASE | {"of": "new"}, twist=spatial, pending=True)
        world.set_pose(of="free", in_frame="map", transform=MAP_T_BASE, at=AT)
        world.set_twist(**BASE | {"of": "free"}, twist=spatial, covariance=SPREAD)
        assert world.twist_samples(of="free", relative_to="map").covariances is None

    def test_may_wait_for_its_axes(self, world):
        names = {"of": "arm", "relative_to": "base", "at": AT}
        world.set_twist(**names, twist=HybridTwist(linear=V, angular=W), pending=True)
        world.set_pose(of="arm", in_frame="base", transform=MAP_T_BASE, at=AT)
        assert world.twist(**names).linear == pytest.approx(V)


class TestATwistThatDoesNotFit:
    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"point": "wheel"}, r"velocity of 'wheel'.*about 'base'.*change_point"),
            ({"body": "truck"}, "body of .* is 'truck', and the call names base or car"),
            ({"reference_body": "moon"}, "reference_body of .* is 'moon', and the call names map"),
            ({"stamp": 5}, "is of the instant 5 ns"),
        ],
    )
    def test_is_refused_with_what_differs(self, world, drive, changes, text):
        before = everything_about(world)
        with pytest.raises(InvalidArgument, match=text):
            world.set_twist(**BASE, twist=drive._replace(**changes))
        assert everything_about(world) == before

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"linear": V, "angular": W}, "along the axes of expressed_in=, or twist="),
            ({"linear": V, "expressed_in": "base"}, "takes linear= and angular="),
            ({"twist": BodyTwist(linear=V, angular=W), "linear": V}, "either linear= and angular=, or twist="),
            ({"twist": BodyTwist(linear=V, angular=W), "expressed_in": "map"}, "is along the axes of 'base'"),
            ({"twist": LinearAngular(linear=V, angular=W)}, "Pass expressed_in="),
            ({"twist": (1, 2, 3, 4, 5, 6)}, "BodyTwist"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_is_refused_with_a_hint(self, world, given, text):
        before = everything_about(world)
        with pytest.raises(InvalidArgument, match=text):
            world.set_twist(**BASE, **given)
        assert everything_about(world) == before

    def test_of_symbols_is_refused(self, world):
        symbolic = pytest.importorskip("symbolic")
        v = symbolic.SymbolicVector(symbolic.casadi.SX.sym("v", 3))
        with pytest.raises(NotNumeric):
            world.set_twist(**BASE, twist=symbolic.SymbolicTwist(v, v), expressed_in="base")
