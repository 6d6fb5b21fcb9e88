"""Joints: how one link moves in another. Each kind is one small class."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

from armillary._core import Rotation, Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PoseExpression
from armillary.articulation.geometry import pose, rotation_about, rotation_from_quaternion, translation
from armillary.articulation.paths import as_path
from armillary.articulation.variables import Variable, by_name, position, velocity
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import Limits, SoftLimits, Triple
from armillary.store.driven_forms import ClosedForm, TapeForm

__all__ = [
    "AxisJoint",
    "BallJoint",
    "ClosedForm",
    "ContinuousJoint",
    "CylindricalJoint",
    "ExpressionJoint",
    "FixedJoint",
    "FloatingJoint",
    "Interpolation",
    "Joint",
    "NamedJoint",
    "PrismaticJoint",
    "RevoluteJoint",
    "ScrewJoint",
    "TapeForm",
    "UniversalJoint",
    "bounded",
]

Interpolation = Literal["linear", "wrap", "hold", "unit_quaternion"]

CHOICES: tuple[str, ...] = ("linear", "wrap", "hold")
"""The interpolations that can be chosen for a joint with one axis."""

_IDENTITY = Transform.identity()
_ORIGIN = (0.0, 0.0, 0.0)
QUATERNION = ("qw", "qx", "qy", "qz")
"""The ends of the names of the variables of a quaternion."""
TURNS = ("turn_x", "turn_y", "turn_z")
"""The ends of the names of the angular velocities that turn it."""


def check_interpolation(value: object) -> None:
    """Raise InvalidArgument for what is no interpolation that can be chosen."""
    if not isinstance(value, str) or value not in CHOICES:
        raise InvalidArgument(f"interpolation of a joint must be 'linear', 'wrap' or 'hold', got {value!r}.", value)


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """How a link moves in its parent: parent_T_child = parent_T_joint @ motion @ joint_T_child.

    A new kind is one small class: a frozen dataclass that defines its motion and the variables of it. Expressions are
    built on first use.

    Attributes:
        parent_T_joint: The pose of the joint in the parent.
        joint_T_child: The pose of the child on the moving side of the joint.
    """

    kind: ClassVar[str] = ""
    """The name in files."""
    readable: ClassVar[tuple[str, ...]] = ("parent_T_joint", "joint_T_child", "parent_T_child", "motion", "constraints")
    """The attributes that paths of a model lead to."""

    parent_T_joint: Transform = _IDENTITY
    joint_T_child: Transform = _IDENTITY

    @property
    @abstractmethod
    def variables(self) -> tuple[Variable, ...]:
        """The positions that the motion depends on."""

    @property
    @abstractmethod
    def motion(self) -> PoseExpression:
        """The pose of the moving side in the fixed side."""

    @property
    def velocities(self) -> tuple[Variable, ...]:
        """The variables that the velocity is a linear function of."""
        return tuple(variable.velocity for variable in self.variables)

    @property
    def controls(self) -> tuple[Variable, ...]:
        """The velocities that it can be commanded by."""
        return self.velocities

    @property
    def tangent(self) -> Mapping[Variable, Expression]:
        """The positions whose rates are no controls, each with a gradient along the controls instead."""
        return {}

    def moved(self, values: Mapping[str, float], speeds: Mapping[str, float], step_s: float) -> dict[str, float]:
        """Return its positions after it has moved at constant speeds.

        Args:
            values: Its positions before, by name.
            speeds: Of its controls, by name; what is not named stands still.
            step_s: For how long.
        """
        return {one.name: values[one.name] + speeds.get(one.name, 0.0) * step_s for one in self.variables}

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """The constraints of the joint, by a name of their own."""
        return {}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """By name of a variable, how it is interpolated between two samples."""
        return {variable.name: "linear" for variable in self.variables}

    @property
    def closed_form(self) -> ClosedForm | None:
        """The joint of the C++ core that it is; None where the core runs the tape of the expression."""
        return None

    @cached_property
    def parent_T_child(self) -> PoseExpression:
        """The pose of the child in the parent."""
        parent_T_moved: PoseExpression = PoseExpression.from_transform(self.parent_T_joint) @ self.motion
        if self.has_plain_child:
            return parent_T_moved
        parent_T_child: PoseExpression = parent_T_moved @ PoseExpression.from_transform(self.joint_T_child)
        return parent_T_child

    @cached_property
    def tape_form(self) -> TapeForm:
        """The tapes that the C++ core runs where it has no closed form."""
        pose, positions, velocities = self.parent_T_child, self.variables, self.velocities
        return TapeForm(
            value=pose.value_tape(positions),
            jacobian=pose.jacobian_tape(positions, velocities),
            positions=tuple(variable.name for variable in positions),
            velocities=tuple(variable.name for variable in velocities),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: expressions that were built of them are built again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def has_plain_child(self) -> bool:
        """Whether the frame of the child is that of the moving side, as every closed form requires."""
        return self.joint_T_child == _IDENTITY


@dataclass(frozen=True, kw_only=True)
class FixedJoint(Joint):
    """A joint without motion."""

    kind: ClassVar[str] = "fixed"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """No variables."""
        return ()

    @property
    def motion(self) -> PoseExpression:
        """The identity."""
        return PoseExpression.identity()

    @property
    def closed_form(self) -> ClosedForm:
        """A constant of the C++ core."""
        return ClosedForm(kind=self.kind, origin=self.parent_T_joint @ self.joint_T_child)


@dataclass(frozen=True, kw_only=True)
class ExpressionJoint(Joint):
    """A joint that moves as an expression: for whatever no other joint can.

    Attributes:
        expression: The pose of the moving side in the fixed side.
    """

    kind: ClassVar[str] = "expression"

    expression: PoseExpression

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the expression depends on."""
        return tuple(by_name(self.expression.free_variables))

    @cached_property
    def velocities(self) -> tuple[Variable, ...]:
        """The variables that the expression changes along."""
        return tuple(by_name(self.expression.gradient()))

    @property
    def motion(self) -> PoseExpression:
        """The expression."""
        return self.expression


