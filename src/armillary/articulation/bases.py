"""Motion in a plane: the planar joint, and the mobile bases of robots."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from armillary._core import Rotation, Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PoseExpression
from armillary.articulation.functions import cos, sin
from armillary.articulation.geometry import pose, rotation_about
from armillary.articulation.joints import ClosedForm, Interpolation, NamedJoint, bounded
from armillary.articulation.variables import Variable, velocity
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import Triple

__all__ = ["DifferentialDrive", "OmniBase", "PlanarJoint"]

_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class PlanarJoint(NamedJoint):
    """Slides in a plane and rotates in it.

    Attributes:
        axis: The normal of the plane. The x and y of the motion are those of the joint's frame where that is z, and
            of the frame rotated the shortest way to it otherwise.
    """

    kind: ClassVar[str] = "planar"
    parts: ClassVar[tuple[str, ...]] = ("x", "y", "yaw")
    _axes: ClassVar[tuple[str, ...]] = ("axis",)

    axis: Triple = _Z

    @property
    def motion(self) -> PoseExpression:
        """A translation and a rotation in the plane."""
        x, y, yaw = self.variables
        flat = pose(rotation_about(_Z, yaw), (x, y, 0.0))
        if self.axis == _Z:
            return flat
        joint_T_plane = PoseExpression.from_transform(_rotation_of_z_to(self.axis))
        joint_T_moved: PoseExpression = joint_T_plane @ flat @ joint_T_plane.inverse()
        return joint_T_moved

    @property
    def interpolations(self) -> Mapping[str, Interpolation]:
        """Linear, and the shorter way round."""
        x, y, yaw = (variable.name for variable in self.variables)
        return {x: "linear", y: "linear", yaw: "wrap"}


def _rotation_of_z_to(axis: Triple) -> Transform:
    """Return the shortest rotation that takes z to this axis."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        wxyz = (0.0, 1.0, 0.0, 0.0)
    else:
        length = ((1.0 + z) ** 2 + x * x + y * y) ** 0.5
        wxyz = ((1.0 + z) / length, -y / length, x / length, 0.0)
    return Transform.from_rotation(Rotation.from_wxyz(wxyz), xyz=(0.0, 0.0, 0.0))


@dataclass(frozen=True, kw_only=True)
class OmniBase(PlanarJoint):
    """A base that drives in any direction: x, y and yaw.

    Attributes:
        speed_limit_m_s: Of its origin, whatever the direction.
        turn_limit_rad_s: Of its yaw.
    """

    kind: ClassVar[str] = "omni_base"

    speed_limit_m_s: float | None = None
    turn_limit_rad_s: float | None = None

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """Its limits; that of the speed as a square, which can be differentiated at zero speed."""
        found = {}
        x, y, yaw = (variable.velocity for variable in self.variables)
        if self.speed_limit_m_s is not None:
            found["speed_squared"] = Constraint(0.0, self.speed_limit_m_s**2, x * x + y * y)
        if self.turn_limit_rad_s is not None:
            found["turn"] = bounded(-self.turn_limit_rad_s, self.turn_limit_rad_s, yaw)
        return found

    @property
    def closed_form(self) -> ClosedForm | None:
        """The planar joint of the C++ core."""
        form = super().closed_form
        return None if form is None else replace(form, kind=PlanarJoint.kind)


@dataclass(frozen=True, kw_only=True)
class DifferentialDrive(PlanarJoint):
    """A base on two wheels. Its pose is x, y and yaw, and it moves by the speeds of its wheels (thesis eq. 4.8).

    The left wheel is on the side of positive y; both turn forwards when they are positive.

    Attributes:
        wheel_radius_m: Of both.
        wheel_distance_m: Between the points where they touch the ground.
        wheel_limit_rad_s: Of the speed of either.
    """

    kind: ClassVar[str] = "differential_drive"

    wheel_radius_m: float
    wheel_distance_m: float
    wheel_limit_rad_s: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("wheel_radius_m", "wheel_distance_m"):
            value = getattr(self, name)
            if not math.isfinite(value) or value <= 0.0:
                raise InvalidArgument(f"The {name} of a differential drive is a positive number, got {value}.", value)
        if self.axis != _Z:
            raise InvalidArgument(
                "A differential drive drives in the plane of x and y. Turn parent_T_joint.", self.axis
            )

    @cached_property
    def wheels(self) -> tuple[Variable, Variable]:
        """The speeds of the left and of the right wheel."""
        return velocity(f"{self.variable}/left_wheel"), velocity(f"{self.variable}/right_wheel")

    @property
    def velocities(self) -> tuple[Variable, ...]:
        """The wheels alone: the rates of x, y and yaw follow from them."""
        return self.wheels

    @property
    def motion(self) -> PoseExpression:
        """The pose in the plane, with the wheels in its gradient."""
        x, y, yaw = self.variables
        left, right = self.wheels
        half, turn = self.wheel_radius_m / 2.0, self.wheel_radius_m / self.wheel_distance_m
        heading = yaw.expression.with_gradient({left: -turn, right: turn})
        along_x, along_y = half * cos(heading), half * sin(heading)
        here = (
            x.expression.with_gradient({left: along_x, right: along_x}),
            y.expression.with_gradient({left: along_y, right: along_y}),
            0.0,
        )
        return pose(rotation_about(_Z, heading), here)

    @property
    def tangent(self) -> Mapping[Variable, Expression]:
        """x, y and yaw, which change along the speeds of the wheels."""
        x, y, yaw = self.variables
        left, right = self.wheels
        half, turn = self.wheel_radius_m / 2.0, self.wheel_radius_m / self.wheel_distance_m
        rates = {x: (half * cos(yaw), half * cos(yaw)), y: (half * sin(yaw), half * sin(yaw)), yaw: (-turn, turn)}
        return {
            one: one.expression.with_gradient({left: along[0], right: along[1]}, replace=True)
            for one, along in rates.items()
        }

    def moved(self, values: Mapping[str, float], speeds: Mapping[str, float], step_s: float) -> dict[str, float]:
        """Return x, y and yaw after its wheels have turned at constant speeds: along an exact arc."""
        x, y, yaw = (values[one.name] for one in self.variables)
        left, right = (speeds.get(wheel.name, 0.0) * step_s for wheel in self.wheels)
        place = self.driven((x, y, yaw), (left, right))
        return dict(zip((one.name for one in self.variables), place, strict=True))

    def driven(self, place: Triple, turns_rad: tuple[float, float]) -> Triple:
        """Return x, y and yaw after its wheels have turned, at a constant ratio: an exact arc.

        Args:
            place: x, y and yaw before.
            turns_rad: Of the left and of the right wheel.
        """
        (x, y, yaw), (left, right) = place, turns_rad
        ahead = self.wheel_radius_m * (left + right) / 2.0
        half_turn = self.wheel_radius_m * (right - left) / self.wheel_distance_m / 2.0
        chord = ahead * (math.sin(half_turn) / half_turn if half_turn else 1.0)
        heading = yaw + half_turn
        return x + chord * math.cos(heading), y + chord * math.sin(heading), yaw + 2.0 * half_turn

    @cached_property
    def constraints(self) -> Mapping[str, Constraint]:
        """The limits of its wheels."""
        limit = self.wheel_limit_rad_s
        if limit is None:
            return {}
        left, right = self.wheels
        return {"left_wheel": bounded(-limit, limit, left), "right_wheel": bounded(-limit, limit, right)}

    @property
    def closed_form(self) -> None:
        """None: its velocity depends on wheels, which its pose does not depend on."""
        return
