"""The best estimate from paths whose errors hang together.

Every path error is a sum of the errors of its relations, `xi_p = sum_e A_pe xi_e`, and a relation that several paths
share has one error. So the covariance of all paths together is `V = A S A^T`, and the estimate is the generalised least
squares solution of `xi_p = log(T_p^-1 T)` over SE(3), by Gauss and Newton's method with right Jacobians.

`V` may be singular: exact paths, shared errors. Rao's unified theory covers that with `W = V + H H^T` in the place of
`V`: an exact path is believed, of two exact ones the middle is taken.

Where errors are correlated in a way that nobody knows, each group of them is weighed, `S_g / w_g` with weights that add
up to one: covariance intersection. That bounds what any correlation could make of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.relations.arrays import right_jacobian
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.scene._candidates import Candidate

    Array = NDArray[float64]

_SIX = 6
_SMALLEST_EIGENVALUE = 1e-11  # of the largest: below, a direction is exact
_CONVERGED = 1e-11  # m and rad, and parts of a weight
_MOST_ROUNDS = 50
_MOST_WEIGHINGS = 200
_SMALLEST_WEIGHT = 1e-9
_CROSS = np.array(  # for each axis, the matrix of `axis x .`
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float
)
_SERIES_RAD = 1.0  # up to here the series below is exact to rounding
_BERNOULLI = (  # B_2n / (2n)!, n from 1 on
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
)
_NOTHING = 1e-9  # m and rad: what rounding leaves of a difference


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The errors of several estimates, as sums of errors that are independent, or correlated nobody knows how.

    Attributes:
        effects: (E, 6P, 6): what each error does to all the estimates.
        spreads: (E, 6, 6): the covariance of each error.
        groups: To which group each error belongs. Errors of one group are independent of each other.
        clusters: To which cluster each group belongs. The correlation between the groups of one cluster is unknown.
    """

    effects: Array
    spreads: Array
    groups: tuple[int, ...]
    clusters: tuple[int, ...]

    def covariance(self, weights: Array) -> Array:
        """(6P, 6P) of all the estimates, or a bound of it."""
        grown = self.spreads / weights[list(self.groups), None, None] if len(self.groups) else self.spreads
        return np.tensordot(self.effects @ grown, self.effects, axes=([0, 2], [0, 2]))

    def even_weights(self) -> Array:
        """Of each group: the groups of a cluster share one."""
        return self._shared(np.ones(len(self.clusters)))

    def weights_for(self, gain: Array) -> Array:
        """Those under which an estimate with this gain has the smallest trace."""
        through = gain @ self.effects
        traces = ((through @ self.spreads) * through).sum(axis=(1, 2))
        sums = np.bincount(self.groups, traces, len(self.clusters))
        return self._shared(np.sqrt(np.maximum(sums, 0.0)))

    def _shared(self, parts: Array) -> Array:
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
class Estimate:
    """The best transform, its covariance, and (6, 6P) the linear map from what it was made of."""

    transform: Transform
    covariance: Array
    gain: Array


def joint_of(candidates: Sequence[Candidate]) -> Joint:
    """How the errors of the paths hang together; what is unknown counts as zero."""
    errors: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for p, candidate in enumerate(candidates):
        for s, step in enumerate(candidate.steps):
            if step.covariance is not None and step.covariance.any():
                errors[step.relation, step.error].append((p, s))
    effects = np.zeros((len(errors), _SIX * len(candidates), _SIX))
    spreads = np.zeros((len(errors), _SIX, _SIX))
    for e, places in enumerate(errors.values()):
        for p, s in places:
            step = candidates[p].steps[s]
            effects[e, _part(p)] += step.jacobian
            spreads[e] = step.covariance
    return Joint(effects, spreads, *_entangled(candidates, errors))