@dataclass(frozen=True, kw_only=True)
class AxisJoint(Joint):
    """Rotates about an axis or slides along it, or both at once, by multiplier * variable + offset.

    Attributes:
        variable: The name of the degree of freedom; that of another joint where it follows that joint.
        axis: In the joint's frame.
        limits: Of the joint itself, whatever it follows.
        soft_limits: Where controllers begin to hold back.
        multiplier: How far it moves when its variable moves by one.
        offset: Its position when its variable is zero.
        interpolation: How the variable goes from one sample to the next: "linear", "wrap" (an angle, the shorter way
            round) or "hold" (a drawer is where it was left); None: as is usual for this kind of joint.
    """

    readable: ClassVar[tuple[str, ...]] = (*Joint.readable, "position", "axis")

    variable: str
    axis: Triple = (1.0, 0.0, 0.0)
    limits: Limits | None = None
    soft_limits: SoftLimits | None = None
    multiplier: float = 1.0
    offset: float = 0.0
    interpolation: Literal["linear", "wrap", "hold"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", as_path(self.variable))
        if self.interpolation is not None:
            check_interpolation(self.interpolation)
        object.__setattr__(self, "axis", _unit_axis(self.axis))
        if not (math.isfinite(self.multiplier) and math.isfinite(self.offset)):
            raise InvalidArgument("The multiplier and the offset of a joint are finite numbers.", self.multiplier)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The one variable."""
        return (position(self.variable),)

    @property
    def position(self) -> Expression:
        """The angle or the distance of the joint."""
        return self._followed(self.variables[0], self.offset)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The limits of its own position and velocity."""
        found, hard, soft = {}, self.limits, self.soft_limits
        if hard is not None and (hard.lower is not None or hard.upper is not None):
            found["position"] = bounded(hard.lower, hard.upper, self.position)
        if soft is not None:
            found["soft_position"] = bounded(soft.lower, soft.upper, self.position)
        if hard is not None and hard.velocity is not None:
            found["velocity"] = bounded(-hard.velocity, hard.velocity, self._followed(self.variables[0].velocity, 0.0))
        return found

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Linear, unless chosen otherwise."""
        return {self.variable: self.interpolation or "linear"}

    @property
    def closed_form(self) -> ClosedForm | None:
        """The joint of the C++ core with one axis."""
        if not self.has_plain_child:
            return None
        return ClosedForm(
            kind=self.kind,
            origin=self.parent_T_joint,
            axes=(self.axis,),
            variables=(self.variable,),
            multiplier=self.multiplier,
            offset=self.offset,
            pitch_m_per_rad=self._pitch_m_per_rad,
        )

    @property
    def _pitch_m_per_rad(self) -> float:
        return 0.0

    def _followed(self, variable: Variable, offset: float) -> Expression:
        scaled = variable.expression if self.multiplier == 1.0 else self.multiplier * variable
        return scaled if offset == 0.0 else scaled + offset


@dataclass(frozen=True, kw_only=True)
class RevoluteJoint(AxisJoint):
    """Rotates about its axis between limits."""

    kind: ClassVar[str] = "revolute"

    @property
    def motion(self) -> PoseExpression:
        """A rotation."""
        return pose(rotation_about(self.axis, self.position), _ORIGIN)


@dataclass(frozen=True, kw_only=True)
class ContinuousJoint(RevoluteJoint):
    """Rotates about its axis without end."""

    kind: ClassVar[str] = "continuous"

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """The shorter way round, unless chosen otherwise."""
        return {self.variable: self.interpolation or "wrap"}


@dataclass(frozen=True, kw_only=True)
class PrismaticJoint(AxisJoint):
    """Slides along its axis."""

    kind: ClassVar[str] = "prismatic"

    @property
    def motion(self) -> PoseExpression:
        """A translation."""
        return translation(*(entry * self.position for entry in self.axis))


@dataclass(frozen=True, kw_only=True)
class ScrewJoint(AxisJoint):
    """Rotates about its axis and slides along it in proportion.

    Attributes:
        pitch_m: How far it slides in one whole turn.
    """

    kind: ClassVar[str] = "screw"

    pitch_m: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.pitch_m):
            raise InvalidArgument(f"The pitch of a screw is a finite number, got {self.pitch_m}.", self.pitch_m)

    @property
    def motion(self) -> PoseExpression:
        """A rotation and a translation in proportion."""
        slide = self._pitch_m_per_rad * self.position
        return pose(rotation_about(self.axis, self.position), [entry * slide for entry in self.axis])

    @property
    def _pitch_m_per_rad(self) -> float:
        return self.pitch_m / math.tau


@dataclass(frozen=True, kw_only=True)
class NamedJoint(Joint):
    """A joint of several degrees of freedom, whose variables are named after it, as in `robot/wrist/first`.

    Attributes:
        variable: The beginning of their names.
    """

    variable: str
    parts: ClassVar[tuple[str, ...]]
    """The ends of their names, in the order of the C++ core."""
    _axes: ClassVar[tuple[str, ...]] = ()
    """The fields that are axes, in the order of the C++ core."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", as_path(self.variable))
        for name in self._axes:
            object.__setattr__(self, name, _unit_axis(getattr(self, name)))

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """One variable for each part."""
        return tuple(position(f"{self.variable}/{part}") for part in self.parts)

    @property
    def closed_form(self) -> ClosedForm | None:
        """The joint of the C++ core with these axes."""
        if not self.has_plain_child:
            return None
        return ClosedForm(
            kind=self.kind,
            origin=self.parent_T_joint,
            axes=tuple(getattr(self, name) for name in self._axes),
            variables=tuple(variable.name for variable in self.variables),
        )


