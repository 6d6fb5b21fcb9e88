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
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import float64

from armillary._core import PoseFilter
from armillary.errors import AfterHistory, BeforeHistory, InvalidArgument, NoSamples, NotReceived, UnknownCovariance
from armillary.fusion.looks import sampled_relations
from armillary.fusion.noted_pose import NotedPose
from armillary.relations import Pose
from armillary.relations.arrays import frozen
from armillary.stamps import LATEST
from armillary.store.names import recall_name
from armillary.transforms import HeldSample, Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.store import Store

    Array = NDArray[float64]
    Relation = tuple[str, str, str]

__all__ = ["Filter", "FilterReport", "FilteredPose", "Rejected", "as_filter", "filtered_pose"]

_NS_PER_S = 1_000_000_000
_RESTART_COUNT = 5
_MOST_TRACKS = 64  # of one store: pairs of frames, intervals and filters that were asked for last
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
        return _gates(self.gate)

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


class FilteredPose(NotedPose):
    """A `Pose` from measurements over time. What is computed from it is a plain `Pose`."""

    __slots__ = ("_report",)
    _NOTES = ("report",)
    _report: FilterReport

    @classmethod
    def of_pose(cls, pose: Pose, report: FilterReport, **changes: Any) -> FilteredPose:
        """A pose with the report of how it was obtained, and `changes` to other fields."""
        return cls._noted(pose, changes, {"report": report})

    @property
    def report(self) -> FilterReport:
        """What it was made of."""
        return self._report

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
    track = _tracks_of(store).track(store, policy, in_frame, measured)
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

    def track(self, store: Store, policy: Filter, in_frame: str, measured: _Relations) -> _Track:
        """Return the track of a pair of frames."""
        with self.lock:
            key = (policy, measured.frames[-1], in_frame)
            found = self._tracks.get(key)
            if found is None:
                found = self._tracks[key] = _Track(policy, measured.frames[-1], in_frame, self.lock)
            found.use(store, measured)
            self._tracks.move_to_end(key)
            if len(self._tracks) > _MOST_TRACKS:
                self._tracks.popitem(last=False)
            return found


def _tracks_of(store: Store) -> _Tracks:
    with _LOCK:
        return _CACHES.setdefault(store, _Tracks())


class _Outside(NamedTuple):
    """What is answered after the newest measurement: as for `World.pose`."""

    outside: str
    hold_up_to_s: float | None


class _Measurements(NamedTuple):
    """Which relations were used as measurements, and which were left out because a covariance is unknown."""

    used: tuple[Relation, ...]
    left_out: tuple[Relation, ...]


