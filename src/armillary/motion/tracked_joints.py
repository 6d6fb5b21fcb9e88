"""The joints that a tracker estimates: which move the tracked links, what follows from them, and their bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation import BallJoint, FloatingJoint, RevoluteJoint, position, stack
from armillary.articulation.constraints import limits_of
from armillary.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from armillary.articulation import ArticulationModel, Constraint, PoseExpression, Variable

    Floats = NDArray[np.float64]

__all__ = ["Bounds", "TrackedJoints", "tracked_joints"]

_SOLVED = 1
_INSIDE = 1e-9


class TrackedJoints:
    """The variables that poses of links depend on: those that are free, and those that follow by kinematic loops.

    Attributes:
        free: The free positions, in the order of every array of this module.
        following: The positions that kinematic loops determine.
        names: The names of both, the free ones first.
    """

    def __init__(self, model: ArticulationModel, free: Sequence[Variable], following: Sequence[Variable]) -> None:
        self.free, self.following = tuple(free), tuple(following)
        self.names = tuple(variable.name for variable in (*free, *following))
        self._model = model
        self._slopes = _slopes(model, self.free, self.following) if following else None

    def completed(self, values: Floats, near: Floats | None = None) -> Floats:
        """Return the values of the free positions with those that follow; `near` says on which branch of the loops."""
        if not self.following:
            return values
        start = None
        if near is not None:
            start = dict(zip(self.following, near[len(self.free) :].tolist(), strict=True))
        found = self._model.solve(dict(zip(self.free, values.tolist(), strict=True)), start=start)
        return np.array([found[variable] for variable in (*self.free, *self.following)])

    def spread(self, completed: Floats) -> Floats:
        """Return how fast each position moves with each free one, at these values of all: (n, free)."""
        count = len(self.free)
        if self._slopes is None:
            return np.eye(count)
        return np.vstack([np.eye(count), self._slopes(completed).reshape(len(self.following), count)])

    def completed_covariance(self, covariance: Floats, completed: Floats) -> Floats:
        """Return the covariance of all positions of that of the free ones, at these values of all."""
        if not self.following:
            return covariance
        spread = self.spread(completed)
        unknown = np.isinf(np.diagonal(covariance))
        known = np.where(unknown[:, None] | unknown, 0.0, covariance)
        full: Floats = spread @ known @ spread.T
        lost = np.flatnonzero((spread[:, unknown] != 0.0).any(axis=1))
        full[lost, :] = full[:, lost] = 0.0
        full[lost, lost] = np.inf
        return full


def tracked_joints(model: ArticulationModel, poses: Mapping[str, PoseExpression]) -> TrackedJoints:
    """Find the joints that move these links.

    Raises:
        InvalidArgument: A link moves by something else than positions of joints.
    """
    follow = model.loops.dependents
    occurring = {variable for pose in poses.values() for variable in pose.free_variables}
    moving = {key for pose in poses.values() for key in pose.gradient()}
    rotations = {
        variable
        for joint in model.joints().values()
        if isinstance(joint, BallJoint | FloatingJoint)
        for variable in joint.variables
    }
    for path, pose in poses.items():
        whole = [variable for variable in pose.free_variables if variable in rotations]
        speeds = [key for key in pose.gradient() if key.order != 1 or key.integral not in occurring]
        if whole or speeds:
            named = min(map(str, whole or speeds))
            why = "part of a rotation in space" if whole else "a speed without a position"
            raise InvalidArgument(
                f"'{path}' moves by {named}, which is {why}; a tracker estimates positions of joints. Track links "
                "relative to the one that moves so: in_frame='NAME/links/base'.",
                path,
            )
    free = {key.integral for key in moving} | {v for v in occurring if v not in follow}
    return TrackedJoints(model, _sorted(free), _sorted(occurring & follow))


def _sorted(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(variables, key=lambda variable: variable.name)


def _slopes(model: ArticulationModel, free: Sequence[Variable], following: Sequence[Variable]) -> Any:
    """Compile how fast what follows moves with each free position, row after row."""
    entries = []
    for variable in following:
        gradient = model.loops.closed(variable.expression).gradient()
        entries += [gradient.get(driver.velocity, 0.0) for driver in free]
    return stack(entries).compile(order=[*free, *following])


class Bounds:
    """The constraints on positions of a model, as bounds on the next step of an estimate.

    Constraints that contain positions of other joints do not bound.

    Args:
        model: The model.
        joints: What is estimated.
    """

    def __init__(self, model: ArticulationModel, joints: TrackedJoints) -> None:
        known = {*joints.free, *joints.following}
        boxes: dict[Variable, list[Constraint]] = {}
        rows: list[Constraint] = []
        for constraint in model.constraints(known).values():
            if not (constraint.is_on_positions and constraint.free_variables <= known):
                continue
            (alone,) = limits_of([constraint]) or (None,)
            if alone is None or alone in joints.following:
                rows.append(constraint)
            else:
                boxes.setdefault(alone, []).append(constraint)
        limits = limits_of(constraint for constraints in boxes.values() for constraint in constraints)
        sides = np.array([limits.get(variable, (-math.inf, math.inf)) for variable in joints.free], dtype=float)
        self.lower, self.upper = sides.reshape(-1, 2).T.copy()
        self._rooms = _rooms(model, joints, rows)
        self._turns = _turns(model, joints)
        self._can_turn = self._turns > 0.0

    def inside(self, values: Floats) -> Floats:
        """Return the values, each moved to the nearest that its own limits allow."""
        return np.asarray(np.minimum(np.maximum(values, self.lower), self.upper))

    def best(
        self, information: Floats, slope: Floats, values: Floats, completed: Floats, *, may_turn: bool = True
    ) -> Floats:
        """Return the values at which `step H step / 2 + slope step` is least, of those within the bounds.

        Args:
            information: H, positive definite.
            slope: The gradient.
            values: Where the free positions are.
            completed: The same with those that follow.
            may_turn: An angle whose step leaves its limits may go the other way round instead.
        """
        free: Floats = np.asarray(np.linalg.solve(information, -slope), dtype=np.float64)
        ends = values + free
        is_out = (ends < self.lower) | (ends > self.upper)
        if may_turn and (is_out & self._can_turn).any():
            turned = np.where(ends < self.lower, self._turns, -self._turns)
            is_in = is_out & (ends + turned >= self.lower) & (ends + turned <= self.upper)
            values = np.where(is_in, values + turned, values)
            ends = values + free
            is_out &= ~is_in
        rows, room = self._linearised(completed, len(values))
        if not is_out.any() and (rows @ free >= -room - _INSIDE).all():
            return np.asarray(ends)
        box = self.lower - values, self.upper - values
        return self.inside(values + self._bounded(information, slope, box, (rows, room), free))

    def _bounded(
        self,
        information: Floats,
        slope: Floats,
        box: tuple[Floats, Floats],
        rows: tuple[Floats, Floats],
        free: Floats,
    ) -> Floats:
        try:
            import daqp  # noqa: PLC0415  (only where a bound is met)
        except ModuleNotFoundError as missing:
            raise MissingExtra("motion", "daqp") from missing
        (low, high), (matrix, room) = box, rows
        upper = np.concatenate([high, np.full(len(room), math.inf)])
        found, _, flag, _ = daqp.solve(information, slope, matrix, upper, np.concatenate([low, -room]))
        if flag != _SOLVED or not np.isfinite(found).all():  # rows that contradict each other: their own limits remain
            found = np.minimum(np.maximum(free, low), high)
        return np.asarray(found)

    def _linearised(self, completed: Floats, width: int) -> tuple[Floats, Floats]:
        """Return rows and how much room there is: `rows @ step >= -room`."""
        if self._rooms is None:
            return np.zeros((0, width)), np.zeros(0)
        table = self._rooms(completed).reshape(-1, 1 + width)
        table = table[np.isfinite(table).all(axis=1)]
        return np.ascontiguousarray(table[:, 1:]), table[:, 0]


def _rooms(model: ArticulationModel, joints: TrackedJoints, constraints: Sequence[Constraint]) -> Any:
    """Compile how far constraints are from being broken, each with its slope along the free positions."""
    entries: list[Any] = []
    for constraint in constraints:
        for side, sign in ((constraint.lower, 1.0), (constraint.upper, -1.0)):
            if side.is_grounded and math.isinf(float(side)):
                continue
            room = model.loops.closed(sign * (constraint.expression - side))
            gradient = room.gradient()
            entries += [room, *(gradient.get(variable.velocity, 0.0) for variable in joints.free)]
    if not entries:
        return None
    return stack(entries).compile(order=[*joints.free, *joints.following])


def _turns(model: ArticulationModel, joints: TrackedJoints) -> Floats:
    """Return by how much each free position changes in one whole turn; 0: it is no angle, or not that alone."""
    turns = dict.fromkeys(joints.free, math.nan)
    driving = {variable for system in model.loops.systems for variable in system.drivers}
    for joint in model.joints().values():
        turn = math.tau / abs(joint.multiplier) if isinstance(joint, RevoluteJoint) and joint.multiplier else 0.0
        for variable in joint.variables:
            if variable in turns:
                is_first = math.isnan(turns[variable])
                turns[variable] = turn if is_first or turns[variable] == turn else 0.0
    return np.array([0.0 if v in driving or math.isnan(turns[v]) else turns[v] for v in joints.free])


def as_start(joints: TrackedJoints, bounds: Bounds, given: Mapping[Any, float] | None) -> Floats:
    """Return where an estimate begins: what was given, and else the nearest to zero that is allowed."""
    values = np.zeros(len(joints.free))
    names = {variable.name: i for i, variable in enumerate(joints.free)}
    for key, value in (given or {}).items():
        name = key if isinstance(key, str) else position(key.name).name
        if not math.isfinite(value):
            raise InvalidArgument(f"The tracker cannot begin at {name} = {value}. Give a finite number.", value)
        if name in names:
            values[names[name]] = value
    return bounds.inside(values)
