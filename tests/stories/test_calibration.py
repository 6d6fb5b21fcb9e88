"""A camera on a hand is calibrated from many looks, and used: the mean, its covariance, and what was wrong."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds

NOISE = np.diag([0.003] * 3 + [0.005] * 3) ** 2
MOUNT = Transform.from_xyz_rpy(xyz=(0.04, -0.02, 0.1), rpy=(0.1, 0.0, 1.5))
MARKER = Transform.from_xyz_rpy(xyz=(0.7, 0.2, 0.0), rpy=(0.0, 0.0, 0.5))


def nees(average, truth):
    e = (average.mean.transform.inverse() @ truth).log()
    return float(e @ np.linalg.solve(average.covariance, e))


@pytest.fixture
def calibrated():
    """The hand visits 36 poses; the camera sees the marker from each, twice a wrong one."""
    rng, world = np.random.default_rng(8), World(history=None)
    for k in range(36):
        hand = Transform.exp(rng.uniform(-0.5, 0.5, size=6))
        seen = (hand @ MOUNT).inverse() @ MARKER @ Transform.exp(np.sqrt(np.diag(NOISE)) * rng.normal(size=6))
        if k in {5, 20}:
            seen = Transform.from_translation((0.2, 0, 0)) @ seen
        world.set_pose(of="hand", in_frame="table", transform=hand, at=seconds(k), covariance=np.zeros(6))
        carried = seen.adjoint @ NOISE @ seen.adjoint.T
        look = hand.inverse() @ MARKER @ seen.inverse()
        world.set_pose(of="camera", in_frame="hand", transform=look, at=seconds(k), source="looks", covariance=carried)
    return world


class TestTheCalibration:
    def test_is_right_and_knows_how_sure_it_is(self, calibrated):
        found = calibrated.average(of="camera", in_frame="hand", source="looks")
        assert nees(found, MOUNT) < 22.5
        assert np.linalg.norm((found.mean.transform.inverse() @ MOUNT).translation) < 0.003
        assert 0.6 < found.report.birge_ratio < 1.5

    def test_names_the_looks_that_were_wrong(self, calibrated):
        report = calibrated.average(of="camera", in_frame="hand", source="looks").report
        assert {far.stamp for far in report.outliers} == {seconds(5), seconds(20)}

    def test_is_kept_with_the_extrinsics(self, calibrated, tmp_path):
        pytest.importorskip("yaml")
        found = calibrated.average(of="camera", in_frame="hand", source="looks")
        station = World(history=None)
        station.fix(of="camera", in_frame="hand", transform=found.mean.transform, covariance=found.covariance)
        station.save_extrinsics(tmp_path / "hand_eye.yaml")
        tomorrow = World()
        tomorrow.load_extrinsics(tmp_path / "hand_eye.yaml")
        kept = tomorrow.pose(of="camera", in_frame="hand")
        np.testing.assert_allclose(kept.transform.matrix, found.mean.transform.matrix, atol=1e-12)
        np.testing.assert_allclose(kept.covariance, found.covariance, rtol=1e-9, atol=1e-18)
