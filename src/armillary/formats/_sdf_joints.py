"""Joints of SDFormat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from armillary.formats._sdf_frames import MODEL, WORLD, Frames
from armillary.formats._sdf_values import bound_of, is_true
from armillary.formats._urdf_joints import unit_axis
from armillary.formats._xml import Element
from armillary.formats.descriptions import Dynamics, JointDescription, JointKind, Limits, Mimic, Triple

__all__ = ["SdfJoint"]

_KINDS = ("fixed", "revolute", "continuous", "prismatic", "ball", "screw", "universal", "revolute2", "gearbox")
_ONE_AXIS = {"revolute", "continuous", "prismatic", "screw"}
_TWO_AXES = {"universal", "revolute2"}
_Z = (0.0, 0.0, 1.0)
_AXES_IN_JOINT_SINCE = (1, 5)


@dataclass(frozen=True, slots=True)
class SdfJoint:
    """A `<joint>`, not yet placed.

    Attributes:
        element: Where it stands.
        scope: What the names in it begin with.
        is_static: Whether its model stands still.
    """

    element: Element
    scope: str
    is_static: bool

    @property
    def name(self) -> str:
        """Its whole name."""
        return self.scope + self.element.name()

    def end(self, tag: str) -> str:
        """The whole name of its parent or its child."""
        found = self.element.needed_child(tag)
        if not found.text:
            raise found.refused("it names nothing")
        return self.whole(found.text)

    def whole(self, name: str) -> str:
        """A name as it is known outside the model."""
        return name if name == WORLD else self.scope + name

    def placed(self, frames: Frames) -> JointDescription:
        """As a description, between links."""
        kind, parent, child = (
            self._kind(),
            *(frames.link_of(self.end(tag), self.element) for tag in ("parent", "child")),
        )
        if parent == child:
            raise self.element.refused(f"its parent and its child are both '{child}'")
        first, second = self.element.child("axis"), self.element.child("axis2")
        limits = _limits(first) if kind in _ONE_AXIS | _TWO_AXES else None
        return JointDescription(
            name=self.name,
            kind=_without_end(kind, limits),
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
        kind = self.element.one_of(self.element.needed("type"), _KINDS, "type of joint")
        if kind == "gearbox":
            raise self.element.refused("a gearbox couples two joints and is none itself", "Write it as <mimic>.")
        return "fixed" if self.is_static else cast("JointKind", kind)

    def _axis(self, axis: Element | None, frames: Frames) -> Triple:
        xyz = None if axis is None else axis.child("xyz")
        if axis is None or xyz is None:
            return _Z
        given = unit_axis(xyz, cast("Triple", xyz.as_numbers(xyz.text, 3, "the axis")))
        frame = self._expressed_in(axis, xyz)
        if frame is None:
            return given
        x, y, z = frames.between(self.name, frame, xyz).rotation @ np.array(given)
        return float(x), float(y), float(z)

    def _expressed_in(self, axis: Element, xyz: Element) -> str | None:
        named = xyz.get("expressed_in")
        if named:
            return self.whole(named)
        flag = axis.text_of("use_parent_model_frame")
        in_model = is_true(flag) if flag is not None else self._version() < _AXES_IN_JOINT_SINCE
        return self.scope + MODEL if in_model else None

    def _version(self) -> tuple[int, ...]:
        """Of the format, which the file of the joint itself says."""
        root = Element(self.element.xml.getroottree().getroot(), self.element.source)
        words = root.needed("version").strip().split(".")
        if not all(word.isdecimal() for word in words):
            raise root.refused(f"version is '{root.get('version')}', and numbers such as 1.9 are expected")
        return tuple(int(word) for word in words)

    def _mimic(self, mimic: Element | None) -> Mimic | None:
        if mimic is None:
            return None
        if (mimic.get("axis") or "axis") != "axis":
            raise mimic.refused("it follows the second axis of a joint", "Only first axes can be followed.")
        multiplier = mimic.number_of("multiplier", 1.0)
        offset = mimic.number_of("offset", 0.0) - multiplier * mimic.number_of("reference", 0.0)
        return Mimic(joint=self.whole(mimic.name("joint")), multiplier=multiplier, offset=offset)

    def _pitch(self) -> float:
        """Metres per turn; the older tag counts radians per metre, the other way round."""
        old = self.element.text_of("thread_pitch")
        if self.element.text_of("screw_thread_pitch") is not None or old is None:
            return self.element.number_of("screw_thread_pitch", 1.0)
        radians_per_m = self.element.number_of("thread_pitch")
        if radians_per_m == 0.0:
            raise self.element.refused("<thread_pitch> is 0, and a screw slides")
        return -math.tau / radians_per_m


def _without_end(kind: JointKind, limits: Limits | None) -> JointKind:
    endless = limits is None or (limits.lower is None and limits.upper is None)
    return "continuous" if kind == "revolute" and endless else kind


def _limits(axis: Element | None) -> Limits | None:
    limit = None if axis is None else axis.child("limit")
    if limit is None:
        return None
    lower, upper = bound_of(limit, "lower"), bound_of(limit, "upper")
    if lower is not None and upper is not None and lower > upper:
        raise limit.refused(f"the lower limit {lower:g} lies above the upper limit {upper:g}")
    velocity, effort = (_positive(bound_of(limit, tag)) for tag in ("velocity", "effort"))
    found = Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)
    return None if found == Limits() else found


def _positive(value: float | None) -> float | None:
    """SDFormat writes -1 for what has no limit."""
    return None if value is None or value < 0.0 else value


def _dynamics(axis: Element | None) -> Dynamics | None:
    dynamics = None if axis is None else axis.child("dynamics")
    if dynamics is None:
        return None
    return Dynamics(damping=dynamics.number_of("damping", 0.0), friction=dynamics.number_of("friction", 0.0))
