"""`world.average`: the looks at a frame over time, what they share, outliers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError, NothingToAverage, UnknownFrame
from armillary.fusion.average import average_poses
from armillary.fusion.policies import by_source
from unit.kit import moved

COVARIANCE = np.diag([1e-4] * 3 + [4e-4] * 3)
MARKER = Transform.exp((1.0, 0.5, 0.2, 0.1, -0.2, 0.3))


def noisy(rng, transform, covariance=COVARIANCE):
    return transform @ Transform.exp(np.linalg.cholesky(covariance) @ rng.normal(size=6))


def static_world(count=30, seed=1, covariance=COVARIANCE, **more):
    """A marker that a camera sees, both at rest."""
    rng, world = np.random.default_rng(seed), World(history=None)
    for k in range(count):
        look = noisy(rng, MARKER)
        world.set_pose(of="marker", in_frame="camera", transform=look, at=seconds(k), covariance=covariance, **more)
    return world


def moving_world(rng, count=24, mount_covariance=None):
    """A camera on a moving arm sees a marker that is at rest in the map; returns also the error of the mount."""
    world, hand_T_camera = World(history=None), Transform.exp((0.1, 0, 0.05, 0, 0.4, 0))
    world.fix(of="camera", in_frame="hand", transform=hand_T_camera, covariance=mount_covariance)
    root = np.zeros((6, 6)) if mount_covariance is None else np.linalg.cholesky(mount_covariance)
    true_mount = hand_T_camera @ Transform.exp(root @ rng.normal(size=6))
    for k in range(count):
        map_T_hand = Transform.exp(rng.uniform(-0.5, 0.5, size=6))
        world.set_pose(of="hand", in_frame="map", transform=map_T_hand, at=seconds(k), covariance=np.zeros(6))
        seen = noisy(rng, (map_T_hand @ true_mount).inverse() @ MARKER)
        world.set_pose(of="marker", in_frame="camera", transform=seen, at=seconds(k), covariance=COVARIANCE)
    return world


def nees(average):
    e = (average.mean.transform.inverse() @ MARKER).log()
    return float(e @ np.linalg.solve(average.covariance, e))


class TestTheMeanOfStoredSamples:
    def test_is_the_mean_of_these_poses(self):
        world = static_world()
        samples = world.samples(of="marker", in_frame="camera")
        expected = average_poses(samples.transforms, samples.covariances)
        found = world.average(of="marker", in_frame="camera")
        np.testing.assert_allclose(found.mean.transform.matrix, expected.mean.matrix, atol=1e-14)
        np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
        assert (found.mean.of, found.mean.in_frame, found.mean.stamp) == ("marker", "camera", None)
        assert found.mean.relations == (("marker", "camera", ""),)

    def test_is_over_an_interval_both_ends_included(self):
        found = static_world().average(of="marker", in_frame="camera", start=seconds(5), end=seconds(9))
        assert found.stamps.tolist() == [seconds(k) for k in range(5, 10)]

    def test_lists_outliers_with_stamp_and_source(self):
        world = static_world(source="left")
        wrong = MARKER @ moved(0.7)
        world.set_pose(
            of="marker", in_frame="camera", transform=wrong, at=seconds(7), source="left", covariance=COVARIANCE
        )
        (outlier,) = world.average(of="marker", in_frame="camera").report.outliers
        assert (outlier.index, outlier.stamp, outlier.source) == (7, seconds(7), "left")
        assert outlier.distance > 50

    def test_takes_all_sources_or_one(self):
        world = static_world(source="left")
        far = MARKER @ moved(0.05)
        world.set_pose(of="marker", in_frame="camera", transform=far, at=seconds(3), source="b", covariance=COVARIANCE)
        assert len(world.average(of="marker", in_frame="camera").sources) == 31
        only = world.average(of="marker", in_frame="camera", source="b")
        np.testing.assert_allclose(only.mean.transform.matrix, far.matrix, atol=1e-14)

    def test_of_unknown_covariances_has_that_of_the_scatter(self):
        found = static_world(covariance=None).average(of="marker", in_frame="camera")
        np.testing.assert_allclose(np.diag(found.covariance), np.diag(COVARIANCE) / 30, rtol=1.2)

    def test_of_a_frame_that_is_fixed_to_what_is_seen(self):
        world = static_world()
        world.fix(of="corner", in_frame="marker", transform=moved(0.1))
        found = world.average(of="corner", in_frame="camera").mean.transform
        expected = world.average(of="marker", in_frame="camera").mean.transform @ moved(0.1)
        np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-3)


class TestLooksFromAMovingCamera:
    def test_are_each_taken_at_their_own_instant(self):
        world = moving_world(np.random.default_rng(2))
        found = world.average(of="marker", in_frame="map")
        assert nees(found) < 25
        assert set(found.mean.relations) == {
            ("marker", "camera", ""),
            ("camera", "hand", ""),
            ("hand", "map", ""),
        }

    def test_share_the_error_of_the_mount_which_does_not_average_out(self):
        rng, mount = np.random.default_rng(4), np.diag([4e-4] * 3 + [1e-4] * 3)
        apart = [nees(moving_world(rng, 12, mount).average(of="marker", in_frame="map")) for _ in range(60)]
        assert 4.9 < np.mean(apart) < 7.3

    def test_share_it_also_when_the_path_goes_down_to_the_frame_asked_for(self):
        world = static_world()
        world.fix(of="lens", in_frame="camera", transform=moved(0, 0, 0.1), covariance=[1e-2] * 6)
        alone, seen = (world.average(of="marker", in_frame=name) for name in ("camera", "lens"))
        J = (moved(0, 0, 0.1).inverse() @ alone.mean.transform).inverse().adjoint
        expected = alone.covariance + J @ (1e-2 * np.eye(6)) @ J.T
        np.testing.assert_allclose(seen.covariance, expected, rtol=1e-2, atol=1e-5)

    def test_that_cannot_be_placed_are_listed(self):
        world = moving_world(np.random.default_rng(2), 5)
        world.set_pose(of="marker", in_frame="camera", transform=MARKER, at=seconds(9), covariance=COVARIANCE)
        found = world.average(of="marker", in_frame="map")
        assert len(found.stamps) == 5
        (lost,) = found.lost
        assert (lost.stamp, lost.source, lost.reason.edge[0]) == (seconds(9), "", "hand")

    def test_take_a_policy_where_their_way_is_contested(self):
        world = moving_world(np.random.default_rng(2), 5)
        for k in range(5):
            world.set_pose(of="hand", in_frame="map", transform=moved(9), at=seconds(k), source="wrong")
        with pytest.raises(ArmillaryError):
            world.average(of="marker", in_frame="map")
        assert nees(world.average(of="marker", in_frame="map", policy=by_source(""))) < 25


class TestNothingToAverage:
    def test_is_said_with_the_sources_there_are(self):
        world = static_world(source="left")
        with pytest.raises(NothingToAverage, match="These sources sample it: 'left'") as caught:
            world.average(of="marker", in_frame="camera", source="right", start=seconds(1), end=seconds(2))
        assert (caught.value.sources, caught.value.start, caught.value.end) == (("left",), seconds(1), seconds(2))

    def test_is_said_of_frames_that_are_not_sampled(self):
        world = static_world()
        with pytest.raises(NothingToAverage, match="average that one and take the inverse"):
            world.average(of="camera", in_frame="marker")

    def test_names_unknown_frames(self):
        with pytest.raises(UnknownFrame):
            static_world().average(of="nobody", in_frame="camera")