def _entangled(
    candidates: Sequence[Candidate], errors: dict[Hashable, list[tuple[int, int]]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Groups and clusters: one relation at several instants, and what may rest on the same data."""
    steps = [candidates[p].steps[s] for (p, s), *_ in errors.values()]
    repeated = {a.relation for a in steps if sum(a.relation == b.relation for b in steps) > 1}
    derived = {step.relation for step in steps if step.is_derived}
    groups: dict[Hashable, int] = {}
    clusters: dict[Hashable, int] = {}
    cluster_of_group: list[int] = []
    group_of_error: list[int] = []
    for step, (error, places) in zip(steps, errors.items(), strict=True):
        is_derived = step.relation in derived
        rests_alone = step.relation in repeated or not is_derived
        group = error if rests_alone else frozenset(p for p, _ in places)
        cluster = "derived" if is_derived else step.relation
        if group not in groups:
            groups[group] = len(groups)
            cluster_of_group.append(clusters.setdefault(cluster, len(clusters)))
        group_of_error.append(groups[group])
    return tuple(group_of_error), tuple(cluster_of_group)


def gain_of(design: Array, covariance: Array) -> Array:
    """(6, 6P): the linear unbiased estimate of least variance, of `x` from `design @ x` with errors of `covariance`."""
    parts = len(covariance) // _SIX
    scale = np.sqrt(np.diag(covariance).reshape(parts, _SIX).max(axis=0))
    scale[scale == 0.0] = 1.0
    scales = np.tile(scale, parts)
    H = design / scales[:, None] * scale
    W = covariance / np.outer(scales, scales) + H @ H.T
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    kept = values > _SMALLEST_EIGENVALUE * values[-1]
    information = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    gain = np.linalg.solve(H.T @ information @ H, H.T @ information)
    return np.asarray(scale[:, None] * gain / scales)


def solved(joint: Joint, design: Array) -> tuple[Array, Array]:
    """The gain of the best estimate, and the weights of the groups for it."""
    weights = joint.even_weights()
    gain = gain_of(design, joint.covariance(weights))
    if joint.is_known:
        return gain, weights
    for _ in range(_MOST_WEIGHINGS):
        # Each half is a minimum over one of the two, and the trace is convex in both together.
        better = joint.weights_for(gain)
        gain = gain_of(design, joint.covariance(better))
        if np.abs(better - weights).max() < _CONVERGED:
            break
        weights = better
    return gain, weights


def fused(transforms: Sequence[Transform], joint: Joint) -> Estimate:
    """The transform that is nearest to all of them, as their errors have it."""
    best = transforms[0]
    gain, weights = np.zeros((_SIX, _SIX * len(transforms))), joint.even_weights()
    for _ in range(_MOST_ROUNDS):
        residuals = _residuals(transforms, best)
        gain, weights = solved(joint, _design(residuals))
        change = -gain @ residuals.ravel()
        best = best @ Transform.exp(change)
        if np.abs(change).max() < _CONVERGED:
            break
    spread = gain @ joint.covariance(weights) @ gain.T
    return Estimate(best, 0.5 * (spread + spread.T), gain)


def distances(paths: Sequence[Candidate], used: Sequence[Candidate]) -> tuple[float, ...]:
    """How far each path is from what is made of those used, in standard deviations of that difference (Mahalanobis).

    Infinite where they differ in what both are sure of.
    """
    made = fused([path.pose.transform for path in used], joint_of(used))
    residuals = _residuals([path.pose.transform for path in paths], made.transform)
    design, joint = _design(residuals), joint_of(paths)
    gain = np.zeros((_SIX, len(design)))
    for i, path in enumerate(used):
        gain[:, _part(paths.index(path))] = made.gain[:, _part(i)]
    left = np.eye(len(design)) - design @ gain
    spread = left @ joint.covariance(joint.even_weights()) @ left.T
    return tuple(_distance(residuals[p], spread[_part(p), _part(p)]) for p in range(len(paths)))


def _part(i: int) -> slice:
    return slice(_SIX * i, _SIX * (i + 1))


def _distance(difference: Array, spread: Array) -> float:
    if np.abs(difference).max() < _NOTHING:
        return 0.0
    scale = np.sqrt(np.maximum(np.diag(spread), 0.0))
    scale[scale == 0.0] = 1.0
    inverse = np.linalg.pinv(spread / np.outer(scale, scale), rcond=_SMALLEST_EIGENVALUE, hermitian=True)
    scaled = difference / scale
    explained = spread / np.outer(scale, scale) @ inverse @ scaled * scale
    if np.abs(explained - difference).max() > max(_NOTHING, 1e-6 * np.abs(difference).max()):
        return float("inf")
    return math.sqrt(max(float(scaled @ inverse @ scaled), 0.0))


def _residuals(transforms: Sequence[Transform], best: Transform) -> Array:
    """(P, 6): log(T_p^-1 T)."""
    return np.array([(transform.inverse() @ best).log() for transform in transforms])


def _design(residuals: Array) -> Array:
    """(6P, 6): how the residuals move with an error on the right of the estimate, the inverse right Jacobians."""
    if np.square(residuals[:, 3:]).sum(axis=1).max() > _SERIES_RAD**2:
        return np.vstack([np.linalg.inv(right_jacobian(residual)) for residual in residuals])
    ad = np.zeros((len(residuals), _SIX, _SIX))
    ad[:, :3, :3] = ad[:, 3:, 3:] = _skew(residuals[:, 3:])
    ad[:, :3, 3:] = _skew(residuals[:, :3])
    squared, total = ad @ ad, np.zeros_like(ad)
    for factor in reversed(_BERNOULLI):
        total = factor * np.eye(_SIX) + squared @ total
    return np.asarray(np.eye(_SIX) + 0.5 * ad + squared @ total).reshape(-1, _SIX)


def _skew(v: Array) -> Array:
    """(P, 3, 3): the matrices of `v x .`."""
    return np.tensordot(v, _CROSS, axes=1)
