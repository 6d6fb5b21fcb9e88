"""Wheel odometry: velocities of wheels are integrated to the pose of their base when they are set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import StampOutOfRange

if TYPE_CHECKING:
    from armillary.articulation.bases import DifferentialDrive
    from armillary.store import Store

__all__ = ["WheeledBase"]

_S_PER_NS = 1e-9


@dataclass(frozen=True, slots=True)
class WheeledBase:
    """A base that is driven by two wheels.

    Attributes:
        joint: The kinematics of the drive.
        place: The names of x, y and yaw in the world.
        wheels: The names of the left and the right wheel.
    """

    joint: DifferentialDrive
    place: tuple[str, str, str]
    wheels: tuple[str, str]

    def integrate(self, store: Store, at: int, source: str | None) -> None:
        """Integrate from the newest position to `at`, with the velocities that are known in between.

        Without a position it begins at the origin. Velocities that come late change nothing.
        """
        begin = self._newest(store)
        if begin is None:
            self._put(store, (0.0, 0.0, 0.0), at, source)
            return
        place, since = begin
        if at > since:
            velocities = [self._mean_velocity(store, wheel, since, at) for wheel in self.wheels]
            duration_s = (at - since) * _S_PER_NS
            turned = (velocities[0] * duration_s, velocities[1] * duration_s)
            self._put(store, self.joint.driven(place, turned), at, source)

    def _newest(self, store: Store) -> tuple[tuple[float, float, float], int] | None:
        try:
            x, y, yaw = (store.joint(name) for name in self.place)
        except StampOutOfRange:
            return None
        place = (x.value or 0.0, y.value or 0.0, yaw.value or 0.0)
        return place, min(x.stamp, y.stamp, yaw.stamp)

    def _put(self, store: Store, place: tuple[float, float, float], at: int, source: str | None) -> None:
        store.set_integrated_joints(dict(zip(self.place, place, strict=True)), at, source)

    def _mean_velocity(self, store: Store, wheel: str, since: int, at: int) -> float:
        ends = [store.joint(wheel, at=instant, outside="hold").velocity or 0.0 for instant in (since, at)]
        return sum(ends) / len(ends)
