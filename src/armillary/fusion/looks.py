"""The mean of what was seen of one frame over time: `World.average`.

A look is one stored sample of the frame, seen from another frame at its instant. Errors that all looks share, those of
fixed poses between the two (a calibrated camera on a moving arm), do not average out: they are recognised, and carried
through the mean as one error each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from armillary.errors import ArmillaryError, InvalidArgument, NothingToAverage
from armillary.errors.format import short_repr
from armillary.fusion.average import AverageReport, PoseMean, average_poses
from armillary.fusion.se3 import adjoints, compose, inverses
from armillary.relations import Pose
from armillary.relations.arrays import as_covariance, frozen
from armillary.stamps import as_stamp
from armillary.store.names import recall_name
from armillary.store.values import as_text
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import ArrayLike, NDArray

    from armillary.stamps import StampLike
    from armillary.store import Store
    from armillary.store.query import Query

    Array = NDArray[float64]
    Relation = tuple[str, str, str]

__all__ = ["Average", "LostLook", "average_looks", "sampled_relations"]

_SIX = 6


@dataclass(frozen=True, slots=True)
class LostLook:
    """A sample that could not be seen from the frame asked for at its instant.

    Attributes:
        stamp: Its instant [ns].
        source: Who gave it.
        reason: Why.
    """

    stamp: int
    source: str
    reason: ArmillaryError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Average:
    """The mean pose of one frame in another over time.

    Attributes:
        mean: The mean pose, with its covariance; `mean.relations` are all that it was computed from.
        report: Which looks were used, outliers with their distance, chi-squared, the Birge ratio, the spread; its
            indices are those of `stamps` and `sources`.
        stamps: (N,) int64, the instant of every look [ns].
        sources: The source of every look.
        lost: Samples that could not be seen from `in_frame` at their instant, each with the reason.
    """

    mean: Pose
    report: AverageReport
    stamps: NDArray[int64]
    sources: tuple[str, ...]
    lost: tuple[LostLook, ...]

    @property
    def covariance(self) -> NDArray[float64] | None:
        """(6, 6) of the mean, translation then rotation, in its tangent; None where it cannot be known."""
        return self.mean.covariance

    def __repr__(self) -> str:
        return f"Average({self.mean.of} in {self.mean.in_frame}: {self.report})"


def average_looks(
    store: Store,
    query: Query,
    *,
    of: str,
    in_frame: str,
    start: StampLike | None,
    end: StampLike | None,
    source: str | None,
    scale: bool,
    common_covariance: ArrayLike | None,
) -> Average:
    """Return the mean of the samples of a frame, each seen from another one; arguments as for `World.average`."""
    of, in_frame = recall_name(store, of), recall_name(store, in_frame)
    start, end = as_stamp(start, "start"), as_stamp(end, "end")
    if not isinstance(scale, bool):
        raise InvalidArgument(f"scale is True or False, got {short_repr(scale)}.", scale)
    who = None if source is None else as_text(source, "source")
    common = as_covariance(common_covariance, "common_covariance")
    looks = _Looks(store, query, of, in_frame)
    sampled, tail = sampled_relations(store, of)
    for relation in sampled:
        if who is None or relation[2] == who:
            looks.add(relation, tail, start, end)
    if not looks.rows:
        if looks.lost:
            raise looks.lost[0].reason
        sources = sorted({relation[2] for relation in sampled})
        raise NothingToAverage(of, in_frame, source=who, start=start, end=end, sources=sources)
    return looks.average(scale=scale, common=common)


def sampled_relations(store: Store, of: str) -> tuple[list[Relation], tuple[str, ...]]:
    """Return the relations that sample a frame, or the frame that it is fixed in; and the frames between the two."""
    by_frame: dict[str, list[tuple[Relation, str]]] = {}
    for child, parent, source, kind, *_ in store.relation_rows():
        if kind != "twist":
            by_frame.setdefault(child, []).append(((child, parent, source), kind))
    frames = [of]
    while True:
        placed = by_frame.get(frames[-1], [])
        sampled = sorted(relation for relation, kind in placed if kind == "sampled")
        if sampled or len(placed) != 1 or placed[0][1] != "fixed" or placed[0][0][1] in frames:
            return sampled, tuple(frames)
        frames.append(placed[0][0][1])


@dataclass(eq=False)
class _SharedError:
    """The error of a fixed pose: the same in all looks. By look, how it moves that look, (6, 6)."""

    covariance: Array
    jacobians: dict[int, Array] = field(default_factory=dict)


class _Looks:
    """The looks at one frame from another."""

    def __init__(self, store: Store, query: Query, of: str, in_frame: str) -> None:
        self._store, self._of, self._in_frame = store, of, in_frame
        self._asked = {key: value for key, value in query.keywords.items() if key != "at"}
        self._fixed = {row[:3] for row in store.relation_rows() if row[3] == "fixed"}
        self._shared: dict[Any, _SharedError] = {}
        self._used: dict[Relation, None] = {}
        self._stamps: list[int] = []
        self._sources: list[str] = []
        self._covariances: list[Array | None] = []
        self.rows: list[Array] = []
        self.lost: list[LostLook] = []

    def add(self, relation: Relation, frames: Sequence[str], start: StampLike | None, end: StampLike | None) -> None:
        """Add the samples of one relation; `frames` lead from the frame asked for to the one that is sampled."""
        sampled, parent, source = relation
        stamps, rows, covariances = self._store.sample_rows(self._store.relation_id(*relation), start, end)
        for k, stamp in enumerate(stamps.tolist()):
            known = None if covariances is None or np.isnan(covariances[k]).any() else covariances[k]
            sample = Pose(of=sampled, in_frame=parent, transform=_as_transform(rows[k]), covariance=known, stamp=stamp)
            try:
                before = self._pose(parent, self._in_frame, stamp)
                after = self._pose(self._of, sampled, stamp) if len(frames) > 1 else None
            except ArmillaryError as error:
                self.lost.append(LostLook(stamp, source, error))
                continue
            self._take(stamp, source, [before, sample, after], relation)

    def _pose(self, of: str, in_frame: str, at: StampLike) -> Pose | None:
        return None if of == in_frame else self._store.pose(of=of, in_frame=in_frame, at=at, **self._asked)

    def _take(self, stamp: int, source: str, parts: list[Pose | None], relation: Relation) -> None:
        before, _, after = parts
        look = len(self.rows)
        row, covariance = _chained([part for part in parts if part is not None])
        self._used |= dict.fromkeys([relation, *(edge for part in (before, after) if part for edge in part.relations)])
        for part in (before, after):
            if part is not None and part.covariance is not None and part.covariance.any():
                covariance = self._without_shared(look, part, stamp, covariance, row)
        self.rows.append(row)
        self._covariances.append(covariance)
        self._stamps.append(stamp)
        self._sources.append(source)

    def _without_shared(self, look: int, part: Pose, stamp: int, covariance: Array | None, row: Array) -> Array | None:
        """Note how the fixed poses on a path move a look; return its covariance without them."""
        current = part.of
        for edge in part.relations:
            is_upwards = edge[0] == current
            current = edge[1] if is_upwards else edge[0]
            if edge not in self._fixed:
                continue
            fixed = self._pose(edge[0], edge[1], stamp)
            if fixed is None or fixed.covariance is None or not fixed.covariance.any():
                continue
            key = (edge, fixed.transform.xyz_wxyz.tobytes(), fixed.covariance.tobytes())
            shared = self._shared.setdefault(key, _SharedError(fixed.covariance))
            seen = self._pose(edge[0], self._in_frame, stamp)
            edge_T_of = row if seen is None else compose(inverses(seen.transform.xyz_wxyz), row)
            J = adjoints(inverses(edge_T_of)) * (1.0 if is_upwards else -1.0)
            shared.jacobians[look] = shared.jacobians.get(look, np.zeros((_SIX, _SIX))) + J
            if covariance is not None:
                covariance = covariance - J @ fixed.covariance @ J.T
        return covariance

    def average(self, *, scale: bool, common: Array | None) -> Average:
        """Return the mean of all looks."""
        rows = np.array(self.rows)
        found = average_poses(rows, [_clipped(one) for one in self._covariances], scale=scale)
        covariance = self._covariance(found, common)
        mean = Pose(
            of=self._of,
            in_frame=self._in_frame,
            transform=found.mean,
            covariance=covariance,
            relations=tuple(self._used),
        )
        outliers = tuple(
            replace(far, stamp=self._stamps[far.index], source=self._sources[far.index])
            for far in found.report.outliers
        )
        return Average(
            mean=mean,
            report=replace(found.report, outliers=outliers),
            stamps=np.array(self._stamps, dtype=np.int64),
            sources=tuple(self._sources),
            lost=tuple(self.lost),
        )

    def _covariance(self, found: PoseMean, common: Array | None) -> Array | None:
        """Return the covariance of the mean with what all looks share."""
        if found.covariance is None:
            return None
        total = np.array(found.covariance)
        for shared in self._shared.values():
            J = sum((found.gains[look] @ one for look, one in shared.jacobians.items()), np.zeros((_SIX, _SIX)))
            total += J @ shared.covariance @ J.T
        if common is not None:
            total += common
        return frozen(0.5 * (total + total.T))


def _as_transform(row: Array) -> Transform:
    return Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:])


def _chained(parts: Sequence[Pose]) -> tuple[Array, Array | None]:
    """Return the product of poses as a row, and its covariance; None where one is unknown."""
    first, *rest = parts
    row, total = np.array(first.transform.xyz_wxyz), first.covariance
    for part in rest:
        step = part.transform.xyz_wxyz
        row = compose(row, step)
        if total is not None:
            carry = adjoints(inverses(step))
            total = None if part.covariance is None else carry @ total @ carry.T + part.covariance
    return row, total


def _clipped(covariance: Array | None) -> Array | None:
    """Return a covariance from which a part was taken away, without the negative eigenvalues that rounding leaves."""
    if covariance is None:
        return None
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    if values[0] >= 0.0:
        return 0.5 * (covariance + covariance.T)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
