"""A robot that keeps a kitchen in order: it looks around, sees with noise, tracks, and pushes shut what is open.

Somebody opens one thing after the other. The robot knows its own joints; what it knows of the kitchen are noisy poses
of the links in the field of view of its camera, from which a filter estimates how far everything is open. It is the
full system of the Kineverse thesis (4.2.4), which works there without noise only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from armillary.articulation import stack
from armillary.demos.push.setting import DT_S, OPEN, Setting
from armillary.demos.push.simulation import Contact
from armillary.motion import Controller, PointingGoal, PositionGoal, PostureGoal, TrackingFilter
from armillary.motion.pushing import Push
from armillary.stamps import seconds
from armillary.transforms import Transform

__all__ = ["Moment", "Tidying", "tidy"]

ALPHA = 0.01
_HALF_VIEW = math.cos(math.radians(54.0 / 2.0))
_IS_OPEN, _IS_SHUT = 0.04, 0.012  # by the estimate
_PRESS_M = 0.003
_OPENED_AFTER, _OPENING_STEPS = 15, 10
_LOOK_STEPS = 8
_SWEEP = ((0.6, -0.3, 0.5), (0.6, 0.6, 0.5), (0.6, 1.7, 0.8), (2.2, 1.0, 0.5), (2.2, 0.3, 0.5))
_PATIENCE, _REST = 120, 30  # steps of a push before it is tried anew, after looking around for some
_MOST_WAIT = 1500


@dataclass(frozen=True)
class Moment:
    """One step of the kitchen.

    Attributes:
        time_s: Since the beginning.
        configuration: Where everything is.
        estimate: How far each joint of the kitchen is open, by the filter.
        doing: "looking", or which joint is pushed.
        in_view: How many links the camera saw.
    """

    time_s: float
    configuration: Mapping[str, float]
    estimate: Mapping[str, float]
    doing: str
    in_view: int


@dataclass
class Tidying:
    """What happened.

    Attributes:
        opened: The joints that were opened, in order.
        closed: Those of them that were closed again, to 0.02 m or rad.
        steps: How many there were.
        tracking_error: The mean distance between estimate and truth of the joints that have a handle.
        cpu_s: Of controller and filter.
    """

    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    steps: int = 0
    tracking_error: float = 0.0
    cpu_s: float = 0.0


class _Eyes:
    """A camera that sees poses of links of the kitchen, the less exactly the farther they are."""

    def __init__(self, setting: Setting, alpha: float, rng: np.random.Generator) -> None:
        model = setting.model
        kitchen = [variable for variable in model.variables() if variable.name.startswith("kitchen/")]
        self.links = model.affected_by(kitchen).links
        self.names = [variable.name for variable in kitchen]
        camera = model.pose("robot/links/camera_optical")
        poses = stack([model.pose(link).matrix for link in self.links] + [camera.matrix])
        self._poses = poses.compile()
        self._order = [str(variable) for variable in self._poses.order]
        self._alpha, self._rng = alpha, rng

    def look(self, configuration: Mapping[str, float]) -> tuple[dict[str, Transform], dict[str, tuple[float, ...]]]:
        """Return noisy poses of what is in view, and their variances."""
        matrices = self._poses([configuration[name] for name in self._order]).reshape(-1, 4, 4)
        camera = matrices[-1]
        away = matrices[:-1, :3, 3] - camera[:3, 3]
        distances = np.linalg.norm(away, axis=1)
        is_seen = away @ camera[:3, 2] > _HALF_VIEW * distances
        poses: dict[str, Transform] = {}
        variances: dict[str, tuple[float, ...]] = {}
        for i in np.flatnonzero(is_seen):
            deviation = 2.0 ** (self._alpha * float(distances[i])) - 1.0
            true, link = Transform.from_matrix(matrices[i]), self.links[i]
            shift, turn = (self._off(deviation) for _ in range(2))
            moved = Transform.from_translation(shift) @ Transform.from_rotation(true.rotation, xyz=true.translation)
            poses[link] = moved @ Transform.exp((0.0, 0.0, 0.0, *turn))
            variances[link] = (max(deviation, 1e-4) ** 2 / 3.0,) * 6
        return poses, variances

    def _off(self, deviation: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        drawn = self._rng.normal(size=3)
        return deviation * self._rng.normal() * drawn / np.linalg.norm(drawn)


class _Robot:
    """Looks around while everything is shut, and pushes what is open, by the estimate alone."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._handles = {setting.joint(handle).name: handle for handle in setting.handles}
        self._idle = Controller(setting.model, controls=setting.controls, dt_s=DT_S, efforts=1e-3)
        options: dict[str, Any] = {"speed_limit": 1.2, "tolerance": math.inf}
        camera, base = "robot/links/camera_optical", "robot/links/base_link"
        self._gaze = PointingGoal(camera, at=_SWEEP[0], name="gaze", **options)
        self._heading = PointingGoal(base, at=_SWEEP[0], axis=(1.0, 0.0, 0.0), name="heading", weight=0.3, **options)
        home = [setting.start["robot/drive/x"], setting.start["robot/drive/y"], 0.0]
        place = PositionGoal(base, home, axes="xy", weight=0.1, **options)
        for goal in (self._gaze, self._heading, place, PostureGoal(setting.ready, weight=0.02, gain=0.2)):
            self._idle.add(goal)
        self.push: Push | None = None
        self._looked = self._pushed = self._rest = 0

    @property
    def doing(self) -> str:
        """What it does."""
        return "looking" if self.push is None else self.push.joint.name

    def velocities(self, now: Mapping[str, float]) -> dict[str, float]:
        """Choose velocities, with the configuration as it is thought to be."""
        self._pushed, self._rest = self._pushed + 1, self._rest - 1
        if self.push is not None and abs(now[self.push.joint.name]) <= _IS_SHUT:
            self.push = None
        if self.push is not None and self._pushed > _PATIENCE:
            self.push, self._rest = None, _REST
        if self.push is None and self._rest <= 0:
            open_ones = [joint for joint in self._handles if now[joint] > _IS_OPEN]
            if open_ones:
                handle = self._handles[open_ones[0]]
                self.push, self._pushed = self._setting.push(handle, now, tolerance=_IS_SHUT, press_m=_PRESS_M), 0
        return self._look(now) if self.push is None else self.push.step(now).velocities

    def _look(self, now: Mapping[str, float]) -> dict[str, float]:
        self._looked += 1
        place = np.array(_SWEEP[self._looked // _LOOK_STEPS % len(_SWEEP)])
        self._gaze.target = place
        self._heading.target = [place[0], place[1], 0.0]
        return self._idle.step(now).velocities


class _Visitor:
    """Opens one thing after the other, whenever everything is shut."""

    def __init__(self, setting: Setting, rng: np.random.Generator, most: int) -> None:
        joints = [setting.joint(handle).name for handle in setting.handles]
        self.left = [joints[i] for i in rng.permutation(len(joints))][:most]
        self._joints, self._quiet, self._dragging = joints, 0, 0
        self.opened: list[str] = []

    def visit(self, configuration: dict[str, float], *, is_idle: bool) -> None:
        """Open something a little further, or begin to, in a configuration."""
        if self._dragging:
            configuration[self.opened[-1]] += OPEN / _OPENING_STEPS
            self._dragging -= 1
            return
        self._quiet = self._quiet + 1 if is_idle and self.all_shut(configuration) else 0
        if self._quiet >= _OPENED_AFTER and self.left:
            self.opened.append(self.left.pop(0))
            self._dragging, self._quiet = _OPENING_STEPS, 0

    def all_shut(self, configuration: Mapping[str, float]) -> bool:
        """Whether nothing is open by more than 0.02."""
        return not self._dragging and all(configuration[joint] <= 0.02 for joint in self._joints)  # noqa: PLR2004


def tidy(
    setting: Setting,
    *,
    alpha: float = ALPHA,
    seed: int = 0,
    most: int = 12,
    max_steps: int = 6000,
    show: Callable[[Moment], object] | None = None,
) -> Tidying:
    """Let somebody open things one after the other, and the robot close them.

    Args:
        setting: The kitchen and the robot.
        alpha: Of the noise: at a distance d its deviation is 2 ** (alpha d) - 1, in metres and in radians.
        seed: Of the noise and of the order.
        most: How many things are opened.
        max_steps: At most so many steps.
        show: Called after each step; True ends it.
    """
    rng = np.random.default_rng(seed)
    eyes, robot, visitor = _Eyes(setting, alpha, rng), _Robot(setting), _Visitor(setting, rng, most)
    tracking = TrackingFilter(
        setting.model, eyes.links, acceleration=1.0, settling_s=0.3, configuration=dict.fromkeys(eyes.names, 0.0)
    )
    found, now, contacts, waited = Tidying(), dict(setting.start), dict[int, Contact](), 0
    errors: list[float] = []
    joints = [setting.joint(handle).name for handle in setting.handles]
    while (visitor.left or not visitor.all_shut(now)) and found.steps < max_steps and waited < _MOST_WAIT:
        poses, variances = eyes.look(now)
        begin = process_time()
        estimate = tracking.update(poses, at=seconds(found.steps * DT_S), covariances=variances)
        thought = now | {name: estimate.configuration[name] for name in eyes.names}
        velocities = robot.velocities(thought)
        found.cpu_s += process_time() - begin
        if robot.push is None:
            after = setting.model.integrate(now, velocities, dt_s=DT_S)
        else:
            after = _pushed(setting, robot.push, now, velocities, contacts)
        visitor.visit(after, is_idle=robot.push is None)
        waited = 0 if robot.push is None else waited + 1
        now = after
        found.steps += 1
        errors.append(float(np.mean([abs(now[joint] - estimate.configuration[joint]) for joint in joints])))
        if show is not None and show(Moment(found.steps * DT_S, now, estimate.configuration, robot.doing, len(poses))):
            break
    found.opened = visitor.opened
    found.closed = [joint for joint in visitor.opened if now[joint] <= 0.02]  # noqa: PLR2004
    found.tracking_error = float(np.mean(errors))
    return found


def _pushed(
    setting: Setting,
    push: Push,
    before: Mapping[str, float],
    velocities: Mapping[str, float],
    contacts: dict[int, Contact],
) -> dict[str, float]:
    """Return where robot and thing are after a step."""
    if id(push) not in contacts:
        contacts.clear()
        contacts[id(push)] = Contact(push, *setting.limits(push.handle.link))
    return contacts[id(push)].moved(setting.model, before, velocities)