@dataclass(frozen=True, kw_only=True)
class CylindricalJoint(NamedJoint):
    """Rotates about an axis and slides along it, independently.

    Attributes:
        axis: In the joint's frame.
        limits: Of the angle.
        slide_limits: Of the slide.
    """

    kind: ClassVar[str] = "cylindrical"
    parts: ClassVar[tuple[str, ...]] = ("angle", "slide")
    _axes: ClassVar[tuple[str, ...]] = ("axis",)

    axis: Triple = (0.0, 0.0, 1.0)
    limits: Limits | None = None
    slide_limits: Limits | None = None

    @property
    def motion(self) -> PoseExpression:
        """A rotation and a translation, which commute."""
        angle, slide = self.variables
        return pose(rotation_about(self.axis, angle), [entry * slide for entry in self.axis])

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The limits of angle and slide."""
        return _limited(self, (self.limits, self.slide_limits))


@dataclass(frozen=True, kw_only=True)
class UniversalJoint(NamedJoint):
    """Rotates about one axis, and about a second one that the first carries.

    Attributes:
        axis: The first.
        second_axis: The second, in the joint's frame when both are at zero.
        limits: Of the first rotation.
        second_limits: Of the second.
    """

    kind: ClassVar[str] = "universal"
    parts: ClassVar[tuple[str, ...]] = ("first", "second")
    _axes: ClassVar[tuple[str, ...]] = ("axis", "second_axis")

    axis: Triple = (1.0, 0.0, 0.0)
    second_axis: Triple = (0.0, 1.0, 0.0)
    limits: Limits | None = None
    second_limits: Limits | None = None

    @property
    def motion(self) -> PoseExpression:
        """One rotation after the other."""
        first, second = self.variables
        return pose(rotation_about(self.axis, first) @ rotation_about(self.second_axis, second), _ORIGIN)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The limits of both rotations."""
        return _limited(self, (self.limits, self.second_limits))


