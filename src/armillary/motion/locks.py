"""Opening locks: motion where something has to be moved before something else can (thesis 4.2.1, algorithm 1).

A lock is a constraint whose bound is a condition: the speed of a bolt is 0 until a key is turned. From the model alone
it follows what holds a goal back: the constraints that bound its controls in the wanted direction, the conditions in
their bounds, and what these depend on, which may be locked itself. Unlike algorithm 1, this is found anew in each step,
parts of a condition that hold already are left alone, and what is moving is not locked while it moves. So a variable
may be needed in two places, one after the other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from armillary.articulation.controls import by_names
from armillary.errors import GoalsUnmet, InvalidArgument, NotMet, Unmovable
from armillary.motion.goals import JointGoal

if TYPE_CHECKING:
    from armillary.articulation import Compiled, Expression
    from armillary.articulation.constraint_set import ConstraintSet
    from armillary.motion.controller import Controller, MotionStep

__all__ = ["Subgoal", "Unlocking"]

_BLOCKED = 1e-9  # the speed below which nothing moves
_OPEN = 0.9  # of the room that a bound leaves when its condition holds
_EXACT = 1e-8
_FAR = 1e3  # beyond every threshold, where a variable has no limits
_MARGIN = 1e-6
_BISECTIONS = 60
_STILL = 1e-9


class Subgoal(NamedTuple):
    """A variable that has to be moved, and what for.

    Attributes:
        variable: Its name.
        direction: 1.0 or -1.0.
        threshold: From where on the condition holds as far as this variable is concerned; None: unknown.
        opens: The path of the constraint that lets go then; the name of the goal, where it is wanted for that itself.
    """

    variable: str
    direction: float
    threshold: float | None
    opens: str


class Unlocking:
    """Steps of a controller that open the locks on the way to its goals.

    It adds a goal for every control to the controller, which is without effect except where the control is needed to
    open a lock.

    Args:
        controller: With goals; its controls move everything that is locked and everything that unlocks.
        weight: Of what opens locks, against the goals.
    """

    def __init__(self, controller: Controller, *, weight: float = 1.0) -> None:
        self.controller = controller
        self.subgoals: tuple[Subgoal, ...] = ()
        self._wanted = tuple(goal.name for goal in controller.goals)
        names = controller.controls.names
        positions = {
            variable.name for one in controller.model.constraints().values() for variable in one.free_variables
        }
        positions |= {variable.name for variable in controller.model.variables()}
        self._moves = {
            name: JointGoal(name, (-math.inf, math.inf), weight=weight, name=f"unlock by {name}")
            for name in names
            if name in positions
        }
        for goal in self._moves.values():
            controller.add(goal)
        self._conditions: tuple[ConstraintSet, _Conditions] | None = None

    def step(self, configuration: Mapping[Any, float]) -> MotionStep:
        """Choose the velocities for one step, towards the goals or towards what opens their locks.

        Raises:
            Unmovable: Nothing can be moved towards a goal, and no lock on the way can be opened.
        """
        now = by_names(configuration)
        self.subgoals = self.explore(now)
        for goal in self._moves.values():
            goal.target = (-math.inf, math.inf)
        for one in self.subgoals:
            if one.opens in self._wanted:
                continue
            end = one.direction * _FAR if one.threshold is None else one.threshold + one.direction * _MARGIN
            self._moves[one.variable].target = (end, math.inf) if one.direction > 0.0 else (-math.inf, end)
        return self.controller.step(now)

    def run(
        self,
        configuration: Mapping[Any, float],
        *,
        max_steps: int = 1000,
        unmet: Literal["warn", "raise", "ignore"] = "warn",
    ) -> list[dict[str, float]]:
        """Step until the goals are met or nothing moves, and return all configurations, first to last.

        Args:
            configuration: Where it begins.
            max_steps: At most so many.
            unmet: What to do if goals are not met: "warn", "raise" or "ignore".
        """
        if unmet not in {"warn", "raise", "ignore"}:
            raise InvalidArgument(f"unmet must be 'warn', 'raise' or 'ignore', got {unmet!r}.", unmet)
        passed = [by_names(configuration)]
        while (left := self._left(passed[-1])) and len(passed) <= max_steps:
            chosen = self.step(passed[-1])
            if max(map(abs, chosen.velocities.values())) * self.controller.dt_s < _STILL:
                break
            passed.append(self.controller.model.integrate(passed[-1], chosen.velocities, dt_s=self.controller.dt_s))
        if left and unmet == "raise":
            raise NotMet(left, passed[-1], len(passed) - 1)
        if left and unmet == "warn":
            warnings.warn(GoalsUnmet(left, passed[-1], len(passed) - 1), stacklevel=2)
        return passed

    def explore(self, configuration: Mapping[Any, float]) -> tuple[Subgoal, ...]:
        """Return what can be moved now and has to be, in the order in which it was found to be needed.

        Raises:
            Unmovable: Nothing can be moved towards a goal.
        """
        now = by_names(configuration)
        rows = self.controller.constraints
        if self._conditions is None or self._conditions[0] is not rows:
            self._conditions = rows, _Conditions(rows)
        search = _Search(self.controller, self._conditions[1], now)
        for name, (missing, jacobian) in self.controller.missing(now).items():
            goal = next(one for one in self.controller.goals if one.name == name)
            if name not in self._wanted or np.abs(missing).max() <= goal.tolerance or math.isinf(goal.tolerance):
                continue
            towards = missing @ jacobian
            columns = np.flatnonzero(np.abs(towards) > 0.0)
            can_move = [search.want(int(i), float(np.sign(towards[i])), None, name, ()) for i in columns]
            if not any(can_move):
                raise Unmovable([name])
        return tuple(search.found.values())

    def _left(self, configuration: Mapping[str, float]) -> dict[str, float]:
        tolerance = {goal.name: goal.tolerance for goal in self.controller.goals}
        errors = self.controller.errors(configuration)
        return {name: errors[name] for name in self._wanted if errors[name] > tolerance[name]}


class _Conditions:
    """The conditional bounds of the constraints of a controller as functions, and the thresholds found in them."""

    def __init__(self, rows: ConstraintSet) -> None:
        self._functions = {
            (row, sign): self._compiled(bound)
            for row, pair in rows.conditions.items()
            for sign, bound in zip((-1.0, 1.0), pair, strict=True)
        }
        self.thresholds: dict[tuple[int, float, str], float] = {}

    @staticmethod
    def _compiled(bound: Expression) -> tuple[Compiled, tuple[str, ...]]:
        compiled = bound.compile()
        return compiled, tuple(str(variable) for variable in compiled.order)

    def room(self, row: int, sign: float, now: Mapping[str, float], moved: Mapping[str, float]) -> float:
        """Return the room that a bound leaves, with some variables elsewhere."""
        compiled, names = self._functions[row, sign]
        return sign * float(compiled([moved.get(name, now[name]) if name in moved else now[name] for name in names]))


class _Search:
    """One exploration: depth first from the goals to what is free to move."""

    def __init__(self, controller: Controller, conditions: _Conditions, now: Mapping[str, float]) -> None:
        self.found: dict[str, Subgoal] = {}
        self._held: dict[str, float] = {}
        self._now, self._names = now, controller.controls.names
        self._rows, self._conditions = controller.constraints, conditions
        self._rows.update(now)
        self._on: dict[int, list[int]] = {}
        for row, column in enumerate(self._rows.alone.tolist()):
            self._on.setdefault(column, []).append(row)

    def want(self, column: int, direction: float, threshold: float | None, opens: str, path: tuple[int, ...]) -> bool:
        """Find out how a control can be moved in a direction; False where it cannot, whatever else is moved."""
        name = self._names[column]
        blocking = [row for row in self._on.get(column, ()) if self._blocks(row, column, direction)]
        if not blocking:
            self._take(column, Subgoal(name, direction, threshold, opens))
            return True
        if any(row not in self._rows.conditions or row in path for row in blocking):
            return False
        return all(self._unlock(row, column, direction, path) for row in blocking)

    def _blocks(self, row: int, column: int, direction: float) -> bool:
        sign = self._sign(row, column, direction)
        room = float(self._rows.upper[row] if sign > 0.0 else -self._rows.lower[row])
        if room <= _BLOCKED or row not in self._rows.conditions:
            return room <= _BLOCKED
        parts = self._parts(row, sign)
        return bool(parts) and self._conditions.room(row, sign, self._now, self._ahead(parts)) * _OPEN > room

    def _unlock(self, row: int, column: int, direction: float, path: tuple[int, ...]) -> bool:
        """Want whatever the condition of a row lacks: all of it, and at least something of it can be moved."""
        lacking = self._lacking(row, self._sign(row, column, direction))
        wanted = [self.want(i, s, threshold, self._rows.names[row], (*path, row)) for i, s, threshold in lacking]
        return any(wanted)

    def _take(self, column: int, move: Subgoal) -> None:
        """Note a move, unless it would lock what moves already, or its own locks are just being moved."""
        held = {
            self._names[i]: s
            for row in self._on.get(column, ())
            if row in self._rows.conditions
            for i, s in self._parts(row, self._sign(row, column, move.direction))
        }
        is_against = self._held.get(move.variable, move.direction) != move.direction
        is_disturbed = any(one in self.found and self.found[one].direction != s for one, s in held.items())
        if not (is_against or is_disturbed or move.variable in self.found):
            self.found[move.variable] = move
            self._held |= held

    def _sign(self, row: int, column: int, direction: float) -> float:
        """Return which bound of a row limits a direction: 1.0 the upper, -1.0 the lower one."""
        return direction * math.copysign(1.0, float(self._rows.matrix[row, column]))

    def _parts(self, row: int, sign: float) -> list[tuple[int, float]]:
        """Return the controls that a bound depends on, each with the direction in which it lets go."""
        lower, upper = self._rows.guidance(row)
        guidance = sign * (upper if sign > 0.0 else lower)
        return [(int(i), float(np.sign(guidance[i]))) for i in np.flatnonzero(guidance)]

    def _ahead(self, parts: list[tuple[int, float]]) -> dict[str, float]:
        return {self._names[i]: self._end(i, s) for i, s in parts}

    def _lacking(self, row: int, sign: float) -> list[tuple[int, float, float | None]]:
        """Return the parts of a condition without which its bound does not let go, each with its threshold."""
        parts = self._parts(row, sign)
        ahead = self._ahead(parts)
        enough = _OPEN * self._conditions.room(row, sign, self._now, ahead)

        def lets_go(values: Mapping[str, float]) -> bool:
            return self._conditions.room(row, sign, self._now, values) > max(enough, _BLOCKED)

        if not lets_go(ahead):
            return [(i, s, None) for i, s in parts]
        found: list[tuple[int, float, float | None]] = []
        for i, s in parts:
            name = self._names[i]
            others = {one: value for one, value in ahead.items() if one != name}
            if not lets_go(others):
                key = row, sign, name

                def alone(x: float, name: str = name, others: dict[str, float] = others) -> bool:
                    return lets_go({**others, name: x})

                known = self._conditions.thresholds.get(key)
                if known is None or not alone(known) or alone(known - s * _EXACT):
                    known = _first(alone, self._now[name], ahead[name])
                    self._conditions.thresholds[key] = known
                found.append((i, s, known))
        return found or [(i, s, None) for i, s in parts]

    def _end(self, column: int, direction: float) -> float:
        """Return how far a variable can go in a direction."""
        rows = [row for row in self._on.get(column, ()) if self._rows.is_position[row]]
        room = _FAR
        for row in rows:
            coefficient = self._rows.matrix[row, column]
            side = direction * math.copysign(1.0, coefficient)
            bound = self._rows.upper[row] if side > 0.0 else -self._rows.lower[row]
            room = min(room, max(0.0, bound * self._rows.step_s / abs(coefficient)))
        return self._now[self._names[column]] + direction * room


def _first(lets_go: Callable[[float], bool], near: float, far: float) -> float:
    """Return where a condition begins to hold between a place where it does not and one where it does."""
    for _ in range(_BISECTIONS):
        middle = (near + far) / 2.0
        near, far = (near, middle) if lets_go(middle) else (middle, far)
    return far
