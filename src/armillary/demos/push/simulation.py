"""Kinematic simulation with contact: a thing moves where the tool would overlap its handle, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import process_time

from armillary.articulation import ArticulationModel
from armillary.demos.push.setting import DT_S, OPEN, Setting
from armillary.motion.pushing import Push

__all__ = ["Contact", "Run", "close"]

_STEPS = 30
_PARTS = 5
_EXACT_M = 1e-9
_MOVED = 1e-9


class Contact:
    """What the tool of a robot does to one joint, by geometry alone.

    Args:
        push: For the distance, as a function of the configuration.
        lower: The least position of the joint.
        upper: The greatest.
    """

    def __init__(self, push: Push, lower: float, upper: float) -> None:
        self._push, self._joint = push, push.joint.name
        self._lower, self._upper = lower, upper
        slope = push.distance_m.jacobian([push.joint])[0, 0]
        self._slope = slope.compile(order=push.distance_m.compile().order)
        self._names = [str(variable) for variable in self._slope.order]

    def moved(
        self, model: ArticulationModel, configuration: Mapping[str, float], velocities: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the configuration after a step of the robot, in parts that are short against the tool."""
        found = dict(configuration)
        for _ in range(_PARTS):
            found = self.resolved(model.integrate(found, velocities, dt_s=DT_S / _PARTS))
        return found

    def resolved(self, configuration: Mapping[str, float]) -> dict[str, float]:
        """Return the configuration with the joint where the tool pushes it: out of the overlap, within its limits."""
        found = dict(configuration)
        gap = self._push.gap_m(found)
        if gap >= 0.0:
            return found
        for _ in range(_STEPS):
            slope = float(self._slope([found[name] for name in self._names]))
            if abs(gap) < _EXACT_M or abs(slope) < 1e-6:  # noqa: PLR2004
                break
            found[self._joint] = min(max(found[self._joint] - gap / slope, self._lower), self._upper)
            gap = self._push.gap_m(found)
        return found


@dataclass
class Run:
    """What happened while one thing was pushed.

    Attributes:
        handle: The path of the handle.
        steps: How many there were.
        left: The last position of the joint.
        worst_gap_m: The largest distance between tool and handle, before and after every step that moved the thing.
        cpu_s: Of all steps of the controller.
        gaps_m: After each step.
        positions: Of the joint, after each step.
        passed: The configurations, if they were wanted.
    """

    handle: str
    steps: int = 0
    left: float = OPEN
    worst_gap_m: float = 0.0
    cpu_s: float = 0.0
    gaps_m: list[float] = field(default_factory=list)
    positions: list[float] = field(default_factory=list)
    passed: list[dict[str, float]] = field(default_factory=list)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, to 5 mm or 5 mrad, and touched all the way."""
        return abs(self.left) <= 5e-3  # noqa: PLR2004


def close(setting: Setting, handle: str, start: Mapping[str, float], *, max_steps: int = 500) -> Run:
    """Push what has this handle until it is closed."""
    joint = setting.joint(handle).name
    now, run = dict(start), Run(handle)
    push = setting.push(handle, now)
    contact = Contact(push, *setting.limits(handle))
    run.passed.append(now)
    push.prepare(now)
    while run.steps < max_steps:
        begin = process_time()
        step = push.step(now)
        run.cpu_s += process_time() - begin
        if push.is_done:
            break
        before, gap = now[joint], push.gap_m(now)
        now = contact.moved(setting.model, now, step.velocities)
        after = push.gap_m(now)
        if abs(now[joint] - before) > _MOVED:
            run.worst_gap_m = max(run.worst_gap_m, abs(gap), abs(after))
        run.steps += 1
        run.gaps_m.append(after)
        run.positions.append(now[joint])
        run.passed.append(now)
    run.left = now[joint]
    return run
