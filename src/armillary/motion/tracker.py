"""The configuration of a mechanism from poses of its links, with its covariance (thesis 4.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from armillary.motion.pose_fit import PoseFit, covariance_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import ArticulationModel
    from armillary.articulation.variables import Numbers

__all__ = ["DEFAULT_COVARIANCE", "Estimate", "JointSink", "Tracker"]

DEFAULT_COVARIANCE = (1e-4, 1e-4, 1e-4, 4e-4, 4e-4, 4e-4)
"""The variances of an observation that comes without any: 1 cm and 0.02 rad along and about each axis."""


class JointSink(Protocol):
    """What takes joints: a world."""

    def set_joints(
        self,
        joints: Mapping[str, float],
        *,
        at: Any,
        velocities: Mapping[str, float] | None = None,
        source: str | None = None,
        covariance: ArrayLike | None = None,
    ) -> Any:
        """Take joints at an instant."""
        ...


@dataclass(frozen=True, eq=False)
class Estimate:
    """A configuration, and how sure it is.

    Attributes:
        configuration: The value of every tracked joint by name; what no observation told of has its value of before.
        covariance: (n, n), in the order of `names`: of the observations alone, so that limits do not narrow it. Of a
            joint that nothing is known of, the variance is infinite.
        iterations: How many steps the search made.
        converged: Whether it came to an end before `max_iterations`.
        distances: By link in view, the squared Mahalanobis distance from where it was seen to where the estimate puts
            it: about 6 on average; far more for what is no observation of this link.
        velocities: By name, where the tracker estimates them.
        velocity_covariance: (2n, 2n), of the positions and then the velocities, where those are estimated.
    """

    configuration: Mapping[str, float]
    covariance: NDArray[np.float64]
    iterations: int
    converged: bool
    distances: Mapping[str, float] = field(default_factory=dict)
    velocities: Mapping[str, float] | None = None
    velocity_covariance: NDArray[np.float64] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the joints, in the order of the covariance."""
        return tuple(self.configuration)

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the joints that something is known of."""
        return tuple(
            name
            for name, variance in zip(self.configuration, np.diagonal(self.covariance), strict=True)
            if np.isfinite(variance)
        )

    def deviation(self, name: str) -> float:
        """The standard deviation of a joint; infinite where nothing is known of it."""
        place = self.names.index(name)
        return float(np.sqrt(self.covariance[place, place]))

    def write_to(self, world: JointSink, *, at: Any, source: str | None = None) -> None:
        """Write the joints that something is known of into a world, with covariance, and velocities if there are any.

        Args:
            world: Where the model is mounted.
            at: The instant of the observations.
            source: Who says so; the world's own name, if left out.
        """
        names = list(self.known)
        if not names:
            return
        places = [self.names.index(name) for name in names]
        joints = {name: self.configuration[name] for name in names}
        if self.velocities is None or self.velocity_covariance is None:
            covariance = self.covariance[np.ix_(places, places)]
            world.set_joints(joints, at=at, source=source, covariance=covariance)
            return
        both = [*places, *(len(self.names) + place for place in places)]
        speeds = {name: self.velocities[name] for name in names}
        covariance = self.velocity_covariance[np.ix_(both, both)]
        world.set_joints(joints, at=at, velocities=speeds, source=source, covariance=covariance)


class Tracker:
    """Estimates the joints of a model from poses of some of its links, of those that are in view.

    Each estimate is the most likely configuration that keeps the limits and the other constraints on positions, by the
    observations of one instant alone; its search begins where the last one ended. `TrackingFilter` goes on from what
    was known before.

    Args:
        model: What is tracked. Later edits of it are not seen.
        links: The paths of the links that may be observed; every link that a joint moves, if left out.
        covariance: Of an observation that comes without one: (6,) variances or (6, 6), translation then rotation, in
            the frame of the link as it was seen.
        configuration: Where the first search begins, by name; as near to zero as the limits allow, if left out.
        tolerance: The search ends when a step is shorter than so many standard deviations.
        max_iterations: The most steps of one search.

    Raises:
        InvalidArgument: Nothing moves these links, or something else than positions of joints does.

    >>> from armillary import Transform
    >>> from armillary.articulation import ArticulationModel, PrismaticJoint
    >>> model = ArticulationModel()
    >>> _ = model.add("desk/links/top")
    >>> _ = model.add("desk/links/drawer", PrismaticJoint(variable="desk/drawer"), "desk/links/top")
    >>> tracker = Tracker(model, links=["desk/links/drawer"])
    >>> seen = Transform.from_xyz_rpy(xyz=(0.25, 0.01, 0.0), rpy=(0.0, 0.02, 0.0))
    >>> estimate = tracker.update({"desk/links/drawer": seen})
    >>> round(estimate.configuration["desk/drawer"], 6), round(estimate.deviation("desk/drawer"), 4)
    (0.25, 0.01)
    """

    def __init__(
        self,
        model: ArticulationModel,
        links: Iterable[str] | None = None,
        *,
        covariance: ArrayLike = DEFAULT_COVARIANCE,
        configuration: Numbers | None = None,
        tolerance: float = 1e-3,
        max_iterations: int = 30,
    ) -> None:
        observed = model.affected_by(model.variables()).links if links is None else links
        self._fit = PoseFit(model, observed, covariance=covariance, tolerance=tolerance, max_iterations=max_iterations)
        self._values = self._fit.start(configuration)

    @property
    def links(self) -> tuple[str, ...]:
        """The paths of the links that may be observed."""
        return self._fit.links

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the joints that are estimated, in the order of covariances."""
        return self._fit.joints.names

    @property
    def configuration(self) -> dict[str, float]:
        """The newest estimate."""
        return dict(zip(self.names, self._values.tolist(), strict=True))

    def update(
        self,
        poses: Mapping[str, Any],
        *,
        covariances: Mapping[str, ArrayLike] | ArrayLike | None = None,
        configuration: Numbers | None = None,
    ) -> Estimate:
        """Return the configuration by these observations, and keep it.

        Args:
            poses: By path of a link, its pose in the frame of the model: a `Transform`, or a `Pose` as `world.pose`
                returns it, whose covariance counts. Links that are not in view are left out.
            covariances: Of the observations, by path, or one for all of them.
            configuration: Where the search begins; at the newest estimate, if left out.

        Raises:
            UnknownPath: A link that this tracker does not observe.
        """
        seen = self._fit.observations(poses, covariances)
        start = self._values if configuration is None else self._fit.start(self.configuration | _by_name(configuration))
        found = self._fit.of(seen, start)
        self._values = found.completed
        covariance = covariance_of(found.information, found.told)
        return Estimate(
            self.configuration,
            self._fit.joints.completed_covariance(covariance, found.completed),
            found.iterations,
            found.converged,
            found.squares,
        )


def _by_name(values: Any) -> dict[str, float]:
    return {key if isinstance(key, str) else key.name: float(value) for key, value in values.items()}
