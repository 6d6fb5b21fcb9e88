"""A plane in metres with a grid, at one scale for both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.view._drawing import MARGIN_PX, Line, Point, Points, Shape, Text
from armillary.view.theme import MUTED, RULE, SMALL_PX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LEGEND_PX = (MARGIN_PX, 80.0)
PLAN_CORNER_PX = (68.0, 116.0)

_BELOW_PLAN_PX = 52.0
_NARROWEST_PX = 420.0
_WIDEST = 660.0
_HIGHEST = 600.0
_GRID_LINES = 8
_SMALLEST_M = 1e-3
_SMALLEST_PART = 1e-9  # of the coordinates themselves: less is rounding
_MARGIN = 0.09  # margin around the data, as a part of its extent


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Window onto a plane; x to the right, y upwards.

    Attributes:
        corner: Upper left corner in the picture [px].
        low: Smallest x and y [m].
        high: Largest x and y [m].
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
        """Convert points of the plane, shape (N, 2) [m], to pixels."""
        right = self.corner[0] + (points[:, 0] - self.low[0]) * self.scale
        down = self.corner[1] + (self.high[1] - points[:, 1]) * self.scale
        return np.stack([right, down], axis=1)


def axes_around(points: NDArray[np.float64], corner: tuple[float, float]) -> Axes:
    """Return axes that show all points, shape (N, 2) [m], with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.maximum(high - low, max(_SMALLEST_M, _SMALLEST_PART * float(np.abs(points).max())))
    margin = np.full(2, _MARGIN * extent.max())
    middle, half = (low + high) / 2, extent / 2 + margin
    (left, bottom), (right, top) = (middle - half).tolist(), (middle + half).tolist()
    scale = min(_WIDEST / (right - left), _HIGHEST / (top - bottom))
    return Axes(corner=corner, low=(left, bottom), high=(right, top), scale=scale)


def plan_size(axes: Axes, legend_end: float) -> Point:
    """Return the size of a picture [px] with axes at `PLAN_CORNER_PX` and a legend that ends at `legend_end`."""
    left, top = PLAN_CORNER_PX
    return max(_NARROWEST_PX, legend_end, left + axes.size[0]) + MARGIN_PX, top + axes.size[1] + _BELOW_PLAN_PX


def grid(axes: Axes) -> Iterator[Shape]:
    """Yield grid lines at round numbers, with the numbers beside them."""
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
    yield Line(points=_outline(axes), color=RULE, width=1.5)
    yield Text(at=(left + width / 2, top + height + 36), text="x [m]", size=SMALL_PX, color=MUTED, anchor="middle")
    yield Text(at=(left - 8, top - 9), text="y [m]", size=SMALL_PX, color=MUTED, anchor="end")


def round_step(least: float) -> float:
    """Return the smallest number of the form 1, 2 or 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))


def multiples(step: float, low: float, high: float) -> list[float]:
    """Return all multiples of `step` from `low` to `high`."""
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def round_text(value: float, step: float) -> str:
    """Format a multiple of `step` with as many digits as distinguish it from the next one."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # Adding zero turns a rounded -0.0 into 0.0.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _outline(axes: Axes) -> Points:
    (left, top), (width, height) = axes.corner, axes.size
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
