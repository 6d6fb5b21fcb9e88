"""Candidate paths: the paths between two frames where several sources place a frame, with the pose that each gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError, NotConnected

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary._core import PathChoice
    from armillary.relations import Pose
    from armillary.transforms import Transform

__all__ = ["Candidate", "FoundPaths", "LostPath", "Relation", "Step", "steps_from"]

Relation = tuple[str, str, str]
"""(of, in_frame, source)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One relation on a path, and how its error reaches the end.

    Attributes:
        relation: (of, in_frame, source).
        error: Identifies its error: steps with equal values, on whatever path, have one and the same error.
        sampled_at: Its newest datum not after the instant asked for [ns]; None where it is fixed.
        is_contested: Whether another source gives the same frame another pose.
        is_derived: Whether it was predicted, or integrated from twists: others may be computed from the same data.
        transform: `in_frame_T_of` of the relation.
        is_downward: Whether the path goes down along it, towards the frame that it is asked in.
        segment: With two instants: 0 between `of` and the fixed frame, 1 behind it.
        jacobian: (6, 6), from the tangent of the relation to that of the answer.
        covariance: (6, 6) in the tangent of the relation; None where unknown.
    """

    relation: Relation
    error: Hashable
    sampled_at: int | None
    is_contested: bool
    is_derived: bool
    transform: Transform
    is_downward: bool
    segment: int
    jacobian: NDArray[float64]
    covariance: NDArray[float64] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One path between the two frames of a question, with the pose that it gives.

    Attributes:
        pose: The answer of this path alone.
        steps: Its relations, from `of` upwards and down to `in_frame`; empty where nobody contests any of them.
        data_stamps: Its newest and its oldest datum [ns], where there are no steps.
    """

    pose: Pose
    steps: tuple[Step, ...]
    data_stamps: tuple[int | None, int | None] = (None, None)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """(of, in_frame, source) of every step."""
        return tuple(step.relation for step in self.steps) or self.pose.relations

    @property
    def chosen(self) -> tuple[Relation, ...]:
        """The relations that make the difference: those about which sources disagree."""
        return tuple(step.relation for step in self.steps if step.is_contested)

    @property
    def sources(self) -> frozenset[str]:
        """The sources of the relations about which sources disagree."""
        return frozenset(source for *_, source in self.chosen)

    @property
    def newest(self) -> int | None:
        """Its newest datum not after the instant of the answer [ns]; None where everything is fixed."""
        stamps = (step.sampled_at for step in self.steps if step.sampled_at is not None)
        return max(stamps, default=self.data_stamps[0])

    @property
    def oldest(self) -> int | None:
        """The newest datum of the step whose data are the oldest [ns]; None where everything is fixed."""
        stamps = (step.sampled_at for step in self.steps if step.sampled_at is not None)
        return min(stamps, default=self.data_stamps[1])

    @property
    def covariance(self) -> NDArray[float64] | None:
        """(6, 6) in the tangent of `of`; None where that of a step is unknown."""
        return self.pose.covariance

    @property
    def trace(self) -> float | None:
        """The sum of its six variances, a metre weighing as much as a radian; None where one is unknown."""
        return None if self.covariance is None else float(np.trace(self.covariance))

    @property
    def unknown(self) -> tuple[Relation, ...]:
        """The relations whose covariance is unknown."""
        return tuple(step.relation for step in self.steps if step.covariance is None)

    def __repr__(self) -> str:
        return f"Candidate({self.pose!r} by {_listed(self.chosen or self.relations)})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LostPath:
    """A path that has no answer at that instant.

    Attributes:
        relations: (of, in_frame, source) of its steps.
        error: Why it has no answer.
    """

    relations: tuple[Relation, ...]
    error: ArmillaryError

    def __repr__(self) -> str:
        return f"LostPath({_listed(self.relations)}: {self.error})"


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """The paths of one query, ordered by the names of their relations.

    Attributes:
        candidates: The paths with an answer.
        choices: For each candidate, what makes the C++ core evaluate this path.
        lost: The paths without an answer.
    """

    candidates: tuple[Candidate, ...]
    choices: tuple[PathChoice, ...]
    lost: tuple[LostPath, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> FoundPaths:
        """Make candidates from the rows of the C++ core; raises the reason where no path has an answer."""
        answered, lost, unconnected = [], [], []
        for answer, choice, steps, jacobians, covariances in rows:
            if isinstance(answer, NotConnected):
                unconnected.append(answer)
            elif isinstance(answer, ArmillaryError):
                lost.append(LostPath(relations=tuple(step[0] for step in steps), error=answer))
            else:
                answered.append((Candidate(pose=answer, steps=steps_from(steps, jacobians, covariances)), choice))
        answered.sort(key=lambda pair: pair[0].relations)
        lost.sort(key=lambda path: path.relations)
        if not answered:
            raise lost[0].error if lost else unconnected[0]
        candidates, choices = zip(*answered, strict=True)
        return cls(candidates, choices, tuple(lost))

    def limited_to(self, used: Collection[Candidate]) -> FoundPaths:
        """The same paths without the candidates that are not used; at least one must be."""
        kept = [pair for pair in zip(self.candidates, self.choices, strict=True) if pair[0] in used]
        candidates, choices = zip(*kept, strict=True)
        return FoundPaths(candidates, choices, self.lost)

    @property
    def common_stamp(self) -> int | None:
        """The newest instant that all paths cover, where they differ in their newest; else None."""
        stamps = {path.pose.stamp for path in self.candidates if path.pose.stamp is not None}
        return min(stamps) if len(stamps) > 1 else None


def steps_from(rows: Iterable[tuple[Any, ...]], jacobians: Any, covariances: Any) -> tuple[Step, ...]:
    """Make the steps of a path from the rows of the C++ core."""
    return tuple(
        Step(
            relation=relation,
            error=error,
            sampled_at=sampled_at,
            is_contested=is_contested,
            is_derived=is_derived,
            transform=transform,
            is_downward=is_downward,
            segment=segment,
            jacobian=jacobian,
            covariance=None if np.isnan(covariance[0, 0]) else covariance,
        )
        for (
            (relation, error, sampled_at, is_contested, is_derived, transform, is_downward, segment),
            jacobian,
            covariance,
        ) in zip(rows, jacobians, covariances, strict=True)
    )


def _listed(relations: Iterable[Relation]) -> str:
    return ", ".join(f"'{of}' in '{in_frame}' of '{source}'" for of, in_frame, source in relations)
