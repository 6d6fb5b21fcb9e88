"""Joints of one degree of freedom, and none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PoseExpression
from armillary.articulation.geometry import pose, rotation_about, translation
from armillary.articulation.joints._joint import ClosedForm, Interpolation, Joint, bounded, unit_axis
from armillary.articulation.paths import as_path
from armillary.articulation.variables import Variable, position
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import Limits, SoftLimits, Triple

__all__ = ["AxisJoint", "ContinuousJoint", "FixedJoint", "PrismaticJoint", "RevoluteJoint", "ScrewJoint"]

_NO_SHIFT = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class FixedJoint(Joint):
    """No motion."""

    kind: ClassVar[str] = "fixed"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """None."""
        return ()

    @property
    def motion(self) -> PoseExpression:
        """None."""
        return PoseExpression.identity()

    @property
    def closed_form(self) -> ClosedForm:
        """A constant."""
        return ClosedForm(kind=self.kind, origin=self.parent_T_joint @ self.joint_T_child)


@dataclass(frozen=True, kw_only=True)
class AxisJoint(Joint):
    """Turns about an axis or slides along it, or both at once, by multiplier * variable + offset.

    Attributes:
        variable: The name of the degree of freedom; another joint's where it follows that.
        axis: In the joint's frame.
        limits: Of the joint itself, whatever it follows.
        soft_limits: Where controllers begin to hold back.
        multiplier: How far it moves when its variable moves by one.
        offset: Where it is when its variable is zero.
    """

    readable: ClassVar[tuple[str, ...]] = (*Joint.readable, "position", "axis")

    variable: str
    axis: Triple = (1.0, 0.0, 0.0)
    limits: Limits | None = None
    soft_limits: SoftLimits | None = None
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", as_path(self.variable))
        object.__setattr__(self, "axis", unit_axis(self.axis))
        if not (math.isfinite(self.multiplier) and math.isfinite(self.offset)):
            raise InvalidArgument("The multiplier and the offset of a joint are finite numbers.", self.multiplier)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The one it moves by."""
        return (position(self.variable),)

    @property
    def position(self) -> Expression:
        """How far it has turned or slid."""
        return self._followed(self.variables[0], self.offset)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """Its limits, on what it does itself."""
        found, hard, soft = {}, self.limits, self.soft_limits
        if hard is not None and (hard.lower is not None or hard.upper is not None):
            found["position"] = bounded(hard.lower, hard.upper, self.position)
        if soft is not None:
            found["soft_position"] = bounded(soft.lower, soft.upper, self.position)
        if hard is not None and hard.velocity is not None:
            found["velocity"] = bounded(-hard.velocity, hard.velocity, self._followed(self.variables[0].velocity, 0.0))
        return found

    @property
    def closed_form(self) -> ClosedForm | None:
        """As the core knows it."""
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
    """Turns about its axis between limits."""

    kind: ClassVar[str] = "revolute"

    @property
    def motion(self) -> PoseExpression:
        """A turn."""
        return pose(rotation_about(self.axis, self.position), _NO_SHIFT)


@dataclass(frozen=True, kw_only=True)
class ContinuousJoint(RevoluteJoint):
    """Turns about its axis without end."""

    kind: ClassVar[str] = "continuous"

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """The short way round."""
        return {self.variable: "wrap"}


@dataclass(frozen=True, kw_only=True)
class PrismaticJoint(AxisJoint):
    """Slides along its axis."""

    kind: ClassVar[str] = "prismatic"

    @property
    def motion(self) -> PoseExpression:
        """A shift."""
        return translation(*(entry * self.position for entry in self.axis))


@dataclass(frozen=True, kw_only=True)
class ScrewJoint(AxisJoint):
    """Turns about its axis and slides along it in proportion.

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
        """Both at once."""
        slide = self._pitch_m_per_rad * self.position
        return pose(rotation_about(self.axis, self.position), [entry * slide for entry in self.axis])

    @property
    def _pitch_m_per_rad(self) -> float:
        return self.pitch_m / math.tau
