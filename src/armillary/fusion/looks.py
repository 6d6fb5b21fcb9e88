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

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import ArrayLike, NDArray

    from armillary.stamps import StampLike
    from armillary.store import Store
    from armillary.store.query import Query

    Array = NDArray[float64]
    Indices = NDArray[np.intp]
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
    if not len(looks):
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
    """The error of a fixed pose: the same in all looks. Some looks at a time, how it moves these, (K, 6, 6)."""

    covariance: Array
    effects: list[tuple[Indices, Array]] = field(default_factory=list)

    def effect_on_mean(self, gains: Array) -> Array:
        """Return how it moves the mean, (6, 6); `gains` as of `PoseMean`."""
        total = np.zeros((_SIX, _SIX))
        for looks, effects in self.effects:
            total += (gains[looks] @ effects).sum(axis=0)
        return total


@dataclass(eq=False)
class _Block:
    """Samples of one relation that can be seen: stamps (K,), poses (K, 7), covariances (K, 6, 6), NaN where unknown."""

    stamps: NDArray[int64]
    rows: Array
    covariances: Array

    def chain(self, before: list[Pose], after: list[Pose]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Put poses in front of the samples and behind them, with their errors; an empty list stands for none.

        Returns:
            Which of both have an error that is known and not zero.
        """
        are_uncertain = []
        for poses, is_in_front in ((before, True), (after, False)):
            rows, covariances = _arrays(poses)
            are_uncertain.append((covariances != 0.0).any(axis=(1, 2)) & ~np.isnan(covariances).any(axis=(1, 2)))
            if poses and is_in_front:
                self.rows, self.covariances = _chained(rows, covariances, self.rows, self.covariances)
            elif poses:
                self.rows, self.covariances = _chained(self.rows, self.covariances, rows, covariances)
        return are_uncertain[0], are_uncertain[1]


class _Looks:
    """The looks at one frame from another."""

    def __init__(self, store: Store, query: Query, of: str, in_frame: str) -> None:
        self._store, self._of, self._in_frame = store, of, in_frame
        self._asked = {key: value for key, value in query.keywords.items() if key != "at"}
        self._fixed = {row[:3] for row in store.relation_rows() if row[3] == "fixed"}
        self._shared: dict[Any, _SharedError] = {}
        self._used: dict[Relation, None] = {}
        self._blocks: list[_Block] = []
        self._sources: list[str] = []
        self.lost: list[LostLook] = []

    def __len__(self) -> int:
        return len(self._sources)

    def add(self, relation: Relation, frames: Sequence[str], start: StampLike | None, end: StampLike | None) -> None:
        """Add the samples of one relation; `frames` lead from the frame asked for to the one that is sampled."""
        sampled, parent, source = relation
        number = self._store.relation_id(*relation)
        self._store.receive("pose", number)
        stamps, rows, covariances = self._store.sample_rows(number, start, end)
        known = np.full((len(stamps), _SIX, _SIX), np.nan) if covariances is None else covariances
        kept: list[int] = []
        before: list[Pose] = []
        after: list[Pose] = []
        is_direct = parent == self._in_frame and len(frames) == 1
        for k, stamp in enumerate(stamps.tolist() if not is_direct else ()):
            try:
                way = self._pose(parent, self._in_frame, stamp)
                rest = self._pose(self._of, sampled, stamp) if len(frames) > 1 else None
            except ArmillaryError as error:
                self.lost.append(LostLook(stamp, source, error))
                continue
            kept.append(k)
            before += [way] if way is not None else []
            after += [rest] if rest is not None else []
        chosen = slice(None) if is_direct else np.array(kept, dtype=np.intp)
        self._take(relation, _Block(stamps[chosen], rows[chosen], known[chosen]), before, after)

    def _pose(self, of: str, in_frame: str, at: StampLike) -> Pose | None:
        return None if of == in_frame else self._store.pose(of=of, in_frame=in_frame, at=at, **self._asked)

    def _take(self, relation: Relation, block: _Block, before: list[Pose], after: list[Pose]) -> None:
        if not len(block.stamps):
            return
        first = len(self)
        are_uncertain = block.chain(before, after)
        self._used |= {relation: None}
        for parts, is_uncertain in zip((before, after), are_uncertain, strict=True):
            self._part_shared(first, block, parts, is_uncertain)
        self._blocks.append(block)
        self._sources += [relation[2]] * len(block.stamps)

    def _part_shared(self, first: int, block: _Block, parts: list[Pose], is_uncertain: NDArray[np.bool_]) -> None:
        """Note how the fixed poses on the paths move the looks, and take their errors out of the covariances."""
        relations = [part.relations for part in parts]
        self._used |= dict.fromkeys(edge for edges in dict.fromkeys(relations) for edge in edges)
        by_path: dict[tuple[Relation, ...], list[int]] = {}
        for k in np.flatnonzero(is_uncertain).tolist():
            by_path.setdefault(relations[k], []).append(k)
        for path, looks in by_path.items():
            current = parts[looks[0]].of
            for edge in path:
                is_upwards = edge[0] == current
                current = edge[1] if is_upwards else edge[0]
                if edge in self._fixed:
                    self._part_error(edge, first, block, np.array(looks), 1.0 if is_upwards else -1.0)

    def _part_error(self, edge: Relation, first: int, block: _Block, looks: Indices, sign: float) -> None:
        """Take the error of one fixed pose out of some looks."""
        groups: dict[Any, tuple[Array, list[int]]] = {}
        for k, stamp in zip(looks.tolist(), block.stamps[looks].tolist(), strict=True):
            fixed = self._pose(edge[0], edge[1], stamp)
            covariance = None if fixed is None else fixed.covariance
            if fixed is None or covariance is None:
                continue
            key = (edge, fixed.transform.xyz_wxyz.tobytes(), covariance.tobytes())
            groups.setdefault(key, (covariance, []))[1].append(k)
        for key, (covariance, members) in groups.items():
            if not covariance.any():
                continue
            chosen = np.array(members)
            J = sign * adjoints(inverses(self._seen_from(edge[0], block, chosen)))
            self._shared.setdefault(key, _SharedError(covariance)).effects.append((first + chosen, J))
            block.covariances[chosen] -= J @ covariance @ np.swapaxes(J, 1, 2)

    def _seen_from(self, frame: str, block: _Block, looks: Indices) -> Array:
        """Return the poses of the frame asked for in another frame, (K, 7)."""
        if frame == self._in_frame:
            return block.rows[looks]
        asked: dict[str, Any] = {"of": frame, "in_frame": self._in_frame, "at": block.stamps[looks], "as_": "xyz_wxyz"}
        return compose(inverses(self._store.transforms(**asked, **self._asked)), block.rows[looks])

    def average(self, *, scale: bool, common: Array | None) -> Average:
        """Return the mean of all looks."""
        rows = np.concatenate([block.rows for block in self._blocks])
        stamps = np.concatenate([block.stamps for block in self._blocks])
        covariances = _clipped(np.concatenate([block.covariances for block in self._blocks]))
        found = average_poses(rows, covariances, scale=scale)
        covariance = self._covariance(found, common)
        mean = Pose(
            of=self._of,
            in_frame=self._in_frame,
            transform=found.mean,
            covariance=covariance,
            relations=tuple(self._used),
        )
        outliers = tuple(
            replace(far, stamp=int(stamps[far.index]), source=self._sources[far.index]) for far in found.report.outliers
        )
        return Average(
            mean=mean,
            report=replace(found.report, outliers=outliers),
            stamps=stamps,
            sources=tuple(self._sources),
            lost=tuple(self.lost),
        )

    def _covariance(self, found: PoseMean, common: Array | None) -> Array | None:
        """Return the covariance of the mean with what all looks share."""
        if found.covariance is None:
            return None
        total = np.array(found.covariance)
        for shared in self._shared.values():
            J = shared.effect_on_mean(found.gains)
            total += J @ shared.covariance @ J.T
        if common is not None:
            total += common
        return frozen(0.5 * (total + total.T))


def _arrays(poses: Sequence[Pose]) -> tuple[Array, Array]:
    """Return poses as rows, (K, 7), and their covariances, (K, 6, 6), NaN where unknown."""
    unknown = np.full((_SIX, _SIX), np.nan)
    covariances = (pose.covariance for pose in poses)
    rows = np.array([pose.transform.xyz_wxyz for pose in poses])
    known = np.array([unknown if covariance is None else covariance for covariance in covariances])
    return rows, known.reshape(-1, _SIX, _SIX)


def _chained(rows: Array, covariances: Array, steps: Array, step_covariances: Array) -> tuple[Array, Array]:
    """Return the products of poses, and their covariances; NaN where one is unknown."""
    carry = adjoints(inverses(steps))
    return compose(rows, steps), carry @ covariances @ np.swapaxes(carry, 1, 2) + step_covariances


def _clipped(covariances: Array) -> Array:
    """Return covariances from which parts were taken away, without the negative values that rounding leaves."""
    symmetric: Array = 0.5 * (covariances + np.swapaxes(covariances, 1, 2))
    (wrong,) = np.nonzero((np.diagonal(symmetric, axis1=1, axis2=2) < 0.0).any(axis=1))
    if len(wrong):
        values, vectors = np.linalg.eigh(symmetric[wrong])
        symmetric[wrong] = (vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return symmetric
