"""Joints of several degrees of freedom: their variables are called after the joint, as in `robot/wrist/first`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from armillary._core import Rotation, Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.geometry import pose, rotation_about, rotation_from_quaternion
from armillary.articulation.joints._joint import ClosedForm, Interpolation, Joint, bounded, unit_axis
from armillary.articulation.paths import as_path, joined
from armillary.articulation.variables import Variable, position
from armillary.formats.descriptions import Limits, Triple

__all__ = [
    "BallJoint",
    "CylindricalJoint",
    "FloatingJoint",
    "NamedJoint",
    "PlanarJoint",
    "UniversalJoint",
]

_QUATERNION = ("qw", "qx", "qy", "qz")
_Z = (0.0, 0.0, 1.0)
_NO_SHIFT = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class NamedJoint(Joint):
    """A joint whose variables are called after it.

    Attributes:
        variable: What their names begin with.
    """

    variable: str
    parts: ClassVar[tuple[str, ...]]
    """What their names end with, in the order of the native core."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", as_path(self.variable))

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """One for each part."""
        return tuple(position(joined(self.variable, part)) for part in self.parts)

    @property
    def closed_form(self) -> ClosedForm | None:
        """As the core knows it."""
        if not self.has_plain_child:
            return None
        names = tuple(variable.name for variable in self.variables)
        return ClosedForm(kind=self.kind, origin=self.parent_T_joint, axes=self._axes, variables=names)

    @property
    @abstractmethod
    def _axes(self) -> tuple[Triple, ...]:
        """Those of the closed form."""


@dataclass(frozen=True, kw_only=True)
class PlanarJoint(NamedJoint):
    """Slides in a plane and turns in it.

    Attributes:
        axis: The normal of the plane. The x and y of the motion are those of the joint's frame where that is z, and
            of the frame turned the shortest way to it otherwise.
    """

    kind: ClassVar[str] = "planar"
    parts: ClassVar[tuple[str, ...]] = ("x", "y", "yaw")

    axis: Triple = _Z

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", unit_axis(self.axis))

    @property
    def motion(self) -> PoseExpression:
        """In the plane."""
        x, y, yaw = self.variables
        flat = pose(rotation_about(_Z, yaw), (x, y, 0.0))
        if self.axis == _Z:
            return flat
        joint_T_plane = PoseExpression.from_transform(_turned_to(self.axis))
        joint_T_moved: PoseExpression = joint_T_plane @ flat @ joint_T_plane.inverse()
        return joint_T_moved

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Straight, and the short way round."""
        x, y, yaw = (variable.name for variable in self.variables)
        return {x: "linear", y: "linear", yaw: "wrap"}

    @property
    def _axes(self) -> tuple[Triple, ...]:
        return (self.axis,)


@dataclass(frozen=True, kw_only=True)
class CylindricalJoint(NamedJoint):
    """Turns about an axis and slides along it, each for itself.

    Attributes:
        axis: In the joint's frame.
        limits: Of the angle.
        slide_limits: Of the slide.
    """

    kind: ClassVar[str] = "cylindrical"
    parts: ClassVar[tuple[str, ...]] = ("angle", "slide")

    axis: Triple = _Z
    limits: Limits | None = None
    slide_limits: Limits | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", unit_axis(self.axis))

    @property
    def motion(self) -> PoseExpression:
        """A turn and a shift, in any order."""
        angle, slide = self.variables
        return pose(rotation_about(self.axis, angle), [entry * slide for entry in self.axis])

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """Its limits."""
        return _limited(self, (self.limits, self.slide_limits))

    @property
    def _axes(self) -> tuple[Triple, ...]:
        return (self.axis,)


@dataclass(frozen=True, kw_only=True)
class UniversalJoint(NamedJoint):
    """Turns about one axis, and about a second one that the first carries.

    Attributes:
        axis: The first.
        second_axis: The second, in the joint's frame when both are at zero.
        limits: Of the first turn.
        second_limits: Of the second.
    """

    kind: ClassVar[str] = "universal"
    parts: ClassVar[tuple[str, ...]] = ("first", "second")

    axis: Triple = (1.0, 0.0, 0.0)
    second_axis: Triple = (0.0, 1.0, 0.0)
    limits: Limits | None = None
    second_limits: Limits | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", unit_axis(self.axis))
        object.__setattr__(self, "second_axis", unit_axis(self.second_axis))

    @property
    def motion(self) -> PoseExpression:
        """One turn after the other."""
        first, second = self.variables
        return pose(rotation_about(self.axis, first) @ rotation_about(self.second_axis, second), _NO_SHIFT)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """Its limits."""
        return _limited(self, (self.limits, self.second_limits))

    @property
    def _axes(self) -> tuple[Triple, ...]:
        return (self.axis, self.second_axis)


@dataclass(frozen=True, kw_only=True)
class BallJoint(NamedJoint):
    """Turns in every way, by a unit quaternion."""

    kind: ClassVar[str] = "ball"
    parts: ClassVar[tuple[str, ...]] = _QUATERNION

    @property
    def motion(self) -> PoseExpression:
        """A turn."""
        return pose(rotation_from_quaternion(*self.variables), _NO_SHIFT)

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """That the quaternion has length one."""
        return {"unit_quaternion": _of_length_one(self.variables)}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Along the shortest arc."""
        return {variable.name: "unit_quaternion" for variable in self.variables}

    @property
    def _axes(self) -> tuple[Triple, ...]:
        return ()


@dataclass(frozen=True, kw_only=True)
class FloatingJoint(NamedJoint):
    """Moves in every way: a position and a unit quaternion."""

    kind: ClassVar[str] = "floating"
    parts: ClassVar[tuple[str, ...]] = ("x", "y", "z", *_QUATERNION)

    @property
    def motion(self) -> PoseExpression:
        """Any."""
        x, y, z, *wxyz = self.variables
        return pose(rotation_from_quaternion(*wxyz), (x, y, z))

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """That the quaternion has length one."""
        return {"unit_quaternion": _of_length_one(self.variables[3:])}

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Straight, and along the shortest arc."""
        names = [variable.name for variable in self.variables]
        return {name: "linear" if i < 3 else "unit_quaternion" for i, name in enumerate(names)}  # noqa: PLR2004

    @property
    def _axes(self) -> tuple[Triple, ...]:
        return ()


def _limited(joint: NamedJoint, limits: tuple[Limits | None, ...]) -> dict[str, Constraint]:
    """The limits of each part."""
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


def _turned_to(axis: Triple) -> Transform:
    """The shortest turn that takes z to this axis."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        wxyz = (0.0, 1.0, 0.0, 0.0)
    else:
        length = ((1.0 + z) ** 2 + x * x + y * y) ** 0.5
        wxyz = ((1.0 + z) / length, -y / length, x / length, 0.0)
    return Transform.from_rotation(Rotation.from_wxyz(wxyz), xyz=(0.0, 0.0, 0.0))
