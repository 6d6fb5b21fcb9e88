"""Instants and durations in words."""

from __future__ import annotations

__all__ = ["instant", "length"]

_NS_PER_S = 1_000_000_000


def instant(stamp_ns: int) -> str:
    """A stamp in seconds, with every digit that is not zero."""
    sign = "-" if stamp_ns < 0 else ""
    whole, rest = divmod(abs(stamp_ns), _NS_PER_S)
    digits = f"{rest:09d}".rstrip("0").ljust(3, "0")
    return f"{sign}{whole}.{digits} s"


def length(duration_ns: int) -> str:
    """A duration in the unit that suits it."""
    for unit_ns, unit in ((_NS_PER_S, "s"), (1_000_000, "ms"), (1_000, "us")):
        if duration_ns >= unit_ns:
            return f"{duration_ns / unit_ns:.6g} {unit}"
    return f"{duration_ns} ns"
