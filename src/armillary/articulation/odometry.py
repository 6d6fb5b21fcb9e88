"""Wheel odometry: velocities of wheels are integrated to the pose of their base when they are set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from armillary.errors import StampOutOfRange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import int64
    from numpy.typing import NDArray

    from armillary.articulation.bases import DifferentialDrive
    from armillary.store import Store

__all__ = ["WheeledBase"]

_S_PER_NS = 1e-9
_CLOSE_M = 1e-6  # how far from the arc it may be between two positions: these are interpolated linearly
_MOST_STEPS = 64  # from one speed to the next
_FIRST_WINDOW_NS = 1_000_000_000

Place = tuple[float, float, float]
Speeds = tuple[float, float]


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
        """Integrate from the last position before `at`, along the velocities that are known from there on.

        It ends at the newest velocity, or before the next position that was set. Without a position it begins at the
        origin with the first velocity. So the velocities alone decide, whatever their order.
        """
        begin = self._begin(store, at, source)
        if begin is None:
            return
        place, since = begin
        knots = [since, *(stamp for stamp in self._speeds_after(store, since) if stamp > since)]
        stored = self._stored_after(store, since, max(knots[-1], at))
        for first, last in pairwise(knots):
            for stamp, is_given in [entry for entry in stored if first < entry[0] <= last]:
                if is_given:
                    between = [other for other, _ in stored if first < other < stamp]
                    self._follow(store, place, (first, last), between, stamp, source)
                    return
            between = [stamp for stamp, _ in stored if first < stamp < last]
            place = self._follow(store, place, (first, last), between, None, source)

    def _begin(self, store: Store, at: int, source: str | None) -> tuple[Place, int] | None:
        """Return the last position before `at`, or the origin, which is stored; None where there is nothing to do."""
        newest = self._newest(store)
        if newest is not None and newest[1] < at:
            return newest
        before = None if newest is None else self._last_before(store, self.place[2:], at)
        if before is not None:
            speed = self._last_before(store, self.wheels, at)  # until there nothing changes
            stored = [] if speed is None else self._stored_after(store, speed - 1, at - 1)
            begin = max((stamp for stamp, is_given in stored if is_given or stamp == speed), default=before)
            return self._at(store, begin), begin
        first = next(self._speeds_after(store, None), at)
        is_given = newest is not None and any(given for _, given in self._stored_after(store, None, newest[1])[:1])
        if first < at or is_given:
            return None
        self._put(store, (0.0, 0.0, 0.0), at, source)
        return (0.0, 0.0, 0.0), at

    def _follow(  # noqa: PLR0917  (one step from speed to speed)
        self, store: Store, place: Place, span: tuple[int, int], also: list[int], before: int | None, source: str | None
    ) -> Place:
        """Store the positions between two speeds, `also` at these stamps; return the last one."""
        first, last = span
        start, end = self._velocities(store, first), self._velocities(store, last)
        stamps = sorted({*self._steps(start, end, first, last), *also})
        at, speeds = first, start
        for stamp in stamps:
            if before is not None and stamp >= before:
                break
            share = (stamp - first) / (last - first)
            reached = start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
            half_s = (stamp - at) * _S_PER_NS / 2.0
            place = self.joint.driven(place, ((speeds[0] + reached[0]) * half_s, (speeds[1] + reached[1]) * half_s))
            self._put(store, place, stamp, source)
            at, speeds = stamp, reached
        return place

    def _steps(self, start: Speeds, end: Speeds, first: int, last: int) -> list[int]:
        """Return stamps between which a straight line is close to the arc."""
        duration_s = (last - first) * _S_PER_NS
        (v, w), (speed_up, turn_up) = self._motion(start, end, 0.5), self._motion(start, end, None)
        apart_m = (abs(v * w) * duration_s + abs(speed_up) + abs(turn_up)) * duration_s / 8.0
        count = min(max(math.ceil(math.sqrt(apart_m / _CLOSE_M)), 1), _MOST_STEPS, last - first)
        return [first + (last - first) * step // count for step in range(1, count + 1)]

    def _motion(self, start: Speeds, end: Speeds, weight: float | None) -> tuple[float, float]:
        """Return speed and turn of the mean of two pairs of wheel speeds, or with None of their difference."""
        left, right = (b - a if weight is None else weight * (a + b) for a, b in zip(start, end, strict=True))
        radius = self.joint.wheel_radius_m
        return radius * (left + right) / 2.0, radius * (right - left) / self.joint.wheel_distance_m

    # -- What is stored

    def _newest(self, store: Store) -> tuple[Place, int] | None:
        try:
            x, y, yaw = (store.joint(name) for name in self.place)
        except StampOutOfRange:
            return None
        place = (x.value or 0.0, y.value or 0.0, yaw.value or 0.0)
        return place, min(x.stamp, y.stamp, yaw.stamp)

    def _at(self, store: Store, at: int) -> Place:
        x, y, yaw = (store.joint(name, at=at).value or 0.0 for name in self.place)
        return x, y, yaw

    def _last_before(self, store: Store, names: tuple[str, ...], at: int) -> int | None:
        """Return the stamp of the last sample of these joints before an instant."""
        window = _FIRST_WINDOW_NS
        while True:
            start = None if window > abs(at) + (1 << 60) else at - window
            rows_of_all = [rows for name in names for rows in self._rows(store, name, start, at - 1)]
            found = [int(rows[-1]) for rows in rows_of_all if len(rows)]
            if found or start is None:
                return max(found, default=None)
            window *= 1000

    def _stored_after(self, store: Store, since: int | None, until: int) -> list[tuple[int, bool]]:
        """Return the stamps of the positions after an instant, and whether each was set and not integrated."""
        start = None if since is None else since + 1
        stamps = {int(stamp) for rows in self._rows(store, self.place[2], start, until) for stamp in rows}
        return [(stamp, not store.joint(self.place[2], at=stamp).integrated) for stamp in sorted(stamps)]

    def _speeds_after(self, store: Store, since: int | None) -> Iterator[int]:
        """Yield the instants after `since` at which a wheel got a speed."""
        start = None if since is None else since + 1
        stamps = {int(one) for wheel in self.wheels for rows in self._rows(store, wheel, start, None) for one in rows}
        yield from sorted(stamps)

    @staticmethod
    def _rows(store: Store, name: str, start: int | None, end: int | None) -> list[NDArray[int64]]:
        return [store.joint_rows(name, start, end, source)[0] for source in store.joint_sources(name)]

    def _velocities(self, store: Store, at: int) -> Speeds:
        left, right = (store.joint(wheel, at=at, outside="hold").velocity or 0.0 for wheel in self.wheels)
        return left, right

    def _put(self, store: Store, place: Place, at: int, source: str | None) -> None:
        store.set_integrated_joints(dict(zip(self.place, place, strict=True)), at, source)
