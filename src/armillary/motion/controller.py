"""A controller that chooses velocities: goals as well as they can be met, within the constraints of a model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from armillary.articulation.compiled_arrays import Block, CompiledArrays
from armillary.articulation.constraint_set import ConstraintSet
from armillary.articulation.controls import as_step, by_names, values_in_order
from armillary.articulation.variables import as_variable
from armillary.errors import GoalsUnmet, InvalidArgument, NotFinite, NotMet, UnknownControl
from armillary.motion.goals import Goal
from armillary.motion.limits import Limits
from armillary.motion.qp import VelocityProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from armillary.articulation.compiled import Backend
    from armillary.articulation.controls import Controls
    from armillary.articulation.model import ArticulationModel
    from armillary.articulation.variables import VariableLike

    Array = NDArray[np.float64]

__all__ = ["Controller", "MotionStep", "MountedWorld"]

EFFORT = 1e-4
"""How much the square of a velocity counts, unless `efforts` says otherwise, where a goal counts 1."""
_RECOVERY_WEIGHT = 10.0
_PATIENCE = 40  # steps in which something has to improve
_IMPROVEMENT = 1e-3


class MountedWorld(Protocol):
    """A world in which models are mounted, as far as a controller reads it."""

    @property
    def mounts(self) -> tuple[Any, ...]:
        """The mounted models."""

    def joint(self, name: str) -> Any:
        """Return the newest value of a joint."""


class MotionStep:
    """What a controller chose for one step.

    Attributes:
        velocities: By name of a control, what to command until the next step.
        recovering: Constraints that were broken before the step and are being led back.
        iterations: Of the QP solver.
    """

    __slots__ = ("_goals", "_missed", "_missing", "iterations", "recovering", "velocities")

    def __init__(  # noqa: PLR0917  (made in one place)
        self,
        velocities: dict[str, float],
        recovering: tuple[str, ...],
        iterations: int,
        goals: Sequence[_Placed],
        missed: Array,
        missing: Array,
    ) -> None:
        self.velocities, self.recovering, self.iterations = velocities, recovering, iterations
        self._goals, self._missed, self._missing = goals, missed, missing

    @property
    def slack(self) -> dict[str, Array]:
        """By name of a goal, what its rates miss in this step: wanted minus reached, row after row.

        It is zero where a goal advances as it wants to.
        """
        return {one.goal.name: self._missed[one.rows].copy() for one in self._goals}

    @property
    def errors(self) -> dict[str, float]:
        """By name of a goal, how far it was from being met before the step."""
        return {one.goal.name: _length(self._missing, one) for one in self._goals}

    def __repr__(self) -> str:
        speeds = ", ".join(f"{name}: {value:.4g}" for name, value in self.velocities.items())
        return f"MotionStep({speeds})"


class _Placed(NamedTuple):
    """A goal, its rows among those of all goals, and its quantities."""

    goal: Goal
    rows: slice
    parts: tuple[slice, ...]
    is_required: bool


def _length(missing: Array, one: _Placed) -> float:
    """Return how much is missing of a goal: the largest of its quantities."""
    return max(math.sqrt(float(missing[p].dot(missing[p]))) for p in one.parts)


class Controller:
    """Chooses velocities of controls so that goals are approached and no constraint of the model breaks.

    Goals are weighed against each other; what is required, and the constraints of the model, are kept in every step.
    The QP is built when it is used first, and updated in place; an edit of the model builds it anew.

    Args:
        model: The model of everything that moves: robots, and what they handle.
        controls: What is commanded, as `model.controls(...)` returns it; the rest stands still.
        dt_s: The time until velocities are chosen anew.
        efforts: How much the square of a velocity counts against the goals: one number, or some by name of a control.
            The larger, the less it is used; never zero.
        backend: "vm", or "c" for machine code where there is a C compiler.

    >>> from armillary.articulation import ArticulationModel, Limits, PrismaticJoint
    >>> from armillary.motion import JointGoal
    >>> model = ArticulationModel()
    >>> drawer = PrismaticJoint(variable="desk/drawer", limits=Limits(lower=0.0, upper=0.4, velocity=0.5))
    >>> _ = model.add("desk/links/drawer", drawer)
    >>> controller = Controller(model, controls=model.controls("desk"), dt_s=0.1)
    >>> _ = controller.add(JointGoal("desk/drawer", 0.3))
    >>> round(controller.step({"desk/drawer": 0.0}).velocities["desk/drawer"], 6)
    0.5
    >>> round(controller.run({"desk/drawer": 0.0})["desk/drawer"], 4)
    0.3
    """

    def __init__(
        self,
        model: ArticulationModel,
        *,
        controls: Iterable[VariableLike],
        dt_s: float,
        efforts: float | Mapping[Any, float] = EFFORT,
        backend: Backend = "vm",
    ) -> None:
        self.model, self.dt_s = model, as_step(dt_s)
        self.controls: Controls = model.along_controls(controls)
        self._efforts = _efforts(efforts, self.controls)
        self._backend: Backend = backend
        self._goals: dict[int, tuple[Goal, bool]] = {}
        self._built: _Built | None = None
        self._subscription = model.on_path(self._forget)

    # -- Goals

    def add(self, goal: Goal) -> Goal:
        """Add a goal, which is approached as far as the others and the constraints let it; returns it."""
        return self._take(goal, is_required=False)

    def require(self, goal: Goal) -> Goal:
        """Add a goal whose rates are a hard constraint in every step; returns it.

        What is required and cannot be reached with the constraints raises `InfeasibleMotion`: it suits what holds
        already, or is near. Give it a `speed_limit` where it has far to go.
        """
        return self._take(goal, is_required=True)

    def remove(self, goal: Goal) -> None:
        """Take a goal away that was added or required."""
        if self._goals.pop(id(goal), None) is None:
            raise InvalidArgument(f"{goal!r} is no goal of this controller.", goal)
        self._built = None

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals, in the order in which they were given."""
        return tuple(goal for goal, _ in self._goals.values())

    def _take(self, goal: Goal, *, is_required: bool) -> Goal:
        if not isinstance(goal, Goal):
            raise InvalidArgument(f"A goal is wanted, such as PoseGoal(...), got {goal!r}.", goal)
        taken = next((one for one, _ in self._goals.values() if one.name == goal.name), None)
        if taken is not None:
            raise InvalidArgument(f"There is a goal '{goal.name}' already. Give this one another name=.", goal)
        _Built.check(goal, self.model, self.controls)
        self._goals[id(goal)] = goal, is_required
        self._built = None
        return goal

    # -- Steps

    def step(self, configuration: Mapping[Any, float] | MountedWorld) -> MotionStep:
        """Choose the velocities for one step.

        Args:
            configuration: The value of every position of the model, by name; or a world in which the model is mounted,
                whose newest joints are taken.

        Raises:
            InfeasibleMotion: Hard constraints contradict each other, with those that do.
            NotFinite: A position, or a goal there, is no finite number.
            NotGrounded: A position has no value.
        """
        given = configuration if isinstance(configuration, dict) else self._configuration(configuration)
        return self._current().step(given)

    def missing(self, configuration: Mapping[Any, float] | MountedWorld) -> dict[str, tuple[Array, Array]]:
        """Return, by name of a goal, what its values lack, and the Jacobian of the values along the controls."""
        built = self._current()
        built.update_goals(self._configuration(configuration))
        return built.missing()

    def errors(self, configuration: Mapping[Any, float] | MountedWorld) -> dict[str, float]:
        """Return, by name of a goal, how far it is from being met: the length of what is missing."""
        built = self._current()
        built.update_goals(self._configuration(configuration))
        return built.errors()

    def is_met(self, configuration: Mapping[Any, float] | MountedWorld) -> bool:
        """Whether every goal is met, to its tolerance."""
        return not self._unmet(self.errors(configuration))

    def run(
        self,
        configuration: Mapping[Any, float] | MountedWorld,
        *,
        max_steps: int = 500,
        unmet: Literal["warn", "raise", "ignore"] = "warn",
    ) -> dict[str, float]:
        """Step until the goals are met or nothing improves any more, and return the configuration that is reached.

        Nothing but numbers moves: a world is read once, and not written.

        Args:
            configuration: Where it begins.
            max_steps: At most so many.
            unmet: What to do if goals are not met: warn with `GoalsUnmet`, raise `NotMet`, or nothing. Both have the
                configuration that came closest, which is returned otherwise.
        """
        if unmet not in {"warn", "raise", "ignore"}:
            raise InvalidArgument(f"unmet must be 'warn', 'raise' or 'ignore', got {unmet!r}.", unmet)
        now = self._configuration(configuration)
        best, best_merit, waited, steps = now, math.inf, 0, 0
        while True:
            built = self._current()
            built.update_goals(now)
            if not self._unmet(built.errors()):
                return now
            merit = built.merit()
            waited = 0 if merit < best_merit * (1.0 - _IMPROVEMENT) else waited + 1
            best, best_merit = (now, merit) if merit < best_merit else (best, best_merit)
            if waited > _PATIENCE or steps >= max_steps:
                break
            chosen = built.step(now)
            if not any(chosen.velocities.values()):
                break
            now = self.model.integrate(now, chosen.velocities, dt_s=self.dt_s)
            steps += 1
        left = self._unmet(self.errors(best))
        if unmet == "raise":
            raise NotMet(left, best, steps)
        if unmet == "warn":
            warnings.warn(GoalsUnmet(left, best, steps), stacklevel=2)
        return best

    @property
    def constraints(self) -> ConstraintSet:
        """The constraints of the model that it keeps."""
        return self._current().constraints

    def close(self) -> None:
        """Stop following edits of the model."""
        self._subscription.cancel()

    def __repr__(self) -> str:
        goals = ", ".join(goal.name for goal in self.goals) or "no goals"
        return f"Controller({len(self.controls)} controls, every {self.dt_s:g} s: {goals})"

    def _unmet(self, errors: Mapping[str, float]) -> dict[str, float]:
        return {goal.name: errors[goal.name] for goal in self.goals if errors[goal.name] > goal.tolerance}

    def _current(self) -> _Built:
        if self._built is None:
            constraints = self.model.constraint_set(self.controls, dt_s=self.dt_s, backend=self._backend)
            self._built = _Built(self.model, constraints, list(self._goals.values()), self._efforts, self._backend)
        return self._built

    def _forget(self, _: object) -> None:
        self.controls = self.model.along_controls(self.controls)
        self._built = None

    def _configuration(self, given: Mapping[Any, float] | MountedWorld) -> dict[str, float]:
        if isinstance(given, Mapping):
            return by_names(given)
        if not hasattr(given, "mounts"):
            raise InvalidArgument(
                f"A configuration, name to position, or a world with the mounted model is wanted, got {given!r}.", given
            )
        mount = next((one for one in given.mounts if one.model is self.model), None)
        if mount is None:
            raise InvalidArgument(
                "The model of this controller is not mounted in this world. world.mount(model, in_frame=) mounts it.",
                given,
            )
        return {name: float(given.joint(joint).value) for name, joint in mount.joints.items()}


