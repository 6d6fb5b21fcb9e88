"""Pushing a thing by its handle until a joint of it is where it shall be (thesis 4.2.3), with contact.

The tool is a ball, the handle a rod. Three phases follow one another, each with goals of its own: the tool goes in
front of the handle, on the side from which it can be pushed; it touches it; it pushes. While it pushes, the joint of
the thing is one of the controls, and the distance between tool and handle is held at zero as a hard constraint: the
thing moves as far as the robot moves it, and no further.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from armillary.articulation.functions import clip
from armillary.articulation.geometry import norm, stack
from armillary.articulation.variables import as_variable
from armillary.errors import InvalidArgument
from armillary.formats import CylinderForm, SphereForm
from armillary.motion.controller import EFFORT, Controller, MotionStep
from armillary.motion.goals import ExpressionGoal, Goal, JointGoal, PointingGoal, PositionGoal
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation import ArticulationModel, Expression, Variable
    from armillary.articulation.variables import VariableLike

    Array = NDArray[np.float64]
    Phase = Literal["approach", "touch", "push", "done"]

__all__ = ["Handle", "Push", "PushStep", "Tool"]

_CLEARANCE_M = 0.06  # in front of the handle, before it is touched
_NEAR_M = 0.02  # from there: then it is touched
_TOUCHING_M = 5e-4
_HAIR_M = 2e-4  # so that nothing is moved before it is pushed
_LOST_M = 4e-3
_CURVED_M = 5e-4
_HALVINGS = 6
_APPROACH_M_S, _TOUCH_M_S, _PUSH_M_S = 0.8, 0.3, 0.25


@dataclass(frozen=True)
class Tool:
    """The ball that a robot pushes with.

    Attributes:
        link: The path of the link; the ball is at its origin.
        radius_m: Of the ball.
    """

    link: str
    radius_m: float

    @classmethod
    def of(cls, model: ArticulationModel, link: str) -> Tool:
        """Return the tool of a link whose only shape for collisions is a ball at its origin."""
        shapes = model.links()[link].collisions
        if len(shapes) != 1 or not isinstance(shapes[0].form, SphereForm):
            raise InvalidArgument(f"A tool is a link with one sphere to collide with, and '{link}' is none.", link)
        return cls(link, shapes[0].form.radius_m)


@dataclass(frozen=True)
class Handle:
    """The rod that a thing is pushed by.

    Attributes:
        link: The path of the link.
        link_T_rod: The pose of the rod, which is along z.
        radius_m: Of the rod.
        length_m: Of the rod.
    """

    link: str
    link_T_rod: Transform
    radius_m: float
    length_m: float

    @classmethod
    def of(cls, model: ArticulationModel, link: str) -> Handle:
        """Return the handle of a link whose only shape for collisions is a cylinder."""
        shapes = model.links()[link].collisions
        if len(shapes) != 1 or not isinstance(shapes[0].form, CylinderForm):
            raise InvalidArgument(f"A handle is a link with one cylinder to collide with, and '{link}' is none.", link)
        form = shapes[0].form
        return cls(link, shapes[0].link_T_shape, form.radius_m, form.length_m)

    def distance_m(self, model: ArticulationModel, tool: Tool) -> Expression:
        """Return the distance between the surfaces of tool and handle; negative where they overlap.

        The ends of the rod are taken as round.
        """
        link_T_tool = model.pose(tool.link, in_frame=self.link)
        x, y, z = (self.link_T_rod.inverse() @ link_T_tool).translation
        half = self.length_m / 2.0
        away = norm(stack([x, y, z - clip(z, -half, half)]))
        return away - (self.radius_m + tool.radius_m)


class PushStep(NamedTuple):
    """One step of a push.

    Attributes:
        velocities: Of the controls of the robot.
        phase: What it does.
        motion: What the controller chose, with the joint of the thing while it pushes.
    """

    velocities: dict[str, float]
    phase: Phase
    motion: MotionStep


class Push:
    """Moves a joint of a thing to a target by pushing its handle.

    Args:
        model: Of robot and thing together.
        controls: Of the robot.
        dt_s: The time until velocities are chosen anew.
        tool: What it pushes with.
        handle: What it pushes.
        joint: The position of the thing that shall change; the only one that moves the handle.
        target: Where it shall be.
        goals: Further goals, with weights: posture, gaze, where the base shall stand.
        forward: (3,) of the tool, which points where it pushes.
        efforts: As of a controller.
        tolerance: Of the joint.
        press_m: How deep it presses into where the handle is thought to be: as much as that may be wrong.
        start: A configuration, for the direction in which the handle moves.
    """

    def __init__(
        self,
        model: ArticulationModel,
        *,
        controls: Iterable[VariableLike],
        dt_s: float,
        tool: Tool,
        handle: Handle,
        joint: VariableLike,
        target: float,
        start: Mapping[Any, float],
        goals: Sequence[Goal] = (),
        forward: Any = (1.0, 0.0, 0.0),
        efforts: Mapping[Any, float] | float = EFFORT,
        tolerance: float = 2e-3,
        press_m: float = 0.0,
    ) -> None:
        self._press_m = press_m
        self.model, self.tool, self.handle = model, tool, handle
        self.joint, self.target, self.tolerance = as_variable(joint), float(target), tolerance
        robot = model.along_controls(controls)
        self._names = robot.names
        self.distance_m = handle.distance_m(model, tool)
        self._distance = self.distance_m.compile()
        self._distance_names = tuple(str(variable) for variable in self._distance.order)
        here = float({str(as_variable(key)): value for key, value in start.items()}[str(self.joint)])
        side, lever_m = _pushing_side(model, handle, self.joint, start, math.copysign(1.0, self.target - here))
        self._front = handle.radius_m + tool.radius_m
        self._side = side
        reach = {"tool": PositionGoal(tool.link, (0.0, 0.0, 0.0), in_frame=handle.link, name="tool at the handle")}
        ahead = PointingGoal(
            tool.link, along=-side, axis=forward, in_frame=handle.link, weight=0.02, gain=0.3, name="tool ahead"
        )
        self._reach = reach["tool"]
        self._free = Controller(model, controls=robot, dt_s=dt_s, efforts=efforts)
        self._pushing = Controller(model, controls=[*robot, self.joint.velocity], dt_s=dt_s, efforts=efforts)
        for controller in (self._free, self._pushing):
            for goal in (self._reach, ahead, *goals):
                controller.add(goal)
        gap = ExpressionGoal(self.distance_m, (_HAIR_M, math.inf), name="no overlap", speed_limit=_TOUCH_M_S)
        self._free.require(gap)
        self._pushing.require(ExpressionGoal(self.distance_m, -press_m, name="contact", speed_limit=_TOUCH_M_S))
        self._pushing.add(JointGoal(self.joint, self.target, weight=10.0, speed_limit=_PUSH_M_S / max(lever_m, 1e-3)))
        self.phase: Phase = "approach"

    def gap_m(self, configuration: Mapping[str, float]) -> float:
        """Return the distance between tool and handle."""
        return float(self._distance([configuration[name] for name in self._distance_names]))

    def step(self, configuration: Mapping[str, float]) -> PushStep:
        """Choose the velocities of the robot for one step."""
        gap = self.gap_m(configuration)
        left = abs(configuration[self.joint.name] - self.target)
        self.phase = self._next(configuration, gap, left)
        controller = self._pushing if self.phase == "push" else self._free
        away = self._front + (_CLEARANCE_M if self.phase in {"approach", "done"} else 0.0)
        self._reach.target = self.handle.link_T_rod.translation + self._side * away
        self._reach.speed_limit = _APPROACH_M_S if self.phase == "approach" else _TOUCH_M_S
        motion = controller.step(configuration)
        part = self._part_that_holds(configuration, motion.velocities)
        return PushStep({name: motion.velocities[name] * part for name in self._names}, self.phase, motion)

    def prepare(self, configuration: Mapping[str, float]) -> None:
        """Compile what the first steps would compile, without a step."""
        for controller in (self._free, self._pushing):
            controller.errors(configuration)

    def _part_that_holds(self, configuration: Mapping[str, float], velocities: Mapping[str, float]) -> float:
        """Return the part of a step for which contact and distance are what their derivatives promise.

        Joints turn through arcs, and the constraint is on tangents: a step that leaves the tangent is halved.
        """
        part, is_pushing = 1.0, self.phase == "push"
        for _ in range(_HALVINGS):
            tried = {name: speed * part for name, speed in velocities.items()}
            gap = self.gap_m(self.model.integrate(configuration, tried, dt_s=self._free.dt_s))
            allowed = _CURVED_M + self._press_m
            if abs(gap + self._press_m) <= allowed if is_pushing else gap > -2.0 * self._press_m:
                break
            part /= 2.0
        return part

    @property
    def is_done(self) -> bool:
        """Whether the joint was at its target in the last step."""
        return self.phase == "done"

    def _next(self, configuration: Mapping[str, float], gap: float, left: float) -> Phase:
        if left <= self.tolerance:
            return "done"
        if self.phase == "push" and gap <= _LOST_M + 4.0 * self._press_m:
            return "push"
        if self.phase in {"touch", "push", "done"}:
            return "push" if gap <= _TOUCHING_M + self._press_m else "touch"
        self._reach.target = self.handle.link_T_rod.translation + self._side * (self._front + _CLEARANCE_M)
        return "touch" if self._free.errors(configuration)[self._reach.name] < _NEAR_M else "approach"


def _pushing_side(
    model: ArticulationModel, handle: Handle, joint: Variable, start: Mapping[Any, float], direction: float
) -> tuple[Array, float]:
    """Return the side of the rod, in the frame of the handle, from which a push moves the joint in a direction."""
    pose = model.pose(handle.link)
    if joint not in pose.free_variables:
        raise InvalidArgument(f"The joint {joint} does not move the handle '{handle.link}'.", joint)
    numbers = {str(as_variable(key)): value for key, value in start.items()}
    link_T_rod = handle.link_T_rod
    moved = pose @ link_T_rod
    twist = np.asarray(moved.body_jacobian([joint]).evaluate(numbers))[:, 0]
    across = np.array([twist[0], twist[1], 0.0])  # a rod is not pushed along itself
    lever_m = float(np.linalg.norm(across))
    if lever_m < 1e-6:  # noqa: PLR2004
        raise InvalidArgument(f"The joint {joint} moves the handle '{handle.link}' along itself: no push does.", joint)
    side = -direction * across / lever_m
    return np.asarray(link_T_rod.rotation.matrix) @ side, lever_m
