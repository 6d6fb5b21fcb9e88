"""Whether time goes back in a log: another one was played in a loop meanwhile, or a simulation restarted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["PassFinder"]

_LATE_NS, _CLOCK_BACK_NS = 2_000_000_000, 500_000_000
_IN_A_ROW = 10


class PassFinder:
    """Finds the log times at which time goes back.

    A message of /clock that is half a second earlier than the one before it says so. Without /clock it is where ten
    messages in a row have nothing newer than two seconds before what was newest: single late ones are only late.
    """

    def __init__(self) -> None:
        self.begins: list[int] = []
        self._clock: int | None = None
        self._newest: int | None = None
        self._back: list[tuple[int, int]] = []

    def see_clock(self, log_time: int, clock: int) -> None:
        """Take one message of /clock."""
        if self._clock is not None and clock < self._clock - _CLOCK_BACK_NS:
            self.begins.append(log_time)
        self._clock = clock

    def see(self, log_times: NDArray[int64], newest: NDArray[int64]) -> None:
        """Take the newest stamp of each of some messages, in their order."""
        if self._clock is not None or not len(newest):
            return
        before = -(2**62) if self._newest is None else self._newest
        running = np.maximum.accumulate(np.concatenate([[before], newest]))
        if not self._back and not (newest < running[:-1] - _LATE_NS).any():
            self._newest = int(running[-1])
            return
        for log_time, stamp in zip(log_times.tolist(), newest.tolist(), strict=True):
            self._see_one(log_time, stamp)

    def _see_one(self, log_time: int, stamp: int) -> None:
        if self._newest is None or stamp >= self._newest - _LATE_NS:
            self._newest = stamp if self._newest is None else max(self._newest, stamp)
            self._back.clear()
            return
        self._back.append((log_time, stamp))
        if len(self._back) >= _IN_A_ROW:
            self.begins.append(self._back[0][0])
            self._newest = max(stamp for _, stamp in self._back)
            self._back.clear()

    def passes(self, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """Return the first and the last log time of each pass."""
        begins = [first, *sorted(set(self.begins))]
        ends = [begin - 1 for begin in begins[1:]] + [last]
        return tuple(zip(begins, ends, strict=True))
