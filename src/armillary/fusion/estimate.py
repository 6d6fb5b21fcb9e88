"""The best estimate from several paths, or several twists, whose errors may be correlated.

A relation that several paths share has one error. A path with errors is the path without, followed by those of its
relations: `T_p Exp(J_1 xi_1) ... Exp(J_n xi_n)`, exact whatever their size. So the effect of one error depends on those
after it. It is evaluated at the estimate, rather than at the nominal paths: there an error that all paths share moves
all their ends alike, however large it is and however far the paths differ.

The estimate is the generalised least squares solution over SE(3): the smallest errors with which all paths end at one
pose, by the Gauss-Newton method.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64

from armillary.fusion.error_model import ErrorModel, Solution, hstack_blocks, roots_of, solve
from armillary.relations.arrays import right_jacobian
from armillary.relations.representations import LinearAngular
from armillary.transforms import Transform, joined_held

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

    from armillary.fusion.candidates import Candidate, Step
    from armillary.relations import Twist

    Array = NDArray[float64]

__all__ = ["Estimate", "fused_pose", "fused_twist", "mahalanobis_distances"]

_SIX = 6
_SMALLEST_EIGENVALUE = 1e-11  # of the largest: below, a direction is exact
_CONVERGED = 1e-11  # m and rad
_NEAR = 1e-3  # m and rad: from here the Gauss-Newton method converges with all errors
_MAX_ROUNDS = 50
_ROUNDING = 1e-9  # m and rad: what rounding leaves of a difference


class PathErrors:
    """The errors of several paths; a relation that several paths share has one. What is unknown counts as zero.

    Attributes:
        keys: Identifies each error: (relation, error) of its steps.
        is_shared: (E,): whether several paths have it.
    """

    def __init__(self, paths: Sequence[Candidate]) -> None:
        self._transforms = [path.pose.transform for path in paths]
        self._steps = [
            [step for step in path.steps if step.covariance is not None and step.covariance.any()] for path in paths
        ]
        first_steps: dict[Hashable, Step] = {}
        for step in (step for steps in self._steps for step in steps):
            first_steps.setdefault(_key(step), step)
        self.keys = tuple(first_steps)
        firsts = list(first_steps.values())
        numbers = {key: number for number, key in enumerate(self.keys)}
        self._roots = roots_of(np.array([step.covariance for step in firsts]).reshape(-1, _SIX, _SIX))
        self.is_shared = np.array([len(self._paths_with(key)) > 1 for key in self.keys], dtype=bool)
        self._groups, self._clusters = self._correlated(firsts)
        rows = [(p, numbers[_key(step)], step) for p, steps in enumerate(self._steps) for step in steps]
        self._indices = [(p, e) for p, e, _ in rows]
        self._jacobians = np.array([step.jacobian for *_, step in rows]).reshape(-1, _SIX, _SIX)

    def _correlated(self, firsts: Sequence[Step]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Groups and clusters of the errors.

        Errors of one relation at several instants, and of relations that may be computed from the same data, are in
        one cluster.
        """
        relations = [step.relation for step in firsts]
        derived = {step.relation for step in firsts if step.is_derived}
        groups: dict[Hashable, int] = {}
        clusters: dict[Hashable, int] = {}
        cluster_of_group: list[int] = []
        group_of_error: list[int] = []
        for step in firsts:
            is_derived = step.relation in derived
            is_alone = not is_derived or relations.count(step.relation) > 1
            group: Hashable = _key(step) if is_alone else self._paths_with(_key(step))
            if group not in groups:
                groups[group] = len(groups)
                cluster = "derived" if is_derived else step.relation
                cluster_of_group.append(clusters.setdefault(cluster, len(clusters)))
            group_of_error.append(groups[group])
        return tuple(group_of_error), tuple(cluster_of_group)

    def _paths_with(self, key: Hashable) -> frozenset[int]:
        return frozenset(p for p, steps in enumerate(self._steps) if any(_key(step) == key for step in steps))

    def linearized_at(self, errors: Array, is_counted: NDArray[bool_]) -> tuple[list[Transform], ErrorModel]:
        """The ends of the paths with these errors, (E, 6), and the error model around them.

        Errors that are not counted, (E,), have no variance.
        """
        steps = np.array([errors[e] for _, e in self._indices]).reshape(-1, _SIX)
        moves = np.einsum("nij,nj->ni", self._jacobians, steps)
        jacobians = right_jacobian(moves) @ self._jacobians if moves.any() else self._jacobians
        behind = [Transform.identity() for _ in self._transforms]
        effects = np.zeros((len(self.keys), _SIX * len(behind), _SIX))
        for (p, e), move, jacobian in zip(self._indices, moves, jacobians, strict=True):
            effects[e, _rows_of(p)] += behind[p].inverse().adjoint @ jacobian
            behind[p] = Transform.exp(move) @ behind[p]
        ends = [nominal @ moved for nominal, moved in zip(self._transforms, behind, strict=True)]
        return ends, ErrorModel(effects, self._roots * is_counted[:, None, None], self._groups, self._clusters)


