"""Writing URDF, and listing what it cannot express."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from xml.etree import ElementTree as ET

import numpy as np

from armillary._core import Transform
from armillary.errors import CannotSayInUrdf, InvalidArgument
from armillary.formats._xml import LARGEST_LENGTH
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Form,
    Inertial,
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    MeshForm,
    OtherForm,
    RobotDescription,
    ShapeDescription,
    SphereForm,
)
from armillary.formats.urdf import URDF_KINDS
from armillary.formats.whole_files import as_file_path, write_whole

__all__ = ["urdf_losses", "write_urdf"]


_IDENTITY = Transform.identity()
_BOUNDED = {"revolute", "prismatic"}
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_NO_XML = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def write_urdf(robot: RobotDescription, path: str | PathLike[str] | None = None, *, lossy: bool = False) -> str:
    """Write a robot as URDF.

    Args:
        robot: The robot.
        path: The file; if not given, the text is only returned.
        lossy: Leave out what URDF cannot express. Joints of kinds that URDF does not know become fixed, those
            without limits get very large ones, and links off the axis of their joint turn about an axis through their
            own origin.

    Returns:
        The text.

    Raises:
        CannotSayInUrdf: With everything that `urdf_losses` returns.

    >>> lamp = RobotDescription(name="lamp", root="foot", links=(LinkDescription(name="foot"),), joints=())
    >>> print(write_urdf(lamp))
    <?xml version="1.0"?>
    <robot name="lamp">
      <link name="foot" />
    </robot>
    """
    if not isinstance(robot, RobotDescription):
        hint = "A model is written by model.to_urdf()." if hasattr(robot, "to_urdf") else "read_urdf returns one."
        raise InvalidArgument(f"write_urdf takes a RobotDescription, got {robot!r}. {hint}", robot)
    losses = urdf_losses(robot)
    if losses and not lossy:
        raise CannotSayInUrdf(robot.name, losses)
    root = ET.Element("robot", name=_written(robot.name))
    for link in robot.links:
        _write_link(root, link)
    for joint in robot.joints:
        _write_joint(root, _with_frame_in_child(joint)[0])
    ET.indent(root)
    text = f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}'
    if path is not None:
        write_whole(as_file_path(path), f"{text}\n".encode())
    return text


def urdf_losses(robot: RobotDescription) -> tuple[str, ...]:
    """List what URDF cannot express of a robot, a sentence each; empty where it can express all."""
    return tuple(_losses(robot))


def _losses(robot: RobotDescription) -> Iterator[str]:
    if robot.origin_T_root != _IDENTITY:
        yield f"the root '{robot.root}' has a pose of its own, which URDF cannot express"
    yield from (f"the joint '{joint.name}' closes a loop at '{joint.child}'" for joint in robot.closures)
    for joint in robot.joints:
        yield from _losses_of_joint(joint)
    for link, shape in robot.shapes:
        if isinstance(shape.form, OtherForm):
            yield f"a shape of the link '{link.name}' is a {shape.form.kind}"
    for link in robot.links:
        yield from (f"a collision shape of '{link.name}' has a material" for shape in link.collisions if shape.material)
    names = (robot.name, *(link.name for link in robot.links), *(joint.name for joint in robot.joints))
    yield from (f"the name {name!r} holds characters that XML cannot" for name in names if _NO_XML.search(name))


def _losses_of_joint(joint: JointDescription) -> Iterator[str]:
    if joint.kind not in URDF_KINDS:
        yield f"the joint '{joint.name}' is of the kind '{joint.kind}'"
        return
    if not _with_frame_in_child(joint)[1]:
        yield f"the link '{joint.child}' does not sit on the axis of the joint '{joint.name}'"
    if joint.kind in _BOUNDED and not _is_bounded(joint):
        yield f"the {joint.kind} joint '{joint.name}' moves without limits"


def _is_bounded(joint: JointDescription) -> bool:
    limits = joint.limits or Limits()
    return None not in {_finite(limits.lower), _finite(limits.upper)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _child(above: ET.Element, tag: str, **attributes: str | float | Iterable[float] | None) -> ET.Element:
    written = {name: _written(value) for name, value in attributes.items() if value is not None}
    return ET.SubElement(above, tag, written)


def _written(value: str | float | Iterable[float]) -> str:
    """Return the text of an attribute; numbers have all digits."""
    if isinstance(value, str):
        return _NO_XML.sub("_", value)
    return " ".join(map(_digits, value)) if isinstance(value, Iterable) else _digits(value)


def _digits(value: float) -> str:
    text = repr(float(value))
    return text.removesuffix(".0")


def _write_origin(above: ET.Element, place: Transform) -> None:
    if place != _IDENTITY:
        _child(above, "origin", xyz=place.translation, rpy=place.rotation.rpy)


def _write_link(root: ET.Element, link: LinkDescription) -> None:
    element = _child(root, "link", name=link.name)
    if link.inertial is not None:
        _write_inertial(element, link.inertial)
    for shape in link.visuals:
        _write_shape(element, "visual", shape)
    for shape in link.collisions:
        _write_shape(element, "collision", shape)


def _write_inertial(link: ET.Element, inertial: Inertial) -> None:
    element = _child(link, "inertial")
    _write_origin(element, inertial.link_T_inertia)
    _child(element, "mass", value=inertial.mass_kg)
    _child(element, "inertia", **dict(zip(_MOMENTS, inertial.moments, strict=True)))


def _write_shape(link: ET.Element, role: str, shape: ShapeDescription) -> None:
    if isinstance(shape.form, OtherForm):
        return
    element = _child(link, role, name=shape.name or None)
    _write_origin(element, shape.link_T_shape)
    _write_form(_child(element, "geometry"), shape.form)
    if shape.material is not None and role == "visual":
        _write_material(element, shape.material)


def _write_form(geometry: ET.Element, form: Form) -> None:
    match form:
        case BoxForm(size):
            _child(geometry, "box", size=size)
        case SphereForm(radius):
            _child(geometry, "sphere", radius=radius)
        case CylinderForm(radius, length):
            _child(geometry, "cylinder", radius=radius, length=length)
        case CapsuleForm(radius, length):
            _child(geometry, "capsule", radius=radius, length=length)
        case MeshForm(uri, _, scale):
            _child(geometry, "mesh", filename=uri, scale=None if scale == (1.0, 1.0, 1.0) else scale)


def _write_material(visual: ET.Element, material: Material) -> None:
    element = _child(visual, "material", name=material.name)
    if material.rgba is not None:
        _child(element, "color", rgba=material.rgba)
    if material.texture is not None:
        _child(element, "texture", filename=material.texture)


def _write_joint(root: ET.Element, joint: JointDescription) -> None:
    kind = _kind(joint)
    element = _child(root, "joint", name=joint.name, type=kind)
    _write_origin(element, joint.parent_T_joint)
    _child(element, "parent", link=joint.parent)
    _child(element, "child", link=joint.child)
    if kind not in {"fixed", "floating"}:
        _child(element, "axis", xyz=joint.axis)
    if joint.kind in URDF_KINDS:
        _write_limits(element, joint)


def _kind(joint: JointDescription) -> str:
    if joint.kind == "revolute" and not _is_bounded(joint):
        return "continuous"
    return joint.kind if joint.kind in URDF_KINDS else "fixed"


def _write_limits(element: ET.Element, joint: JointDescription) -> None:
    limits = joint.limits or Limits()
    if joint.kind == "prismatic" and not _is_bounded(joint):
        limits = replace(limits, lower=-LARGEST_LENGTH, upper=LARGEST_LENGTH)
    if limits != Limits():
        written = {name: _finite(getattr(limits, name)) for name in ("lower", "upper", "effort", "velocity")}
        _child(element, "limit", **written)
    if (soft := joint.soft_limits) is not None:
        ends = {"soft_lower_limit": soft.lower, "soft_upper_limit": soft.upper}
        _child(element, "safety_controller", **ends, k_position=soft.k_position, k_velocity=soft.k_velocity)
    if (mimic := joint.mimic) is not None:
        _child(element, "mimic", joint=mimic.joint, multiplier=mimic.multiplier, offset=mimic.offset)
    if (dynamics := joint.dynamics) is not None:
        _child(element, "dynamics", damping=dynamics.damping, friction=dynamics.friction)


_IDENTITY = Transform.identity()
_ON_AXIS_M = 1e-12


def _with_frame_in_child(joint: JointDescription) -> tuple[JointDescription, bool]:
    """Return the joint with its frame moved to that of its child, and whether it moves in the same way.

    It does if it is prismatic, or turns about an axis through the origin of the child.
    """
    if joint.joint_T_child == _IDENTITY:
        return joint, True
    x, y, z = joint.joint_T_child.rotation.inverse() @ np.array(joint.axis)
    moved = replace(
        joint,
        parent_T_joint=joint.parent_T_joint @ joint.joint_T_child,
        joint_T_child=_IDENTITY,
        axis=(float(x), float(y), float(z)),
    )
    return moved, _moves_the_same(joint)


def _moves_the_same(joint: JointDescription) -> bool:
    match joint.kind:
        case "fixed" | "prismatic":
            return True
        case "revolute" | "continuous":
            off_axis = np.cross(np.array(joint.axis), joint.joint_T_child.translation)
            return float(np.linalg.norm(off_axis)) < _ON_AXIS_M
    return False
