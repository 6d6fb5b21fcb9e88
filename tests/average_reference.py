"""The mean of poses in plain numpy: the oracle of `average_poses`, which the C++ core computes."""

from __future__ import annotations

import numpy as np

from armillary.fusion.se3 import compose, inverses
from se3_reference import exponentials, inverse_right_jacobians, logarithms

_GATE = 22.457744484825323  # chi-squared with 6 degrees of freedom, 0.999
_MEDIAN_SQUARE = 5.348120627447122  # of chi-squared with 6 degrees of freedom
_CAUCHY = 4.1  # standard deviations: from there on a pose counts less
_MEDIAN_LENGTH = 1.5381722544550522  # of a vector of three standard normal numbers
_STARTS, _OTHERS = 30, 100
_ROUNDS = 100
_CONVERGED = 1e-12  # m and rad
_ROUGHLY = 1e-7  # m and rad: enough to tell which poses are outliers
_LEAST_RATIO = 1e-12  # of a variance to the largest: below, it is taken for that
_LEAST_M = 1e-9  # m and rad: no spread is taken for smaller
_SIX = 6


def reference_mean(poses, covariances=None):
    """Return mean (7,), inverse information (6, 6), distances (N,), which are used (N,), residuals and gains."""
    given = None if covariances is None else _inverted(np.asarray(covariances))
    solver = _Solver(np.asarray(poses), given)
    robust, weights, _ = solver.iterate(solver.start(), is_robust=True)
    is_in = _are_near(solver.distances(robust, weights))
    mean, weights, _ = solver.iterate(robust, is_robust=False, weights=weights, is_in=is_in)
    residuals = solver.residuals(mean)
    gains, inverse = _gains(residuals, weights, is_in)
    return mean, inverse, solver.distances(mean, weights), is_in, residuals, gains


class _Solver:
    """The least squares problem of one mean: poses, (N, 7), and their inverse covariances, (N, 6, 6), if known."""

    def __init__(self, poses, inverse_covariances):
        self._poses, self._back, self._given = poses, inverses(poses), inverse_covariances

    def residuals(self, mean):
        """Return how far the mean is from each pose, (N, 6), in the tangent of that pose."""
        return logarithms(compose(self._back, mean))

    def weights_at(self, residuals):
        """Return the inverse covariances: those given, else of the scale that the medians of the residuals have."""
        if self._given is not None:
            return self._given
        medians = [np.median(np.linalg.norm(residuals[:, part], axis=1)) for part in (slice(0, 3), slice(3, 6))]
        deviations = np.maximum(np.array(medians) / _MEDIAN_LENGTH, _LEAST_M)
        return np.broadcast_to(np.diag(np.repeat(deviations**-2.0, 3)), (len(residuals), _SIX, _SIX))

    def distances(self, mean, weights):
        """Return how far the mean is from each pose in standard deviations, (N,)."""
        r = self.residuals(mean)
        return np.sqrt(np.maximum(np.einsum("ni,nij,nj->n", r, weights, r), 0.0))

    def start(self):
        """Return the pose, of at most 30, with the least median distance to the others, of at most 100."""
        tried, others = (_spaced(len(self._poses), most) for most in (_STARTS, _OTHERS))
        residuals = logarithms(compose(self._back[None, others], self._poses[tried, None]))
        if self._given is not None:
            weighted = (self._given[others] @ residuals[..., None])[..., 0]
            scores = np.median((weighted * residuals).sum(axis=-1), axis=1)
        else:
            lengths = [np.linalg.norm(residuals[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))]
            medians = np.array([np.median(length, axis=1) for length in lengths])
            scores = (medians / np.maximum(medians.mean(axis=1, keepdims=True), _LEAST_M)).sum(axis=0)
        return self._poses[tried[np.argmin(scores)]]

    def iterate(self, mean, *, is_robust, weights=None, is_in=None):
        """Improve the mean until it stays; return it, the inverse covariances used, and the number of rounds.

        The residuals are linear in a step of the mean, to first order: the robust weights are iterated on that model,
        which costs little, before the residuals are evaluated again.
        """
        chosen = np.ones(len(self._poses)) if is_in is None else is_in.astype(float)
        enough, done = _ROUGHLY if is_robust else _CONVERGED, 0
        for _ in range(_ROUNDS):
            r = self.residuals(mean)
            J = inverse_right_jacobians(r)
            step, W, inner = self._step(r, J, chosen, weights, is_robust=is_robust)
            done += inner
            turn = float(np.linalg.norm(step[3:]))
            mean = compose(mean, exponentials(step * min(1.0, 1.0 / turn) if turn > 0.0 else step))
            if np.abs(step).max() < enough * (1.0 + np.abs(mean[:3]).max()):
                break
        return mean, W, done

    def _step(self, r, J, chosen, weights, *, is_robust: bool):
        """Return the step of the mean that is best for residuals `r + J step`, their weights, and the rounds made."""
        step = np.zeros(_SIX)
        for done in range(1, _ROUNDS + 1):
            moved = r + (J.reshape(-1, _SIX) @ step).reshape(r.shape)
            W = self.weights_at(moved) if weights is None else weights
            if done == 1 or (self._given is None and weights is None):
                JW = np.swapaxes(J, -1, -2) @ W
                normal, slope = (JW @ J).reshape(-1, _SIX * _SIX), (JW @ r[..., None])[..., 0]
            share = chosen
            if is_robust:
                share = chosen / (1.0 + np.einsum("ni,ni->n", (W @ moved[..., None])[..., 0], moved) / _CAUCHY**2)
            better = -_solve((share @ normal).reshape(_SIX, _SIX), share @ slope)
            change, step = float(np.abs(better - step).max()), better
            if not is_robust or change < _ROUGHLY:
                break
        return step, W, done


