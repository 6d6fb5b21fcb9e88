"""The configuration at which links are most likely where they were seen: bounded Gauss-Newton steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.errors import InvalidArgument, UnknownPath
from armillary.motion.pose_residuals import PoseResiduals, as_covariance
from armillary.motion.tracked_joints import Bounds, as_start, tracked_joints
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import ArticulationModel

    Floats = NDArray[np.float64]

__all__ = ["Fit", "Observations", "PoseFit", "Prior", "covariance_of"]

_LEAST_DAMPING, _MORE, _LESS = 1e-4, 10.0, 0.2
_MOST_DAMPING = 1e8
_NUMERIC = 1e-12
_GONE = 1e-9


class Prior(NamedTuple):
    """What was known before: a mean, and the inverse of its covariance."""

    mean: Floats
    information: Floats


class Observations(NamedTuple):
    """What is in view: by path the pose of a link in the model, and its covariance."""

    poses: dict[str, Transform]
    covariances: dict[str, Floats]


class Fit(NamedTuple):
    """Where the search ended.

    Attributes:
        completed: The values of all positions.
        information: Of the free positions, by the observations alone.
        told: Which free positions the observations tell something about.
        squares: By link, the squared Mahalanobis distance of its observation.
        iterations: How many steps were made.
        converged: Whether the last step was negligible beside the standard deviations.
    """

    completed: Floats
    information: Floats
    told: NDArray[np.bool_]
    squares: dict[str, float]
    iterations: int
    converged: bool


class PoseFit:
    """Finds the configuration of the joints that move some links, of poses of those links.

    Args:
        model: The model.
        links: The paths of links that may be observed.
        covariance: Of an observation that comes without one.
        tolerance: A step is negligible below so many standard deviations.
        max_iterations: The most steps for one set of observations.
    """

    def __init__(
        self,
        model: ArticulationModel,
        links: Iterable[str],
        *,
        covariance: ArrayLike,
        tolerance: float,
        max_iterations: int,
    ) -> None:
        if isinstance(links, str) or not isinstance(links, Iterable):
            raise InvalidArgument(f"links is a list of paths of links, got {links!r}.", links)
        if not math.isfinite(tolerance) or tolerance <= 0.0:
            raise InvalidArgument(
                f"tolerance is a positive number of standard deviations, got {tolerance!r}.", tolerance
            )
        if isinstance(max_iterations, bool) or not isinstance(max_iterations, int) or max_iterations < 1:
            raise InvalidArgument(
                f"max_iterations is a whole number from 1 on, got {max_iterations!r}.", max_iterations
            )
        poses = {path: model.pose(path) for path in links}
        self.joints = tracked_joints(model, poses)
        if not self.joints.free:
            raise InvalidArgument(
                "None of these links moves: there is nothing to estimate. Track links that joints carry: "
                "model.affected_by(model.variables()).links lists them.",
                tuple(poses),
            )
        self.bounds = Bounds(model, self.joints)
        self._residuals = PoseResiduals(poses, self.joints)
        self.links = self._residuals.links
        self._covariance = as_covariance(covariance, "an observation")
        self._tolerance, self._max_iterations = float(tolerance), max_iterations

    def start(self, given: Mapping[Any, float] | None) -> Floats:
        """Return all positions where a search begins."""
        return self.joints.completed(as_start(self.joints, self.bounds, given))

    def observations(self, poses: Mapping[str, Any], covariances: Any) -> Observations:
        """Check what is in view: transforms, or poses as `world.pose` returns them, whose covariances count."""
        if not isinstance(poses, Mapping):
            raise InvalidArgument(
                f"Observations are poses by path of a link, as in {{'door/links/panel': root_T_panel}}, got {poses!r}.",
                poses,
            )
        found = Observations({}, {})
        shared = (
            None
            if covariances is None or isinstance(covariances, Mapping)
            else as_covariance(covariances, "the observations")
        )
        given = covariances if isinstance(covariances, Mapping) else {}
        for path in (*poses, *given):
            if path not in self.links:
                raise UnknownPath(path, self.links)
        for path, pose in poses.items():
            transform = pose if isinstance(pose, Transform) else getattr(pose, "transform", None)
            if not isinstance(transform, Transform):
                raise InvalidArgument(f"'{path}' was observed at a Transform or a Pose, got {pose!r}.", pose)
            own = getattr(pose, "covariance", None)
            if path in given:
                own = given[path]
            found.poses[path] = transform
            if own is not None:
                found.covariances[path] = as_covariance(own, f"'{path}'")
            else:
                found.covariances[path] = self._covariance if shared is None else shared
        return found

    def of(self, seen: Observations, start: Floats, prior: Prior | None = None) -> Fit:
        """Return the most likely configuration, searched from `start`, which has all positions."""
        size, completed = len(self.joints.free), start
        told = self._residuals.observe([(path, seen.poses[path], seen.covariances[path]) for path in seen.poses])
        known = np.ones(size, dtype=bool) if prior is not None else told
        equations = self._residuals.at(completed)
        if not known.any():
            return Fit(completed, equations.information, told, {}, 0, converged=True)
        cost, damping, iterations, converged = self._cost(equations, completed, prior), 0.0, 0, False
        while not converged and iterations < self._max_iterations:
            iterations += 1
            values = self._step(equations, completed, known, damping, prior)
            step = values - completed[:size]
            tried = self.joints.completed(values, completed)
            found = self._residuals.at(tried)
            reached = self._cost(found, tried, prior)
            bent = float(step @ found.information @ step)
            if prior is not None:
                bent += float(step @ prior.information @ step)
            if reached <= cost * (1.0 + _NUMERIC) + _NUMERIC:
                converged = bent < self._tolerance**2
                completed, equations, cost = tried, found, reached
                damping = 0.0 if damping < _LEAST_DAMPING else damping * _LESS
            elif bent < self._tolerance**2 or damping > _MOST_DAMPING:
                converged = True  # the cost cannot be lowered any more: what differs are rounded digits
            else:
                damping = max(_LEAST_DAMPING, damping * _MORE)
        squares = self._residuals.by_link(equations.squares, seen.poses)
        return Fit(completed, equations.information, told, squares, iterations, converged)

    def _cost(self, equations: Any, completed: Floats, prior: Prior | None) -> float:
        if prior is None:
            return float(equations.cost)
        off = completed[: len(self.joints.free)] - prior.mean
        return float(equations.cost + off @ prior.information @ off)

    def _step(
        self, equations: Any, completed: Floats, known: NDArray[np.bool_], damping: float, prior: Prior | None
    ) -> Floats:
        values = completed[: len(self.joints.free)]
        information, slope = equations.information, equations.slope
        if prior is not None:
            information = information + prior.information
            slope = slope + prior.information @ (values - prior.mean)
        diagonal = np.diagonal(information).copy()
        # What nothing is known of stays: its row is that of the identity, its slope is zero.
        information = information + np.diag(np.where(known, (damping + _NUMERIC) * diagonal, 1.0))
        information[np.diagonal(information) == 0.0, np.diagonal(information) == 0.0] = 1.0
        return self.bounds.best(information, np.where(known, slope, 0.0), values, completed, may_turn=prior is None)


def covariance_of(information: Floats, told: NDArray[np.bool_]) -> Floats:
    """Return the inverse of an information matrix; what it says nothing about has an infinite variance."""
    size = len(told)
    covariance = np.zeros((size, size))
    unknown = ~told | (np.diagonal(information) <= 0.0)
    known = np.flatnonzero(~unknown)
    scale = 1.0 / np.sqrt(np.diagonal(information)[known])
    values, vectors = np.linalg.eigh(information[np.ix_(known, known)] * np.outer(scale, scale))
    lost = values < _GONE
    unknown[known] |= (np.abs(vectors[:, lost]) > math.sqrt(_GONE)).any(axis=1)
    safe = np.where(lost, np.inf, values)
    covariance[np.ix_(known, known)] = np.outer(scale, scale) * ((vectors / safe) @ vectors.T)
    covariance[unknown, :] = covariance[:, unknown] = 0.0
    covariance[unknown, unknown] = np.inf
    return covariance