def _key(step: Step) -> Hashable:
    return step.relation, step.error


def _rows_of(path: int) -> slice:
    return slice(_SIX * path, _SIX * (path + 1))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An estimated transform.

    Attributes:
        transform: The best estimate.
        covariance: (6, 6), in its tangent.
        effects: The derivative of the estimate by each error, (6, 6), by the key of the error.
    """

    transform: Transform
    covariance: Array
    effects: dict[Hashable, Array]


def fused_pose(paths: Sequence[Candidate]) -> Estimate:
    """The transform that fits best to the ends of all paths, given their errors."""
    errors = PathErrors(paths)
    iterate = _Iterate(errors, paths[0].pose.transform)
    if errors.is_shared.any():
        # First by the errors that each path has of its own: large shared errors could lead the iteration astray.
        iterate.converge(~errors.is_shared, _NEAR)
    iterate.converge(np.ones_like(errors.is_shared), _CONVERGED)
    effects = iterate.solution.gain @ iterate.model.effects
    root = iterate.solution.gain @ iterate.model.root
    return Estimate(iterate.transform, root @ root.T, dict(zip(errors.keys, effects, strict=True)))


class _Iterate:
    """The current estimate of the Gauss-Newton method, and the errors with which the paths end there."""

    solution: Solution
    model: ErrorModel

    def __init__(self, errors: PathErrors, transform: Transform) -> None:
        self._path_errors, self.transform = errors, transform
        self._errors = np.zeros((len(errors.keys), _SIX))

    def converge(self, is_counted: NDArray[bool_], close: float) -> None:
        """Iterate until nothing moves by more than `close` [m, rad]; errors that are not counted are zero."""
        for _ in range(_MAX_ROUNDS):
            if self._step(is_counted) < close:
                break

    def _step(self, is_counted: NDArray[bool_]) -> float:
        """One Gauss-Newton step; returns how far it moved an end or the estimate."""
        ends, model = self._path_errors.linearized_at(self._errors, is_counted)
        residuals = _residuals(ends, self.transform)
        self.solution, self.model = solve(model, _inverse_jacobians(residuals).reshape(-1, _SIX))
        missing = residuals.ravel() + _moved(model, self._errors)
        units = (self.solution.residual_map @ missing).reshape(-1, _SIX)
        errors = np.einsum("eij,ej->ei", self.model.roots, units)
        change, moved = -self.solution.gain @ missing, _moved(model, errors - self._errors)
        self.transform, self._errors = self.transform @ Transform.exp(change), errors
        return float(max(np.abs(change).max(), np.abs(moved).max()))


def _moved(model: ErrorModel, errors: Array) -> Array:
    """(6P,): the displacement of all path ends by errors, to first order."""
    return np.asarray(np.einsum("eij,ej->i", model.effects, errors))


def mahalanobis_distances(paths: Sequence[Candidate], used: Sequence[Candidate]) -> tuple[float, ...]:
    """The distance of each path from the estimate of those used, in standard deviations of that difference.

    Infinite where they differ in a direction in which both are exact.
    """
    estimate, errors = fused_pose(used), PathErrors(paths)
    ends, model = errors.linearized_at(np.zeros((len(errors.keys), _SIX)), np.ones_like(errors.is_shared))
    residuals = _residuals(ends, estimate.transform)
    roots = model.weighted(model.even_weights()).roots
    on_estimate = np.array([estimate.effects.get(key, np.zeros((_SIX, _SIX))) for key in errors.keys])
    on_estimate = on_estimate.reshape(-1, _SIX, _SIX)
    by_estimate, by_path = _inverse_jacobians(residuals), _inverse_jacobians(-residuals)
    distances = []
    for p, residual in enumerate(residuals):
        root = hstack_blocks((by_estimate[p] @ on_estimate - by_path[p] @ model.effects[:, _rows_of(p)]) @ roots)
        distances.append(_mahalanobis(residual, root @ root.T))
    return tuple(distances)


def _mahalanobis(difference: Array, covariance: Array) -> float:
    if np.abs(difference).max() < _ROUNDING:
        return 0.0
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale[scale == 0.0] = 1.0
    scaled_covariance = covariance / np.outer(scale, scale)
    inverse = np.linalg.pinv(scaled_covariance, rcond=_SMALLEST_EIGENVALUE, hermitian=True)
    scaled = difference / scale
    explained = scaled_covariance @ inverse @ scaled * scale
    if np.abs(explained - difference).max() > max(_ROUNDING, 1e-6 * np.abs(difference).max()):
        return math.inf
    return math.sqrt(max(float(scaled @ inverse @ scaled), 0.0))


def _residuals(transforms: Sequence[Transform], best: Transform) -> Array:
    """(P, 6): log(T_p^-1 T)."""
    return np.array([(transform.inverse() @ best).log() for transform in transforms])


def _inverse_jacobians(residuals: Array) -> Array:
    """(P, 6, 6): derivatives of the residuals by an error on the right of the estimate; negated, of the path."""
    return np.asarray(np.linalg.inv(right_jacobian(residuals)), dtype=float64)


def fused_twist(twists: Sequence[Twist]) -> Twist:
    """The best estimate from twists of one point along the same axes.

    They count as independent, unless two were computed from the same relation: then covariance intersection bounds
    the correlation. An unknown covariance counts as zero, and the covariance of the answer is None.
    """
    first, count = twists[0], len(twists)
    covariances = [np.zeros((_SIX, _SIX)) if twist.covariance is None else twist.covariance for twist in twists]
    shares_relation = any(set(a.relations) & set(b.relations) for a, b in combinations(twists, 2))
    solution, model = solve(
        ErrorModel(
            effects=np.eye(_SIX * count).reshape(_SIX * count, count, _SIX).transpose(1, 0, 2),
            roots=roots_of(np.array(covariances)),
            groups=tuple(range(count)),
            clusters=(0,) * count if shares_relation else tuple(range(count)),
        ),
        np.vstack([np.eye(_SIX)] * count),
    )
    best = solution.gain @ np.concatenate([part for twist in twists for part in (twist.linear, twist.angular)])
    root = solution.gain @ model.root
    return first._replace(
        coordinates=LinearAngular(linear=best[:3], angular=best[3:]),
        covariance=root @ root.T if all(twist.covariance is not None for twist in twists) else None,
        held=joined_held(*(twist.held for twist in twists)),
        predicted=any(twist.predicted for twist in twists),
        method=first.method if all(twist.method == first.method for twist in twists) else "mixed",
        relations=tuple(dict.fromkeys(relation for twist in twists for relation in twist.relations)),
    )
