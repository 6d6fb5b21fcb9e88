"""Robot descriptions: links, joints and shapes as plain frozen values.

Every format is read into these values and written from them. They depend on no model and no world; lengths are metres,
angles radians, masses kilograms.
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
        path: The path it means; None where its package was not found. The file itself may still be missing.
        scale: Factors along x, y and z.
    """

    uri: str
    path: str | None = None
    scale: Triple = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class OtherForm:
    """A form that only one format knows; `kind` is its name there."""

    kind: str


Form = BoxForm | SphereForm | CylinderForm | CapsuleForm | MeshForm | OtherForm


@dataclass(frozen=True, slots=True)
class Material:
    """The appearance of a surface.

    Attributes:
        name: Empty where it has none.
        rgba: Red, green, blue and opacity, each from 0 to 1.
        texture: The image file, as the robot's file names it.
    """

    name: str = ""
    rgba: tuple[float, float, float, float] | None = None
    texture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeDescription:
    """One visual or collision shape of a link."""

    form: Form
    name: str = ""
    link_T_shape: Transform = _IDENTITY
    material: Material | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertial:
    """The mass and the moments of inertia of a link.

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
    """Limits of the position, velocity and effort of a joint; None where the file has none."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimits:
    """Limits at which a safety controller begins to act, and its gains.

    Attributes:
        lower: The least position.
        upper: The greatest position.
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
    """Damping and dry friction of a joint."""

    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JointDescription:
    """A joint, how one link moves in another: parent_T_child = parent_T_joint @ motion(position) @ joint_T_child.

    Attributes:
        name: The name of the joint.
        kind: One of `JOINT_KINDS`.
        parent: The parent link.
        child: The child link.
        parent_T_joint: The frame of the joint in the parent link.
        joint_T_child: The child link in the frame of the joint, at position zero; in URDF always the identity.
        axis: Unit vector in the joint's frame: of rotation or translation; of a planar joint the normal of its plane.
        second_axis: The second axis of `universal` and `revolute2`, which moves with the first.
        limits: Limits of the first axis.
        second_limits: Limits of the second axis.
        soft_limits: Soft limits of the first axis.
        mimic: The joint that it follows.
        dynamics: Its damping and friction.
        pitch_m: How far a screw moves along its axis in one turn.
        initial: Its position in the file: of a floating joint (x, y, z, qw, qx, qy, qz); empty: zero, or no rotation.
        is_driven: Whether the file has an actuator for it.
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
    initial: tuple[float, ...] = ()
    is_driven: bool = False


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """A robot, or anything else of links and joints.

    Attributes:
        name: The name of the robot.
        links: The links, in the order of the file.
        joints: The joints of the tree: every link but the root is the child of exactly one.
        root: The link that is the child of no joint.
        closures: Joints whose child is in the tree already: each closes a kinematic loop.
        origin_T_root: The pose that the file gives the root; the identity where it gives none.
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
        """The joints of the tree, each after the joint above its parent link."""
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
