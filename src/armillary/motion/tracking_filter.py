"""The configuration of a mechanism over time: an error-state filter with constant velocities (thesis 4.2.2, damped)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument, InvalidStamp
from armillary.motion.pose_fit import PoseFit, Prior
from armillary.motion.tracker import DEFAULT_COVARIANCE, Estimate
from armillary.stamps import as_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import ArticulationModel
    from armillary.articulation.variables import Numbers

    Floats = NDArray[np.float64]

__all__ = ["TrackingFilter"]

_NS_PER_S = 1e9
_WIDEST = 10.0
"""The standard deviation with which a joint without limits begins [rad] or [m]."""


class TrackingFilter:
    """Estimates positions and velocities of joints from poses of links, and goes on from what was known before.

    Between two instants each joint keeps its velocity, up to a random acceleration. Noise of single observations is
    averaged, so that the output does not jitter; what is out of view goes on with a covariance that grows. Positions
    keep the limits and the other constraints of the model, and a joint at a limit has no velocity through it.

    Args:
        model: What is tracked. Later edits of it are not seen.
        links: The paths of the links that may be observed; every link that a joint moves, if left out.
        acceleration: How strongly velocities change: the standard deviation of the change in one second [m/s] or
            [rad/s]; one number for all joints, or by name. Small: smooth and slow to follow.
        settling_s: In this time a velocity that nothing confirms drops to 37 %; inf: it stays.
        covariance: As for `Tracker`.
        configuration: The most likely values in the beginning, by name; as near to zero as the limits allow, if left
            out. How sure they are is a third of the range between the limits of each joint.
        speed: The standard deviation of velocities in the beginning.
        tolerance: As for `Tracker`.
        max_iterations: As for `Tracker`.

    >>> from armillary import Transform, seconds
    >>> from armillary.articulation import ArticulationModel, PrismaticJoint
    >>> model = ArticulationModel()
    >>> _ = model.add("desk/links/top")
    >>> _ = model.add("desk/links/drawer", PrismaticJoint(variable="desk/drawer"), "desk/links/top")
    >>> tracking = TrackingFilter(model)
    >>> for step in range(21):
    ...     seen = Transform.from_xyz_rpy(xyz=(0.1 * step / 20, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
    ...     estimate = tracking.update({"desk/links/drawer": seen}, at=seconds(step / 20))
    >>> round(estimate.configuration["desk/drawer"], 2), round(estimate.velocities["desk/drawer"], 1)
    (0.1, 0.1)
    """

    def __init__(
        self,
        model: ArticulationModel,
        links: Iterable[str] | None = None,
        *,
        acceleration: float | Mapping[str, float] = 0.1,
        settling_s: float = math.inf,
        covariance: ArrayLike = DEFAULT_COVARIANCE,
        configuration: Numbers | None = None,
        speed: float = 0.3,
        tolerance: float = 1e-3,
        max_iterations: int = 10,
    ) -> None:
        observed = model.affected_by(model.variables()).links if links is None else links
        self._fit = PoseFit(model, observed, covariance=covariance, tolerance=tolerance, max_iterations=max_iterations)
        self._free = [variable.name for variable in self._fit.joints.free]
        self._noise = self._as_noise(acceleration)
        if math.isnan(settling_s) or settling_s <= 0.0:
            raise InvalidArgument(
                f"settling_s is a positive number of seconds, or inf, got {settling_s!r}.", settling_s
            )
        self._settling_s = float(settling_s)
        self._at: int | None = None
        self._values = self._fit.start(configuration)
        size = len(self._free)
        self._velocities = np.zeros(size)
        width = self._fit.bounds.upper - self._fit.bounds.lower
        spread = np.where(np.isfinite(width), np.maximum(width, 1e-6) / 3.0, _WIDEST)
        self._covariance = np.diag(np.concatenate([spread**2, np.full(size, _positive("speed", speed) ** 2)]))

    @property
    def links(self) -> tuple[str, ...]:
        """The paths of the links that may be observed."""
        return self._fit.links

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the joints that are estimated, in the order of covariances."""
        return self._fit.joints.names

    @property
    def stamp(self) -> int | None:
        """The instant of the newest estimate [ns]; None before the first."""
        return self._at

    def update(
        self, poses: Mapping[str, Any], *, at: Any, covariances: Mapping[str, ArrayLike] | ArrayLike | None = None
    ) -> Estimate:
        """Return the configuration by everything that was observed until now, and keep it.

        Args:
            poses: What is in view, as for `Tracker.update`; nothing is fine.
            at: The instant of the observations [ns], none before the last one.
            covariances: As for `Tracker.update`.
        """
        stamp = self._checked(at)
        seen = self._fit.observations(poses, covariances)
        size = len(self._free)
        values, velocities, covariance = self._predicted(stamp)
        known = covariance[:size, :size]
        prior = Prior(values, np.asarray(np.linalg.inv(known), dtype=np.float64))
        start = self._fit.joints.completed(values, self._values)
        found = self._fit.of(seen, start, prior)
        # The gain of a linear update whose observations have this information about the positions.
        gain = covariance[:, :size] @ np.linalg.inv(np.eye(size) + found.information @ known)
        self._covariance = _symmetric(covariance - gain @ found.information @ covariance[:size, :])
        self._values = found.completed
        moved = found.completed[:size] - values
        velocities = velocities + covariance[size:, :size] @ (prior.information @ moved)
        self._velocities = self._held(found.completed[:size], velocities)
        self._at = stamp
        return self._estimate(self._values, self._velocities, self._covariance, found)

    def predict(self, *, at: Any) -> Estimate:
        """Return where the joints will be at an instant, without keeping it."""
        values, velocities, covariance = self._predicted(self._checked(at))
        return self._estimate(self._fit.joints.completed(values, self._values), velocities, covariance, None)

    def _predicted(self, stamp: int) -> tuple[Floats, Floats, Floats]:
        size = len(self._free)
        values = self._values[:size]
        span_s = 0.0 if self._at is None else (stamp - self._at) / _NS_PER_S
        if span_s == 0.0:
            return values, self._velocities, self._covariance
        kept = math.exp(-span_s / self._settling_s)
        reach_s = span_s if math.isinf(self._settling_s) else self._settling_s * (1.0 - kept)
        ahead = np.eye(2 * size)
        ahead[:size, size:] = np.eye(size) * reach_s
        ahead[size:, size:] *= kept
        noise = np.zeros((2 * size, 2 * size))
        parts = (span_s**3 / 3.0, span_s**2 / 2.0, span_s)
        noise[:size, :size] = np.diag(self._noise * parts[0])
        noise[:size, size:] = noise[size:, :size] = np.diag(self._noise * parts[1])
        noise[size:, size:] = np.diag(self._noise * parts[2])
        covariance = _symmetric(ahead @ self._covariance @ ahead.T + noise)
        reached = self._fit.bounds.inside(values + reach_s * self._velocities)
        return reached, self._held(reached, kept * self._velocities), covariance

    def _held(self, values: Floats, velocities: Floats) -> Floats:
        """Return the velocities, without those that lead through a limit."""
        bounds = self._fit.bounds
        slowest = np.where(values <= bounds.lower, 0.0, -np.inf)
        fastest = np.where(values >= bounds.upper, 0.0, np.inf)
        return np.minimum(np.maximum(velocities, slowest), fastest)

    def _estimate(self, completed: Floats, velocities: Floats, covariance: Floats, found: Any) -> Estimate:
        joints, size = self._fit.joints, len(self._free)
        positions = joints.completed_covariance(covariance[:size, :size], completed)
        both, speeds = covariance, velocities
        if joints.following:
            spread = joints.spread(completed)
            whole = np.kron(np.eye(2), spread)
            both, speeds = whole @ covariance @ whole.T, spread @ velocities
        names = joints.names
        return Estimate(
            dict(zip(names, completed.tolist(), strict=True)),
            positions,
            0 if found is None else found.iterations,
            True if found is None else found.converged,
            {} if found is None else found.squares,
            dict(zip(names, speeds.tolist(), strict=True)),
            both,
        )

    def _checked(self, at: Any) -> int:
        stamp = as_instant(at)
        if self._at is not None and stamp < self._at:
            raise InvalidStamp(
                f"The filter is at {self._at} ns, and {stamp} ns is before that. Give observations in the order of "
                "their instants; those of one instant in one call or several.",
                at,
            )
        return stamp

    def _as_noise(self, acceleration: float | Mapping[str, float]) -> Floats:
        if not isinstance(acceleration, Mapping):
            return np.full(len(self._free), _positive("acceleration", acceleration) ** 2)
        wrong = set(acceleration).symmetric_difference(self._free)
        if wrong:
            raise InvalidArgument(
                f"acceleration by name has one number for each joint that is free; {min(wrong)!r} is missing, "
                f"or is none of them: {', '.join(self._free)}.",
                acceleration,
            )
        return np.array([_positive("acceleration", acceleration[name]) ** 2 for name in self._free])


def _positive(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number <= 0.0:
        raise InvalidArgument(f"{what} is a positive number, got {value!r}.", value)
    return number


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray(0.5 * (matrix + matrix.T))
