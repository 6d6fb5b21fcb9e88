"""The paths that an answer could take, where several sources place a frame on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.errors import ArmillaryError
    from armillary.relations import Pose

Relation = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One relation on a path, and how its error reaches the end.

    Attributes:
        relation: (of, in_frame, source).
        error: What tells its error from others: steps with equal ones, on whatever path, have one and the same error.
        sampled_at: Its newest datum not after the instant asked for [ns]; None where it is fixed.
        is_contested: Whether another source says otherwise.
        is_derived: Whether it was predicted, or integrated from twists: others may rest on the same data.
        jacobian: (6, 6), from the tangent of the relation to that of the answer.
        covariance: (6, 6) in the tangent of the relation; None where unknown.
    """

    relation: Relation
    error: Hashable
    sampled_at: int | None
    is_contested: bool
    is_derived: bool
    jacobian: NDArray[float64]
    covariance: NDArray[float64] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One path between the two frames of a question, with the pose that it gives.

    Attributes:
        pose: The answer of this path alone.
        steps: Its relations, from `of` upwards and down to `in_frame`.
    """

    pose: Pose
    steps: tuple[Step, ...]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """(of, in_frame, source) of every step."""
        return tuple(step.relation for step in self.steps)

    @property
    def chosen(self) -> tuple[Relation, ...]:
        """The relations that make the difference: those about which sources disagree."""
        return tuple(step.relation for step in self.steps if step.is_contested)

    @property
    def sources(self) -> frozenset[str]:
        """Who says what makes the difference."""
        return frozenset(source for *_, source in self.chosen)

    @property
    def newest(self) -> int | None:
        """Its newest datum not after the instant of the answer [ns]; None where everything is fixed."""
        return max((step.sampled_at for step in self.steps if step.sampled_at is not None), default=None)

    @property
    def oldest(self) -> int | None:
        """The same of the step whose data are the oldest."""
        return min((step.sampled_at for step in self.steps if step.sampled_at is not None), default=None)

    @property
    def covariance_is_lower_bound(self) -> bool:
        """Whether the uncertainty of a step is unknown and counts as zero."""
        return any(step.covariance is None for step in self.steps)

    @cached_property
    def covariance(self) -> NDArray[float64]:
        """(6, 6) in the tangent of `of`; what is unknown counts as zero."""
        if self.pose.covariance is not None:
            return self.pose.covariance
        known = [(step.jacobian, step.covariance) for step in self.steps if step.covariance is not None]
        return sum((jacobian @ covariance @ jacobian.T for jacobian, covariance in known), np.zeros((6, 6)))

    @property
    def trace(self) -> float:
        """The sum of its six variances: m² and rad², a metre weighing as much as a radian."""
        return float(np.trace(self.covariance))

    def __repr__(self) -> str:
        return f"Candidate({self.pose!r} by {_listed(self.chosen or self.relations)})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LostPath:
    """A path that has no answer at that instant.

    Attributes:
        relations: (of, in_frame, source) of its steps.
        error: What it lacks.
    """

    relations: tuple[Relation, ...]
    error: ArmillaryError

    def __repr__(self) -> str:
        return f"LostPath({_listed(self.relations)}: {self.error})"


def _listed(relations: Iterable[Relation]) -> str:
    return ", ".join(f"'{of}' in '{in_frame}' of '{source}'" for of, in_frame, source in relations)
