"""Errors that hang together, and the best linear estimate under them.

The covariance of all estimates together is `V = B B^T`, and `B` is what is kept: squared, the small variances of sure
sources would drown beside those of vague ones, and beside what all of them share. `V` may be singular: exact paths,
shared errors. The estimate is that of Paige's generalised least squares: the `x` in `y = H x + B u` for which `u` is
smallest. An exact part is believed; where exact parts contradict each other the middle is taken.

Where errors are correlated in a way that nobody knows, each group of them is weighed, `S_g / w_g` with weights that add
up to one: covariance intersection. That bounds what any correlation could make of them.
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
_LARGEST_CUT = 0.1  # a weight that was cut off too far would take long to grow again
_SMALLEST_WEIGHT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The errors of several estimates, as sums of errors that are independent, or correlated nobody knows how.

    Attributes:
        effects: (E, 6P, 6): what each error does to all the estimates.
        roots: (E, 6, 6): a square root of the covariance of each error.
        groups: To which group each error belongs. Errors of one group are independent of each other.
        clusters: To which cluster each group belongs. The correlation between the groups of one cluster is unknown.
    """

    effects: Array
    roots: Array
    groups: tuple[int, ...]
    clusters: tuple[int, ...]

    @property
    def root(self) -> Array:
        """(6P, 6E): a square root of the covariance of all the estimates."""
        return side_by_side(self.effects @ self.roots)

    def weighed(self, weights: Array) -> Joint:
        """Each error as large as it counts under these weights of the groups: a bound, whatever the correlations."""
        grown = self.roots / np.sqrt(weights[list(self.groups), None, None]) if self.groups else self.roots
        return replace(self, roots=grown)

    def even_weights(self) -> Array:
        """Of each group: the groups of a cluster share one."""
        return self.shared(np.ones(len(self.clusters)))

    def weights_for(self, gain: Array) -> Array:
        """Those under which an estimate with this gain has the smallest trace."""
        traces = np.square(gain @ self.effects @ self.roots).sum(axis=(1, 2))
        return self.shared(np.sqrt(np.bincount(self.groups, traces, len(self.clusters))))

    def shared(self, parts: Array) -> Array:
        """Weights in these proportions within each cluster."""
        clusters = np.array(self.clusters, dtype=int)
        totals = np.bincount(clusters, parts)[clusters] if len(parts) else parts
        counts = np.bincount(clusters)[clusters] if len(parts) else parts
        shares = np.where(totals > 0.0, parts / np.where(totals > 0.0, totals, 1.0), 1.0 / np.maximum(counts, 1))
        floored = np.maximum(shares, _SMALLEST_WEIGHT)
        return np.asarray(floored / np.bincount(clusters, floored)[clusters] if len(parts) else floored)

    @property
    def is_known(self) -> bool:
        """Whether no two groups are correlated nobody knows how."""
        return len(set(self.clusters)) == len(self.clusters)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The best linear estimate of `x` from `y = H x + B u`.

    Attributes:
        gain: (6, 6P): `x` from `y`.
        explaining: (n, 6P): the smallest `u` from `y`.
    """

    gain: Array
    explaining: Array


def best_linear(design: Array, root: Array) -> Solution:
    """Of `x` from `design @ x` with errors whose covariance is `root @ root.T`."""
    parts = len(root) // _SIX
    scale = np.sqrt(np.square(root).sum(axis=1).reshape(parts, _SIX).max(axis=0))
    scale[scale == 0.0] = 1.0
    scales = np.tile(scale, parts)
    B = root / scales[:, None]
    Q, R = np.linalg.qr(design / scales[:, None] * scale, mode="complete")
    along, across = Q[:, :_SIX], Q[:, _SIX:]
    left, sizes, right = np.linalg.svd(across.T @ B, full_matrices=False)
    kept = sizes > _EXACT * np.linalg.norm(B)
    explaining = (right[kept].T / sizes[kept]) @ (across @ left[:, kept]).T
    gain = np.linalg.solve(R[:_SIX], along.T @ (np.eye(len(B)) - B @ explaining))
    return Solution(scale[:, None] * gain / scales, explaining / scales)


def solved(joint: Joint, design: Array) -> tuple[Solution, Joint]:
    """The best estimate, and the errors weighed for it."""
    weights = joint.even_weights() if joint.is_known else _best_weights(joint, design)
    weighed = joint.weighed(weights)
    return best_linear(design, weighed.root), weighed


def _best_weights(joint: Joint, design: Array) -> Array:
    """Those under which the best estimate has the smallest trace.

    The best estimate for given weights, then the best weights for that estimate: each is a minimum over one of the two,
    and the trace is convex in both together. Every two steps are drawn out (SQUAREM, Varadhan and Roland 2008).
    """
    weights = joint.even_weights()
    for _ in range(_MOST_WEIGHINGS):
        first = joint.weights_for(best_linear(design, joint.weighed(weights).root).gain)
        second = joint.weights_for(best_linear(design, joint.weighed(first).root).gain)
        if np.abs(second - first).max() < _CONVERGED:
            return second
        weights = joint.shared(np.maximum(_drawn_out(weights, first, second), _LARGEST_CUT * second))
    return weights


def _drawn_out(start: Array, first: Array, second: Array) -> Array:
    """Where steps that grow shorter, or turn, lead to."""
    step = first - start
    turn = second - first - step
    length = float(np.linalg.norm(turn))
    reach = max(1.0, float(np.linalg.norm(step)) / length) if length > 0.0 else 1.0
    return np.asarray(start + 2.0 * reach * step + reach**2 * turn)


def roots_of(covariances: Array) -> Array:
    """(E, 6, 6): `R` with `R R^T` the covariance, each entry to the accuracy of its own size."""
    deviations = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    units = np.where(deviations > 0.0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariances / (units[:, :, None] * units[:, None, :]))
    return np.asarray(deviations[:, :, None] * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def side_by_side(blocks: Array) -> Array:
    """(E, m, n) as (m, E n)."""
    return np.asarray(blocks.transpose(1, 0, 2).reshape(blocks.shape[1], -1))
