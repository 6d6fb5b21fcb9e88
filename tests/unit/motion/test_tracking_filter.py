"""The tracking filter: poses with noise become a configuration that does not jitter, with an honest covariance."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("casadi")
pytest.importorskip("daqp")

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument, InvalidStamp
from armillary.motion import Tracker, TrackingFilter
from randomness import rng, scaled
from unit.motion.tracking_kit import ObservedModel, directions, drawer_and_door, noisy, values_of, variances

DRAWER, DOOR = "cabinet/links/drawer", "cabinet/links/door"
RATE_HZ = 28
CAMERA = np.array([-1.0, 0.5, 1.0])


@pytest.fixture
def cabinet():
    return ObservedModel(drawer_and_door(), [DRAWER, DOOR])


def along_x(x):
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


def seen_with(random, observed, truth, alpha):
    """The noise of the thesis' second test: sigma = 2^(alpha d) - 1 at a distance d from the camera (eq. 4.25)."""
    poses, covariances = {}, {}
    for path, pose in observed.poses(truth).items():
        sigma = 2.0 ** (alpha * np.linalg.norm(pose.translation - CAMERA)) - 1.0
        poses |= noisy(random, {path: pose}, sigma, sigma, directions)
        covariances[path] = variances(sigma, sigma)
    return poses, covariances


def jitters(observed, alpha, filtered, count=8 * RATE_HZ):
    """How far each estimate is from the one before, of things that rest, after two seconds."""
    random, tracker = rng(7), Tracker(observed.model, observed.links)
    filtering = TrackingFilter(observed.model, observed.links)
    truth, found = 0.5 * (observed.lower + observed.upper), []
    for step in range(count):
        poses, covariances = seen_with(random, observed, truth, alpha)
        if filtered:
            estimate = filtering.update(poses, covariances=covariances, at=seconds(step / RATE_HZ))
        else:
            estimate = tracker.update(poses, covariances=covariances)
        found.append(values_of(estimate, observed.names))
    return np.abs(np.diff(found[2 * RATE_HZ :], axis=0)).mean()


class TestJitter:
    @pytest.mark.parametrize("alpha", [0.01, 0.03, 0.06])
    def test_is_a_third_at_most_of_that_without_the_filter(self, cabinet, alpha):
        assert jitters(cabinet, alpha, filtered=True) < jitters(cabinet, alpha, filtered=False) / 3.0

    def test_at_the_noise_that_made_the_thesis_tracker_useless_is_below_that_at_which_it_was_usable(self, cabinet):
        assert jitters(cabinet, 0.06, filtered=True) < jitters(cabinet, 0.01, filtered=False)