def _efforts(given: float | Mapping[Any, float], controls: Controls) -> Array:
    if not isinstance(given, Mapping):
        found = np.full(len(controls), float(given))
    else:
        found = np.full(len(controls), EFFORT)
        for key, value in given.items():
            name = as_variable(key).name
            if name not in controls.names:
                raise UnknownControl(name, controls.names)
            found[controls.names.index(name)] = float(value)
    if not np.isfinite(found).all() or (found <= 0.0).any():
        raise InvalidArgument("efforts are positive finite numbers: a velocity that costs nothing is not determined.")
    return found


class _Built:
    """The compiled form of a controller, for one state of its model and one list of goals."""

    def __init__(
        self,
        model: ArticulationModel,
        constraints: ConstraintSet,
        goals: Sequence[tuple[Goal, bool]],
        efforts: Array,
        backend: Backend,
    ) -> None:
        self.constraints, self._limits = constraints, Limits(constraints)
        controls = constraints.controls
        width = len(controls)
        blocks: dict[str, list[Block]] = {"value": [], "jacobian": [], "lower": [], "upper": []}
        constants: dict[str, list[Array]] = {"lower": [], "upper": []}
        self._placed: list[_Placed] = []
        first = 0
        for goal, is_required in goals:
            rows = goal.rows(model, controls)
            for name, own in rows.blocks(first, width).items():
                blocks[name] += own
            for name, bound in (("lower", rows.lower), ("upper", rows.upper)):
                constants[name].append(bound if isinstance(bound, np.ndarray) else np.zeros(rows.count))
            parts = tuple(slice(first + one.start, first + one.stop) for one in rows.parts)
            self._placed.append(_Placed(goal, slice(first, first + rows.count), parts, is_required))
            first += rows.count
        parameters = [variable for goal, _ in goals for variable in goal.parameter_variables]
        arrays = {
            "value": (np.zeros(first), blocks["value"]),
            "jacobian": (np.zeros((first, width)), blocks["jacobian"]),
            "lower": (np.concatenate([np.zeros(0), *constants["lower"]]), blocks["lower"]),
            "upper": (np.concatenate([np.zeros(0), *constants["upper"]]), blocks["upper"]),
        }
        self._compiled = CompiledArrays(arrays, order=parameters, backend=backend)
        self._value, self._jacobian = self._compiled.arrays["value"], self._compiled.arrays["jacobian"]
        self._lower, self._upper = self._compiled.arrays["lower"], self._compiled.arrays["upper"]
        self._inputs = np.zeros(len(self._compiled.order))
        self._given = len(parameters)
        self._missing = np.zeros(first)
        self._measured = [one for one in self._placed if type(one.goal).measure is not Goal.measure]
        self._has_intervals = "lower" in self._compiled.changing or bool((self._lower < self._upper).any())
        self._has_intervals |= "upper" in self._compiled.changing
        self._options: list[tuple[float, float, float]] = []
        self._weights, self._gains = np.zeros(first), np.zeros(first)
        self._limited: list[_Placed] = []
        required = [np.arange(one.rows.start, one.rows.stop) for one in self._placed if one.is_required]
        self._required = np.concatenate([np.zeros(0, dtype=np.intp), *required])
        self._efforts, self._step_s, self._names = efforts, constraints.step_s, controls.names
        labels = [
            one.goal.name for one in self._placed if one.is_required for _ in range(one.rows.start, one.rows.stop)
        ]
        self._program = VelocityProgram(controls.names, [*self._limits.names, *labels])
        self._program.rows[: len(self._limits.names)] = self._limits.rows()
        self._diagonal = np.diag_indices(width)

    @staticmethod
    def check(goal: Goal, model: ArticulationModel, controls: Controls) -> None:
        """Raise where a goal does not fit the model, such as an unknown link, or cannot be influenced."""
        rows = goal.rows(model, controls)
        known = {variable.name for variable in model.variables()} | {control.name for control in controls}
        known |= {one.name for constraint in model.constraints().values() for one in constraint.free_variables}
        free = rows.value.free_variables.difference(goal.parameter_variables)
        strange = sorted(str(one) for one in free if one.name not in known)
        if strange:
            raise InvalidArgument(
                f"The goal '{goal.name}' depends on {', '.join(strange)}, which this model does not have. "
                "model.variables() returns those that it has.",
                goal,
            )

    def update_goals(self, configuration: Mapping[str, float]) -> None:
        """Evaluate what is missing, and how it changes."""
        begin = 0
        for one in self._placed:
            end = begin + len(one.goal.parameters)
            self._inputs[begin:end] = one.goal.parameters
            begin = end
        self._inputs[begin:] = values_in_order(configuration, self._compiled.names[self._given :])
        is_finite = self._compiled.evaluate(self._inputs)
        for one in self._measured:
            measured = one.goal.measure(by_names(configuration))
            if measured is not None:
                self._value[one.rows], self._jacobian[one.rows] = measured
        missing = self._missing
        np.maximum(self._value, self._lower, out=missing)
        np.minimum(missing, self._upper, out=missing)
        missing -= self._value
        if not is_finite or self._measured:
            self._check()

    def _check(self) -> None:
        finite = np.isfinite(self._missing) & np.isfinite(self._jacobian).all(axis=1)
        if not finite.all():
            wrong = {one.goal.name: math.nan for one in self._placed if not finite[one.rows].all()}
            raise NotFinite("Goals have no finite value or derivative here", wrong)

    def missing(self) -> dict[str, tuple[Array, Array]]:
        """Return what is missing of each goal, and its Jacobian."""
        return {
            one.goal.name: (self._missing[one.rows].copy(), self._jacobian[one.rows].copy()) for one in self._placed
        }

    def errors(self) -> dict[str, float]:
        """Return how much is missing of each goal: the largest of its quantities."""
        return {one.goal.name: _length(self._missing, one) for one in self._placed}

    def merit(self) -> float:
        """Return the weighed sum of the squares of what is missing."""
        return math.fsum(
            one.goal.weight * float(self._missing[one.rows] @ self._missing[one.rows])
            for one in self._placed
            if not math.isinf(one.goal.tolerance)
        )

    def step(self, configuration: Mapping[str, float]) -> MotionStep:
        """Choose velocities."""
        self.update_goals(configuration)
        self._limits.update(configuration)
        rates, weights = self._wanted()
        program, limits = self._program, self._limits
        width, several = len(self._names), len(limits.names)
        weighed = self._jacobian * weights[:, None]
        np.matmul(weighed.T, self._jacobian, out=program.hessian)
        program.hessian[self._diagonal] += self._efforts
        np.matmul(rates, weighed, out=program.linear)
        np.negative(program.linear, out=program.linear)
        program.lower[:width], program.upper[:width] = limits.lower, limits.upper
        if several:
            self._lead_back()
        if len(self._required):
            end = width + several
            program.rows[several:] = self._jacobian[self._required]
            program.lower[end:] = program.upper[end:] = rates[self._required]
            self._loosen_intervals(end)
        speeds, iterations = program.solve()
        missed = rates - self._jacobian @ speeds
        if self._has_intervals:
            missed[weights == 0.0] = 0.0
        recovering: tuple[str, ...] = ()
        if several and limits.broken.any():
            recovering = tuple(limits.names[i] for i in np.flatnonzero(limits.broken))
        velocities = dict(zip(self._names, speeds.tolist(), strict=True))
        return MotionStep(velocities, recovering, iterations, self._placed, missed, self._missing.copy())

    def _wanted(self) -> tuple[Array, Array]:
        """Return the rates that the goals want, and how much each counts: nothing within its interval."""
        options = [(one.goal.weight, one.goal.gain, one.goal.speed_limit) for one in self._placed]
        if options != self._options:
            self._take_options(options)
        rates, weights = self._missing * self._gains, self._weights
        for one in self._limited:
            for part in one.parts:
                speed = math.sqrt(float(rates[part].dot(rates[part])))
                if speed > one.goal.speed_limit:
                    rates[part] *= one.goal.speed_limit / speed
        if self._has_intervals:
            weights = np.where((self._missing == 0.0) & (self._lower < self._upper), 0.0, weights)
        return rates, weights

    def _take_options(self, options: list[tuple[float, float, float]]) -> None:
        """Note weights, gains and speed limits, which can be set anew at any time."""
        self._options = options
        for one, (weight, gain, _) in zip(self._placed, options, strict=True):
            self._weights[one.rows] = 0.0 if one.is_required else weight
            self._gains[one.rows] = gain / self._step_s
        self._limited = [one for one in self._placed if one.goal.speed_limit < math.inf]

    def _loosen_intervals(self, first: int) -> None:
        """Let required values move freely within their intervals."""
        lower, upper = self._lower[self._required], self._upper[self._required]
        is_interval = lower < upper
        if not is_interval.any():
            return
        value, program = self._value[self._required], self._program
        low, high = (lower - value) / self._step_s, (upper - value) / self._step_s
        wanted = program.lower[first:].copy()
        program.lower[first:] = np.where(is_interval, np.minimum(low, np.maximum(wanted, 0.0)), wanted)
        program.upper[first:] = np.where(is_interval, np.maximum(high, np.minimum(wanted, 0.0)), wanted)
        below, above = is_interval & (low > 0.0), is_interval & (high < 0.0)
        program.lower[first:][below] = wanted[below]
        program.upper[first:][above] = wanted[above]

    def _lead_back(self) -> None:
        """Write the rows of several controls, and add what leads broken ones back."""
        program, limits = self._program, self._limits
        width, several = len(self._names), len(limits.names)
        matrix = limits.rows()
        program.rows[:several] = matrix
        program.lower[width : width + several] = limits.row_lower
        program.upper[width : width + several] = limits.row_upper
        broken = np.flatnonzero(limits.broken)
        if len(broken):
            weighed = _RECOVERY_WEIGHT * matrix[broken]
            program.hessian += weighed.T @ matrix[broken]
            program.linear -= limits.broken[broken] @ weighed
