"""The best estimate from paths whose errors hang together.

Every path ends where the errors of its relations have moved it, and a relation that several paths share has one error.
The estimate is the generalised least squares solution over SE(3): the smallest errors with which all the paths end in
one place, by Gauss and Newton's method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64

from armillary.fusion._error_model import Joint, Solution, side_by_side, solved
from armillary.fusion._path_errors import PathErrors
from armillary.relations.arrays import right_jacobian
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy import bool_
    from numpy.typing import NDArray

    from armillary.fusion._candidates import Candidate

    Array = NDArray[float64]

_SIX = 6
_SMALLEST_EIGENVALUE = 1e-11  # of the largest: below, a direction is exact
_CONVERGED = 1e-11  # m and rad
_NEAR = 1e-3  # m and rad: from here the method finds the rest
_MOST_ROUNDS = 50
_NOTHING = 1e-9  # m and rad: what rounding leaves of a difference


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The best transform, its covariance, and what each error does to it: (6, 6), by its key."""

    transform: Transform
    covariance: Array
    effects: dict[Hashable, Array]


def fused(paths: Sequence[Candidate]) -> Estimate:
    """The transform that is nearest to where all the paths end, as their errors have it."""
    found = PathErrors(paths)
    guess = _Guess(found, paths[0].pose.transform)
    if found.is_shared.any():
        # By what each has of its own at first: what is shared would lead astray where it is vague.
        guess.settle(~found.is_shared, _NEAR)
    guess.settle(np.ones_like(found.is_shared), _CONVERGED)
    effects = guess.solution.gain @ guess.joint.effects
    root = guess.solution.gain @ guess.joint.root
    return Estimate(guess.transform, root @ root.T, dict(zip(found.keys, effects, strict=True)))


class _Guess:
    """Where the paths may end, and the errors with which they do; it gets better."""

    solution: Solution
    joint: Joint

    def __init__(self, found: PathErrors, transform: Transform) -> None:
        self._found, self.transform = found, transform
        self._errors = np.zeros((len(found.keys), _SIX))

    def settle(self, counted: NDArray[bool_], close: float) -> None:
        """Until nothing moves by more than `close` [m, rad]; errors that do not count are zero."""
        for _ in range(_MOST_ROUNDS):
            if self._improve(counted) < close:
                break

    def _improve(self, counted: NDArray[bool_]) -> float:
        """One step of Gauss and Newton, and how far it moved an end or the estimate."""
        ends, joint = self._found.at(self._errors, counted)
        residuals = _residuals(ends, self.transform)
        self.solution, self.joint = solved(joint, _inverse_jacobians(residuals).reshape(-1, _SIX))
        lacking = residuals.ravel() + _moved(joint, self._errors)
        units = (self.solution.explaining @ lacking).reshape(-1, _SIX)
        errors = np.einsum("eij,ej->ei", self.joint.roots, units)
        change, moved = -self.solution.gain @ lacking, _moved(joint, errors - self._errors)
        self.transform, self._errors = self.transform @ Transform.exp(change), errors
        return float(max(np.abs(change).max(), np.abs(moved).max()))


def _moved(joint: Joint, errors: Array) -> Array:
    """(6P,): what errors do to all the paths."""
    return np.asarray(np.einsum("eij,ej->i", joint.effects, errors))


def distances(paths: Sequence[Candidate], used: Sequence[Candidate]) -> tuple[float, ...]:
    """How far each path is from what is made of those used, in standard deviations of that difference (Mahalanobis).

    Infinite where they differ in what both are sure of.
    """
    made, found = fused(used), PathErrors(paths)
    ends, joint = found.at(np.zeros((len(found.keys), _SIX)), np.ones_like(found.is_shared))
    residuals = _residuals(ends, made.transform)
    roots = joint.weighed(joint.even_weights()).roots
    at_answer = np.array([made.effects.get(key, np.zeros((_SIX, _SIX))) for key in found.keys]).reshape(-1, _SIX, _SIX)
    by_answer, by_path = _inverse_jacobians(residuals), _inverse_jacobians(-residuals)
    spreads = []
    for p in range(len(paths)):
        root = side_by_side((by_answer[p] @ at_answer - by_path[p] @ joint.effects[:, _part(p)]) @ roots)
        spreads.append(root @ root.T)
    return tuple(map(_distance, residuals, spreads))


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


def _inverse_jacobians(residuals: Array) -> Array:
    """(P, 6, 6): how each moves with an error on the right of the estimate; negated, on the right of the path."""
    return np.asarray(np.linalg.inv(right_jacobian(residuals)), dtype=float64)