class _Track:
    """The filter of one pair of frames over an interval.

    What is kept is what the present samples give: they are read anew with each question, in C++, and the filter goes on
    from the first one that differs.
    """

    def __init__(self, policy: Filter, of: str, in_frame: str, lock: threading.RLock) -> None:
        self._policy, self._of, self._in_frame, self._lock = policy, of, in_frame, lock
        self._plain = Pose(of=of, in_frame=in_frame, transform=Transform.identity())
        self._measured: _Relations | None = None
        self._poses: tuple[Relation, ...] = ()
        self._twists: tuple[Relation, ...] = ()
        self._names: tuple[str, ...] = ()
        self._sources: list[tuple[int, str | None, int]] = []
        self._filter = PoseFilter(
            acceleration=np.repeat(np.square(policy.speed_change), 3).tolist(),
            first_speed=np.repeat(np.square(policy.first_speed), 3).tolist(),
            gates=policy.gates,
            restart_ns=_NS_PER_S,
            restart_count=_RESTART_COUNT,
        )

    def use(self, store: Store, measured: _Relations) -> None:
        """Take these relations for what is measured: the twists are those relative to the body of `in_frame`."""
        if measured is self._measured:
            return
        body = store.body_name(self._in_frame)
        self._poses = measured.poses
        self._twists = tuple(relation for relation in measured.twists if relation[1] == body)
        self._names = tuple(sorted({relation[2] for relation in (*self._poses, *self._twists)}))
        number = {name: k for k, name in enumerate(self._names)}
        self._sources = [(store.relation_id(*edge), edge[1], number[edge[2]]) for edge in self._poses]
        self._sources += [(store.twist_relation_id(*edge), None, number[edge[2]]) for edge in self._twists]
        self._measured = measured

    def at(self, store: Store, at: Any, beyond: _Outside, asked: dict[str, Any]) -> FilteredPose:
        """Return the estimate at an instant; `LATEST` is that of the newest measurement."""
        for (relation, _, _), received in zip(self._sources, self._poses, strict=False):
            if not store.receive("pose", relation):
                raise NotReceived(edge=received, requested=None, first=None, last=None)
        (first, last), outside = self._span(store), beyond.outside
        when = last if at is LATEST else store.as_stamp(at, "at")
        edge = (self._of, self._in_frame, self._poses[0][2])
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
            taken = self._take(store, (instant // window - 1) * window, asked["interpolation"])
            found = self._filter.answer(instant)
            if found is None:
                self._refuse_unknown(taken)
                raise BeforeHistory(**evidence)
            held = (HeldSample(relation=edge, age_s=(when - instant) / _NS_PER_S),) if when > instant else ()
            return self._answer(found, taken, instant, held=held, newest=last)

    def _span(self, store: Store) -> tuple[int, int]:
        """Return the first instant at which a pose was measured, and the last of any measurement."""
        spans = [store.relation_span(relation) for relation, _, _ in self._sources]
        known = [span for span in spans[: len(self._poses)] if span is not None]
        if not known:
            raise NoSamples(edge=self._poses[0], requested=None, first=None, last=None)
        return min(first for first, _ in known), max(span[1] for span in spans if span is not None)

    def _refuse_unknown(self, taken: _Measurements) -> None:
        if taken.left_out and not taken.used:
            raise UnknownCovariance(self._of, self._in_frame, len(taken.left_out), taken.left_out)

    def _take(self, store: Store, start: int, interpolation: str | None) -> _Measurements:
        """Bring the filter in line with the samples from `start` on."""
        counts = self._filter.measure(store, self._in_frame, self._sources, start, interpolation)
        used: list[Relation] = []
        left_out: list[Relation] = []
        for relation, (stored, taken) in zip(self._poses, counts, strict=False):
            (used if taken else left_out).append(relation)
            if 0 < taken < stored:
                left_out.append(relation)
        twists = zip(self._twists, counts[len(self._poses) :], strict=True)
        left_out += [relation for relation, (stored, taken) in twists if stored and not taken]
        return _Measurements(tuple(used), tuple(left_out))

    def _answer(
        self,
        found: tuple[int, Any, Array, Array],
        taken: _Measurements,
        instant: int,
        *,
        held: tuple[HeldSample, ...],
        newest: int,
    ) -> FilteredPose:
        count, transform, velocity, covariance = found
        used, last, sources, rejected, restarted, judged, mean = self._filter.summary(count)
        report = FilterReport(
            predicted_s=(instant - last) / _NS_PER_S,
            sources=tuple(self._names[k] for k in sources),
            used=used,
            rejected=tuple(Rejected(stamp, self._names[source], distance) for stamp, source, distance in rejected),
            left_out=taken.left_out,
            restarted=tuple(restarted),
            innovation=mean / 6.0 if judged > 1 else None,
            velocity=frozen(velocity),
            velocity_covariance=frozen(covariance[6:, 6:].copy()),
        )
        return FilteredPose.of_pose(
            self._plain,
            report,
            coordinates=transform,
            covariance=frozen(covariance[:6, :6].copy()),
            stamp=instant,
            held=held,
            predicted=instant > newest,
            relations=taken.used,
        )


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


@lru_cache(maxsize=64)
def _gates(share: float) -> tuple[float, ...]:
    return (0.0, *(_chi_squared_quantile(share, dof) for dof in range(1, 7)))


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