@dataclass(frozen=True, kw_only=True)
class BallJoint(NamedJoint):
    """Rotates freely, by a unit quaternion."""

    kind: ClassVar[str] = "ball"
    parts: ClassVar[tuple[str, ...]] = QUATERNION

    @property
    def motion(self) -> PoseExpression:
        """A rotation."""
        return pose(rotation_from_quaternion(*self.variables), _ORIGIN)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The quaternion has length one."""
        return {"unit_quaternion": _of_length_one(self.variables)}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Along the shortest arc."""
        return {variable.name: "unit_quaternion" for variable in self.variables}

    @cached_property
    def turns(self) -> tuple[Variable, Variable, Variable]:
        """The angular velocity of the child, seen from itself: x, y and z."""
        return turns_of(self.variable)

    @property
    def controls(self) -> tuple[Variable, ...]:
        """The three turns."""
        return self.turns

    @property
    def tangent(self) -> Mapping[Variable, Expression]:
        """The four numbers of the quaternion, which change along three turns."""
        return turned_quaternion(self.variables, self.turns)

    def moved(self, values: Mapping[str, float], speeds: Mapping[str, float], step_s: float) -> dict[str, float]:
        """Return its positions after it has turned at a constant angular velocity; the quaternion keeps length one."""
        return integrated_quaternion(self.variables, self.turns, values, speeds, step_s)


@dataclass(frozen=True, kw_only=True)
class FloatingJoint(NamedJoint):
    """Moves freely: a position and a unit quaternion."""

    kind: ClassVar[str] = "floating"
    parts: ClassVar[tuple[str, ...]] = ("x", "y", "z", *QUATERNION)

    @property
    def motion(self) -> PoseExpression:
        """A rotation and a translation."""
        x, y, z, *wxyz = self.variables
        return pose(rotation_from_quaternion(*wxyz), (x, y, z))

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The quaternion has length one."""
        return {"unit_quaternion": _of_length_one(self.variables[3:])}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Linear, and along the shortest arc."""
        names = [variable.name for variable in self.variables]
        return {name: "linear" if i < 3 else "unit_quaternion" for i, name in enumerate(names)}  # noqa: PLR2004

    @cached_property
    def turns(self) -> tuple[Variable, Variable, Variable]:
        """The angular velocity of the child, seen from itself: x, y and z."""
        return turns_of(self.variable)

    @property
    def controls(self) -> tuple[Variable, ...]:
        """The velocity of its origin in the parent, and the three turns."""
        return (*(variable.velocity for variable in self.variables[:3]), *self.turns)

    @property
    def tangent(self) -> Mapping[Variable, Expression]:
        """The four numbers of the quaternion, which change along three turns."""
        return turned_quaternion(self.variables[3:], self.turns)

    def moved(self, values: Mapping[str, float], speeds: Mapping[str, float], step_s: float) -> dict[str, float]:
        """Return its positions after it has turned at a constant angular velocity; the quaternion keeps length one."""
        slid = {one.name: values[one.name] + speeds.get(one.name, 0.0) * step_s for one in self.variables[:3]}
        return slid | integrated_quaternion(self.variables[3:], self.turns, values, speeds, step_s)


