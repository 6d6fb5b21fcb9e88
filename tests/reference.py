"""The world in plain Python: slow, short and obviously right.

The oracle of the property tests. It keeps the bare set of events of every track (of, source)
and derives everything else anew at each question, with 4x4 matrices and power series.
`docs/conventions.md` has the conventions: `T = mean @ exp(xi)`, xi = (translation, rotation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reference_joints import Driver

ALWAYS = -math.inf
LATEST = math.inf
CONTESTED = "contested"
FALLBACK, PLAIN, STATEMENT = range(3)
SERIES_TERMS = 40
NS_PER_S = 1e9
HORIZON_NS = 1e9  # a prediction reaches this far
MOST_PREDICTED = 3.0  # [m] or [rad]
STEP = 1e-5  # of numeric derivatives
NOISE_PER_S = 1e-4 * np.eye(6)  # and grows so uncertain on the way

Relation = tuple[str, str, str]
Held = tuple[tuple[str | None, float], ...]
"""Samples that are used at another instant than their own: the joint, None for a pose; and the age [ns]."""


class Refused(Exception):
    """What the library answers with an error; `reasons` holds every (kind, edge) it may name."""

    def __init__(self, reasons: Iterable[tuple[str, Relation | None]]) -> None:
        self.reasons = frozenset(reasons)
        super().__init__(sorted(self.reasons, key=str))

    @property
    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.reasons}


class Unclear(Exception):
    """What no oracle can decide: a prediction over many turns, where rounding decides."""


def refuse(kind: str, edge: Relation | None = None) -> Refused:
    return Refused([(kind, edge)])


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def matrix_series(x: np.ndarray, shift: int = 0) -> np.ndarray:
    """Sum of x^n / (n + shift)!: the exponential for 0, the left Jacobian of SO(3) for 1."""
    total, power = np.zeros_like(x), np.eye(len(x))
    for n in range(SERIES_TERMS):
        total += power / math.factorial(n + shift)
        power = power @ x
    return total


def exp(xi: Sequence[float]) -> np.ndarray:
    xi = np.asarray(xi, dtype=float)
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = skew(xi[3:]), xi[:3]
    return matrix_series(generator)


def wxyz_from_rotation(R: np.ndarray) -> np.ndarray:
    """The quaternion with w >= 0: the largest column of the symmetric matrix 4 q q^T."""
    t = np.trace(R)
    qqT = np.empty((4, 4))
    qqT[0, 0] = 1.0 + t
    qqT[0, 1:] = qqT[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    qqT[1:, 1:] = R + R.T + (1.0 - t) * np.eye(3)
    column = qqT[:, np.argmax(np.diag(qqT))]
    wxyz = column / np.linalg.norm(column)
    return wxyz if wxyz[0] >= 0.0 else -wxyz


def rotation_log(R: np.ndarray) -> np.ndarray:
    w, *xyz = wxyz_from_rotation(R)
    sine = np.linalg.norm(xyz)
    return np.zeros(3) if sine == 0.0 else 2.0 * math.atan2(sine, w) / sine * np.array(xyz)


def log(T: np.ndarray) -> np.ndarray:
    angles = rotation_log(T[:3, :3])
    return np.concatenate([np.linalg.solve(matrix_series(skew(angles), shift=1), T[:3, 3]), angles])


def inverse(T: np.ndarray) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = T[:3, :3].T, -T[:3, :3].T @ T[:3, 3]
    return result


def adjoint(T: np.ndarray) -> np.ndarray:
    R = T[:3, :3]
    return np.block([[R, skew(T[:3, 3]) @ R], [np.zeros((3, 3)), R]])


def moved(covariance: np.ndarray, J: np.ndarray) -> np.ndarray:
    return J @ covariance @ J.T


def interpolate(Ta: np.ndarray, Tb: np.ndarray, u: float, how: str) -> np.ndarray:
    if how == "screw":
        return Ta @ exp(u * log(inverse(Ta) @ Tb))
    result = Ta @ exp(np.concatenate([np.zeros(3), u * rotation_log(Ta[:3, :3].T @ Tb[:3, :3])]))
    result[:3, 3] = (1.0 - u) * Ta[:3, 3] + u * Tb[:3, 3]
    return result


def body_twist(Ta: np.ndarray, Tb: np.ndarray, duration_s: float, how: str) -> np.ndarray:
    """How the interpolated pose moves when it arrives at Tb, in the body form."""
    if how == "screw":
        return log(inverse(Ta) @ Tb) / duration_s
    linear = Tb[:3, :3].T @ (Tb[:3, 3] - Ta[:3, 3])
    return np.concatenate([linear, rotation_log(Ta[:3, :3].T @ Tb[:3, :3])]) / duration_s


@dataclass(frozen=True, eq=False)
class Event:
    """One assertion about a frame: a sample, or a fixed pose that lasts."""

    stamp: float  # an int, or ALWAYS
    parent: str
    value: np.ndarray | None  # None: expired, only the instant from which the frame has its parent is left
    covariance: np.ndarray | None
    fixed: bool
    driver: Driver | None = None  # set: a fixing whose value is computed
    rank: int = PLAIN
    ends: bool = False  # from here on its source places the frame nowhere


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive samples under one parent, or one fixing."""

    of: str
    source: str
    events: tuple[Event, ...]
    end: float
    newest: float  # of all samples of this relation
    way: str = "linear"  # how the samples of this relation follow one another
    moves_on: bool = False  # its source gives the frame a pose under another parent later

    @property
    def parent(self) -> str:
        return self.events[0].parent

    @property
    def relation(self) -> Relation:
        return self.of, self.parent, self.source

    @property
    def fixed(self) -> bool:
        return self.events[0].fixed

    @property
    def driver(self) -> Driver | None:
        return self.events[0].driver

    @property
    def timeless(self) -> bool:
        return self.fixed and self.driver is None

    @property
    def begin(self) -> float:
        return self.events[0].stamp

    @property
    def ended(self) -> bool:
        return self.events[0].ends

    @property
    def rank(self) -> int:
        return self.events[0].rank

    def datum(self, t: float) -> float:
        """The newest thing that was given for it, as known at t."""
        if self.timeless:
            return self.begin
        first, last = (
            self.driver.span()
            if self.driver is not None
            else (ALWAYS, max((e.stamp for e in self.known), default=ALWAYS))
        )
        return ALWAYS if first > t or last < first else min(last, t) if self.driver is not None else last

    def is_open(self, t: float, rival_timeout: float) -> bool:
        """Fixed until it ends, driven where its variables have values, sampled until it has been silent for long."""
        if self.driver is not None:
            return self.driver.covers(t)
        return self.fixed or (bool(self.known) and (self.steps or t <= self.known[-1].stamp + rival_timeout))

    @property
    def known(self) -> list[Event]:
        return [event for event in self.events if event.value is not None]

    @property
    def bare(self) -> bool:
        """Without values, and not because newer ones pushed them out."""
        return not self.known and self.newest <= self.begin

    def reasons_for_nothing(self) -> list[tuple[str, Relation]]:
        """Why it answers for no instant at all."""
        if self.driver is not None:
            return [(kind, self.relation) for kind in self.driver.reasons_for_nothing()]
        return [("NoSamples", self.relation)] if not self.fixed and self.bare else []

    def covers(self, t: float) -> bool:
        if self.fixed:
            is_open = self.begin <= t < self.end or t == self.end == math.inf
            return is_open and (self.driver is None or self.driver.covers(t))
        if not self.known or t < self.known[0].stamp:
            return False
        return t < self.end or t == math.inf if self.steps else t <= self.known[-1].stamp

    @property
    def steps(self) -> bool:
        """Whether each sample holds until the next one."""
        return self.way == "step" and not self.fixed

    @property
    def newest_datum(self) -> float:
        """From when on it is as it was left."""
        if self.timeless:
            return self.begin
        return self.known[-1].stamp if self.driver is None else max(self.begin, self.driver.newest())

    def weakness(self, t: float) -> tuple[int, float]:
        """Orders runs by how far their data are from t; a cycle is cut at its weakest run."""
        if self.covers(t):
            return 0, 0.0
        if not self.known:
            return 3, 0.0
        first, last = self.known[0].stamp, self.known[-1].stamp
        return (1, -last) if t > last else (2, first)

    def at(
        self, t: float, outside: str, how: str, default: np.ndarray | None = None, limit: float = math.inf
    ) -> tuple[np.ndarray, np.ndarray | None, Held]:
        """Value, covariance (None: unknown) and what was held, at most for `limit`."""
        if self.driver is not None:
            return self._driven(t, outside, limit)
        if self.steps and self.covers(t):
            last = max((event for event in self.known if event.stamp <= t), key=lambda e: e.stamp)
            return *self._stored(last), () if last.stamp == t else ((None, t - last.stamp),)
        if self.covers(t):
            return *self._between(t, how), ()
        if not self.known:
            raise refuse("NoSamples" if self.bare else "BeforeHistory", self.relation)
        early = t < self.known[0].stamp
        nearest = self.known[0 if early else -1]
        if outside == "hold" and abs(t - nearest.stamp) <= limit:
            return *self._stored(nearest), ((None, t - nearest.stamp),)
        alone = len(self.known) == 1 and not self.fixed
        if alone and (early or not self.moves_on):
            raise refuse("SingleSample", self.relation)
        if outside == "predict" and not (early or alone) and not self.fixed and t - self.known[-1].stamp <= HORIZON_NS:
            return *self._continued(t, how, default), ()
        raise refuse("BeforeHistory" if early else "AfterHistory", self.relation)

    def _driven(self, t: float, outside: str, limit: float) -> tuple[np.ndarray, np.ndarray | None, Held]:
        early = t < self.begin
        if early and (outside != "hold" or self.begin - t > limit):
            raise refuse("BeforeHistory", self.relation)
        value, covariance, held = self.driver.at(max(t, self.begin), outside, self.relation, limit)
        return value, covariance, held + (((None, t - self.begin),) if early else ())

    def latest(self, t: float) -> float:
        """The newest instant until t that is covered; t where all are, or where it begins later."""
        if self.timeless or self.steps or not self.known:
            return t
        first, last = (-math.inf, self.known[-1].stamp) if self.driver is None else self.driver.span()
        return t if first > t else min(t, last)

    def _continued(self, t: float, how: str, default: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """The motion of the last interval goes on."""
        before, last = self.known[-2:]
        V = body_twist(before.value, last.value, (last.stamp - before.stamp) / NS_PER_S, how)
        ahead_s = (t - last.stamp) / NS_PER_S
        if np.abs(V * ahead_s).max() > MOST_PREDICTED:
            raise Unclear
        return last.value @ exp(V * ahead_s), self._covariance_ahead(ahead_s, how, default)

    def _covariance_ahead(self, ahead_s: float, how: str, default: np.ndarray | None) -> np.ndarray | None:
        """What the errors of the last two samples make of a pose so far ahead, and the noise on the way.

        The derivatives are numeric; the noise of every instant is carried to the end.
        """
        ends = self.known[-2:]
        covariances = [default if event.covariance is None else event.covariance for event in ends]
        if any(covariance is None for covariance in covariances):
            return None
        h_s = (ends[1].stamp - ends[0].stamp) / NS_PER_S

        def ahead(errors: np.ndarray) -> np.ndarray:
            Ta, Tb = (event.value @ exp(error) for event, error in zip(ends, np.split(errors, 2), strict=True))
            return Tb @ exp(body_twist(Ta, Tb, h_s, how) * ahead_s)

        there, columns = inverse(ahead(np.zeros(12))), np.eye(12) * STEP
        J = np.stack([log(there @ ahead(c)) - log(there @ ahead(-c)) for c in columns], axis=1) / (2.0 * STEP)
        V = body_twist(ends[0].value, ends[1].value, h_s, how)
        instants, weights = np.polynomial.legendre.leggauss(12)
        noise = sum(
            w * moved(NOISE_PER_S, adjoint(exp(-V * (ahead_s * (x + 1.0) / 2.0))))
            for x, w in zip(instants, weights, strict=True)
        )
        return moved(covariances[0], J[:, :6]) + moved(covariances[1], J[:, 6:]) + noise * ahead_s / 2.0

    def _stored(self, event: Event) -> tuple[np.ndarray, np.ndarray | None]:
        exact = event.fixed and event.covariance is None
        return event.value, np.zeros((6, 6)) if exact else event.covariance

    def _between(self, t: float, how: str) -> tuple[np.ndarray, np.ndarray | None]:
        a = max((event for event in self.known if event.stamp <= t), key=lambda e: e.stamp)
        if self.fixed or a.stamp == t:
            return self._stored(a)
        b = min((event for event in self.known if event.stamp > t), key=lambda e: e.stamp)
        u = (t - a.stamp) / (b.stamp - a.stamp)
        T = interpolate(a.value, b.value, u, how)
        if a.covariance is None or b.covariance is None:
            return T, None
        from_a = moved(a.covariance, adjoint(inverse(T) @ a.value))
        return T, (1.0 - u) * from_a + u * moved(b.covariance, adjoint(inverse(T) @ b.value))


@dataclass(frozen=True, eq=False)
class Step:
    """One edge of a path, walked from `in_frame` towards `of`; upwards it is inverted."""

    run: Run
    upwards: bool
    at: float
    value: np.ndarray
    covariance: np.ndarray | None
    held: Held
    outside: str

    @property
    def predicted(self) -> bool:
        if self.run.driver is not None:
            return self.outside == "predict" and self.run.driver.predicts(self.at)
        return not self.run.fixed and not self.run.steps and not self.held and self.at > self.run.known[-1].stamp

    @property
    def matrix(self) -> np.ndarray:
        return inverse(self.value) if self.upwards else self.value

    def draws_the_same_error_as(self, other: Step) -> bool:
        same_fixing = self.run.timeless and self.run.events == other.run.events
        return same_fixing or self.at == other.at

    def jacobian(self, rest: np.ndarray) -> np.ndarray:
        """How noise on this edge moves the answer, where `rest` follows the edge in the product."""
        return -adjoint(inverse(self.matrix @ rest)) if self.upwards else adjoint(inverse(rest))


@dataclass(frozen=True, eq=False)
class Answer:
    matrix: np.ndarray
    stamp: int | None
    held: frozenset[tuple[Relation, str | None, float]]  # relation, joint, age [ns]
    predicted: bool
    covariance: np.ndarray | None
    relations: frozenset[Relation]


def product(steps: Sequence[Step]) -> np.ndarray:
    result = np.eye(4)
    for step in steps:
        result = result @ step.matrix
    return result


def bound(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Covers the sum of two errors however they are correlated."""
    if np.trace(A) == 0.0 or np.trace(B) == 0.0:
        return A + B
    a = math.sqrt(np.trace(B) / np.trace(A))
    return (1.0 + a) * A + (1.0 + 1.0 / a) * B


def propagate(steps: Sequence[Step]) -> np.ndarray | None:
    """The covariance of the product, counting an edge that occurs twice as correlated."""
    if any(step.covariance is None for step in steps):
        return None
    total = np.zeros((6, 6))
    for relation in {step.run.relation for step in steps}:
        where = [i for i, step in enumerate(steps) if step.run.relation == relation]
        Js = [steps[i].jacobian(product(steps[i + 1 :])) for i in where]
        Ss = [steps[i].covariance for i in where]
        one_error = steps[where[0]].draws_the_same_error_as(steps[where[-1]])
        total += moved(Ss[0], sum(Js)) if one_error else bound(*map(moved, Ss, Js))
    return total


class ReferenceWorld:
    """Frames, what every source asserted about them, and the queries of `armillary.World`."""

    def __init__(self, *, history=math.inf, interpolation="linear", default_covariance=None, rival_timeout=NS_PER_S):
        self.rival_timeout = rival_timeout
        self.history, self.interpolation = history, interpolation
        self.default_covariance = default_covariance
        self.slots: dict[tuple[str, str], dict[Any, str]] = {}  # parents, by what was asserted
        self.events: dict[tuple[str, str], dict[float, Event]] = {}
        self.preferred: dict[str, list[tuple[float, float, str | None]]] = {}  # start, end, source; the newest last
        self.kept: dict[Relation, float] = {}
        self.ways: dict[Relation, str] = {}  # how samples follow one another, where that was chosen

    @property
    def frames(self) -> set[str]:
        """A frame exists while an assertion that was not replaced or removed names it."""
        return {name for (of, _), slots in self.slots.items() for name in (of, *slots.values())}

    def set_pose(self, *, of, in_frame, transform, at, source="", covariance=None, interpolation=None):
        before = self.ways
        try:
            if interpolation is not None:
                self.add_relation(of=of, in_frame=in_frame, source=source, interpolation=interpolation)
            self._add_sample(of, in_frame, source, Event(at, in_frame, transform, covariance, fixed=False))
        except Refused:
            self.ways = before
            raise

    def _add_sample(self, of: str, in_frame: str, source: str, event: Event) -> None:
        at = event.stamp
        stamps = self._sample_stamps((of, in_frame, source))
        if stamps and at < max(stamps) - self.kept.get((of, in_frame, source), self.history):
            raise refuse("BeforeHistory", (of, in_frame, source))
        self._commit(of, source, {**self.events.get((of, source), {}), at: event})
        self.slots.setdefault((of, source), {})["samples", in_frame] = in_frame

    def add_relation(self, *, of, in_frame, interpolation, source=""):
        """Choose how the samples of a relation follow one another, those of the past included."""
        before = self.ways
        self.ways = {**before, (of, in_frame, source): interpolation}
        if self._has_loop():
            self.ways = before
            raise refuse("FrameLoop")

    def fix(self, *, of, in_frame, transform, at=None, source="", covariance=None, rank=PLAIN):
        stamp = ALWAYS if at is None else at
        event = Event(stamp, in_frame, transform, covariance, fixed=True, rank=rank)
        others = {} if at is None else self.events.get((of, source), {})
        self._commit(of, source, {**others, stamp: event})
        self._assert(of, source, stamp, in_frame)

    def end(self, *, of, source, at):
        if of not in self.frames:
            raise refuse("UnknownFrame")
        if (of, source) not in self.events:
            raise refuse("InvalidArgument")
        event = Event(at, "", None, None, fixed=True, ends=True)
        self._commit(of, source, {**self.events[of, source], at: event})
        self._assert(of, source, at, of)

    def _assert(self, of: str, source: str, stamp: float, parent: str) -> None:
        before = {} if stamp == ALWAYS else self.slots.get((of, source), {})
        self.slots[of, source] = {**before, stamp: parent}
        if stamp == ALWAYS:  # of samples that are to come nothing is known any more
            self.ways = {one: way for one, way in self.ways.items() if (one[0], one[2]) != (of, source)}

    def drive(self, *, of, in_frame, driver, at=None, source=""):
        stamp = ALWAYS if at is None else at
        event = Event(stamp, in_frame, np.eye(4), None, fixed=True, driver=driver)
        others = {} if at is None else self.events.get((of, source), {})
        self._commit(of, source, {**others, stamp: event})
        self._assert(of, source, stamp, in_frame)

    def _commit(self, of: str, source: str, events: dict[float, Event]) -> None:
        before = self.events
        remaining = [event for event in events.values() if event.fixed or event.stamp != ALWAYS]
        self.events = {**before, (of, source): {event.stamp: event for event in remaining}}
        self._expire(of, source)
        if self._has_loop():
            self.events = before
            raise refuse("FrameLoop")

    def _sample_stamps(self, relation: Relation) -> list[float]:
        of, parent, source = relation
        events = self.events.get((of, source), {}).values()
        remaining = [event for event in events if event.parent == parent and event.value is not None]
        return [event.stamp for event in remaining if not event.fixed]

    def _expire(self, of: str, source: str) -> None:
        for run in self.runs(of, source):
            stamps, history = self._sample_stamps(run.relation), self.kept.get(run.relation, self.history)
            self._forget(run, before=max(stamps, default=math.inf) - history)
        while len(runs := self.runs(of, source)) > 1 and not (runs[0].known or runs[0].ended):
            del self.events[of, source][runs[0].begin]

    def _forget(self, run: Run, before: float) -> None:
        """Drops values, but not since when the frame is under its parent."""
        events = self.events[run.of, run.source]
        for event in run.events:
            if event.stamp < before and not event.fixed:
                del events[event.stamp]
        if run.begin not in events:
            events[run.begin] = replace(run.events[0], value=None)

    def _has_loop(self) -> bool:
        runs = [run for of, source in self.events for run in self.runs(of, source) if run.known]
        instants = {run.known[0].stamp for run in runs}
        return any(has_cycle([run for run in runs if run.covers(t)]) for t in instants)

    def prefer(self, *, of, source, start=None, end=None):
        if source is not None and (of, source) not in self.events:
            raise refuse("InvalidArgument")
        since, until = ALWAYS if start is None else start, math.inf if end is None else end
        self.preferred.setdefault(of, []).append((since, until, source))

    def preferred_at(self, of: str, t: float) -> str | None:
        """The newest preference that covers t."""
        covering = [who for start, end, who in self.preferred.get(of, []) if start <= t < end or t == end == math.inf]
        return covering[-1] if covering else None

    def keep(self, *, of, in_frame, history, source=""):
        self.kept[of, in_frame, source] = history
        self._expire(of, source)

    def clear(self):
        for (of, source), events in self.events.items():
            runs = self.runs(of, source)
            for run in runs:
                self._forget(run, before=math.inf)
            if not any(run.fixed for run in runs):  # only the newest parent is worth keeping
                last = events[runs[-1].begin]
                events.clear()
                events[ALWAYS] = replace(last, stamp=ALWAYS)

    def children(self, names: set[str]) -> set[str]:
        runs = [run for of, source in self.events for run in self.runs(of, source)]
        return {run.of for run in runs if run.parent in names}

    def remove_frame(self, name, *, subtree=False):
        if name not in self.frames:
            raise refuse("UnknownFrame")
        if self.children({name}) and not subtree:
            raise refuse("FrameInUse")
        gone = {name}
        while not self.children(gone) <= gone:
            gone |= self.children(gone)
        for track in [track for track in self.slots if track[0] in gone]:
            del self.slots[track]
        for track, slots in self.slots.items():
            self.slots[track] = {key: parent for key, parent in slots.items() if parent not in gone}
        self.preferred = {f: steps for f, steps in self.preferred.items() if f not in gone}
        self.events = {track: events for track, events in self.events.items() if track[0] not in gone}
        self.kept = {r: history for r, history in self.kept.items() if gone.isdisjoint(r[:2])}
        self.ways = {r: way for r, way in self.ways.items() if gone.isdisjoint(r[:2])}

    def runs(self, of: str, source: str) -> list[Run]:
        groups: list[list[Event]] = []
        for event in sorted(self.events[of, source].values(), key=lambda e: e.stamp):
            before = groups[-1][-1] if groups else event
            joins = not (before.fixed or event.fixed) and before.parent == event.parent
            if groups and joins:
                groups[-1].append(event)
            else:
                groups.append([event])
        ends = [group[0].stamp for group in groups[1:]] + [math.inf]
        stamps = [self._sample_stamps((of, group[0].parent, source)) for group in groups]
        newest = [max(each, default=-math.inf) for each in stamps]
        ways = [self.ways.get((of, group[0].parent, source), "linear") for group in groups]
        runs = [Run(of, source, *rest) for rest in zip(map(tuple, groups), ends, newest, ways, strict=True)]
        return [replace(run, moves_on=moves_on(run, runs[i + 1 :])) for i, run in enumerate(runs)]

    def run_above(self, of: str, t: float) -> Run | str | None:
        """The run that places `of` at t; None for a root. Rule 8: open, contested, preferred."""
        tracks = {source: self.runs(of, source) for name, source in sorted(self.events) if name == of}
        current = {s: [run for run in runs if run.begin <= t][-1:] for s, runs in tracks.items()}
        begun = {s: runs[0] for s, runs in current.items() if runs}
        alive = {s: run for s, run in begun.items() if not run.ended}
        opened = {s: run for s, run in alive.items() if run.is_open(t, self.rival_timeout)}
        if (preferred := self.preferred_at(of, t)) in opened:
            return opened[preferred]
        if rivals := [run for run in opened.values() if run.rank > FALLBACK]:
            strongest = [run for run in rivals if run.rank == max(rival.rank for rival in rivals)]
            return strongest[0] if len(strongest) == 1 else CONTESTED
        if remaining := list((opened or alive).values()):
            return max(remaining, key=lambda run: (run.datum(t), run.rank))
        firsts = [next((run for run in runs if not run.ended), None) for runs in tracks.values()]
        if begun or not any(firsts):
            return None
        return min((run for run in firsts if run is not None), key=lambda run: run.begin)

    def newest_datum(self, of: str) -> tuple[float, int]:
        """The newest thing that any source gave, and the number of sources; nothing of a parent that never changes."""
        tracks = [self.runs(of, source) for name, source in self.events if name == of]
        if len(tracks) == 1 and len(tracks[0]) == 1 and (not tracks[0][0].fixed or tracks[0][0].begin == ALWAYS):
            return ALWAYS, 1
        return max((run.datum(LATEST) for runs in tracks for run in runs[-1:] if not run.ended), default=ALWAYS), len(
            tracks
        )

    def is_guess(self, of: str, t: float) -> bool:
        """Whether several sources place a frame, and all of them are silent."""
        run, sources = self.run_above(of, t), sum(name == of for name, _ in self.events)
        return sources > 1 and isinstance(run, Run) and not (run.begin <= t and run.is_open(t, self.rival_timeout))

    def structure(self, t: float) -> dict[str, Run | str | None]:
        above = {frame: self.run_above(frame, t) for frame in self.frames}
        while found_cycles := cycles(above):
            above[max(found_cycles[0], key=lambda frame: (above[frame].weakness(t), frame))] = None
        return above

    def path(self, of: str, in_frame: str, t: float) -> list[tuple[Run, bool]]:
        """Runs from `in_frame` to `of`, each with whether it is walked upwards."""
        above = self.structure(t)
        of_chain, in_chain = climb(above, of), climb(above, in_frame)
        common = next((frame for frame in of_chain if frame in in_chain), None)
        if common is None:
            tops = above[of_chain[-1]], above[in_chain[-1]]
            raise refuse("AmbiguousPath" if CONTESTED in tops else "NotConnected")
        upwards = [(above[f], True) for f in in_chain[: in_chain.index(common)]]
        return upwards + [(above[f], False) for f in of_chain[: of_chain.index(common)]][::-1]

    def latest(self, of: str, in_frame: str) -> float:
        """The newest instant the path covers: down from the newest, gap by gap."""
        t, too_late = LATEST, set()
        while of != in_frame:
            try:
                path = [run for run, _ in self.path(of, in_frame, t)]
            except Refused as refused:  # an edge of the newer path that begins after t is a reason too
                above = self.structure(t)
                passed = {*climb(above, of), *climb(above, in_frame)}
                newest = self.newest_of_rivals(passed) if any(self.is_guess(frame, t) for frame in passed) else LATEST
                if t == LATEST and refused.kinds == {"NotConnected"} and newest < t:
                    t = newest
                    continue
                raise Refused(refused.reasons | too_late) from None
            moving = [run for run in path if not run.timeless]
            if empty := [reason for run in moving for reason in run.reasons_for_nothing()]:
                raise Refused(empty)
            lower = min([t] + [run.latest(t) for run in moving])
            if lower == LATEST:
                lower = self.newest_of_rivals(run.of for run in path)
            if lower == t:
                return self._as_left(of, in_frame) if t == LATEST and moving else t
            too_late |= {("BeforeHistory", None) for run in moving if run.begin > lower}
            t = lower
        return t

    def newest_of_rivals(self, frames: Iterable[str]) -> float:
        """Where several sources place a frame: the newest instant that anything was given for; else LATEST."""
        given = [self.newest_datum(frame) for frame in frames]
        newest = max((datum for datum, _ in given), default=ALWAYS)
        return newest if newest != ALWAYS and any(sources > 1 for _, sources in given) else LATEST

    def _as_left(self, of: str, in_frame: str) -> float:
        """From when on nothing on the path has changed."""
        return max(run.newest_datum for run, _ in self.path(of, in_frame, LATEST))

    def segment(self, of, in_frame, at, **options) -> list[Step]:
        """The edges between two frames at one instant, or at the newest that all of them cover."""
        if at != LATEST:
            return self.steps(of, in_frame, at, **options)
        t = self.latest(of, in_frame)
        try:
            return self.steps(of, in_frame, t, **options)
        except Refused as refused:  # an edge begins after the newest common instant: of this path, or of a newer one
            kinds = {kind.replace("SingleSample", "BeforeHistory") for kind in refused.kinds}
            raise Refused((kind, None) for kind in kinds) from None

    def steps(self, of, in_frame, t, *, outside, how, limit) -> list[Step]:
        def step(edge: tuple[Run, bool]) -> list[Step]:
            run, upwards = edge
            own = run.way if how is None and run.way == "screw" else how or self.interpolation
            value, covariance, held = run.at(t, outside, own, self.default_covariance, limit)
            covariance = self.default_covariance if covariance is None else covariance
            return [Step(run, upwards, t, value, covariance, held, outside)]

        return collect(step, self.path(of, in_frame, t))

    def pose(self, *, of, in_frame, at=LATEST, of_at=None, fixed_frame=None, outside="raise",
             interpolation=None, hold_up_to_s=math.inf) -> Answer:  # fmt: skip
        how, limit = interpolation, hold_up_to_s * NS_PER_S
        if not {of, in_frame, fixed_frame or of} <= self.frames:
            raise refuse("UnknownFrame")
        seen = fixed_frame or of
        segments = [(seen, in_frame, at), (of, fixed_frame, of_at)][: 1 if fixed_frame is None else 2]
        steps = collect(lambda segment: self.segment(*segment, outside=outside, how=how, limit=limit), segments)
        timeless = (at == LATEST or bool(steps)) and all(step.run.timeless for step in steps)
        t = self.latest(seen, in_frame) if at == LATEST else at
        if at == LATEST and (t == LATEST or all(run.timeless for run, _ in self.path(seen, in_frame, t))):
            t = of_at  # one side says nothing about time
        return Answer(
            matrix=product(steps),
            stamp=None if timeless else t,
            held=frozenset((step.run.relation, *held) for step in steps for held in step.held),
            predicted=any(step.predicted for step in steps),
            covariance=propagate(steps),
            relations=frozenset(step.run.relation for step in steps),
        )


def moves_on(run: Run, later: list[Run]) -> bool:
    return any(bool(other.known) and other.relation != run.relation for other in later)


def collect(call: Callable[[Any], list[Step]], items: list) -> list[Step]:
    """Everything the calls give, or every reason why they do not."""
    steps, reasons = [], set()
    for item in items:
        try:
            steps += call(item)
        except Refused as refused:
            reasons |= refused.reasons
    if reasons:
        raise Refused(reasons)
    return steps


def climb(above: dict[str, Run | str | None], frame: str) -> list[str]:
    """The frame and its ancestors, up to a root, a contested frame, or the first one met again."""
    frames = [frame]
    while isinstance(above[frames[-1]], Run) and frames[-1] not in frames[:-1]:
        frames.append(above[frames[-1]].parent)
    return frames


def cycles(above: dict[str, Run | str | None]) -> list[list[str]]:
    climbs = [climb(above, frame) for frame in sorted(above)]
    return [frames[:-1] for frames in climbs if len(frames) > 1 and frames[0] == frames[-1]]


def has_cycle(runs: list[Run]) -> bool:
    """Whether the edges of these runs, of all sources together, close a cycle: remove leaves until none is left."""
    while runs:
        inner = [run for run in runs if run.parent in {other.of for other in runs}]
        if len(inner) == len(runs):
            return True
        runs = inner
    return False
