"""The mean of poses: the vector of the specification, honesty by Monte Carlo, outliers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import randomness
from armillary import Transform
from armillary.errors import InvalidArgument
from armillary.fusion.average import average_poses
from armillary.fusion.se3 import compose
from average_reference import reference_mean
from randomness import IS_USUAL
from se3_reference import exponentials, logarithms

M0 = Transform.exp((0.3, -0.2, 0.5, 0.1, 0.2, -0.3))
SURE_OF_PLACE, SURE_OF_TURN = np.diag([1e-4] * 3 + [4e-4] * 3), np.diag([4e-4] * 3 + [1e-4] * 3)
STEPS = [
    (0.01, 0, 0, 0, 0, 0.02),
    (0, 0.02, 0, 0.01, 0, 0),
    (-0.01, 0, 0.01, 0, -0.02, 0),
    (0, -0.01, -0.02, 0, 0.01, -0.01),
    (0.5, 0.4, 0, 0, 0.3, 0),
]
LOOKS = [M0 @ Transform.exp(step) for step in STEPS]
COVARIANCES = [SURE_OF_PLACE] * 2 + [SURE_OF_TURN] * 3


def rotation_vector(transform):
    return transform.log()[3:]


def nees(found, truth):
    e = (found.mean.inverse() @ truth).log()
    return float(e @ np.linalg.solve(found.covariance, e))


def random_looks(rng, truth, count, roots, outliers):
    """Rows of poses around a truth with errors of these roots; the first `outliers` are anywhere within 0.6 m, rad."""
    errors = np.einsum("nij,nj->ni", roots, rng.normal(size=(count, 6)))
    errors[:outliers] += rng.uniform(-0.6, 0.6, size=(outliers, 6))
    return compose(truth.xyz_wxyz, exponentials(errors))


def random_roots(rng, count):
    deviations = rng.uniform(0.005, 0.03, size=(count, 6))
    turns = np.linalg.qr(rng.normal(size=(count, 6, 6)))[0]
    return turns * deviations[:, None, :]


class TestTheVectorOfTheSpecification:
    def test_is_met_to_its_digits(self):
        found = average_poses(LOOKS, COVARIANCES)
        np.testing.assert_allclose(found.mean.translation, [0.3149097364, -0.2638760967, 0.4557309995], atol=6e-11)
        rotation = rotation_vector(found.mean)
        np.testing.assert_allclose(rotation, [0.1001873765, 0.1959947903, -0.3022735977], atol=6e-11)
        variances = [3.9999133e-5, 3.9999217e-5, 3.9999697e-5, 3.9997435e-5, 3.9998818e-5, 3.9997741e-5]
        np.testing.assert_allclose(np.diag(found.covariance), variances, rtol=2e-8)
        assert found.report.chi2 == pytest.approx(11.9912255265, abs=1e-9)

    def test_leaves_the_last_one_out(self):
        report = average_poses(LOOKS, COVARIANCES).report
        assert (report.used, [far.index for far in report.outliers], report.dof) == ((0, 1, 2, 3), [4], 18)
        assert report.outliers[0].distance > 10
        assert report.birge_ratio == pytest.approx(11.9912255265 / 18)
        assert not report.is_inconsistent


class TestTheMean:
    def test_of_one_pose_is_that_pose(self):
        found = average_poses([M0], [SURE_OF_PLACE])
        np.testing.assert_allclose(found.mean.matrix, M0.matrix, atol=1e-15)
        np.testing.assert_allclose(found.covariance, SURE_OF_PLACE, rtol=1e-9)
        assert (found.report.birge_ratio, found.report.spread) == (None, None)

    def test_of_equal_poses_is_that_pose(self):
        found = average_poses([M0] * 5)
        np.testing.assert_allclose(found.mean.matrix, M0.matrix, atol=1e-15)
        assert np.abs(found.covariance).max() < 1e-18

    def test_does_not_depend_on_the_order(self):
        rng = np.random.default_rng(3)
        rows = random_looks(rng, M0, 12, random_roots(rng, 12), 2)
        for _ in range(5):
            order = rng.permutation(12)
            np.testing.assert_allclose(
                average_poses(rows[order]).mean.matrix, average_poses(rows).mean.matrix, atol=1e-10
            )

    def test_moves_with_the_frame_that_poses_are_in(self):
        moved = average_poses([M0.inverse() @ look for look in LOOKS], COVARIANCES).mean
        np.testing.assert_allclose((M0 @ moved).matrix, average_poses(LOOKS, COVARIANCES).mean.matrix, atol=1e-12)

    def test_of_half_turns_is_one(self):
        rng = np.random.default_rng(5)
        truth = Transform.exp((1, 2, 3, np.pi, 0, 0))
        rows = random_looks(rng, truth, 40, random_roots(rng, 40), 0)
        apart = (truth.inverse() @ average_poses(rows).mean).log()
        assert np.abs(apart).max() < 0.02

    def test_has_gains_that_predict_how_each_pose_moves_it(self):
        near = [M0 @ Transform.exp(0.01 * np.array(step)) for step in STEPS[:4]]
        found = average_poses(near, COVARIANCES[:4])
        for k in range(4):
            step = 1e-6 * np.array([1.0, -2.0, 0.5, 1.5, -1.0, 2.0])
            looks = [look @ Transform.exp(step) if i == k else look for i, look in enumerate(near)]
            apart = (found.mean.inverse() @ average_poses(looks, COVARIANCES[:4]).mean).log()
            np.testing.assert_allclose(apart, found.gains[k] @ step, atol=2e-10)

    def test_of_exact_directions_is_finite(self):
        planar = np.diag([1e-4, 1e-4, 0, 0, 0, 1e-4])
        looks = [Transform.exp((0.01 * k, 0, 0, 0, 0, 0)) for k in (-1, 0, 1)]
        found = average_poses(looks, [planar] * 3)
        np.testing.assert_allclose(found.mean.matrix, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(np.diag(found.covariance)[[0, 1, 5]], 1e-4 / 3, rtol=1e-4)
        assert found.covariance[2, 2] < 1e-15


class TestWhatIsUnknown:
    def test_is_left_out_beside_what_is_known(self):
        far = Transform.exp((5, 0, 0, 0, 0, 0))
        found = average_poses([*LOOKS[:4], far], [*COVARIANCES[:4], None])
        assert (found.report.left_out, found.report.outliers) == ((4,), ())
        np.testing.assert_allclose(found.mean.matrix, average_poses(LOOKS[:4], COVARIANCES[:4]).mean.matrix)

    def test_is_estimated_from_the_scatter_where_all_is_unknown(self):
        rng = np.random.default_rng(11)
        found = average_poses(random_looks(rng, M0, 50, np.tile(np.eye(6) * 0.01, (50, 1, 1)), 0))
        np.testing.assert_allclose(np.diag(found.covariance), 1e-4 / 50, rtol=0.7)
        np.testing.assert_allclose(found.report.spread, 0.01, rtol=0.35)
        assert (found.report.chi2, found.report.birge_ratio) == (None, None)

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_stays_unknown_for_fewer_than_four(self, count):
        assert average_poses(LOOKS[:count]).covariance is None

    def test_is_diagonal_for_few(self):
        covariance = average_poses(LOOKS[:4]).covariance
        np.testing.assert_array_equal(covariance, np.diag(np.diag(covariance)))


class TestTheCovariance:
    def test_is_widened_by_the_birge_ratio_on_demand(self):
        small = [covariance / 100 for covariance in COVARIANCES[:4]]
        looks = [M0 @ Transform.exp(np.array(step) * 0.4) for step in STEPS[:4]]
        plain, scaled = average_poses(looks, small), average_poses(looks, small, scale=True)
        assert plain.report.is_inconsistent
        assert "scale=True" in str(plain.report)
        np.testing.assert_allclose(scaled.covariance, plain.covariance * plain.report.birge_ratio)

    def test_is_never_narrowed_by_it(self):
        plain = average_poses(LOOKS[:4], COVARIANCES[:4])
        assert plain.report.birge_ratio < 1
        scaled = average_poses(LOOKS[:4], COVARIANCES[:4], scale=True)
        np.testing.assert_array_equal(scaled.covariance, plain.covariance)

    def test_has_what_all_poses_have_in_common_added(self):
        plain = average_poses(LOOKS, COVARIANCES).covariance
        common = average_poses(LOOKS, COVARIANCES, common_covariance=[1e-4] * 6).covariance
        np.testing.assert_allclose(common, plain + 1e-4 * np.eye(6))


class TestHonesty:
    """NEES is 6 where the covariance is right."""

    TRIES = 300 if IS_USUAL else 1500

    @pytest.mark.parametrize(
        ("count", "outliers", "is_known"),
        [
            (64, 0, True),
            (64, 0, False),
            (64, 13, True),
            (64, 13, False),
            (12, 2, True),
            (12, 2, False),
            (8, 0, True),
        ],
    )
    def test_is_kept(self, count, outliers, is_known):
        rng = randomness.rng(100 * count + 2 * outliers + is_known)
        found, wrongly, missed = [], 0, 0
        for _ in range(self.TRIES):
            truth = Transform.exp(rng.normal(size=6))
            roots = random_roots(rng, count) if is_known else np.tile(random_roots(rng, 1), (count, 1, 1))
            rows = random_looks(rng, truth, count, roots, outliers)
            covariances = roots @ np.swapaxes(roots, 1, 2) if is_known else None
            mean = average_poses(rows, covariances)
            out = {far.index for far in mean.report.outliers}
            wrongly += len(out - set(range(outliers)))
            missed += len(set(range(outliers)) - out)
            found.append(nees(mean, truth))
        assert 5.0 < np.mean(found) < 7.0  # by five deviations of the mean of 300
        assert wrongly / (self.TRIES * count) < 0.012
        assert missed <= 0.02 * self.TRIES * max(outliers, 1)


class TestAMeanOfNothing:
    @pytest.mark.parametrize(
        ("transforms", "covariances"),
        [
            ([], None),
            (np.zeros((0, 7)), None),
            (np.zeros((3, 6)), None),
            (3, None),
            (["a"], None),
            (np.zeros((2, 7)), None),
            (LOOKS, COVARIANCES[:2]),
            (LOOKS[:1], [np.ones((2, 2))]),
            (LOOKS[:1], [-np.eye(6)]),
            (LOOKS[:1], -np.eye(6)[None]),
            (LOOKS[:1], (np.eye(6) + np.eye(6, k=1))[None]),
        ],
    )
    def test_is_refused_with_a_reason(self, transforms, covariances):
        with pytest.raises(InvalidArgument):
            average_poses(transforms, covariances)

    def test_takes_matrices_and_rows_alike(self):
        matrices = np.array([look.matrix for look in LOOKS])
        rows = np.array([look.xyz_wxyz for look in LOOKS])
        expected = average_poses(LOOKS, COVARIANCES).mean.matrix
        np.testing.assert_allclose(average_poses(matrices, COVARIANCES).mean.matrix, expected, atol=1e-13)
        np.testing.assert_allclose(average_poses(rows, np.array(COVARIANCES)).mean.matrix, expected, atol=1e-13)
        assert np.abs(logarithms(rows)).max() < 4


class TestAgainstPlainNumpy:
    """The mean that the C++ core iterates, against the same method in numpy."""

    @staticmethod
    def looks(rng, count, kind):
        truth = Transform.exp(rng.normal(size=6) * (1, 1, 1, 1.2, 1.2, 1.2))
        poses, covariances = [], []
        for k in range(count):
            factor = rng.normal(size=(6, 6)) * 10 ** rng.uniform(-3, -1.5)
            if kind == "exact directions":
                factor[rng.integers(0, 6)] = 0.0
            size = 50.0 if kind == "outliers" and k % 7 == 3 else 3.0 if kind == "too sure" else 1.0
            poses.append((truth @ Transform.exp(size * factor @ rng.normal(size=6))).xyz_wxyz)
            covariances.append(factor @ factor.T + (0.0 if kind == "exact directions" else 1e-9) * np.eye(6))
        return np.array(poses), np.array(covariances)

    @pytest.mark.parametrize("kind", ["plain", "outliers", "too sure", "exact directions"])
    @pytest.mark.parametrize("count", [1, 2, 3, 10, 60])
    @pytest.mark.parametrize("is_known", [True, False])
    def test_everything_is_the_same(self, kind, count, is_known):
        rng = np.random.default_rng([count, is_known, len(kind)])
        poses, covariances = self.looks(rng, count, kind)
        found = average_poses(poses, covariances if is_known else None)
        mean, inverse, far, is_in, _, gains = reference_mean(poses, covariances if is_known else None)
        deviations = np.sqrt(np.diag(inverse))
        apart = (Transform.from_xyz_wxyz(xyz=mean[:3], wxyz=mean[3:]).inverse() @ found.mean).log()
        assert (np.abs(apart) < 1e-9 + 1e-6 * deviations).all()
        assert found.report.used == tuple(np.flatnonzero(is_in))
        outliers = {outlier.index: outlier.distance for outlier in found.report.outliers}
        assert outliers == pytest.approx({int(k): far[k] for k in np.flatnonzero(~is_in)}, rel=1e-5)
        close = 1e-2 if kind == "exact directions" else 1e-5  # twelve orders between variances leave few digits
        np.testing.assert_allclose(found.gains, gains, atol=close * np.abs(gains).max())
        if is_known:
            unit = np.outer(deviations, deviations)
            np.testing.assert_allclose(found.covariance / unit, inverse / unit, atol=1e-5)