def turns_of(name: str) -> tuple[Variable, Variable, Variable]:
    """Return the three turns by which the quaternion of this name changes."""
    x, y, z = (velocity(f"{name}/{part}") for part in TURNS)
    return x, y, z


def turned_quaternion(
    wxyz: tuple[Variable, ...], turns: tuple[Variable, Variable, Variable]
) -> dict[Variable, Expression]:
    """Return a unit quaternion whose gradient is along an angular velocity seen from the child: q (0, turns) / 2."""
    w, x, y, z = wxyz
    along = {w: (-x, -y, -z), x: (w, -z, y), y: (z, w, -x), z: (-y, x, w)}
    return {
        part: part.expression.with_gradient(
            {turn: 0.5 * rate for turn, rate in zip(turns, rates, strict=True)}, replace=True
        )
        for part, rates in along.items()
    }


def integrated_quaternion(
    wxyz: tuple[Variable, ...],
    turns: tuple[Variable, ...],
    values: Mapping[str, float],
    speeds: Mapping[str, float],
    step_s: float,
) -> dict[str, float]:
    """Return a unit quaternion after a rotation at a constant angular velocity, seen from the child."""
    before = Rotation.from_wxyz([values[one.name] for one in wxyz])
    by = Rotation.exp([speeds.get(turn.name, 0.0) * step_s for turn in turns])
    after = (before @ by).wxyz
    near = sum(values[one.name] * float(part) for one, part in zip(wxyz, after, strict=True))
    sign = -1.0 if near < 0.0 else 1.0  # both signs are the same rotation: the nearer one
    return {one.name: sign * float(part) for one, part in zip(wxyz, after, strict=True)}


def bounded(lower: float | None, upper: float | None, expression: Expression | Variable) -> Constraint:
    """Make a constraint between two numbers, of which None does not bound."""
    low = -math.inf if lower is None else lower
    high = math.inf if upper is None else upper
    return Constraint(low, high, expression)


def _unit_axis(value: Iterable[float]) -> Triple:
    x, y, z = (float(entry) for entry in value)
    length = math.hypot(x, y, z)
    if not math.isfinite(length) or length == 0.0:
        raise InvalidArgument(f"An axis needs a direction, got {(x, y, z)}. Give a vector that is not zero.", value)
    return (x, y, z) if abs(length - 1.0) <= 1e-15 else (x / length, y / length, z / length)  # noqa: PLR2004


def _limited(joint: NamedJoint, limits: tuple[Limits | None, ...]) -> dict[str, Constraint]:
    found = {}
    for part, variable, limit in zip(joint.parts, joint.variables, limits, strict=True):
        if limit is not None and (limit.lower is not None or limit.upper is not None):
            found[f"{part}_position"] = bounded(limit.lower, limit.upper, variable)
        if limit is not None and limit.velocity is not None:
            found[f"{part}_velocity"] = bounded(-limit.velocity, limit.velocity, variable.velocity)
    return found


def _of_length_one(wxyz: tuple[Variable, ...]) -> Constraint:
    w, x, y, z = wxyz
    return Constraint(1.0, 1.0, w * w + x * x + y * y + z * z)
