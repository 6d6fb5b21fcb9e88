"""Frames of SDFormat: each is placed in another one, by name, in any order."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from armillary._core import Transform
from armillary.errors import InvalidRobotFile
from armillary.formats._xml import Element, meant

__all__ = ["MODEL", "SCOPE", "WORLD", "Frames"]

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
    """Where everything with a name is, and which link it is on. Names are whole: `arm::hand`."""

    _placed: dict[str, _Placed] = field(default_factory=dict)
    _on: dict[str, str | None] = field(default_factory=dict)
    _world_T: dict[str, Transform] = field(default_factory=lambda: {WORLD: Transform.identity()})

    def place(self, name: str, element: Element, *, base: str, base_T_frame: Transform, on: str | None) -> None:
        """Say where a frame is and what it is fixed to; a link is on nothing."""
        if name in self._placed or name == WORLD:
            raise element.refused(f"there is something named '{name}' already", "Rename one.")
        self._placed[name] = _Placed(element, base, base_T_frame)
        self._on[name] = on

    def between(self, base: str, frame: str, asker: Element) -> Transform:
        """base_T_frame."""
        return self.world_T(base, asker).inverse() @ self.world_T(frame, asker)

    def world_T(self, name: str, asker: Element) -> Transform:
        """Where a frame is in the world."""
        way, known = self._way(name, self._world_T, asker)
        for step in reversed(way):
            self._world_T[step] = self._world_T[known] @ self._placed[step].base_T_frame
            known = step
        return self._world_T[name]

    def below(self, base: str, frame: str, asker: Element) -> Transform:
        """base_T_frame of a frame that hangs under a base which itself is not placed yet."""
        base_T_frame = Transform.identity()
        for step in reversed(self._way(frame, (base,), asker)[0]):
            base_T_frame = base_T_frame @ self._placed[step].base_T_frame
        return base_T_frame

    def _way(self, name: str, ends: Container[str], asker: Element) -> tuple[list[str], str]:
        way: dict[str, None] = {}
        while name not in ends:
            if name in way:
                raise self._placed[name].element.refused(f"its place leads in a circle back to '{name}'")
            if name not in self._placed:
                raise self._unknown(name, asker)
            way[name] = None
            asker, name = self._placed[name].element, self._placed[name].base
        return list(way), name

    def link_of(self, name: str, asker: Element) -> str:
        """The link that a frame is fixed to, or the world."""
        seen: set[str] = set()
        while name != WORLD:
            if name in seen:
                raise self._placed[name].element.refused(f"'{name}' is attached to itself in a circle")
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
        return asker.refused(f"there is nothing named '{name}'", meant(name, known))
