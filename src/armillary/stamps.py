"""Instants: integer nanoseconds, and `LATEST` for the newest one."""

from __future__ import annotations

import math
import time
from operator import index
from typing import Any, Final, final

from armillary.errors import InvalidStamp

__all__ = ["LATEST", "Latest", "as_stamp", "now", "seconds", "stamp"]

_NS_PER_S = 1_000_000_000
_FURTHEST_STAMP_NS = 2**62


@final
class Latest:
    """The type of `LATEST`: the newest instant that everything on a path covers."""

    __slots__ = ()
    _only: Latest | None = None

    def __new__(cls) -> Latest:
        """Return the only object of the class."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "LATEST"

    def __reduce__(self) -> str:
        return "LATEST"


LATEST: Final = Latest()


def seconds(value: float) -> int:
    """Convert seconds to integer nanoseconds, for instants and for durations.

    The result is the nearest nanosecond. A float holds an instant of this century to about 200 ns:
    where that matters use `stamp(sec=, nanosec=)`.

    >>> seconds(1.5)
    1500000000
    """
    if isinstance(value, int):
        return value * _NS_PER_S
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidStamp("seconds() takes a finite number of seconds, as in seconds(1.5).", value)
    whole = math.floor(number)
    return int(whole) * _NS_PER_S + round((number - whole) * _NS_PER_S)


def stamp(*, sec: int, nanosec: int = 0) -> int:
    """Return the instant of a `sec`, `nanosec` pair, the two fields of a ROS time, exactly.

    >>> stamp(sec=1, nanosec=5)
    1000000005
    """
    try:
        return index(sec) * _NS_PER_S + index(nanosec)
    except TypeError:
        raise InvalidStamp(
            f"stamp() takes whole numbers, got sec={sec!r}, nanosec={nanosec!r}. Use seconds(1.5).",
            (sec, nanosec),
        ) from None


def as_stamp(value: Any, name: str = "stamp") -> int | None:
    """Check a stamp: integer nanoseconds, or None for what holds always. `name` is that of the argument."""
    if value is None:
        return None
    try:
        stamp = index(value)
    except TypeError:
        hint = f" Pass seconds({value!r})." if isinstance(value, float) else ""
        raise InvalidStamp(f"{name} must be integer nanoseconds, got {value!r}.{hint}") from None
    if isinstance(value, bool) or abs(stamp) >= _FURTHEST_STAMP_NS:
        raise InvalidStamp(f"{name} must be integer nanoseconds within 146 years of zero, got {value!r}.")
    return stamp


def now() -> int:
    """Return the wall clock in nanoseconds since 1970."""
    return time.time_ns()
