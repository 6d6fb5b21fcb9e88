"""What of a model can be commanded: its controls, how expressions change along them, and where they lead in a step.

A control is a velocity: that of a joint, the speed of a wheel, one of the three turns of a ball. A joint that follows
another has none of its own, nor has what follows from a kinematic loop. This module is the one place that relates the
names of controls and positions to their order in arrays.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions.base import Symbolic
from armillary.articulation.variables import Order, Variable, VariableLike, as_variable
from armillary.errors import InvalidArgument, NotFinite, NotGrounded, UnknownControl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.joints import Joint
    from armillary.articulation.loops import Loops

    Array = NDArray[np.float64]
    Values = dict[str, float]

__all__ = [
    "Controls",
    "Integrator",
    "as_controls",
    "as_speeds",
    "as_step",
    "by_names",
    "controls_of",
    "values_in_order",
]

E = TypeVar("E", bound=Symbolic[Any])


def controls_of(joints: Iterable[Joint], constraints: Iterable[Constraint], loops: Loops) -> tuple[Variable, ...]:
    """Return the controls of these joints, and the velocities that a constraint bounds and no joint has."""
    dependents = {variable.velocity for variable in loops.dependents}
    all_joints = list(joints)
    found = dict.fromkeys(control for joint in all_joints for control in joint.controls)
    of_joints = {variable for joint in all_joints for variable in (*joint.variables, *found)}
    for constraint in constraints:
        for variable in sorted(constraint.expression.free_variables, key=str):
            if variable.order is Order.VELOCITY and variable.integral not in of_joints:
                found[variable] = None
    return tuple(control for control in found if control not in dependents)


def as_controls(given: Iterable[VariableLike], known: Sequence[Variable]) -> tuple[Variable, ...]:
    """Check controls, given by themselves or by name, with or without the prime of a velocity.

    Raises:
        UnknownControl: One of them is no control of the model.
        InvalidArgument: There are none, or one is given twice.
    """
    if isinstance(given, str | Variable):
        given = [given]
    by_name = {control.name: control for control in known}
    found = []
    for one in given:
        variable = as_variable(one)
        if variable.name not in by_name or variable.order > Order.VELOCITY:
            raise UnknownControl(str(variable), tuple(by_name))
        found.append(by_name[variable.name])
    twice = next((control for i, control in enumerate(found) if control in found[:i]), None)
    if twice is not None:
        raise InvalidArgument(f"The control '{twice.name}' is given twice. Give it once.", twice)
    if not found:
        raise InvalidArgument("No controls were given. model.controls() returns all that there are.", found)
    return tuple(found)


def as_speeds(given: Mapping[Any, float], known: Sequence[Variable]) -> dict[str, float]:
    """Check speeds of controls, and return them by name.

    Raises:
        UnknownControl: One of them is no control of the model.
        NotFinite: One of them is no finite number.
    """
    names = {control.name for control in known}
    found = {}
    for key, value in given.items():
        name = key if type(key) is str and key in names else _control_name(key, names)
        found[name] = float(value)
    _refuse_what_is_not_finite(found, "The speeds")
    return found


def _control_name(key: Any, names: Collection[str]) -> str:
    variable = as_variable(key)
    if variable.name not in names or variable.order > Order.VELOCITY:
        raise UnknownControl(str(variable), tuple(sorted(names)))
    return variable.name


def as_step(step_s: float) -> float:
    """Check a step in time."""
    if not isinstance(step_s, int | float) or not math.isfinite(step_s) or step_s <= 0.0:
        raise InvalidArgument(f"A step is a positive number of seconds, got dt_s={step_s!r}.", step_s)
    return float(step_s)


def by_names(values: Mapping[Any, float]) -> dict[str, float]:
    """Return the same values by name, where they are given by variable; what is given by name is taken as it is."""
    return {key if type(key) is str else str(as_variable(key)): value for key, value in values.items()}


def values_in_order(configuration: Mapping[Any, float], names: Sequence[str]) -> Array:
    """Return the values of positions as an array.

    Raises:
        NotGrounded: A value is missing.
        NotFinite: A value is no finite number.
    """
    try:
        found = np.array([configuration[name] for name in names], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        by_name = {str(as_variable(key)): float(value) for key, value in configuration.items()}
        missing = [name for name in names if name not in by_name]
        if missing:
            raise NotGrounded(sorted(missing)) from None
        found = np.array([by_name[name] for name in names], dtype=np.float64)
    if not math.isfinite(found.dot(found)):
        _refuse_what_is_not_finite(dict(zip(names, found.tolist(), strict=True)), "The configuration")
    return found


def _refuse_what_is_not_finite(values: Mapping[str, float], what: str) -> None:
    wrong = {name: value for name, value in values.items() if not math.isfinite(value)}
    if wrong:
        raise NotFinite(what, wrong)


class Controls(Sequence[Variable]):
    """Controls in their order, and expressions as functions of them.

    Args:
        controls: The columns of Jacobians, in this order.
        joints: All joints of the model.
        loops: All kinematic loops of the model.
    """

    def __init__(self, controls: Sequence[Variable], joints: Iterable[Joint], loops: Loops) -> None:
        self._controls = tuple(controls)
        self._loops = loops
        tangents: dict[Variable, Any] = {}
        self._wheels: dict[Variable, frozenset[Variable]] = {}
        for joint in joints:
            tangents |= joint.tangent
            if joint.velocities == joint.controls:  # its motion changes along the controls already
                self._wheels |= dict.fromkeys(joint.tangent, frozenset(joint.controls))
        self._tangents = tangents
        self.column_of = {control: column for column, control in enumerate(self._controls)}
        self.names = tuple(control.name for control in self._controls)

    def __len__(self) -> int:
        return len(self._controls)

    def __getitem__(self, place: Any) -> Any:
        return self._controls[place]

    def along(self, expression: E) -> E:
        """Return the same value with its gradient along what can be commanded.

        What follows from kinematic loops changes along their drivers, a quaternion along turns, and x, y and yaw of a
        differential drive along its wheels.
        """
        velocities = {v: v.integral for v in expression.free_variables if v.order is Order.VELOCITY}
        follow = {v: x for v, x in velocities.items() if x in self._tangents or x in self._loops.dependents}
        if follow:
            expression = expression.substitute({v: self.along(x.expression).velocity() for v, x in follow.items()})
        closed: E = self._loops.closed(expression)
        used = [one for one in closed.directions if one.order is Order.VELOCITY and one.integral in self._tangents]
        along = set(closed.directions)
        given = {
            one.integral: self._tangents[one.integral]
            for one in used
            if along.isdisjoint(self._wheels.get(one.integral, ()))
        }
        return closed.substitute(given) if given else closed

    def columns(self, expression: Symbolic[Any], *, is_velocity: bool = False) -> list[int]:
        """Return the columns in which the Jacobian of an expression has entries.

        Args:
            expression: As `along` returns it.
            is_velocity: It is itself a velocity, so that controls are among its free variables.
        """
        wanted = {control.derivative if is_velocity else control: i for control, i in self.column_of.items()}
        return sorted(wanted[one] for one in expression.directions if one in wanted)


class Integrator:
    """Moves a configuration by velocities, for one state of a model.

    Args:
        joints: All joints of the model.
        loops: All kinematic loops of the model.
        known: All controls of the model.
    """

    def __init__(self, joints: Iterable[Joint], loops: Loops, known: Sequence[Variable]) -> None:
        all_joints = list(joints)
        self._loops, self._known = loops, tuple(known)
        self._curved = tuple(joint for joint in all_joints if joint.tangent)
        self._follow = frozenset(variable.name for variable in loops.dependents)
        self._needed = {variable.name for joint in all_joints for variable in joint.variables} - self._follow
        self._names: tuple[frozenset[str], tuple[str, ...]] = (frozenset(), ())

    def __call__(self, configuration: Mapping[Any, float], velocities: Mapping[Any, float], step_s: float) -> Values:
        """Return the positions after a step at constant velocities of controls."""
        speeds = as_speeds(velocities, self._known)
        given = by_names(configuration)
        names = (*given, *sorted(self._needed.difference(given)))
        values = dict(zip(names, values_in_order(given, names).tolist(), strict=True))
        found = {name: value + speeds.get(name, 0.0) * step_s for name, value in values.items()}
        for joint in self._curved:
            found |= joint.moved(values, speeds, step_s)
        return found if not self._follow else self._closed(found, values)

    def _closed(self, found: Values, before: Values) -> Values:
        start = {as_variable(name): before[name] for name in self._follow if name in before}
        drivers = {as_variable(name): value for name, value in found.items() if name not in self._follow}
        return {variable.name: value for variable, value in self._loops.solve(drivers, start or None).items()}
