"""`policy="filter"`: the pose of a frame from all that was measured of it over time.

An error-state filter for each pair of frames, with a velocity that changes slowly. Every sample of the frame, by any
source and in any parent, is one measurement, and so is every measured twist; they are taken in the order of their
stamps, whatever the order in which they arrived, so that the answer is a function of the set of samples.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import float64

from armillary._core import PoseFilter
from armillary.errors import AfterHistory, ArmillaryError, BeforeHistory, InvalidArgument, NoSamples, NothingToFilter
from armillary.fusion.looks import sampled_relations
from armillary.fusion.se3 import adjoints, compose, inverses
from armillary.relations import Pose
from armillary.relations.arrays import frozen
from armillary.relations.storage import trusted
from armillary.stamps import LATEST
from armillary.store.names import recall_name
from armillary.transforms import HeldSample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.store import Store

    Array = NDArray[float64]
    Relation = tuple[str, str, str]

__all__ = ["Filter", "FilterReport", "FilteredPose", "Rejected", "as_filter", "filtered_pose"]

_NS_PER_S = 1_000_000_000
_ROW = 43  # a pose or a velocity, seven numbers, and its covariance
_RESTART_COUNT = 5
_MOST_TRACKS = 64  # of one store: pairs of frames, intervals and filters that were asked for last
_STARTED, _USED, _REJECTED, _RESTARTED = 1, 2, 3, 4
_CACHES: weakref.WeakKeyDictionary[Store, _Tracks] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Filter:
    """How a frame is expected to move: `policy=Filter(...)`; `policy="filter"` has the values given here.

    Args:
        speed_change: How much the velocity changes in one second, (m/s, rad/s). Too large costs little accuracy, too
            small makes the answer too sure: `report.innovation` of an answer is about 1 where it is right.
        first_speed: How fast it may move when nothing is known yet, (m/s, rad/s).
        gate: A measurement is rejected that is farther from what was predicted than this share of all that fit.
        window_s: How much of the past counts [s]: at least so much, at most twice as much.

    >>> Filter(speed_change=(0.1, 0.1)).gates[6] > 27
    True
    """

    speed_change: tuple[float, float] = (0.5, 0.7)
    first_speed: tuple[float, float] = (2.0, 2.0)
    gate: float = 0.9999
    window_s: float = 10.0

    def __post_init__(self) -> None:
        for name in ("speed_change", "first_speed"):
            object.__setattr__(self, name, _as_pair(getattr(self, name), name))
        if not 0.0 < _as_number(self.gate, "gate") < 1.0:
            raise InvalidArgument(f"gate is a share above 0 and below 1, as 0.9999, got {self.gate!r}.", self.gate)
        if not 0.0 < _as_number(self.window_s, "window_s") < 1e9:  # noqa: PLR2004  (a lifetime)
            raise InvalidArgument(f"window_s is a number of seconds above 0, got {self.window_s!r}.", self.window_s)

    @property
    def gates(self) -> tuple[float, ...]:
        """By the number of measured values, from 0 to 6: the largest squared distance that is accepted."""
        return (0.0, *(_chi_squared_quantile(self.gate, dof) for dof in range(1, 7)))

    def __call__(self, _candidates: Any) -> Pose:
        """Refuse to choose among paths at one instant: a filter goes over time."""
        raise InvalidArgument(
            "A Filter uses samples of many instants, and cannot choose among paths of one. Pass it as policy= of a "
            "question for a pose.",
            self,
        )


@dataclass(frozen=True, slots=True)
class Rejected:
    """A measurement that was too far from what was predicted.

    Attributes:
        stamp: Its instant [ns].
        source: Who gave it.
        distance: From what was predicted, in standard deviations of both.
    """

    stamp: int
    source: str
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilterReport:
    """What a filtered pose was made of.

    Attributes:
        predicted_s: How long after the last measurement that was used the pose is [s].
        sources: Those of the measurements in the window that were used.
        used: How many measurements were used.
        rejected: Measurements that were too far from what was predicted, oldest first.
        left_out: Relations whose samples have no covariance: unknown is not zero.
        restarted: The instants at which a source that was rejected for too long was believed after all [ns].
        innovation: The mean squared distance of the used poses from what was predicted, for each of the six numbers:
            about 1 where `speed_change` and the covariances are right, above where they are too small. None for fewer
            than two poses.
        velocity: (6,) of the frame relative to `in_frame`, linear [m/s] then angular [rad/s], along its own axes.
        velocity_covariance: (6, 6).
    """

    predicted_s: float
    sources: tuple[str, ...]
    used: int
    rejected: tuple[Rejected, ...]
    left_out: tuple[Relation, ...]
    restarted: tuple[int, ...]
    innovation: float | None
    velocity: NDArray[float64]
    velocity_covariance: NDArray[float64]


class FilteredPose(Pose):
    """A `Pose` from measurements over time. What is computed from it is a plain `Pose`."""

    __slots__ = ("report",)
    report: FilterReport

    @classmethod
    def of_pose(cls, pose: Pose, report: FilterReport) -> FilteredPose:
        """A pose with the report of how it was obtained."""
        return trusted(cls, **{name: getattr(pose, name) for name in cls._FIELDS}, report=report)

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {"report": self.report}

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill({name: value for name, value in fields.items() if name != "report"})
        object.__setattr__(self, "report", fields["report"])

    def _replace(self, **changes: Any) -> Pose:  # type: ignore[override]  # what is computed from it has no report
        return trusted(Pose, **(super()._fields() | changes))

    def __eq__(self, other: object) -> bool:
        return self._replace() == (other._replace() if isinstance(other, FilteredPose) else other)

    def __hash__(self) -> int:
        return hash(self._replace())

    def __matmul__(self, other: Any) -> Any:
        return self._replace() @ other

    @property
    def method(self) -> str:
        """How it was obtained: "filtered"."""
        return "filtered"


def as_filter(policy: object) -> Filter | None:
    """Return the filter that a policy is, or None where it is another one."""
    if isinstance(policy, Filter):
        return policy
    return Filter() if isinstance(policy, str) and policy == "filter" else None


def filtered_pose(
    store: Store,
    policy: Filter,
    *,
    of: str,
    in_frame: str,
    at: Any,
    outside: str,
    interpolation: str | None,
    of_at: Any = None,
    fixed_frame: str | None = None,
    hold_up_to_s: float | None = None,
) -> Pose:
    """Return the pose of a frame in another, filtered from all that was measured of it until `at`."""
    if of_at is not None or fixed_frame is not None:
        raise InvalidArgument("policy='filter' answers for one instant. Leave out of_at= and fixed_frame=.")
    of, in_frame = recall_name(store, of), recall_name(store, in_frame)
    asked: dict[str, Any] = {"outside": "raise", "interpolation": interpolation, "policy": "unique"}
    measured = _measured_relations(store, of)
    tail = measured.frames
    if of == in_frame or not measured.poses:
        how = asked | {"outside": outside, "hold_up_to_s": hold_up_to_s}
        return store.pose(of=of, in_frame=in_frame, at=at, **how)
    track = _tracks_of(store).track(policy, tail[-1], in_frame, measured)
    limit = store.settings.hold_up_to_s if hold_up_to_s is None else hold_up_to_s
    found = track.at(store, at, _Outside(outside, limit), asked)
    if len(tail) == 1:
        return found
    fixed = store.pose(of=of, in_frame=tail[-1], at=found.stamp or 0, **asked)
    return FilteredPose.of_pose(found._replace() @ fixed, found.report)


# -- Measurements


@dataclass(frozen=True, slots=True)
class _Relations:
    """The relations that measure a frame: by poses, by twists; and the frames from the one asked for to that one."""

    poses: tuple[Relation, ...]
    twists: tuple[Relation, ...]
    frames: tuple[str, ...]


def _measured_relations(store: Store, of: str) -> _Relations:
    """Return the relations that measure a frame, or the frame that it is fixed in; read anew when structure changed."""
    tracks, version = _tracks_of(store), store.version_vector()
    with tracks.lock:
        if tracks.version != version:
            tracks.version, tracks.relations = version, {}
        if of not in tracks.relations:
            poses, frames = sampled_relations(store, of)
            twists = sorted(row[:3] for row in store.relation_rows() if row[0] == frames[-1] and row[3] == "twist")
            tracks.relations[of] = _Relations(tuple(poses), tuple(twists), frames)
        return tracks.relations[of]


class _Tracks:
    """The tracks of one store that were asked for last; `lock` guards everything."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.version: object = None
        self.relations: dict[str, _Relations] = {}
        self._tracks: OrderedDict[Any, _Track] = OrderedDict()

    def track(self, policy: Filter, of: str, in_frame: str, measured: _Relations) -> _Track:
        """Return the track of a pair of frames."""
        with self.lock:
            key = (policy, of, in_frame)
            found = self._tracks.setdefault(key, _Track(policy, of, in_frame, self.lock))
            found.relations, found.twists = measured.poses, measured.twists
            self._tracks.move_to_end(key)
            if len(self._tracks) > _MOST_TRACKS:
                self._tracks.popitem(last=False)
            return found