def _spaced(count, most):
    """Return at most so many indices, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _are_near(distances):
    """Return which poses are no outliers.

    Where more than half of them would be some, the covariances are too small by a factor: that of the median.
    """
    squares = distances**2
    is_near = squares < _GATE
    if 2 * int(is_near.sum()) < len(squares):
        is_near = squares <= _GATE * float(np.median(squares)) / _MEDIAN_SQUARE
    return is_near


def _gains(residuals, weights, is_in):
    """Return how each pose moves the mean, (N, 6, 6), and the inverse of the information about it, (6, 6)."""
    J = inverse_right_jacobians(residuals)
    JW = np.swapaxes(J, -1, -2) @ weights * is_in[:, None, None]
    inverse = _symmetric_inverse((JW @ J).sum(axis=0))
    # The pose with an error e is T Exp(e): its residual changes by -Ad(x^-1 T) e up to first order, that is -J(-r) e.
    return inverse @ JW @ inverse_right_jacobians(-residuals), inverse


def _solve(A, b):
    """Solve a positive definite system whose rows may have very different units."""
    unit = 1.0 / np.sqrt(np.diag(A))
    return unit * np.linalg.solve(A * unit[:, None] * unit, unit * b)


def _symmetric_inverse(A):
    unit = 1.0 / np.sqrt(np.diagonal(A, axis1=-2, axis2=-1))
    outer = unit[..., :, None] * unit[..., None, :]
    found = outer * np.linalg.inv(A * outer)
    return 0.5 * (found + np.swapaxes(found, -1, -2))


def _inverted(covariances):
    """Return the inverse covariances; directions that are exact get a variance far below all others."""
    size = np.array(
        [np.diagonal(covariances[:, part, part], axis1=1, axis2=2).max() for part in (slice(0, 3), slice(3, 6))]
    )
    floor = np.repeat(np.maximum(size * _LEAST_RATIO, _LEAST_M**2), 3)
    unit = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), floor))
    outer = unit[:, :, None] * unit[:, None, :]
    correlations = covariances / outer
    correlations[:, range(_SIX), range(_SIX)] = 1.0  # what is exact along an axis has the least variance
    values, vectors = np.linalg.eigh(correlations)
    least = (floor / unit**2).min(axis=1, keepdims=True)
    safe = np.maximum(values, np.maximum(least, _LEAST_RATIO))
    return (vectors / safe[:, None, :]) @ np.swapaxes(vectors, 1, 2) / outer
