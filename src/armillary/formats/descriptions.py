"""What a file says of a robot: links, joints and shapes, as plain frozen values.

Every format is read into these values and written from them. They know nothing of mathematics or of a world; lengths
are metres, angles radians, masses kilograms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from armillary._core import Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "JOINT_KINDS",
    "BoxForm",
    "CapsuleForm",
    "CylinderForm",
    "Dynamics",
    "Form",
    "Inertial",
    "JointDescription",
    "JointKind",
    "Limits",
    "LinkDescription",
    "Material",
    "MeshForm",
    "Mimic",
    "OtherForm",
    "RobotDescription",
    "ShapeDescription",
    "SoftLimits",
    "SphereForm",
    "Triple",
]

Triple = tuple[float, float, float]

JointKind = Literal[
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "planar",
    "floating",
    "screw",
    "universal",
    "ball",
    "cylindrical",
    "revolute2",
]
JOINT_KINDS: tuple[JointKind, ...] = get_args(JointKind)

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class BoxForm:
    """A box around its own origin.

    Attributes:
        size_m: Whole lengths along x, y and z.
    """

    size_m: Triple


@dataclass(frozen=True, slots=True)
class SphereForm:
    """A sphere around its own origin."""

    radius_m: float


@dataclass(frozen=True, slots=True)
class CylinderForm:
    """A cylinder around its own origin, along z."""

    radius_m: float
    length_m: float


@dataclass(frozen=True, slots=True)
class CapsuleForm:
    """A cylinder along z with half a sphere at each end; `length_m` is that of the cylinder alone."""

    radius_m: float
    length_m: float


@dataclass(frozen=True, slots=True)
class MeshForm:
    """A surface in a file of its own.

    Attributes:
        uri: As the robot's file names it.
        path: Where it lies; None where that could not be found out. The file itself may be missing all the same.
        scale: Factors along x, y and z.
    """

    uri: str
    path: str | None = None
    scale: Triple = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class OtherForm:
    """A form that only its format knows; `kind` is what it is called there."""

    kind: str


Form = BoxForm | SphereForm | CylinderForm | CapsuleForm | MeshForm | OtherForm


@dataclass(frozen=True, slots=True)
class Material:
    """What a surface looks like.

    Attributes:
        name: Empty where it has none.
        rgba: Red, green, blue and opacity, each from 0 to 1.
        texture: The file of its picture, as the robot's file names it.
    """

    name: str = ""
    rgba: tuple[float, float, float, float] | None = None
    texture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeDescription:
    """One visible or touchable piece of a link."""

    form: Form
    name: str = ""
    link_T_shape: Transform = _IDENTITY
    material: Material | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertial:
    """What a link weighs, and how it resists turning.

    Attributes:
        mass_kg: Its mass.
        link_T_inertia: The centre of mass, and the axes of the moments.
        moments: (ixx, ixy, ixz, iyy, iyz, izz) [kg m^2] about the centre of mass.
    """

    mass_kg: float
    link_T_inertia: Transform = _IDENTITY
    moments: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The moments as a symmetric matrix, shape (3, 3)."""
        ixx, ixy, ixz, iyy, iyz, izz = self.moments
        return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDescription:
    """One rigid part."""

    name: str
    visuals: tuple[ShapeDescription, ...] = ()
    collisions: tuple[ShapeDescription, ...] = ()
    inertial: Inertial | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far, how fast and how strongly a joint moves; None: the file does not say."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimits:
    """Where a controller begins to hold back, and how hard.

    Attributes:
        lower: The least position it steers to.
        upper: The greatest one.
        k_position: Gain from the distance to a position limit to a velocity limit.
        k_velocity: Gain from the distance to a velocity limit to an effort limit.
    """

    lower: float
    upper: float
    k_position: float
    k_velocity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mimic:
    """A joint that follows another one: position = multiplier * (position of `joint`) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamics:
    """What resists a joint: damping per speed, and dry friction."""

    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JointDescription:
    """How one link moves in another: parent_T_child = parent_T_joint @ motion(position) @ joint_T_child.

    Attributes:
        name: Of the joint.
        kind: One of `JOINT_KINDS`.
        parent: The link it starts from.
        child: The link it carries.
        parent_T_joint: Where it sits.
        joint_T_child: Where the child sits on it; in URDF always the identity.
        axis: Unit vector in the joint's frame. Turned about, slid along; of a planar joint the normal of its plane.
        second_axis: The axis of the second turn of `universal` and `revolute2`, carried by the first.
        limits: Of the first axis.
        second_limits: Of the second axis.
        soft_limits: Of the first axis.
        mimic: What it follows.
        dynamics: What resists it.
        pitch_m: Of a screw: how far it slides along its axis in one whole turn.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    parent_T_joint: Transform = _IDENTITY
    joint_T_child: Transform = _IDENTITY
    axis: Triple = (1.0, 0.0, 0.0)
    second_axis: Triple | None = None
    limits: Limits | None = None
    second_limits: Limits | None = None
    soft_limits: SoftLimits | None = None
    mimic: Mimic | None = None
    dynamics: Dynamics | None = None
    pitch_m: float | None = None


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """A robot, or anything else of links and joints.

    Attributes:
        name: Of the robot.
        links: In the order of the file.
        joints: That make the tree: every link but the root is the child of exactly one.
        root: The link that no joint carries.
        closures: Joints whose child hangs in the tree already: each closes a loop.
        origin_T_root: Where the file places the root; most say nothing, and it is the identity.
    """

    name: str
    links: tuple[LinkDescription, ...]
    joints: tuple[JointDescription, ...]
    root: str
    closures: tuple[JointDescription, ...] = ()
    origin_T_root: Transform = field(default=_IDENTITY)

    @cached_property
    def link_by_name(self) -> dict[str, LinkDescription]:
        """Every link under its name."""
        return {link.name: link for link in self.links}

    @cached_property
    def joint_by_name(self) -> dict[str, JointDescription]:
        """Every joint of the tree under its name."""
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def joints_from_root(self) -> tuple[JointDescription, ...]:
        """The joints of the tree, each after the one that carries its parent."""
        return tuple(self._walk())

    @property
    def shapes(self) -> Iterator[tuple[LinkDescription, ShapeDescription]]:
        """Every visual and collision shape with its link."""
        return ((link, shape) for link in self.links for shape in (*link.visuals, *link.collisions))

    def _walk(self) -> Iterator[JointDescription]:
        below: dict[str, list[JointDescription]] = {}
        for joint in self.joints:
            below.setdefault(joint.parent, []).append(joint)
        waiting = list(reversed(below.get(self.root, [])))
        while waiting:
            joint = waiting.pop()
            yield joint
            waiting.extend(reversed(below.get(joint.child, [])))
