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
    """The history there is, and where in it one looks.

    Attributes:
        mode: "live" shows the newest, "paused" stays at an instant, "playing" goes on from it.
        at_ns: The instant, where it is not live.
        first_ns: Where the history begins; None while there is none.
        last_ns: Where it ends.
        speed: Seconds of the history in a second of playing.
        origin_ns: Where a clock beside the picture counts from: where the history began when it was first looked at.
    """

    mode: Literal["live", "paused", "playing"] = "live"
    at_ns: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    speed: float = 1.0
    origin_ns: int | None = None

    @property
    def instant(self) -> int | Latest:
        """What to ask a world for."""
        return LATEST if self.mode == "live" else self.at_ns

    @property
    def shown_ns(self) -> int | None:
        """The instant that a clock shows; None while there is no history."""
        return self.last_ns if self.mode == "live" else self.at_ns

    def clock_s(self, stamp_ns: int | None) -> float:
        """What the clock shows at a stamp [s]."""
        return 0.0 if self.origin_ns is None or stamp_ns is None else (stamp_ns - self.origin_ns) / _NS_PER_S

    def covering(self, time_ranges: Iterable[tuple[int, int]]) -> Timeline:
        """The same over the history that is there now, from first to last stamps of its parts [ns].

        An instant that is forgotten moves to the oldest.
        """
        ends = list(time_ranges)
        first_ns = min((first for first, _ in ends), default=None)
        last_ns = max((last for _, last in ends), default=None)
        at_ns = self.at_ns if first_ns is None or self.mode == "live" else max(self.at_ns, first_ns)
        is_new = self.origin_ns is None or (first_ns is not None and first_ns < self.origin_ns)
        origin_ns = first_ns if is_new else self.origin_ns
        return replace(self, first_ns=first_ns, last_ns=last_ns, at_ns=at_ns, origin_ns=origin_ns)

    def live(self) -> Timeline:
        """At the newest from now on."""
        return replace(self, mode="live")

    def paused(self) -> Timeline:
        """Where it is."""
        return self if self.shown_ns is None else replace(self, mode="paused", at_ns=self.shown_ns)

    def playing(self) -> Timeline:
        """From where it is; from the beginning, where that is the end."""
        if self.first_ns is None or self.last_ns is None:
            return self
        is_over = self.mode == "live" or self.at_ns >= self.last_ns
        return replace(self, mode="playing", at_ns=self.first_ns if is_over else self.at_ns)

    def moved_to(self, clock_s: float) -> Timeline:
        """To where the clock shows this [s], and staying there."""
        if self.origin_ns is None:
            return self
        return replace(self, mode="paused", at_ns=self.origin_ns + round(clock_s * _NS_PER_S))

    def faster(self, speed: float) -> Timeline:
        """At another speed."""
        return replace(self, speed=speed)

    def advanced(self, elapsed_s: float) -> Timeline:
        """A moment later; what plays to the end is live from there on."""
        if self.mode != "playing" or self.last_ns is None:
            return self
        at_ns = self.at_ns + round(elapsed_s * self.speed * _NS_PER_S)
        return replace(self, at_ns=at_ns) if at_ns < self.last_ns else self.live()


def time_ranges(world: ViewableWorld, relations: Iterable[RelationInfo]) -> Iterator[tuple[int, int]]:
    """First and last stamp [ns] of every relation and of every joint that has samples."""
    for info in relations:
        if info.first is not None and info.last is not None:
            yield info.first, info.last
    for joint in world.joints():
        span = _joint_time_range(world, joint)
        if span is not None:
            yield span


def _joint_time_range(world: ViewableWorld, joint: str) -> tuple[int, int] | None:
    """The refusal of a question that is too old says what there is, and copies no samples."""
    try:
        world.joint(joint, at=_BEFORE_EVERYTHING_NS)
    except StampOutOfRange as error:
        return None if error.first is None or error.last is None else (error.first, error.last)
    except ArmillaryError:
        return None
    return None
