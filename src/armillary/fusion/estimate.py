"""Estimates from several paths or twists, computed by the C++ core, and how far each path is from them.

The core fuses a graph of relations. A relation that several paths share is one edge of it, with one error.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from armillary._core import fuse_edges, fuse_twists
from armillary.errors import UnknownCovariance
from armillary.relations.arrays import right_jacobian
from armillary.relations.representations import LinearAngular
from armillary.transforms import joined_held

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.fusion.candidates import Candidate, Relation, Step
    from armillary.relations import Twist
    from armillary.transforms import Transform

    Array = NDArray[float64]
    Effects = Mapping[Hashable, Array]

__all__ = ["Estimate", "fused_paths", "fused_twist", "mahalanobis_distances"]

_SIX = 6
_SMALLEST_EIGENVALUE = 1e-11  # of the largest: below, a direction is exact
_ROUNDING = 1e-9  # m and rad: what rounding leaves of a difference
_INDEPENDENT = -1
_DERIVED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The best estimate from several paths.

    Attributes:
        transform: `in_frame_T_of`.
        covariance: (6, 6), in its tangent.
        quality: "plain", "relaxed" or "approximate", as `Judgement.quality`.
        contradiction: The largest residual that no error explains [m, rad].
        residuals: Of the chains of relations that contradict each other, (6,) each.
        is_beyond_first_order: Whether rotations are too far apart, or too uncertain, for the covariance to hold.
        effects: How the estimate moves with each error, (6, 6), by the key of the error.
    """

    transform: Transform
    covariance: Array
    quality: str
    contradiction: float
    residuals: tuple[tuple[tuple[Relation, ...], Array], ...]
    is_beyond_first_order: bool
    effects: Effects


@dataclass(slots=True)
class _Graph:
    """The edges of several paths: one for each relation and instant."""

    paths: Sequence[Candidate]
    edges: dict[Hashable, Step] = field(default_factory=dict)
    vertices: dict[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for step in (step for path in self.paths for step in path.steps):
            self.edges.setdefault((step.relation, step.error, step.segment), step)

    def vertex(self, frame: str, segment: int, fixed: str | None) -> int:
        key = (frame, 0 if frame == fixed else segment)
        return self.vertices.setdefault(key, len(self.vertices))

    @property
    def fixed_frame(self) -> str | None:
        """The frame between two instants; None where there is one instant."""
        for before, after in zip(self.paths[0].steps, self.paths[0].steps[1:], strict=False):
            if before.segment != after.segment:
                return before.relation[0 if before.is_downward else 1]
        return None

    def fused(self) -> Estimate:
        steps, fixed = list(self.edges.values()), self.fixed_frame
        errors = [_key(step) for step in steps]
        rows = [
            (
                self.vertex(step.relation[1], step.segment, fixed),
                self.vertex(step.relation[0], step.segment, fixed),
                step.transform,
                np.zeros((_SIX, _SIX)) if step.covariance is None else step.covariance,
                errors.index(_key(step)),
                *self._cluster(steps, number),
            )
            for number, step in enumerate(steps)
        ]
        pose = self.paths[0].pose
        first = self.vertex(pose.in_frame, max(step.segment for step in steps), fixed)
        found = fuse_edges(rows, first, self.vertex(pose.of, 0, fixed))
        transform, covariance, quality, contradiction, residuals, effects, is_beyond = found
        return Estimate(
            transform,
            covariance,
            quality,
            contradiction,
            tuple((tuple(steps[k].relation for k in chain), residual) for chain, residual in residuals),
            is_beyond,
            dict(zip(errors, effects, strict=True)),
        )

    def _cluster(self, steps: Sequence[Step], number: int) -> tuple[int, int]:
        """The cluster and the group of a step: errors whose correlation is unknown are in one cluster."""
        same = [step for step in steps if step.relation == steps[number].relation]
        is_derived = any(step.is_derived for step in same)
        if len({_key(step) for step in same}) > 1:
            return (_DERIVED if is_derived else 1 + steps.index(same[0])), number
        if not is_derived:
            return _INDEPENDENT, 0
        passing = [
            path for path, one in enumerate(self.paths) if any(_key(s) == _key(steps[number]) for s in one.steps)
        ]
        return _DERIVED, len(steps) + sum(1 << path for path in passing) % (1 << 30)


def fused_paths(paths: Sequence[Candidate]) -> Estimate:
    """The transform that fits best to the ends of all paths, given their errors; each path has a covariance."""
    return _Graph(paths).fused()


def _key(step: Step) -> Hashable:
    return step.relation, step.error


def mahalanobis_distances(paths: Sequence[Candidate], answer: Transform, effects: Effects) -> tuple[float | None, ...]:
    """The distance of each path from an answer, in standard deviations of that difference; None where it is unknown.

    Infinite where they differ in a direction in which both are exact.

    Args:
        paths: Candidates.
        answer: What they are compared with.
        effects: How the answer moves with each error.
    """
    errors = {_key(step): step.covariance for path in paths for step in path.steps if step.covariance is not None}
    return tuple(None if path.unknown else _distance(path, answer, effects, errors) for path in paths)


def _distance(path: Candidate, answer: Transform, effects: Effects, errors: Mapping[Hashable, Array]) -> float:
    residual = (path.pose.transform.inverse() @ answer).log()
    by_answer, by_path = np.linalg.inv(right_jacobian(np.array([residual, -residual])))
    own: dict[Hashable, Array] = {}
    for step in path.steps:
        own[_key(step)] = own.get(_key(step), np.zeros((_SIX, _SIX))) + step.jacobian
    total = np.zeros((_SIX, _SIX))
    for key, covariance in errors.items():
        if key not in own and key not in effects:
            continue
        nothing = np.zeros((_SIX, _SIX))
        effect = by_answer @ effects.get(key, nothing) - by_path @ own.get(key, nothing)
        total += effect @ covariance @ effect.T
    return _mahalanobis(residual, total)


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


def fused_twist(twists: Sequence[Twist]) -> Twist:
    """The best estimate from twists of one point along the same axes, of those that have a covariance.

    They count as independent, unless two were computed from the same relation: then covariance intersection bounds
    the correlation.
    """
    known = [twist for twist in twists if twist.covariance is not None]
    if not known:
        relations = dict.fromkeys(relation for twist in twists for relation in twist.relations)
        raise UnknownCovariance(twists[0].body, twists[0].reference_body, len(twists), tuple(relations))
    first = known[0]
    if len(known) == 1:
        return first
    shares_relation = any(set(a.relations) & set(b.relations) for a, b in combinations(known, 2))
    values = np.array([np.concatenate([twist.linear, twist.angular]) for twist in known])
    best, covariance = fuse_twists(values, np.array([twist.covariance for twist in known]), shares_relation)
    return first._replace(
        coordinates=LinearAngular(linear=best[:3], angular=best[3:]),
        covariance=covariance,
        held=joined_held(*(twist.held for twist in known)),
        predicted=any(twist.predicted for twist in known),
        method=first.method if all(twist.method == first.method for twist in known) else "mixed",
        relations=tuple(dict.fromkeys(relation for twist in known for relation in twist.relations)),
    )
