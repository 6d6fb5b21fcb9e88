"""Curves over time: panels below each other, one time for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.view._axes import multiples, round_step, round_text
from armillary.view._drawing import Area, Line, Point, Shape, Text, as_points
from armillary.view._style import INK, MUTED, PLATE, RULE, SMALL_PX, TRACK_COLORS, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import bool_, float64
    from numpy.typing import NDArray

_TIME_LINES, _VALUE_LINES = 10, 4
_AIR = 0.1  # above and below the curves, as a part of their extent
_LEAST_EXTENT = 1e-6  # less is rounding, and drawn flat
_BAND_OPACITY = 0.2
_GAP_PX = 14.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A quantity over time; NaN where it is not known.

    Attributes:
        name: What stands beside it.
        values: (N,).
        half_band: (N,): how far its band reaches to both sides; NaN where it has none.
    """

    name: str
    values: NDArray[float64]
    half_band: NDArray[float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Curves of one unit in one window.

    Attributes:
        title: With the unit.
        corner: Its upper left corner [px].
        size: Its width and height [px].
        times_s: (N,), of all curves; they begin at zero.
        curves: Each gets a colour of its own.
    """

    title: str
    corner: Point
    size: Point
    times_s: NDArray[float64]
    curves: Sequence[Curve]

    def shapes(self) -> Iterator[Shape]:
        """Everything in it, in the order of painting."""
        (left, top), (width, height) = self.corner, self.size
        low, high = self._extent()
        yield from self._ground(low, high)
        yield Text(at=(left, top - 9), text=self.title, size=SMALL_PX, color=INK, bold=True)
        x = left + width
        for curve, color in reversed(list(zip(self.curves, TRACK_COLORS, strict=False))):
            yield from self._painted(curve, color, low, high)
            if len(self.curves) > 1:
                yield Text(at=(x, top - 9), text=curve.name, size=SMALL_PX, color=color, anchor="end", bold=True)
                x -= text_width(curve.name, SMALL_PX) + _GAP_PX
        if np.isnan([curve.values for curve in self.curves]).all():
            middle = (left + width / 2, top + height / 2 + 4)
            yield Text(at=middle, text="not known", size=SMALL_PX, color=MUTED, anchor="middle")

    def _extent(self) -> tuple[float, float]:
        """The least and the greatest value that is shown."""
        reach = [np.nan_to_num(curve.half_band, nan=0.0) for curve in self.curves]
        edges = [curve.values + side * band for curve, band in zip(self.curves, reach, strict=True) for side in (-1, 1)]
        known = np.concatenate(edges)
        known = known[np.isfinite(known)] if np.isfinite(known).any() else np.zeros(1)
        low, high = float(known.min()), float(known.max())
        extent = max(high - low, _LEAST_EXTENT * max(1.0, abs(low), abs(high)))
        middle = (low + high) / 2
        return middle - (0.5 + _AIR) * extent, middle + (0.5 + _AIR) * extent

    def _ground(self, low: float, high: float) -> Iterator[Shape]:
        (left, top), (width, height) = self.corner, self.size
        yield Area(points=_rectangle(self.corner, self.size), fill=PLATE, rim=PLATE)
        for time_s in time_ticks(self.times_s):
            x = left + width * time_s / (self.times_s[-1] or 1.0)
            yield Line(points=((x, top), (x, top + height)), color=RULE)
        step = round_step((high - low) / _VALUE_LINES)
        for value in multiples(step, low, high):
            y = top + height * (high - value) / (high - low)
            yield Line(points=((left, y), (left + width, y)), color=RULE)
            said = round_text(value, step)
            yield Text(at=(left - 8, y + 4), text=said, size=SMALL_PX, color=MUTED, anchor="end")

    def _painted(self, curve: Curve, color: str, low: float, high: float) -> Iterator[Shape]:
        for part in _pieces(~np.isnan(curve.half_band + curve.values)):
            upper = self._placed(part, curve.values + curve.half_band, low, high)
            lower = self._placed(part, curve.values - curve.half_band, low, high)
            ring = as_points(np.concatenate([upper, lower[::-1]]))
            yield Area(points=ring, fill=color, rim=color, width=0.0, opacity=_BAND_OPACITY)
        for part in _pieces(~np.isnan(curve.values)):
            yield Line(points=as_points(self._placed(part, curve.values, low, high)), color=color, width=1.8)

    def _placed(self, part: slice, values: NDArray[float64], low: float, high: float) -> NDArray[float64]:
        (left, top), (width, height) = self.corner, self.size
        right = left + width * self.times_s[part] / (self.times_s[-1] or 1.0)
        return np.stack([right, top + height * (high - values[part]) / (high - low)], axis=1)


def time_ticks(times_s: NDArray[float64]) -> list[float]:
    """Round times, not too many."""
    last = float(times_s[-1])
    return multiples(round_step(last / _TIME_LINES), 0.0, last) if last > 0.0 else [0.0]


def _rectangle(corner: Point, size: Point) -> tuple[Point, ...]:
    (left, top), (width, height) = corner, size
    return (left, top), (left + width, top), (left + width, top + height), (left, top + height)


def _pieces(known: NDArray[bool_]) -> list[slice]:
    """Where one known value follows another."""
    turns = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    return [slice(int(begin), int(end)) for begin, end in turns.reshape(-1, 2)]