class TestMotion:
    def test_is_followed(self, cabinet):
        random, filtering, errors = rng(8), TrackingFilter(cabinet.model, cabinet.links), []
        for step in range(6 * RATE_HZ):
            t = step / RATE_HZ
            truth = np.array([0.8 + 0.5 * np.sin(0.8 * t), 0.2 + 0.15 * np.sin(0.6 * t)])
            poses, covariances = seen_with(random, cabinet, truth, 0.03)
            estimate = filtering.update(poses, covariances=covariances, at=seconds(t))
            errors.append(np.abs(values_of(estimate, cabinet.names) - truth))
        assert np.mean(errors[RATE_HZ:]) < 0.02
        speeds = [estimate.velocities[name] for name in cabinet.names]
        assert speeds == pytest.approx([0.4 * np.cos(0.8 * t), 0.09 * np.cos(0.6 * t)], abs=0.12)

    def test_has_the_covariance_of_its_errors(self, cabinet):
        """NEES of joints that move as the filter supposes, over many runs."""
        random, squares, runs, steps = rng(9), [], scaled(15, 250), 20
        for _ in range(runs):
            middle, width = 0.5 * (cabinet.lower + cabinet.upper), (cabinet.upper - cabinet.lower) / 3.0
            truth, speed = middle.copy(), random.normal(size=2) * 0.05
            filtering = TrackingFilter(
                cabinet.model,
                cabinet.links,
                acceleration=0.2,
                speed=0.05,
                configuration=dict(zip(cabinet.names, middle + 0.3 * width * random.normal(size=2), strict=True)),
            )
            for step in range(steps):
                poses, covariances = seen_with(random, cabinet, truth, 0.03)
                estimate = filtering.update(poses, covariances=covariances, at=seconds(step / RATE_HZ))
                error = values_of(estimate, cabinet.names) - truth
                squares.append(error @ np.linalg.solve(estimate.covariance, error))
                root = np.linalg.cholesky(0.04 * np.array([[1 / 3, 0.5], [0.5, 1.0]]) * _powers(1 / RATE_HZ))
                jolt = root @ random.normal(size=(2, 2))
                truth, speed = truth + speed / RATE_HZ + jolt[0], speed + jolt[1]
        # Errors of one run are alike: the mean of a run is one draw.
        of_runs = np.mean(np.reshape(squares, (runs, steps)), axis=1)
        assert np.mean(of_runs) == pytest.approx(2.0, abs=3.0 * np.std(of_runs) / np.sqrt(runs))

    def test_goes_on_out_of_view_while_the_covariance_grows(self, cabinet):
        filtering = TrackingFilter(cabinet.model, cabinet.links)
        for step in range(40):
            seen = filtering.update({DRAWER: along_x(0.005 * step)}, at=seconds(step / 20))
        later = filtering.update({}, at=seconds(2.5))
        assert later.configuration["cabinet/drawer"] == pytest.approx(0.195 + 0.1 * 0.55, abs=5e-3)
        assert later.deviation("cabinet/drawer") > 3.0 * seen.deviation("cabinet/drawer")
        assert filtering.predict(at=seconds(2.5)).configuration == later.configuration

    def test_ends_at_a_limit(self, cabinet):
        filtering = TrackingFilter(cabinet.model, cabinet.links)
        for step in range(20):
            filtering.update({DRAWER: along_x(0.02 * step)}, at=seconds(step / 20))
        later = filtering.update({}, at=seconds(3))
        assert later.configuration["cabinet/drawer"] == 0.4
        assert later.velocities["cabinet/drawer"] == 0.0

    def test_dies_away_where_velocities_settle(self, cabinet):
        filtering = TrackingFilter(cabinet.model, cabinet.links, settling_s=0.1)
        for step in range(20):
            filtering.update({DRAWER: along_x(0.01 * step)}, at=seconds(step / 20))
        assert abs(filtering.predict(at=seconds(5)).velocities["cabinet/drawer"]) < 1e-6

    def test_is_written_into_a_world_with_velocities(self, cabinet):
        world = World()
        world.mount(cabinet.model, in_frame="map")
        filtering = TrackingFilter(cabinet.model, [DRAWER])
        for step in range(40):
            estimate = filtering.update({DRAWER: along_x(0.005 * step)}, at=seconds(step / 20))
        estimate.write_to(world, at=seconds(2))
        twist = world.twist(of="cabinet/drawer", relative_to="map", expressed_in="map", at=seconds(2))
        assert twist.linear == pytest.approx([0.1, 0.0, 0.0], abs=0.01)
        assert twist.covariance is not None


class TestASentence:
    def test_for_an_instant_that_is_past(self, cabinet):
        filtering = TrackingFilter(cabinet.model, cabinet.links)
        filtering.update({DRAWER: along_x(0.1)}, at=seconds(2))
        with pytest.raises(InvalidStamp, match="is before that"):
            filtering.update({DRAWER: along_x(0.1)}, at=seconds(1))
        assert filtering.stamp == seconds(2)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"acceleration": 0.0},
            {"acceleration": {"cabinet/drawer": 1.0}},
            {"speed": -1.0},
            {"settling_s": 0.0},
            {"settling_s": np.nan},
        ],
    )
    def test_for_a_parameter_out_of_range(self, cabinet, wrong):
        with pytest.raises(InvalidArgument):
            TrackingFilter(cabinet.model, cabinet.links, **wrong)


def _powers(span_s):
    return np.array([[span_s**3, span_s**2], [span_s**2, span_s]])
