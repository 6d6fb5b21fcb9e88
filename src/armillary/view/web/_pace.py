"""Work that is done often, but never so often that it takes more than its share of a core."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

__all__ = ["Pace"]


class Pace:
    """How often something is done.

    Args:
        most_hz: At most so often.
        share: And never so often that it takes more than this part of one core.
    """

    def __init__(self, most_hz: float, share: float) -> None:
        self._period_s, self._share = 1.0 / most_hz, share
        self._next_s = 0.0

    def is_due(self, now_s: float) -> bool:
        """Whether it is time again."""
        return now_s >= self._next_s

    def hurry(self) -> None:
        """It is due at once: somebody waits for it."""
        self._next_s = 0.0

    @contextlib.contextmanager
    def spending(self, now_s: float) -> Iterator[None]:
        """While it is done."""
        before_s = time.thread_time()
        try:
            yield
        finally:
            self._next_s = now_s + max(self._period_s, (time.thread_time() - before_s) / self._share)
