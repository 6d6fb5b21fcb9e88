"""Defects of the paper's library about paths and their uncertainty: each is not here."""

import warnings

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import NotConnected
from conformance.euler import euler_covariance, from_euler, tangent_covariance
from conformance.test_scene_uncertainty import fused

CLOSE = 1e-9
NUMERIC = 1e-6
STEP = 1e-5
POLICIES = ("latest", "most_certain", "fuse", lambda paths: paths[-1])


def at(x, y=0.0, z=0.0):
    return from_euler((x, y, z, 0.0, 0.0, 0.0))


@pytest.fixture
def diamond():
    """root over A and B, both over P, and L on P: the branching is above what is asked for."""
    world = World()
    world.fix(of="A", in_frame="root", transform=at(1.0))
    world.fix(of="B", in_frame="root", transform=at(1.0))
    for side in "AB":
        world.fix(of="P", in_frame=side, transform=at(0.0, 2.0), source=f"by {side}")
    world.fix(of="L", in_frame="P", transform=at(0.0, 0.0, 3.0))
    return world


class TestD1PathsLoseTheirSharedLowerPart:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_is_not_here(self, diamond, policy):
        pose = diamond.pose(of="L", in_frame="root", policy=policy)
        assert pose.transform.translation == pytest.approx([1.0, 2.0, 3.0], abs=CLOSE)

    def test_is_not_here_on_any_path(self, diamond):
        pose = diamond.pose(of="L", in_frame="root", policy="fuse")
        ways = [[relation[:2] for relation in path.relations] for path in pose.paths_used]
        assert ways == [[("L", "P"), ("P", side), (side, "root")] for side in "AB"]

    def test_is_not_here_seen_from_the_side(self, diamond):
        pose = diamond.pose(of="L", in_frame="A", policy="fuse")
        ways = [[relation[:2] for relation in path.relations] for path in pose.paths_used]
        assert ways == [[("L", "P"), ("P", "A")], [("L", "P"), ("P", "B"), ("B", "root"), ("A", "root")]]


class TestD2UnconnectedGraphsAnswer:
    @pytest.mark.parametrize("policy", ["unique", *POLICIES])
    def test_is_not_here(self, diamond, policy):
        diamond.fix(of="lamp", in_frame="elsewhere", transform=at(1.0))
        with pytest.raises(NotConnected):
            diamond.pose(of="lamp", in_frame="root", policy=policy)

    def test_is_not_here_where_a_rival_leads_elsewhere(self, diamond):
        diamond.fix(of="P", in_frame="elsewhere", transform=at(1.0), source="lost")
        pose = diamond.pose(of="L", in_frame="root", policy="fuse")
        assert len(pose.paths_used) == 2
        assert pose.paths_lost == ()

    def test_is_not_here_where_every_rival_leads_elsewhere(self, diamond):
        diamond.fix(of="lamp", in_frame="elsewhere", transform=at(1.0))
        with pytest.raises(NotConnected):
            diamond.pose(of="L", in_frame="lamp", policy="fuse")


class TestD6RotationalUncertaintyGoesToTheWrongAxis:
    @pytest.mark.parametrize(
        ("axis", "lever", "moved"), [(5, 0, 1), (5, 1, 0), (4, 0, 2), (4, 2, 0), (3, 1, 2), (3, 2, 1)]
    )
    def test_is_not_here(self, axis, lever, moved):
        variances, arm = np.zeros(6), np.zeros(3)
        variances[axis], arm[lever] = 0.01, 1.0
        world = World()
        world.fix(of="b", in_frame="a", transform=Transform.identity(), covariance=np.diag(variances))
        world.fix(of="c", in_frame="b", transform=at(*arm))
        expected = np.zeros(3)
        expected[moved] = 0.01
        assert np.diag(world.pose(of="c", in_frame="a").covariance)[:3] == pytest.approx(expected, abs=CLOSE)


class TestD7ASignOfTheCompoundingJacobianIsWrong:
    def test_is_not_here(self):
        """The first pose is turned by every small angle, and the second is one metre ahead: against differences."""
        x1, ahead = (0.3, -0.2, 0.5, 0.4, -0.3, 0.2), at(1.0)
        for axis in range(3, 6):
            step = np.eye(6)[axis]
            world = World()
            covariance = tangent_covariance(x1, np.outer(step, step))
            world.fix(of="b", in_frame="a", transform=from_euler(x1), covariance=covariance)
            world.fix(of="c", in_frame="b", transform=ahead)
            ends = [(from_euler(x1 + sign * STEP * step) @ ahead).translation for sign in (1.0, -1.0)]
            column = (ends[0] - ends[1]) / (2 * STEP)
            actual = euler_covariance(world.pose(of="c", in_frame="a"))[:3, :3]
            assert np.abs(actual - np.outer(column, column)).max() < NUMERIC


class TestD8MergedCovariancesAreNotSymmetric:
    def test_is_not_here(self):
        small = [np.eye(6), np.eye(6)]
        small[0][:2, :2], small[1][:2, :2] = [[1.0, 0.0], [0.0, 3.0]], [[2.0, 1.0], [1.0, 1.0]]
        pose = fused(*[(Transform.identity(), covariance) for covariance in small])
        expected = np.linalg.inv(np.linalg.inv(small[0]) + np.linalg.inv(small[1]))
        assert np.array_equal(pose.covariance, pose.covariance.T)
        assert np.abs(pose.covariance - expected).max() < CLOSE
        assert pose.covariance[:2, :2] == pytest.approx(np.array([[0.6364, 0.2727], [0.2727, 0.5455]]), abs=5e-5)


class TestD9InvertingComplainsAndLocks:
    @pytest.mark.parametrize("pitch_deg", [0.0, 30.0, 89.999999, 90.0, -90.0, 180.0])
    def test_is_not_here(self, pitch_deg, capfd):
        covariance = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
        transform = from_euler((1.0, 2.0, 3.0, 0.4, np.radians(pitch_deg), 0.2))
        world = World()
        world.set_pose(of="b", in_frame="a", transform=transform, at=seconds(1), covariance=covariance)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            back = world.pose(of="a", in_frame="b")
        expected = transform.adjoint @ covariance @ transform.adjoint.T
        assert np.abs(back.covariance - expected).max() < CLOSE
        assert capfd.readouterr() == ("", "")
