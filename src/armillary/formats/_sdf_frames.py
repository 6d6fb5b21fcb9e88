"""Poses and frames of SDFormat: each frame is placed in another one, by name, in any order."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, field

from armillary._core import Transform
from armillary.errors import InvalidRobotFile, InvalidTransform
from armillary.formats._xml import Element, name_hint

__all__ = ["MODEL", "SCOPE", "WORLD", "Frames", "bound_of", "is_true", "pose_in", "relative_to"]


_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf}
_UNBOUNDED = 1e16
_FORMATS = ("euler_rpy", "quat_xyzw")


def is_true(text: str | None) -> bool:
    """Whether SDFormat reads a text as true."""
    return (text or "").strip().lower() in {"1", "true"}


def pose_in(element: Element) -> Transform:
    """Return the transform of its `<pose>`; the identity where it has none."""
    pose = element.child("pose")
    if pose is None or not pose.text:
        return Transform.identity()
    if pose.one_of(pose.get("rotation_format") or _FORMATS[0], _FORMATS, "rotation format") == "quat_xyzw":
        return _with_quaternion(pose)
    values = pose.bounded(pose.as_numbers(pose.text, 6, "a pose"), "a place")
    factor = math.pi / 180.0 if is_true(pose.get("degrees")) else 1.0
    return Transform.from_xyz_rpy(xyz=values[:3], rpy=[factor * angle for angle in values[3:]])


def _with_quaternion(pose: Element) -> Transform:
    values = pose.bounded(pose.as_numbers(pose.text, 7, "a pose"), "a place")
    length = math.hypot(*values[3:])
    try:
        return Transform.from_xyz_xyzw(xyz=values[:3], xyzw=[value / (length or 1.0) for value in values[3:]])
    except InvalidTransform:
        raise pose.error(f"the quaternion {values[3:]} turns nothing") from None


def relative_to(element: Element) -> str | None:
    """Return the frame that its `<pose>` is relative to; before version 1.7 the attribute was called `frame`."""
    pose = element.child("pose")
    return None if pose is None else (pose.get("relative_to") or pose.get("frame") or None)


def bound_of(element: Element | None, tag: str) -> float | None:
    """Return the number in a child; None where it is missing or infinite."""
    text = None if element is None else element.text_of(tag)
    if element is None or text is None:
        return None
    value = _INFINITE.get(text.lower())
    if value is None:
        value = element.required_child(tag).as_number(text, tag)
    return None if abs(value) >= _UNBOUNDED else value


SCOPE = "::"
MODEL = "__model__"
WORLD = "world"


@dataclass(frozen=True, slots=True)
class _Placed:
    element: Element
    base: str
    base_T_frame: Transform


@dataclass(slots=True)
class Frames:
    """The poses of everything that has a name, and the link it is fixed to. Names are full: `arm::hand`."""

    _placed: dict[str, _Placed] = field(default_factory=dict)
    _on: dict[str, str | None] = field(default_factory=dict)
    _world_T: dict[str, Transform] = field(default_factory=lambda: {WORLD: Transform.identity()})

    def place(self, name: str, element: Element, *, base: str, base_T_frame: Transform, on: str | None) -> None:
        """Add a frame with its pose and what it is fixed to; a link is fixed to nothing."""
        if name in self._placed or name == WORLD:
            raise element.error(f"there is something named '{name}' already", "Rename one.")
        self._placed[name] = _Placed(element, base, base_T_frame)
        self._on[name] = on

    def between(self, base: str, frame: str, asker: Element) -> Transform:
        """Return base_T_frame, both placed in the world."""
        return self.world_T(base, asker).inverse() @ self.world_T(frame, asker)

    def world_T(self, name: str, asker: Element) -> Transform:
        """Return world_T_frame."""
        path, known = self._path(name, self._world_T, asker)
        for step in reversed(path):
            self._world_T[step] = self._world_T[known] @ self._placed[step].base_T_frame
            known = step
        return self._world_T[name]

    def below(self, base: str, frame: str, asker: Element) -> Transform:
        """Return base_T_frame of a frame below a base that is not placed itself yet."""
        base_T_frame = Transform.identity()
        for step in reversed(self._path(frame, (base,), asker)[0]):
            base_T_frame = base_T_frame @ self._placed[step].base_T_frame
        return base_T_frame

    def _path(self, name: str, ends: Container[str], asker: Element) -> tuple[list[str], str]:
        path: dict[str, None] = {}
        while name not in ends:
            if name in path:
                raise self._placed[name].element.error(f"its pose leads in a cycle back to '{name}'")
            if name not in self._placed:
                raise self._unknown(name, asker)
            path[name] = None
            asker, name = self._placed[name].element, self._placed[name].base
        return list(path), name

    def link_of(self, name: str, asker: Element) -> str:
        """Return the link that a frame is fixed to, or the world."""
        seen: set[str] = set()
        while name != WORLD:
            if name in seen:
                raise self._placed[name].element.error(f"'{name}' is attached to itself in a cycle")
            if name not in self._on:
                raise self._unknown(name, asker)
            seen.add(name)
            on = self._on[name]
            if on is None:
                return name
            asker, name = self._placed[name].element, on
        return name

    def _unknown(self, name: str, asker: Element) -> InvalidRobotFile:
        known = (other for other in self._placed if not other.endswith(MODEL))
        return asker.error(f"there is nothing named '{name}'", name_hint(name, known))
