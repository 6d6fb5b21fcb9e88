"""When samples came. A world keeps the instants they speak of, not when it was told."""

from __future__ import annotations

from collections import deque
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary import World
    from armillary.transforms import RelationInfo

__all__ = ["Arrivals"]

_MOST = 200


class Arrivals:
    """Looks at a world again and again: a sample came when it was first seen, so look often."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str, str], int] = {}
        self._delays_s: dict[tuple[str, str, str], deque[float]] = {}

    def look(self, world: World) -> None:
        """Take note of what came since. What was there at the first look came nobody knows when."""
        for info in world.relations():
            if info.last is None or info.age_s is None or info.kind == "twist":
                continue
            before = self._newest.setdefault(_edge(info), info.last)
            if info.last > before:
                self._newest[_edge(info)] = info.last
                self._delays_s.setdefault(_edge(info), deque(maxlen=_MOST)).append(info.age_s)

    def delay_s(self, info: RelationInfo) -> float | None:
        """How long after its instant a sample comes, on average [s]; None where none came yet."""
        delays_s = self._delays_s.get(_edge(info))
        return None if delays_s is None else fmean(delays_s)


def _edge(info: RelationInfo) -> tuple[str, str, str]:
    return info.of, info.in_frame, info.source
