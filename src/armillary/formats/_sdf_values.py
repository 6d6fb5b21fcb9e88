"""Small values of SDFormat: poses, truth, numbers without end."""

from __future__ import annotations

import math

from armillary._core import Transform
from armillary.errors import InvalidTransform
from armillary.formats._xml import Element

__all__ = ["bound_of", "is_true", "pose_in", "relative_to"]

_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf}
_ENDLESS = 1e16
_FORMATS = ("euler_rpy", "quat_xyzw")


def is_true(text: str | None) -> bool:
    """What SDFormat counts as true."""
    return (text or "").strip().lower() in {"1", "true"}


def pose_in(element: Element) -> Transform:
    """What its `<pose>` says; without one, the identity."""
    pose = element.child("pose")
    if pose is None or not pose.text:
        return Transform.identity()
    if pose.one_of(pose.get("rotation_format") or _FORMATS[0], _FORMATS, "rotation format") == "quat_xyzw":
        return _with_quaternion(pose)
    values = pose.places(pose.as_numbers(pose.text, 6, "a pose"), "a place")
    factor = math.pi / 180.0 if is_true(pose.get("degrees")) else 1.0
    return Transform.from_xyz_rpy(xyz=values[:3], rpy=[factor * angle for angle in values[3:]])


def _with_quaternion(pose: Element) -> Transform:
    values = pose.places(pose.as_numbers(pose.text, 7, "a pose"), "a place")
    length = math.hypot(*values[3:])
    try:
        return Transform.from_xyz_xyzw(xyz=values[:3], xyzw=[value / (length or 1.0) for value in values[3:]])
    except InvalidTransform:
        raise pose.refused(f"the quaternion {values[3:]} turns nothing") from None


def relative_to(element: Element) -> str | None:
    """The frame that its `<pose>` names; before version 1.7 the attribute was called `frame`."""
    pose = element.child("pose")
    return None if pose is None else (pose.get("relative_to") or pose.get("frame") or None)


def bound_of(element: Element | None, tag: str) -> float | None:
    """A number in a child; None where it is missing or without end."""
    text = None if element is None else element.text_of(tag)
    if element is None or text is None:
        return None
    value = _INFINITE.get(text.lower())
    if value is None:
        value = element.needed_child(tag).as_number(text, tag)
    return None if abs(value) >= _ENDLESS else value
