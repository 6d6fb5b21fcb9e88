"""Joints in plain Python: the samples of each variable, and the poses that variables drive.

The oracle of the laws of jointed worlds, beside `reference.py`. A rotation is one variable with four names.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reference import (
    HORIZON_NS,
    NS_PER_S,
    Held,
    Refused,
    Relation,
    Unclear,
    exp,
    refuse,
    rotation_log,
    wxyz_from_rotation,
)

RIVAL_TIMEOUT_NS = 1_000_000_000

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_PREDICTED = 3.0  # of a position, before rounding decides
TURN = 2.0 * math.pi


def rotation_of(wxyz: np.ndarray) -> np.ndarray:
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def way(kind: str, a: Any, b: Any) -> Any:
    """From one value to the next; of a rotation the turn, in its own axes."""
    if kind == "unit_quaternion":
        return rotation_log(rotation_of(a).T @ rotation_of(b))
    return math.remainder(b - a, TURN) if kind == "wrap" else b - a


def moved(kind: str, a: Any, step: Any) -> Any:
    if kind == "unit_quaternion":
        return wxyz_from_rotation(rotation_of(a) @ exp([0.0, 0.0, 0.0, *step])[:3, :3])
    return a + step


@dataclass(frozen=True)
class State:
    """A variable at one instant; the velocity of a rotation is its turn a second, in its own axes."""

    value: Any
    velocity: Any | None
    held: float | None = None  # the age of the sample [ns], where it is used at another instant
    predicted: bool = False


class ReferenceJoints:
    """Variables, and the samples of every source: one value a stamp."""

    def __init__(self, kinds: dict[str, str], *, history: float = math.inf) -> None:
        self.kinds, self.history = kinds, history
        self.clear()

    def clear(self) -> None:
        self.stored: dict[tuple[str, str], dict[int, tuple[Any, Any]]] = {}
        self.begins: dict[tuple[str, str], int] = {}
        self.preferred: dict[str, str] = {}

    def set_joints(self, joints: dict[str, Any], *, at: int, velocities: dict[str, Any], source: str) -> None:
        for name in joints:
            if at < max(self.stored.get((name, source), {at: None})) - self.history:
                raise refuse("BeforeHistory")
        for name, value in joints.items():
            self.stored.setdefault((name, source), {})[at] = value, velocities.get(name)
            self.begins[name, source] = min(at, self.begins.get((name, source), at))

    def sources(self, name: str) -> list[str]:
        return [source for joint, source in self.stored if joint == name]

    def kept(self, name: str, source: str) -> dict[int, tuple[Any, Any]]:
        stored = self.stored[name, source]
        return {t: stored[t] for t in sorted(stored) if t >= max(stored) - self.history}

    def newest(self, name: str, source: str) -> int:
        return max(self.stored[name, source])

    def active_source(self, name: str, t: float) -> str:
        """The source that counts at t: rule 8, as for poses."""
        known = self.sources(name)
        if not known:
            raise refuse("NoSamples")
        begun = [source for source in known if self.begins[name, source] <= t]
        held = self.kinds[name] == "hold"
        opened = [source for source in begun if held or t <= self.newest(name, source) + RIVAL_TIMEOUT_NS]
        if self.preferred.get(name) in opened:
            return self.preferred[name]
        if len(opened) > 1:
            raise refuse("ContestedJoint")
        if opened or begun:
            return opened[0] if opened else max(begun, key=lambda source: self.newest(name, source))
        return min(known, key=lambda source: self.begins[name, source])

    def active_samples(self, name: str, t: float) -> dict[int, tuple[Any, Any]]:
        """The samples that count at t, oldest first."""
        return self.kept(name, self.active_source(name, t))

    def span(self, name: str) -> tuple[float, float]:
        """Return the first stamp of all sources and the newest of the one that counts; (inf, -inf) without samples."""
        kept = [self.kept(name, source) for source in self.sources(name)]
        first = min((min(samples) for samples in kept), default=math.inf)
        last = max((max(samples) for samples in kept), default=-math.inf)
        with suppress(Refused):
            last = self.newest(name, self.active_source(name, last))
        return first, math.inf if kept and self.kinds[name] == "hold" else last

    def at(self, name: str, t: float, outside: str, limit: float = math.inf) -> State:
        samples, kind = self.active_samples(name, t), self.kinds[name]
        before, after = [s for s in samples if s <= t], [s for s in samples if s > t]
        if t in samples:
            return State(samples[t][0], self._velocity_at(name, samples, int(t)))
        if before and kind == "hold":
            return State(samples[before[-1]][0], 0.0, held=t - before[-1])
        if before and after:
            return self._between(kind, samples, before[-1], after[0], t)
        return self._outside(name, samples, t, outside, limit)

    def _velocity_at(self, name: str, samples: dict, t: int) -> Any | None:
        kind, order = self.kinds[name], list(samples)
        if samples[t][1] is not None:
            return samples[t][1]
        if kind == "hold":
            return 0.0
        i = min(order.index(t), len(order) - 2)
        return None if i < 0 else self._slope(kind, samples, order[i], order[i + 1])

    def _slope(self, kind: str, samples: dict, a: int, b: int) -> Any:
        return way(kind, samples[a][0], samples[b][0]) / ((b - a) / NS_PER_S)

    def _between(self, kind: str, samples: dict, a: int, b: int, t: float) -> State:
        u = (t - a) / (b - a)
        value = moved(kind, samples[a][0], u * way(kind, samples[a][0], samples[b][0]))
        given = [samples[a][1], samples[b][1]]
        if any(velocity is None for velocity in given):
            return State(value, self._slope(kind, samples, a, b))
        return State(value, (1.0 - u) * given[0] + u * given[1])

    def _outside(self, name: str, samples: dict, t: float, outside: str, limit: float) -> State:
        kind, first, last = self.kinds[name], min(samples), max(samples)
        nearest = first if t < first else last
        if outside == "hold" and abs(t - nearest) <= limit:
            return State(samples[nearest][0], 0.0 * way(kind, *[samples[first][0]] * 2), held=t - nearest)
        speed = self._velocity_at(name, samples, last)
        if outside == "predict" and t > last and t - last <= HORIZON_NS and speed is not None:
            step = speed * ((t - last) / NS_PER_S)
            if np.abs(step).max() > MOST_PREDICTED:
                raise Unclear
            return State(moved(kind, samples[last][0], step), speed, predicted=True)
        if self.span(name)[0] == self.span(name)[1]:
            raise refuse("SingleSample")
        raise refuse("BeforeHistory" if t < first else "AfterHistory")


@dataclass(frozen=True, eq=False)
class Driver:
    """A pose that is `motion(values)` of variables."""

    joints: ReferenceJoints
    names: Sequence[str]
    motion: Callable[[list[Any]], np.ndarray]

    def span(self) -> tuple[float, float]:
        spans = [self.joints.span(name) for name in self.names]
        return max(first for first, _ in spans), min(last for _, last in spans)

    def newest(self) -> float:
        kept = [self.joints.kept(name, source) for name in self.names for source in self.joints.sources(name)]
        return max(max(samples) for samples in kept)

    def covers(self, t: float) -> bool:
        return self.span()[0] <= t <= self.span()[1]

    def reasons_for_nothing(self) -> list[str]:
        if any(not self.joints.sources(name) for name in self.names):
            return ["NoSamples"]
        return ["BeforeHistory"] if self.span()[0] > self.span()[1] else []

    def states(self, t: float, outside: str, relation: Relation | None = None, limit: float = math.inf) -> list[State]:
        states, reasons = [], set()
        for name in self.names:
            try:
                states.append(self.joints.at(name, t, outside, limit))
            except Refused as refused:
                reasons |= {(kind, None if kind == "ContestedJoint" else relation) for kind in refused.kinds}
        if reasons:
            raise Refused(reasons)
        return states

    def at(self, t: float, outside: str, relation: Relation, limit: float) -> tuple[np.ndarray, None, Held]:
        states = self.states(t, outside, relation, limit)
        held = [(name, state.held) for name, state in zip(self.names, states, strict=True) if state.held is not None]
        return self.motion([state.value for state in states]), None, tuple(held)

    def predicts(self, t: float) -> bool:
        return any(state.predicted for state in self.states(t, "predict"))
