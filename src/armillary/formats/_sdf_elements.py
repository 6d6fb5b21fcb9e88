"""Links and joints of SDFormat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from armillary.formats._sdf_frames import MODEL, WORLD, Frames, bound_of, is_true, pose_in
from armillary.formats._xml import Element
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Dynamics,
    Form,
    Inertial,
    JointDescription,
    JointKind,
    Limits,
    LinkDescription,
    Material,
    MeshForm,
    Mimic,
    OtherForm,
    ShapeDescription,
    SphereForm,
    Triple,
)
from armillary.formats.packages import FileFinder

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SdfJoint", "read_link"]


_DIAGONAL, _ALL = ("ixx", "iyy", "izz"), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_EMPTY = "empty"


def read_link(element: Element, name: str, files: FileFinder) -> LinkDescription:
    """Read one `<link>` under its full name."""
    return LinkDescription(
        name=name,
        visuals=_shapes(element, "visual", files),
        collisions=_shapes(element, "collision", files),
        inertial=_inertial(element.child("inertial")),
    )


def _shapes(link: Element, role: str, files: FileFinder) -> tuple[ShapeDescription, ...]:
    found = (_shape(shape, files) for shape in link.children(role))
    return tuple(shape for shape in found if shape.form != OtherForm(_EMPTY))


def _shape(element: Element, files: FileFinder) -> ShapeDescription:
    material = element.child("material") if element.tag == "visual" else None
    return ShapeDescription(
        name=element.get("name") or "",
        link_T_shape=pose_in(element),
        form=_form(element.required_child("geometry"), files),
        material=None if material is None else _material(material),
    )


def _material(element: Element) -> Material | None:
    for tag in ("diffuse", "ambient"):
        text = element.text_of(tag)
        if text is not None:
            count = 4 if len(text.split()) > len("rgb") else 3
            red, green, blue, *opacity = element.required_child(tag).as_numbers(text, count, tag)
            return Material(rgba=(red, green, blue, *(opacity or (1.0,))))
    return None


def _form(geometry: Element, files: FileFinder) -> Form:
    inside = list(geometry.children())
    if len(inside) != 1:
        raise geometry.error(f"it holds {len(inside)} forms, and one is expected")
    form = inside[0]
    match form.tag:
        case "box":
            return BoxForm(_size(form))
        case "sphere":
            return SphereForm(_length(form, "radius"))
        case "cylinder":
            return CylinderForm(_length(form, "radius"), _length(form, "length"))
        case "capsule":
            return CapsuleForm(_length(form, "radius"), _length(form, "length"))
        case "mesh" if form.child("submesh") is None:
            return _mesh(form, files)
    return OtherForm(form.tag)


def _mesh(form: Element, files: FileFinder) -> MeshForm:
    uri, scale = form.required_child("uri").text, form.text_of("scale")
    if not uri:
        raise form.error("<uri> is empty")
    factors = (1.0, 1.0, 1.0) if scale is None else form.as_numbers(scale, 3, "scale")
    return MeshForm(uri, files.path_of(uri), cast("Triple", form.bounded(factors, "scale")))


def _size(form: Element) -> Triple:
    size = form.required_child("size")
    return cast("Triple", size.lengths(size.as_numbers(size.text, 3, "size"), "size"))


def _length(form: Element, tag: str) -> float:
    return form.lengths((form.number_of(tag),), tag)[0]


def _inertial(element: Element | None) -> Inertial | None:
    if element is None:
        return None
    inertia, default = element.child("inertia"), {tag: 1.0 if tag in _DIAGONAL else 0.0 for tag in _ALL}
    moments = tuple(default[tag] if inertia is None else inertia.number_of(tag, default[tag]) for tag in _ALL)
    return Inertial(
        mass_kg=element.number_of("mass", 1.0),
        link_T_inertia=pose_in(element),
        moments=cast("tuple[float, float, float, float, float, float]", moments),
    )


_KINDS = ("fixed", "revolute", "continuous", "prismatic", "ball", "screw", "universal", "revolute2", "gearbox")
_ONE_AXIS = {"revolute", "continuous", "prismatic", "screw"}
_TWO_AXES = {"universal", "revolute2"}
_Z = (0.0, 0.0, 1.0)
_AXES_IN_JOINT_SINCE = (1, 5)
_PARALLEL = 0.999


@dataclass(frozen=True, slots=True)
class SdfJoint:
    """A `<joint>` before the frames of its model are known.

    Attributes:
        element: The element.
        scope: The prefix of the names in it.
        is_static: Whether its model is static.
    """

    element: Element
    scope: str
    is_static: bool

    @property
    def name(self) -> str:
        """Its full name."""
        return self.scope + self.element.name()

    def end(self, tag: str) -> str:
        """The full name of its parent or its child."""
        found = self.element.required_child(tag)
        if not found.text:
            raise found.error("it names nothing")
        return self.full_name(found.text)

    def full_name(self, name: str) -> str:
        """Return the full name, with the scope of the model."""
        return name if name == WORLD else self.scope + name

    @property
    def is_gearbox(self) -> bool:
        """Whether it couples two other joints, and is none itself."""
        return self.element.get("type") == "gearbox"

    def gear(self, frames: Frames, joints: Sequence[JointDescription]) -> tuple[str, Mimic]:
        """Return the joint that follows by a gearbox, and how.

        The angle from the reference body to the child is the one to the parent times minus the ratio.
        """
        named = self.element.text_of("gearbox_reference_body")
        if named is None:
            raise self.element.error("<gearbox_reference_body> is missing")
        reference = frames.link_of(self.full_name(named), self.element)
        ends = (("parent", "axis"), ("child", "axis2"))
        links = [(frames.link_of(self.end(tag), self.element), self._direction(axis, frames)) for tag, axis in ends]
        (leader, first), (follower, second) = (self._turning(reference, *end, frames, joints) for end in links)
        ratio = self.element.number_of("gearbox_ratio", 1.0)
        return follower.name, Mimic(joint=leader.name, multiplier=-ratio * first * second)

    def _direction(self, axis: str, frames: Frames) -> NDArray[np.float64]:
        """The direction of an axis in the world."""
        given = self._axis(self.element.child(axis), frames)
        return np.asarray(frames.world_T(self.name, self.element).rotation @ np.array(given))

    def _turning(
        self,
        reference: str,
        link: str,
        direction: NDArray[np.float64],
        frames: Frames,
        joints: Sequence[JointDescription],
    ) -> tuple[JointDescription, float]:
        """Return the joint by which a link turns on the reference body, and 1, or -1 where it turns the other way."""
        for joint in joints:
            if {joint.parent, joint.child} == {reference, link} and joint.kind in {"revolute", "continuous"}:
                along = float(frames.world_T(joint.name, self.element).rotation @ np.array(joint.axis) @ direction)
                if abs(along) < _PARALLEL:
                    raise self.element.error(f"its axis is not that of the joint '{joint.name}'")
                return joint, math.copysign(1.0, along) * (1.0 if joint.child == link else -1.0)
        raise self.element.error(f"no joint turns '{link}' on its reference body '{reference}'")

    def placed(self, frames: Frames) -> JointDescription:
        """Return its description, between links."""
        kind, parent, child = (
            self._kind(),
            *(frames.link_of(self.end(tag), self.element) for tag in ("parent", "child")),
        )
        if parent == child:
            raise self.element.error(f"its parent and its child are both '{child}'")
        first, second = self.element.child("axis"), self.element.child("axis2")
        limits = _limits(first) if kind in _ONE_AXIS | _TWO_AXES else None
        return JointDescription(
            name=self.name,
            kind=_kind_without_limits(kind, limits),
            parent=parent,
            child=child,
            parent_T_joint=frames.between(parent, self.name, self.element),
            joint_T_child=frames.between(self.name, child, self.element),
            axis=self._axis(first, frames),
            second_axis=self._axis(second, frames) if kind in _TWO_AXES else None,
            limits=limits,
            second_limits=_limits(second) if kind in _TWO_AXES else None,
            mimic=None if first is None else self._mimic(first.child("mimic")),
            dynamics=_dynamics(first),
            pitch_m=self._pitch() if kind == "screw" else None,
        )

    def _kind(self) -> JointKind:
        kind = self.element.one_of(self.element.required("type"), _KINDS, "type of joint")
        return "fixed" if self.is_static else cast("JointKind", kind)

    def _axis(self, axis: Element | None, frames: Frames) -> Triple:
        xyz = None if axis is None else axis.child("xyz")
        if axis is None or xyz is None:
            return _Z
        given = xyz.direction(cast("Triple", xyz.as_numbers(xyz.text, 3, "the axis")))
        frame = self._expressed_in(axis, xyz)
        if frame is None:
            return given
        x, y, z = frames.between(self.name, frame, xyz).rotation @ np.array(given)
        return float(x), float(y), float(z)

    def _expressed_in(self, axis: Element, xyz: Element) -> str | None:
        named = xyz.get("expressed_in")
        if named:
            return self.full_name(named)
        flag = axis.text_of("use_parent_model_frame")
        in_model = is_true(flag) if flag is not None else self._version() < _AXES_IN_JOINT_SINCE
        return self.scope + MODEL if in_model else None

    def _version(self) -> tuple[int, ...]:
        """The version of the format, from the file that holds the joint."""
        root = Element(self.element.xml.getroottree().getroot(), self.element.source)
        numbers = root.required("version").strip().split(".")
        if not all(number.isdecimal() for number in numbers):
            raise root.error(f"version is '{root.get('version')}', and numbers such as 1.9 are expected")
        return tuple(int(number) for number in numbers)

    def _mimic(self, mimic: Element | None) -> Mimic | None:
        if mimic is None:
            return None
        if (mimic.get("axis") or "axis") != "axis":
            raise mimic.error("it follows the second axis of a joint", "Only first axes can be followed.")
        multiplier = mimic.number_of("multiplier", 1.0)
        offset = mimic.number_of("offset", 0.0) - multiplier * mimic.number_of("reference", 0.0)
        return Mimic(joint=self.full_name(mimic.name("joint")), multiplier=multiplier, offset=offset)

    def _pitch(self) -> float:
        """Metres per turn; the older tag has radians per metre with the opposite sign."""
        old = self.element.text_of("thread_pitch")
        if self.element.text_of("screw_thread_pitch") is not None or old is None:
            return self.element.number_of("screw_thread_pitch", 1.0)
        radians_per_m = self.element.number_of("thread_pitch")
        if radians_per_m == 0.0:
            raise self.element.error("<thread_pitch> is 0, and a screw slides")
        return -math.tau / radians_per_m


def _kind_without_limits(kind: JointKind, limits: Limits | None) -> JointKind:
    endless = limits is None or (limits.lower is None and limits.upper is None)
    return "continuous" if kind == "revolute" and endless else kind


def _limits(axis: Element | None) -> Limits | None:
    limit = None if axis is None else axis.child("limit")
    if limit is None:
        return None
    lower, upper = bound_of(limit, "lower"), bound_of(limit, "upper")
    if lower is not None and upper is not None and lower > upper:
        raise limit.error(f"the lower limit {lower:g} lies above the upper limit {upper:g}")
    velocity, effort = (_unless_negative(bound_of(limit, tag)) for tag in ("velocity", "effort"))
    found = Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)
    return None if found == Limits() else found


def _unless_negative(value: float | None) -> float | None:
    """Return None for a negative value: SDFormat writes -1 for no limit."""
    return None if value is None or value < 0.0 else value


def _dynamics(axis: Element | None) -> Dynamics | None:
    dynamics = None if axis is None else axis.child("dynamics")
    if dynamics is None:
        return None
    return Dynamics(damping=dynamics.number_of("damping", 0.0), friction=dynamics.number_of("friction", 0.0))
