"""Bases that move because their wheels turn: the speeds are integrated as they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import StampOutOfRange

if TYPE_CHECKING:
    from armillary._world._mounting import MountingWorld
    from armillary.articulation.bases import DifferentialDrive

__all__ = ["WheeledBase"]

_S_PER_NS = 1e-9


@dataclass(frozen=True, slots=True)
class WheeledBase:
    """One of them.

    Attributes:
        joint: How its wheels move it.
        place: The names of x, y and yaw in the world.
        wheels: The names of the left and the right wheel.
    """

    joint: DifferentialDrive
    place: tuple[str, str, str]
    wheels: tuple[str, str]

    def roll(self, world: MountingWorld, at: int, source: str | None) -> None:
        """Drive on from the newest place to `at`, with the speeds that are known of the time between.

        Where no place was ever said it begins at the origin. What comes late does not change what was driven.
        """
        begin = self._newest(world)
        if begin is None:
            self._put(world, (0.0, 0.0, 0.0), at, source)
            return
        place, since = begin
        if at > since:
            speeds = [self._mean_speed(world, wheel, since, at) for wheel in self.wheels]
            duration_s = (at - since) * _S_PER_NS
            turned = (speeds[0] * duration_s, speeds[1] * duration_s)
            self._put(world, self.joint.driven(place, turned), at, source)

    def _newest(self, world: MountingWorld) -> tuple[tuple[float, float, float], int] | None:
        try:
            x, y, yaw = (world.joint(name) for name in self.place)
        except StampOutOfRange:
            return None
        place = (x.value or 0.0, y.value or 0.0, yaw.value or 0.0)
        return place, min(x.stamp, y.stamp, yaw.stamp)

    def _put(self, world: MountingWorld, place: tuple[float, float, float], at: int, source: str | None) -> None:
        world._set_integrated_joints(dict(zip(self.place, place, strict=True)), at, source)  # noqa: SLF001

    def _mean_speed(self, world: MountingWorld, wheel: str, since: int, at: int) -> float:
        ends = [world.joint(wheel, at=instant, outside="hold").velocity or 0.0 for instant in (since, at)]
        return sum(ends) / len(ends)
