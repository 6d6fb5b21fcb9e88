"""Metres on paper: a plane with a grid, at one scale for both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.view._drawing import Line, Points, Shape, Text
from armillary.view.theme import MUTED, RULE, SMALL_PX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_WIDEST = 660.0
_HIGHEST = 600.0
_GRID_LINES = 8
_SMALLEST_M = 1e-3
_SMALLEST_PART = 1e-9  # of the coordinates themselves: less is rounding
_AIR = 0.09  # free rim around the data, as a part of its extent


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """A window onto a plane; x to the right, y upwards.

    Attributes:
        corner: Its upper left corner on the paper [px].
        low: Its smallest x and y [m].
        high: Its largest x and y [m].
        scale: Pixels per metre.
    """

    corner: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]
    scale: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height [px]."""
        return (self.high[0] - self.low[0]) * self.scale, (self.high[1] - self.low[1]) * self.scale

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points of the plane, shape (N, 2) [m], on the paper [px]."""
        right = self.corner[0] + (points[:, 0] - self.low[0]) * self.scale
        down = self.corner[1] + (self.high[1] - points[:, 1]) * self.scale
        return np.stack([right, down], axis=1)


def axes_around(points: NDArray[np.float64], corner: tuple[float, float]) -> Axes:
    """A window that shows all points, shape (N, 2) [m], with some air around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.maximum(high - low, max(_SMALLEST_M, _SMALLEST_PART * float(np.abs(points).max())))
    air = np.full(2, _AIR * extent.max())
    middle, half = (low + high) / 2, extent / 2 + air
    (left, bottom), (right, top) = (middle - half).tolist(), (middle + half).tolist()
    scale = min(_WIDEST / (right - left), _HIGHEST / (top - bottom))
    return Axes(corner=corner, low=(left, bottom), high=(right, top), scale=scale)


def grid(axes: Axes) -> Iterator[Shape]:
    """Lines at round numbers, and the numbers beside them."""
    step = round_step(max(axes.size) / axes.scale / _GRID_LINES)
    (left, top), (width, height) = axes.corner, axes.size
    for x_m in multiples(step, axes.low[0], axes.high[0]):
        x = left + (x_m - axes.low[0]) * axes.scale
        yield Line(points=((x, top), (x, top + height)), color=RULE)
        yield Text(at=(x, top + height + 17), text=round_text(x_m, step), size=SMALL_PX, color=MUTED, anchor="middle")
    for y_m in multiples(step, axes.low[1], axes.high[1]):
        y = top + (axes.high[1] - y_m) * axes.scale
        yield Line(points=((left, y), (left + width, y)), color=RULE)
        yield Text(at=(left - 8, y + 4), text=round_text(y_m, step), size=SMALL_PX, color=MUTED, anchor="end")
    yield Line(points=_rim(axes), color=RULE, width=1.5)
    yield Text(at=(left + width / 2, top + height + 36), text="x [m]", size=SMALL_PX, color=MUTED, anchor="middle")
    yield Text(at=(left - 8, top - 9), text="y [m]", size=SMALL_PX, color=MUTED, anchor="end")


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... (and their tenths) that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))


def multiples(step: float, low: float, high: float) -> list[float]:
    """All multiples of `step` from `low` to `high`."""
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def round_text(value: float, step: float) -> str:
    """A multiple of `step` with as many digits as tell it from the next."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # Adding zero turns a rounded -0.0 into 0.0.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _rim(axes: Axes) -> Points:
    (left, top), (width, height) = axes.corner, axes.size
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
