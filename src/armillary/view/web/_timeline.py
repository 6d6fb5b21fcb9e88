"""Displayed instant: the newest, one of the past, or playing; and the time range of the history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from armillary.errors import ArmillaryError, StampOutOfRange
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from armillary.transforms import RelationInfo
    from armillary.view._world_protocol import ViewableWorld


_NS_PER_S = 1e9
_BEFORE_EVERYTHING_NS = -(2**61)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Range of the history, and the displayed instant.

    Attributes:
        mode: "live" shows the newest instant, "paused" a fixed one, "playing" advances.
        at_ns: Displayed instant, if not live.
        first_ns: Beginning of the history; None while there is none.
        last_ns: End of the history.
        speed: Seconds of the history per second of playing.
        origin_ns: Zero of the displayed clock: the first known beginning of the history.
    """

    mode: Literal["live", "paused", "playing"] = "live"
    at_ns: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    speed: float = 1.0
    origin_ns: int | None = None

    @property
    def instant(self) -> int | Latest:
        """Instant to query the world at."""
        return LATEST if self.mode == "live" else self.at_ns

    @property
    def shown_ns(self) -> int | None:
        """Instant that the clock shows; None while there is no history."""
        return self.last_ns if self.mode == "live" else self.at_ns

    def clock_s(self, stamp_ns: int | None) -> float:
        """Convert a stamp to the time that the clock shows [s]."""
        return 0.0 if self.origin_ns is None or stamp_ns is None else (stamp_ns - self.origin_ns) / _NS_PER_S

    def covering(self, time_ranges: Iterable[tuple[int, int]]) -> Timeline:
        """Return the timeline with the range of the given first and last stamps [ns].

        An instant before the history moves to its beginning: one that was asked for when it was just forgotten.
        """
        ends = list(time_ranges)
        first_ns = min((first for first, _ in ends), default=None)
        last_ns = max((last for _, last in ends), default=None)
        at_ns = self.at_ns if first_ns is None or self.mode == "live" else max(self.at_ns, first_ns)
        is_new = self.origin_ns is None or (first_ns is not None and first_ns < self.origin_ns)
        origin_ns = first_ns if is_new else self.origin_ns
        return replace(self, first_ns=first_ns, last_ns=last_ns, at_ns=at_ns, origin_ns=origin_ns)

    def live(self) -> Timeline:
        """Return the timeline at the newest instant."""
        return replace(self, mode="live")

    def paused(self) -> Timeline:
        """Return the timeline paused at the displayed instant."""
        return self if self.shown_ns is None else replace(self, mode="paused", at_ns=self.shown_ns)

    def playing(self) -> Timeline:
        """Return the timeline playing from the displayed instant, or from the beginning if that is the end."""
        if self.first_ns is None or self.last_ns is None:
            return self
        is_over = self.mode == "live" or self.at_ns >= self.last_ns
        return replace(self, mode="playing", at_ns=self.first_ns if is_over else self.at_ns)

    def moved_to(self, clock_s: float) -> Timeline:
        """Return the timeline paused where the clock shows this time [s]."""
        if self.origin_ns is None:
            return self
        return replace(self, mode="paused", at_ns=self.origin_ns + round(clock_s * _NS_PER_S))

    def faster(self, speed: float) -> Timeline:
        """Return the timeline with another speed."""
        return replace(self, speed=speed)

    def advanced(self, elapsed_s: float) -> Timeline:
        """Return the timeline after an elapsed time; at the end it becomes live."""
        if self.mode != "playing" or self.last_ns is None:
            return self
        at_ns = self.at_ns + round(elapsed_s * self.speed * _NS_PER_S)
        return replace(self, at_ns=at_ns) if at_ns < self.last_ns else self.live()


def time_ranges(world: ViewableWorld, relations: Iterable[RelationInfo]) -> Iterator[tuple[int, int]]:
    """Yield the first and last stamp [ns] of every relation and joint that has samples."""
    for info in relations:
        if info.first is not None and info.last is not None:
            yield info.first, info.last
    for joint in world.joints():
        span = _joint_time_range(world, joint)
        if span is not None:
            yield span


def _joint_time_range(world: ViewableWorld, joint: str) -> tuple[int, int] | None:
    """Return the first and last stamp of a joint, from the error of a query before all of them."""
    try:
        world.joint(joint, at=_BEFORE_EVERYTHING_NS)
    except StampOutOfRange as error:
        return None if error.first is None or error.last is None else (error.first, error.last)
    except ArmillaryError:
        return None
    return None
