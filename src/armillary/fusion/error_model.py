"""A joint error model of several estimates, and the best linear estimate under it.

The joint covariance of all estimates is `V = B B^T`, and the model stores `B`: in `V` the small variances of precise
sources would be lost to rounding beside those of imprecise ones, and beside errors that all of them share. `V` may be
singular: exact paths, shared errors. The estimate is Paige's generalised least squares solution: the `x` in
`y = H x + B u` for which `u` is smallest. An exact part is taken as it is; of contradicting exact parts the mean.

Where the correlation between errors is unknown, each group of them is weighted, `S_g / w_g` with weights that add up to
one: covariance intersection, an upper bound for any correlation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array = NDArray[float64]

_SIX = 6
_EXACT = 1e-13  # of the largest: a smaller deviation is what rounding leaves of none
_CONVERGED = 1e-11  # parts of a weight
_MOST_WEIGHINGS = 100
_LARGEST_CUT = 0.1  # a weight that was reduced too far would take many rounds to grow again
_SMALLEST_WEIGHT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ErrorModel:
    """The errors of several estimates, as sums of errors that are independent or whose correlation is unknown.

    Attributes:
        effects: (E, 6P, 6): the derivative of all estimates by each error.
        roots: (E, 6, 6): a square root of the covariance of each error.
        groups: The group of each error. Errors of one group are independent of each other.
        clusters: The cluster of each group. The correlation between the groups of one cluster is unknown.
    """

    effects: Array
    roots: Array
    groups: tuple[int, ...]
    clusters: tuple[int, ...]

    @property
    def root(self) -> Array:
        """(6P, 6E): a square root of the covariance of all the estimates."""
        return hstack_blocks(self.effects @ self.roots)

    def weighted(self, weights: Array) -> ErrorModel:
        """The model with errors inflated by these weights of the groups: an upper bound for any correlation."""
        inflated = self.roots / np.sqrt(weights[list(self.groups), None, None]) if self.groups else self.roots
        return replace(self, roots=inflated)

    def even_weights(self) -> Array:
        """Equal weights for the groups of each cluster, which add up to one."""
        return self.normalized(np.ones(len(self.clusters)))

    def weights_for(self, gain: Array) -> Array:
        """The weights under which an estimate with this gain has the smallest trace of its covariance."""
        traces = np.square(gain @ self.effects @ self.roots).sum(axis=(1, 2))
        return self.normalized(np.sqrt(np.bincount(self.groups, traces, len(self.clusters))))

    def normalized(self, parts: Array) -> Array:
        """Weights in these proportions that add up to one within each cluster."""
        clusters = np.array(self.clusters, dtype=int)
        totals = np.bincount(clusters, parts)[clusters] if len(parts) else parts
        counts = np.bincount(clusters)[clusters] if len(parts) else parts
        shares = np.where(totals > 0.0, parts / np.where(totals > 0.0, totals, 1.0), 1.0 / np.maximum(counts, 1))
        floored = np.maximum(shares, _SMALLEST_WEIGHT)
        return np.asarray(floored / np.bincount(clusters, floored)[clusters] if len(parts) else floored)

    @property
    def is_known(self) -> bool:
        """Whether the correlation between all groups is known: each has a cluster of its own."""
        return len(set(self.clusters)) == len(self.clusters)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best linear estimate of `x` from `y = H x + B u`.

    Attributes:
        gain: (6, 6P), maps `y` to `x`.
        residual_map: (n, 6P), maps `y` to the smallest `u`.
    """

    gain: Array
    residual_map: Array


def best_linear(design: Array, root: Array) -> Solution:
    """The best estimate of `x` from `design @ x` with errors whose covariance is `root @ root.T`."""
    parts = len(root) // _SIX
    scale = np.sqrt(np.square(root).sum(axis=1).reshape(parts, _SIX).max(axis=0))
    scale[scale == 0.0] = 1.0
    scales = np.tile(scale, parts)
    B = root / scales[:, None]
    Q, R = np.linalg.qr(design / scales[:, None] * scale, mode="complete")
    along, across = Q[:, :_SIX], Q[:, _SIX:]
    left, sizes, right = np.linalg.svd(across.T @ B, full_matrices=False)
    kept = sizes > _EXACT * np.linalg.norm(B)
    residual_map = (right[kept].T / sizes[kept]) @ (across @ left[:, kept]).T
    gain = np.linalg.solve(R[:_SIX], along.T @ (np.eye(len(B)) - B @ residual_map))
    return Solution(scale[:, None] * gain / scales, residual_map / scales)


def solve(model: ErrorModel, design: Array) -> tuple[Solution, ErrorModel]:
    """The best linear estimate, and the model with the weights that belong to it."""
    weights = model.even_weights() if model.is_known else _best_weights(model, design)
    weighted = model.weighted(weights)
    return best_linear(design, weighted.root), weighted


def _best_weights(model: ErrorModel, design: Array) -> Array:
    """The weights under which the best estimate has the smallest trace of its covariance.

    Alternates between the best estimate for given weights and the best weights for that estimate: each is a minimum
    over one of the two, and the trace is convex in both together. Every two steps are extrapolated (SQUAREM, Varadhan
    and Roland 2008).
    """
    weights = model.even_weights()
    for _ in range(_MOST_WEIGHINGS):
        first = model.weights_for(best_linear(design, model.weighted(weights).root).gain)
        second = model.weights_for(best_linear(design, model.weighted(first).root).gain)
        if np.abs(second - first).max() < _CONVERGED:
            return second
        weights = model.normalized(np.maximum(_squarem_step(weights, first, second), _LARGEST_CUT * second))
    return weights


def _squarem_step(start: Array, first: Array, second: Array) -> Array:
    """Extrapolate two successive steps of a fixed-point iteration."""
    step = first - start
    turn = second - first - step
    length = float(np.linalg.norm(turn))
    reach = max(1.0, float(np.linalg.norm(step)) / length) if length > 0.0 else 1.0
    return np.asarray(start + 2.0 * reach * step + reach**2 * turn)


def roots_of(covariances: Array) -> Array:
    """Square roots of covariances, both (E, 6, 6): `R` with `R R^T` the covariance, each entry to its own precision."""
    deviations = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    units = np.where(deviations > 0.0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariances / (units[:, :, None] * units[:, None, :]))
    return np.asarray(deviations[:, :, None] * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def hstack_blocks(blocks: Array) -> Array:
    """Blocks of shape (E, m, n) side by side: (m, E n)."""
    return np.asarray(blocks.transpose(1, 0, 2).reshape(blocks.shape[1], -1))
