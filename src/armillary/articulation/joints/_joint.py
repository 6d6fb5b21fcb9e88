"""What a joint is: how one link moves in another, by its variables."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from armillary._core import Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PoseExpression
from armillary.articulation.variables import Variable
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import Triple
from armillary.scene.driven_forms import ClosedForm, TapeForm

__all__ = ["ClosedForm", "Interpolation", "Joint", "TapeForm", "bounded", "unit_axis"]

Interpolation = Literal["linear", "wrap", "hold", "unit_quaternion"]

_IDENTITY = Transform.identity()


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """How a link moves in its parent: parent_T_child = parent_T_joint @ motion @ joint_T_child.

    A new kind is one small class: a frozen dataclass that says what its motion is and which variables are in it.
    Expressions are built when somebody asks for them.

    Attributes:
        parent_T_joint: Where it sits in the parent.
        joint_T_child: Where the child sits on it.
    """

    kind: ClassVar[str] = ""
    """The name in files."""
    readable: ClassVar[tuple[str, ...]] = ("parent_T_joint", "joint_T_child", "parent_T_child", "motion", "constraints")

    parent_T_joint: Transform = _IDENTITY
    joint_T_child: Transform = _IDENTITY

    @property
    @abstractmethod
    def variables(self) -> tuple[Variable, ...]:
        """The positions that its motion depends on."""

    @property
    @abstractmethod
    def motion(self) -> PoseExpression:
        """Where its moving side is in its resting side."""

    @property
    def velocities(self) -> tuple[Variable, ...]:
        """What its velocity is a linear function of."""
        return tuple(variable.velocity for variable in self.variables)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """What it keeps, by a name of its own."""
        return {}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """By name of a variable, how it goes from one sample to the next."""
        return {variable.name: "linear" for variable in self.variables}

    @property
    def closed_form(self) -> ClosedForm | None:
        """What the native core knows it as; None where it runs the tape of the expression."""
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
        """What the native core runs where it does not know the joint."""
        pose, positions, velocities = self.parent_T_child, self.variables, self.velocities
        return TapeForm(
            value=pose.value_tape(positions),
            jacobian=pose.jacobian_tape(positions, velocities),
            positions=tuple(variable.name for variable in positions),
            velocities=tuple(variable.name for variable in velocities),
        )

    @property
    def has_plain_child(self) -> bool:
        """Whether the child sits right on it, as every closed form wants."""
        return self.joint_T_child == _IDENTITY


def unit_axis(value: Iterable[float]) -> Triple:
    """A direction of length one, or `InvalidArgument`."""
    x, y, z = (float(entry) for entry in value)
    length = math.hypot(x, y, z)
    if not math.isfinite(length) or length == 0.0:
        raise InvalidArgument(f"An axis needs a direction, got {(x, y, z)}. Give a vector that is not zero.", value)
    return (x, y, z) if abs(length - 1.0) <= 1e-15 else (x / length, y / length, z / length)  # noqa: PLR2004


def bounded(lower: float | None, upper: float | None, expression: Expression | Variable) -> Constraint:
    """Between two numbers, of which None does not bound."""
    low = -math.inf if lower is None else lower
    high = math.inf if upper is None else upper
    return Constraint(low, high, expression)
