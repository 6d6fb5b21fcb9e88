"""The clock of a replay: log time that runs at a speed, stands still, or jumps."""

from __future__ import annotations

import math
import time

from armillary.errors import InvalidArgument
from armillary.forks import new_lock

__all__ = ["Timeline"]

_NS_PER_S = 1e9


class Timeline:
    """Instants of a log at a speed against this machine's clock.

    Lock: guards what is in it; nothing is called while it is held.
    """

    def __init__(self, begin: int, speed: float) -> None:
        self._lock = new_lock()
        self._at, self._since_s, self._speed = begin, time.monotonic(), as_speed(speed)

    @property
    def speed(self) -> float:
        """How many seconds of the log go by in one; 0: it stands still; inf: it goes as data are read."""
        return self._speed

    def now(self) -> int:
        """Return the instant that it is in the log [ns]."""
        with self._lock:
            return self._now()

    def _now(self) -> int:
        if self._speed == 0.0 or math.isinf(self._speed):
            return self._at
        return self._at + round((time.monotonic() - self._since_s) * self._speed * _NS_PER_S)

    def go(self, *, to: int) -> None:
        """Go to an instant, and on from there."""
        with self._lock:
            self._at, self._since_s = to, time.monotonic()

    def advance(self, *, to: int) -> None:
        """Go to an instant where it is not that late yet, and time does not run by itself."""
        with self._lock:
            if self._speed == 0.0 or math.isinf(self._speed):
                self._at = max(self._at, to)

    def set_speed(self, speed: float) -> None:
        """Go on at another speed."""
        checked = as_speed(speed)
        with self._lock:
            self._at, self._since_s = self._now(), time.monotonic()
            self._speed = checked

    def seconds_until(self, at: int) -> float:
        """Return how long it is until an instant, in seconds of this machine; infinite where time stands still."""
        with self._lock:
            left = at - self._now()
            if left <= 0 or math.isinf(self._speed):
                return 0.0
            return math.inf if self._speed == 0.0 else left / self._speed / _NS_PER_S


def as_speed(speed: float) -> float:
    """Check a speed."""
    is_number = isinstance(speed, int | float) and not isinstance(speed, bool)
    if not is_number or math.isnan(speed) or speed < 0.0:
        raise InvalidArgument(
            f"speed is a number from 0 (it waits for step) to float('inf') (as fast as possible), got {speed!r}.", speed
        )
    return float(speed)
