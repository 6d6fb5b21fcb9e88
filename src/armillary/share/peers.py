"""What a share knows of its peers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from armillary.wire.channels import Channel

__all__ = ["Peer", "PeerInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerInfo:
    """Another process that shares the world, as this one sees it.

    Attributes:
        id: Its id, another one in each run.
        name: The name of its world.
        is_alive: Whether it is there now.
        is_in_step: Whether both held the same changes when it last said what it holds.
        silent_s: How long ago its last message came [s].
        records: Change records that came from it.
        samples: Samples that came from it.
        lost: Samples that it sent and that did not come.
        rate_hz: Samples a second that came in the last seconds.
        channels: How many relations, and groups of joints, it gives samples of.
        clock_ahead_s: How far its machine's clock is ahead of the one here [s]; None: not measured yet.
        round_trip_s: How long a question to it and its answer take [s]; None: not measured yet.
    """

    id: str
    name: str
    is_alive: bool
    is_in_step: bool
    silent_s: float
    records: int
    samples: int
    lost: int
    rate_hz: float
    channels: int
    clock_ahead_s: float | None
    round_trip_s: float | None


@dataclass(slots=True)
class Peer:
    """One peer: what came from it, and what is known of its state."""

    id: str
    name: str = ""
    is_alive: bool = False
    is_refused: bool = False
    has_history: bool = False
    heard_s: float = field(default_factory=time.monotonic)
    received: int = 0
    held: str = ""
    acknowledged: int = 0
    records: int = 0
    samples: int = 0
    lost: int = 0
    channels: dict[int, Channel] = field(default_factory=dict)
    next_sample: dict[int, int] = field(default_factory=dict)
    subscriptions: dict[int, Any] = field(default_factory=dict)
    clock_ahead_s: float | None = None
    round_trip_s: float | None = None
    _counted: list[tuple[float, int]] = field(default_factory=list)

    def note_samples(self, channel: int, sequence: int, count: int) -> bool:
        """Count samples of a channel; whether some before them are missing."""
        expected = self.next_sample.get(channel, sequence)
        self.lost += max(0, sequence - expected)
        self.next_sample[channel] = max(expected, sequence + count)
        self.samples += count
        return sequence > expected

    def count_rate(self, now_s: float) -> float:
        """Return the samples a second since the last calls, over a few seconds."""
        self._counted.append((now_s, self.samples))
        self._counted = [one for one in self._counted if one[0] > now_s - 5.0][-50:]
        (first_s, first), (last_s, last) = self._counted[0], self._counted[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0

    def info(self, our_held: str) -> PeerInfo:
        """Return what users see of it."""
        now_s = time.monotonic()
        return PeerInfo(
            id=self.id,
            name=self.name,
            is_alive=self.is_alive,
            is_in_step=bool(self.held) and self.held == our_held,
            silent_s=now_s - self.heard_s,
            records=self.records,
            samples=self.samples,
            lost=self.lost,
            rate_hz=self.count_rate(now_s),
            channels=len(self.channels),
            clock_ahead_s=self.clock_ahead_s,
            round_trip_s=self.round_trip_s,
        )
