"""Pose history as a picture: position, angles and speeds over time, with their standard deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors.format import format_stamp
from armillary.view._axes import multiples, round_step, round_text
from armillary.view._drawing import MARGIN_PX, Drawing, Line, Point, Polygon, Shape, Text, as_points, heading
from armillary.view._files import svg_text, write_drawing
from armillary.view._trajectory import ANGLES, POSITION, SPEED, TURNING, Trajectory, sample_trajectory
from armillary.view.theme import INK, MUTED, PANEL, RULE, SMALL_PX, TITLE_PX, TRACK_COLORS, Theme, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from numpy import bool_, float64
    from numpy.typing import NDArray

    from armillary.view._world_protocol import DrawableWorld

_TIME_LINES, _VALUE_LINES = 10, 4
_MARGIN = 0.1  # above and below the curves, as a part of their extent
_LEAST_EXTENT = 1e-6  # smaller extents are rounding errors, and drawn flat
_BAND_OPACITY = 0.2
_GAP_PX = 14.0
_LEFT = 76.0
_TOP, _BELOW = 92.0, 34.0
_WIDTH, _TALL, _LOW = 660.0, 132.0, 84.0
_FOOTER = 44.0
_NS_PER_S = 1e9
_PANELS = (
    ("position [m]", ("x", "y", "z"), POSITION, _TALL),
    ("angles [rad]", ("roll", "pitch", "yaw"), ANGLES, _TALL),
    ("speed [m/s]", ("speed",), SPEED, _LOW),
    ("turning [rad/s]", ("turning",), TURNING, _LOW),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Quantity over time; NaN where it is unknown.

    Attributes:
        name: Name in the legend.
        values: (N,).
        half_band: (N,): half the width of its band; NaN where it has none.
    """

    name: str
    values: NDArray[float64]
    half_band: NDArray[float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Curves of one unit over time, with axes.

    Attributes:
        title: Title, with the unit.
        corner: Upper left corner [px].
        size: Width and height [px].
        times_s: (N,): times of all curves, from zero on.
        curves: Curves, each drawn in its own colour.
    """

    title: str
    corner: Point
    size: Point
    times_s: NDArray[float64]
    curves: Sequence[Curve]

    def shapes(self) -> Iterator[Shape]:
        """Yield all shapes of the panel, in the order of painting."""
        (left, top), (width, height) = self.corner, self.size
        low, high = self._extent()
        yield from self._grid_shapes(low, high)
        yield Text(at=(left, top - 9), text=self.title, size=SMALL_PX, color=INK, bold=True)
        x = left + width
        for curve, color in reversed(list(zip(self.curves, TRACK_COLORS, strict=False))):
            yield from self._curve_shapes(curve, color, low, high)
            if len(self.curves) > 1:
                yield Text(at=(x, top - 9), text=curve.name, size=SMALL_PX, color=color, anchor="end", bold=True)
                x -= text_width(curve.name, SMALL_PX) + _GAP_PX
        if np.isnan([curve.values for curve in self.curves]).all():
            middle = (left + width / 2, top + height / 2 + 4)
            yield Text(at=middle, text="not known", size=SMALL_PX, color=MUTED, anchor="middle")

    def _extent(self) -> tuple[float, float]:
        """Return the smallest and the largest value shown."""
        reach = [np.nan_to_num(curve.half_band, nan=0.0) for curve in self.curves]
        edges = [curve.values + side * band for curve, band in zip(self.curves, reach, strict=True) for side in (-1, 1)]
        known = np.concatenate(edges)
        known = known[np.isfinite(known)] if np.isfinite(known).any() else np.zeros(1)
        low, high = float(known.min()), float(known.max())
        extent = max(high - low, _LEAST_EXTENT * max(1.0, abs(low), abs(high)))
        middle = (low + high) / 2
        return middle - (0.5 + _MARGIN) * extent, middle + (0.5 + _MARGIN) * extent

    def _grid_shapes(self, low: float, high: float) -> Iterator[Shape]:
        (left, top), (width, height) = self.corner, self.size
        yield Polygon(points=_rectangle(self.corner, self.size), fill=PANEL, outline=PANEL)
        for time_s in time_ticks(self.times_s):
            x = left + width * time_s / (self.times_s[-1] or 1.0)
            yield Line(points=((x, top), (x, top + height)), color=RULE)
        step = round_step((high - low) / _VALUE_LINES)
        for value in multiples(step, low, high):
            y = top + height * (high - value) / (high - low)
            yield Line(points=((left, y), (left + width, y)), color=RULE)
            text = round_text(value, step)
            yield Text(at=(left - 8, y + 4), text=text, size=SMALL_PX, color=MUTED, anchor="end")

    def _curve_shapes(self, curve: Curve, color: str, low: float, high: float) -> Iterator[Shape]:
        for part in _pieces(~np.isnan(curve.half_band + curve.values)):
            upper = self._to_pixels(part, curve.values + curve.half_band, low, high)
            lower = self._to_pixels(part, curve.values - curve.half_band, low, high)
            ring = as_points(np.concatenate([upper, lower[::-1]]))
            yield Polygon(points=ring, fill=color, outline=color, width=0.0, opacity=_BAND_OPACITY)
        for part in _pieces(~np.isnan(curve.values)):
            yield Line(points=as_points(self._to_pixels(part, curve.values, low, high)), color=color, width=1.8)

    def _to_pixels(self, part: slice, values: NDArray[float64], low: float, high: float) -> NDArray[float64]:
        (left, top), (width, height) = self.corner, self.size
        right = left + width * self.times_s[part] / (self.times_s[-1] or 1.0)
        return np.stack([right, top + height * (high - values[part]) / (high - low)], axis=1)


def time_ticks(times_s: NDArray[float64]) -> list[float]:
    """Return round times for the time axis."""
    last = float(times_s[-1])
    return multiples(round_step(last / _TIME_LINES), 0.0, last) if last > 0.0 else [0.0]


def _rectangle(corner: Point, size: Point) -> tuple[Point, ...]:
    (left, top), (width, height) = corner, size
    return (left, top), (left + width, top), (left + width, top + height), (left, top + height)


def _pieces(known: NDArray[bool_]) -> list[slice]:
    """Return the slices in which all values are known."""
    turns = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    return [slice(int(begin), int(end)) for begin, end in turns.reshape(-1, 2)]


def plot_history(
    world: DrawableWorld,
    path: str | PathLike[str],
    *,
    of: str,
    in_frame: str,
    start: int | None = None,
    end: int | None = None,
    policy: Any = "unique",
    deviations: float = 2.0,
    theme: Theme = "light",
) -> Path:
    """Plot position, angles, linear and angular speed of a pose over time.

    Bands show known covariances; curves have gaps where the pose is unknown. The suffix of `path` selects the format:
    .svg needs nothing, .png needs matplotlib.

    Args:
        world: The world.
        path: The file to write.
        of: Frame whose pose is plotted.
        in_frame: Frame it is seen from.
        start: First instant [ns]; by default the oldest at which the pose is known.
        end: Last instant [ns]; by default `LATEST`.
        policy: How to choose among several sources, as in `world.pose`.
        deviations: Half width of the bands in standard deviations.
        theme: "light" or "dark".

    Raises:
        InvalidArgument: The pose is fixed, `start` is after `end`, or the suffix is another.
        MissingExtra: A PNG, and no matplotlib.
        ArmillaryError: As `world.pose` at `LATEST`.
    """
    return write_drawing(
        _history_drawing(world, of, in_frame, (start, end), policy=policy, deviations=deviations), path, theme
    )


def history_svg(
    world: DrawableWorld,
    *,
    of: str,
    in_frame: str,
    start: int | None = None,
    end: int | None = None,
    policy: Any = "unique",
    deviations: float = 2.0,
    theme: Theme = "light",
) -> str:
    """Return the picture of `plot_history` as SVG text."""
    return svg_text(_history_drawing(world, of, in_frame, (start, end), policy=policy, deviations=deviations), theme)


def _history_drawing(
    world: DrawableWorld, of: str, in_frame: str, span: tuple[int | None, int | None], *, policy: Any, deviations: float
) -> Drawing:
    trajectory = sample_trajectory(world, of, in_frame, *span, policy=policy)
    panels = list(_panels(trajectory, deviations))
    title = f"{of} seen from {in_frame}"
    shapes = [*_header(title, trajectory, deviations), *(shape for panel in panels for shape in panel.shapes())]
    bottom = panels[-1].corner[1] + panels[-1].size[1]
    width = max(_LEFT + _WIDTH, MARGIN_PX + text_width(title, TITLE_PX)) + MARGIN_PX
    return Drawing(title=title, size=(width, bottom + _FOOTER), shapes=[*shapes, *_times(panels[-1], bottom)])


def _panels(trajectory: Trajectory, deviations: float) -> Iterator[Panel]:
    times_s, top = (trajectory.stamps - trajectory.stamps[0]) / _NS_PER_S, _TOP
    for title, names, columns, height in _PANELS:
        values, bands = trajectory.values[:, columns].T, deviations * trajectory.deviations[:, columns].T
        curves = [
            Curve(name=name, values=value, half_band=band)
            for name, value, band in zip(names, values, bands, strict=True)
        ]
        yield Panel(title=title, corner=(_LEFT, top), size=(_WIDTH, height), times_s=times_s, curves=curves)
        top += height + _BELOW


def _header(title: str, trajectory: Trajectory, deviations: float) -> Iterator[Shape]:
    first, last = (int(stamp) for stamp in trajectory.stamps[[0, -1]])
    sure = np.isfinite(trajectory.deviations).any()
    bands = f"bands of {deviations:g} standard deviations" if sure else "no covariance is known"
    yield from heading(title, f"{(last - first) / _NS_PER_S:.6g} s, counted from {format_stamp(first)}; {bands}")


def _times(panel: Panel, bottom: float) -> Iterator[Shape]:
    last = float(panel.times_s[-1])
    ticks = time_ticks(panel.times_s)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else round_step(1.0)
    for time_s in ticks:
        x = _LEFT + _WIDTH * time_s / (last or 1.0)
        text = round_text(time_s, step)
        yield Text(at=(x, bottom + 17), text=text, size=SMALL_PX, color=MUTED, anchor="middle")
    middle = (_LEFT + _WIDTH / 2, bottom + 35)
    yield Text(at=middle, text="time [s]", size=SMALL_PX, color=MUTED, anchor="middle")
