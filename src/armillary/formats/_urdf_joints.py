"""Joints of URDF."""

from __future__ import annotations

import math
from typing import cast

from armillary.formats._urdf_links import origin_of, triple
from armillary.formats._xml import Element
from armillary.formats.descriptions import (
    Dynamics,
    JointDescription,
    JointKind,
    Limits,
    Mimic,
    SoftLimits,
    Triple,
)

__all__ = ["URDF_KINDS", "joint_of", "unit_axis"]

URDF_KINDS = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
_WITH_LIMITS = {"revolute", "prismatic"}
_WITHOUT_AXIS = {"fixed", "floating"}
_X = (1.0, 0.0, 0.0)
_ROUNDED = 1e-15


def joint_of(element: Element) -> JointDescription:
    """One `<joint>`."""
    name, kind = element.name(), _kind(element)
    return JointDescription(
        name=name,
        kind=kind,
        parent=element.needed_child("parent").name("link"),
        child=element.needed_child("child").name("link"),
        parent_T_joint=origin_of(element),
        axis=_X if kind in _WITHOUT_AXIS else _axis(element),
        limits=_limits(element, kind),
        soft_limits=_soft_limits(element.child("safety_controller")),
        mimic=_mimic(element.child("mimic")),
        dynamics=_dynamics(element.child("dynamics")),
    )


def _kind(element: Element) -> JointKind:
    return cast("JointKind", element.one_of(element.needed("type"), URDF_KINDS, "type of joint"))


def _axis(joint: Element) -> Triple:
    axis = joint.child("axis")
    return _X if axis is None else unit_axis(axis, triple(axis, "xyz"))


def unit_axis(element: Element, xyz: Triple) -> Triple:
    """The axis at length one; what is one already is kept to the last digit."""
    length = math.hypot(*xyz)
    if not 0.0 < length < math.inf:
        raise element.refused(f"the axis {xyz} has the length {length:g}, and a direction is expected")
    if abs(length - 1.0) < _ROUNDED:
        return xyz
    x, y, z = (value / length for value in xyz)
    return x, y, z


def _limits(joint: Element, kind: str) -> Limits | None:
    limit = joint.child("limit")
    if limit is None:
        if kind in _WITH_LIMITS:
            hint = "Add <limit lower= upper= velocity= effort=>, or make it continuous."
            raise joint.refused(f"a {kind} joint needs <limit>, and has none", hint)
        return None
    bounded = kind in _WITH_LIMITS
    lower, upper = (limit.number(end, 0.0) if bounded else limit.maybe_number(end) for end in ("lower", "upper"))
    if bounded and cast("float", lower) > cast("float", upper):
        raise limit.refused(f"the lower limit {lower:g} lies above the upper limit {upper:g}")
    return Limits(
        lower=lower, upper=upper, velocity=limit.maybe_number("velocity"), effort=limit.maybe_number("effort")
    )


def _soft_limits(element: Element | None) -> SoftLimits | None:
    if element is None:
        return None
    return SoftLimits(
        lower=element.number("soft_lower_limit", 0.0),
        upper=element.number("soft_upper_limit", 0.0),
        k_position=element.number("k_position", 0.0),
        k_velocity=element.number("k_velocity", 0.0),
    )


def _mimic(element: Element | None) -> Mimic | None:
    if element is None:
        return None
    return Mimic(
        joint=element.name("joint"), multiplier=element.number("multiplier", 1.0), offset=element.number("offset", 0.0)
    )


def _dynamics(element: Element | None) -> Dynamics | None:
    if element is None:
        return None
    return Dynamics(damping=element.number("damping", 0.0), friction=element.number("friction", 0.0))