def _tracks_of(store: Store) -> _Tracks:
    with _LOCK:
        return _CACHES.setdefault(store, _Tracks())


class _Samples(NamedTuple):
    """Stored samples of a relation: stamps (N,), poses (N, 7), covariances (N, 6, 6) or None."""

    stamps: NDArray[np.int64]
    rows: Array
    covariances: Any

    def known(self) -> _Samples:
        """Return those whose covariance is known."""
        if self.covariances is None:
            return _Samples(self.stamps[:0], self.rows[:0], np.empty((0, 6, 6)))
        return self.chosen(~np.isnan(self.covariances).any(axis=(1, 2)))

    def chosen(self, is_chosen: NDArray[np.bool_]) -> _Samples:
        """Return some of them."""
        if is_chosen.all():
            return self
        return _Samples(self.stamps[is_chosen], self.rows[is_chosen], self.covariances[is_chosen])

    def flat(self) -> Array:
        """Return poses and covariances as rows of 43 numbers."""
        return np.concatenate([self.rows, self.covariances.reshape(-1, 36)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Measurements:
    """All measurements of an interval, by stamp and then by source; those of unknown covariance are `left_out`."""

    stamps: NDArray[np.int64]
    sources: NDArray[np.uint32]
    rows: Array
    names: tuple[str, ...]
    left_out: tuple[Relation, ...]
    used: tuple[Relation, ...]


class _Outside(NamedTuple):
    """What is answered after the newest measurement: as for `World.pose`."""

    outside: str
    hold_up_to_s: float | None


class _Track:
    """The filter of one pair of frames over an interval, and the measurements that it has taken.

    What is kept is what the present samples give: measurements are read anew with each question, and the filter goes on
    from the first one that differs.
    """

    def __init__(self, policy: Filter, of: str, in_frame: str, lock: threading.RLock) -> None:
        self._policy, self._of, self._in_frame, self._lock = policy, of, in_frame, lock
        self.relations: tuple[Relation, ...] = ()
        self.twists: tuple[Relation, ...] = ()
        self._filter = PoseFilter(
            acceleration=np.repeat(np.square(policy.speed_change), 3).tolist(),
            first_speed=np.repeat(np.square(policy.first_speed), 3).tolist(),
            gates=policy.gates,
            restart_ns=_NS_PER_S,
            restart_count=_RESTART_COUNT,
        )
        self._taken = _Measurements(np.empty(0, np.int64), np.empty(0, np.uint32), np.empty((0, _ROW)), (), (), ())

    def at(self, store: Store, at: Any, beyond: _Outside, asked: dict[str, Any]) -> FilteredPose:
        """Return the estimate at an instant; `LATEST` is that of the newest measurement."""
        (first, last), outside = self._span(store), beyond.outside
        when = last if at is LATEST else store.as_stamp(at, "at")
        edge = (self._of, self._in_frame, self.relations[0][2])
        evidence: dict[str, Any] = {"edge": edge, "requested": when, "first": first, "last": last}
        if when > last and outside == "raise":
            raise AfterHistory(**evidence)
        horizon = round(store.settings.predict_up_to_s * _NS_PER_S)
        if when > last + horizon and outside == "predict":
            raise AfterHistory(**evidence, horizon=horizon)
        if outside == "hold" and beyond.hold_up_to_s is not None and when > last + beyond.hold_up_to_s * _NS_PER_S:
            raise AfterHistory(**evidence, hold_up_to=round(beyond.hold_up_to_s * _NS_PER_S))
        window = round(self._policy.window_s * _NS_PER_S)
        instant = min(when, last) if outside == "hold" else when
        with self._lock:
            self._take(self._measured(store, (instant // window - 1) * window, asked))
            found = self._filter.answer(instant)
            if found is None:
                self._refuse_unknown()
                raise BeforeHistory(**evidence)
            held = (HeldSample(relation=edge, age_s=(when - instant) / _NS_PER_S),) if when > instant else ()
            return self._answer(found, instant, held=held, newest=last)

    def _span(self, store: Store) -> tuple[int, int]:
        """Return the first instant at which a pose was measured, and the last of any measurement."""
        spans = [store.relation_span(store.relation_id(*relation)) for relation in self.relations]
        known = [span for span in spans if span is not None]
        if not known:
            raise NoSamples(edge=self.relations[0], requested=None, first=None, last=None)
        body = store.body_name(self._in_frame)
        moving = [store.relation_span(store.twist_relation_id(*one)) for one in self.twists if one[1] == body]
        newest = [last for _, last in (*known, *(span for span in moving if span is not None))]
        return min(first for first, _ in known), max(newest)

    def _refuse_unknown(self) -> None:
        if self._taken.left_out and not self._taken.used:
            raise NothingToFilter(self._of, self._in_frame, self._taken.left_out)

    def _take(self, measured: _Measurements) -> None:
        """Go on from the first measurement that is not the one of before."""
        before, same = self._taken, 0
        common = min(len(before.stamps), len(measured.stamps))
        if before.names == measured.names and common:
            is_same = (before.stamps[:common] == measured.stamps[:common]) & (
                before.sources[:common] == measured.sources[:common]
            )
            rows = (before.rows[:common].view(np.uint64) == measured.rows[:common].view(np.uint64)).all(axis=1)
            differs = np.flatnonzero(~(is_same & rows))
            same = int(differs[0]) if len(differs) else common
        if same < len(measured.stamps) or same < len(before.stamps):
            new = slice(same, None)
            stamps, sources = measured.stamps[new].tobytes(), measured.sources[new].tobytes()
            self._filter.refill(same, stamps, sources, np.ascontiguousarray(measured.rows[new]))
        self._taken = measured

    def _measured(self, store: Store, start: int, asked: dict[str, Any]) -> _Measurements:
        parts: list[tuple[NDArray[np.int64], str, Array]] = []
        left_out: list[Relation] = []
        used: list[Relation] = []
        for relation in self.relations:
            stored = _Samples(*store.sample_rows(store.relation_id(*relation), start, None))
            seen = self._in_place(store, relation[1], stored, asked)
            parts.append((seen.stamps, relation[2], seen.flat()))
            (used if len(seen.stamps) else left_out).append(relation)
            if 0 < len(seen.stamps) < len(stored.stamps):
                left_out.append(relation)
        parts += self._measured_twists(store, start, left_out)
        names = tuple(sorted({name for _, name, _ in parts}))
        stamps = np.concatenate([part[0] for part in parts])
        sources = np.concatenate([np.full(len(part[0]), names.index(part[1]), np.uint32) for part in parts])
        rows = np.concatenate([part[2] for part in parts])
        places = np.concatenate([np.full(len(part[0]), k, np.uint32) for k, part in enumerate(parts)])
        order = np.lexsort((places, sources, stamps))
        return _Measurements(
            stamps[order], sources[order], np.ascontiguousarray(rows[order]), names, tuple(left_out), tuple(used)
        )

    def _in_place(self, store: Store, parent: str, stored: _Samples, asked: dict[str, Any]) -> _Samples:
        """Return samples as poses in `in_frame`: those whose covariance is known."""
        known = stored.known()
        if parent == self._in_frame or not len(known.stamps):
            return known
        ways = [self._way(store, parent, stamp, asked) for stamp in known.stamps.tolist()]
        kept = np.array([way is not None for way in ways])
        known = known.chosen(kept)
        there = [way for way in ways if way is not None]
        if not there:
            return known
        carry = adjoints(inverses(known.rows))
        spread = carry @ np.array([way.covariance for way in there]) @ np.swapaxes(carry, 1, 2)
        places = np.array([way.transform.xyz_wxyz for way in there])
        return _Samples(known.stamps, compose(places, known.rows), spread + known.covariances)

    def _way(self, store: Store, parent: str, at: int, asked: dict[str, Any]) -> Pose | None:
        """Return where the parent of a sample is; None where that, or its covariance, is unknown."""
        try:
            way = store.pose(of=parent, in_frame=self._in_frame, at=at, **asked)
        except ArmillaryError:
            return None
        return None if way.covariance is None else way

    def _measured_twists(
        self, store: Store, start: int, left_out: list[Relation]
    ) -> list[tuple[NDArray[np.int64], str, Array]]:
        """Return the measured velocities of the frame relative to the body of `in_frame`."""
        parts = []
        for head, tail, source in self.twists:
            if store.body_name(self._in_frame) != tail:
                continue
            stamps, twists, covariances = store.sample_rows(store.twist_relation_id(head, tail, source), start, None)
            if covariances is None or not len(stamps):
                left_out += [(head, tail, source)] if len(stamps) else []
                continue
            is_known = ~np.isnan(np.diagonal(covariances, axis1=1, axis2=2)).all(axis=1)
            padded = np.concatenate([twists[is_known], np.full((int(is_known.sum()), 1), np.nan)], axis=1)
            rows = np.concatenate([padded, covariances[is_known].reshape(-1, 36)], axis=1)
            parts.append((stamps[is_known], source, rows))
        return parts

    def _answer(
        self, found: tuple[int, Any, Array, Array], instant: int, *, held: tuple[HeldSample, ...], newest: int
    ) -> FilteredPose:
        count, transform, velocity, covariance = found
        taken = self._taken
        outcomes, distances = (np.array(part[:count]) for part in (self._filter.outcomes(), self._filter.distances()))
        is_used = np.isin(outcomes, (_STARTED, _USED, _RESTARTED))
        is_pose = ~np.isnan(taken.rows[:count, 6])
        judged = distances[(outcomes == _USED) & is_pose]
        last = int(taken.stamps[:count][is_used][-1])
        rejected = [
            Rejected(int(taken.stamps[k]), taken.names[taken.sources[k]], math.sqrt(distances[k]))
            for k in np.flatnonzero(outcomes == _REJECTED)
        ]
        report = FilterReport(
            predicted_s=(instant - last) / _NS_PER_S,
            sources=tuple(taken.names[k] for k in np.unique(taken.sources[:count][is_used])),
            used=int(is_used.sum()),
            rejected=tuple(rejected),
            left_out=taken.left_out,
            restarted=tuple(int(stamp) for stamp in taken.stamps[:count][outcomes == _RESTARTED]),
            innovation=float(judged.mean() / 6.0) if len(judged) > 1 else None,
            velocity=frozen(velocity),
            velocity_covariance=frozen(covariance[6:, 6:].copy()),
        )
        pose = Pose(
            of=self._of,
            in_frame=self._in_frame,
            transform=transform,
            covariance=covariance[:6, :6],
            stamp=instant,
            held=held,
            predicted=instant > newest,
            relations=taken.used,
        )
        return FilteredPose.of_pose(pose, report)


# -- Numbers


def _as_number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise InvalidArgument(f"{name} must be a number, got {value!r}.", value)
    return float(value)


def _as_pair(value: object, name: str) -> tuple[float, float]:
    given = list(value) if isinstance(value, tuple | list | np.ndarray) else []
    pair = [_as_number(one, name) for one in given]
    if len(pair) != 2 or not all(0.0 < one < math.inf for one in pair):  # noqa: PLR2004  (linear and angular)
        raise InvalidArgument(f"{name} is two numbers above zero, (m/s, rad/s), got {value!r}.", value)
    return pair[0], pair[1]


def _chi_squared_quantile(share: float, dof: int) -> float:
    """Return the value that this share of a chi-squared distribution is below."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9 * (1.0 + high):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _chi_squared_beyond(middle, dof) > 1.0 - share else (low, middle)
    return 0.5 * (low + high)


def _chi_squared_beyond(x: float, dof: int) -> float:
    """Return the share of a chi-squared distribution that is above a value; in closed form."""
    half = 0.5 * x
    if dof % 2 == 0:
        return math.exp(-half) * math.fsum(half**k / math.factorial(k) for k in range(dof // 2))
    tail = math.fsum(half ** (k - 0.5) / math.gamma(k + 0.5) for k in range(1, (dof + 1) // 2))
    return math.erfc(math.sqrt(half)) + math.exp(-half) * tail
