"""Where a ray runs within simple bodies: from where to where, as distances along it."""

from __future__ import annotations

import math

Span = tuple[float, float]

EVERYWHERE: Span = (-math.inf, math.inf)
NOWHERE: Span = (math.inf, -math.inf)


def between_planes(start: float, slope: float, low: float, high: float) -> Span:
    """Where low <= start + slope * t <= high."""
    if slope == 0.0:
        return EVERYWHERE if low <= start <= high else NOWHERE
    first, last = (low - start) / slope, (high - start) / slope
    return (first, last) if first <= last else (last, first)


def within_round(offset: tuple[float, ...], direction: tuple[float, ...], radius_m: float) -> Span:
    """Where |offset + direction * t| <= radius: in a ball with three numbers each, in a pillar with two."""
    length = math.hypot(*direction)  # a sum of squares would vanish for a direction that does not
    if length == 0.0:
        return EVERYWHERE if math.hypot(*offset) <= radius_m else NOWHERE
    unit = tuple(d / length for d in direction)
    nearest_m = -sum(o * d for o, d in zip(offset, unit, strict=True))
    miss_m = math.hypot(*(o + d * nearest_m for o, d in zip(offset, unit, strict=True)))
    if miss_m > radius_m:
        return NOWHERE
    half_m = math.sqrt((radius_m - miss_m) * (radius_m + miss_m))
    return (nearest_m - half_m) / length, (nearest_m + half_m) / length


def entered_m(*spans: Span) -> float:
    """Where a ray first is within all of these spans at once; infinity where it never is."""
    first = max(0.0, *(span[0] for span in spans))
    last = min(span[1] for span in spans)
    return first if first <= last else math.inf
