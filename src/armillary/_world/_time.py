"""The world's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._names import NamingWorld

if TYPE_CHECKING:
    from collections.abc import Callable


class TimedWorld(NamingWorld):
    """A world with a clock, which may start again."""

    _clock: Callable[[], int]
    _time_offset: int

    def now(self) -> int:
        """The world's clock [ns]."""
        return self._as_stamp(self._clock(), "what the clock tells") + self._time_offset

    @property
    def time_epoch(self) -> int:
        """How often time was reset."""
        return self._time_epoch()

    def reset_time(self, *, to: int | None = None) -> None:
        """Start a new time: a bag that loops, a simulation that restarts.

        Samples are forgotten, fixed poses stay. With `to`, the world's clock goes on from there.
        """
        if to is not None:
            self._as_stamp(to, "to")
            self._go_on_from(to)
        self._reset_time(to)

    def _go_on_from(self, stamp: int) -> None:
        self._time_offset += stamp - self.now()
