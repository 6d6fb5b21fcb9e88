"""The history of a pose as a picture: position, angles, speed and turning over time, with how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armillary.view._axes import round_step, round_text
from armillary.view._course import ANGLES, POSITION, SPEED, TURNING, Course, course_of
from armillary.view._drawing import Drawing, Shape, Text
from armillary.view._files import write_drawing
from armillary.view._page import MARGIN_PX, heading
from armillary.view._panels import Curve, Panel, time_ticks
from armillary.view._style import MUTED, SMALL_PX, TITLE_PX, text_width
from armillary.view._svg import svg_text
from armillary.view.theme import Theme, in_theme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from armillary.view._subject import Subject

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


def plot_history(
    world: Subject,
    path: str | PathLike[str],
    *,
    of: str,
    in_frame: str,
    start: int | None = None,
    end: int | None = None,
    deviations: float = 2.0,
    theme: Theme = "light",
) -> Path:
    """Plot how a pose changed: position, angles, speed and turning over time.

    Where a covariance is known a band shows it; where nothing is known the curves have a gap. The ending of `path`
    decides: .svg needs nothing, .png needs matplotlib.

    Args:
        world: Who is asked.
        path: The file to write.
        of: The frame whose pose is wanted.
        in_frame: The frame it is seen from.
        start: The first instant [ns]; the oldest that can be answered, if left out.
        end: The last instant [ns]; `LATEST`, if left out.
        deviations: So many standard deviations to both sides are in the bands.
        theme: "light" or "dark" paper.

    Raises:
        InvalidArgument: The pose is fixed, `start` is after `end`, or another ending.
        MissingExtra: A PNG, and no matplotlib.
        ArmillaryError: Whatever `world.pose` refuses at `LATEST`.
    """
    return write_drawing(_history_drawing(world, of, in_frame, (start, end), deviations), path, theme)


def history_svg(
    world: Subject,
    *,
    of: str,
    in_frame: str,
    start: int | None = None,
    end: int | None = None,
    deviations: float = 2.0,
    theme: Theme = "light",
) -> str:
    """The picture of `plot_history` as SVG text."""
    return svg_text(in_theme(_history_drawing(world, of, in_frame, (start, end), deviations), theme))


def _history_drawing(
    world: Subject, of: str, in_frame: str, span: tuple[int | None, int | None], deviations: float
) -> Drawing:
    course = course_of(world, of, in_frame, *span)
    panels = list(_panels(course, deviations))
    title = f"{of} seen from {in_frame}"
    shapes = [*_header(title, course, deviations), *(shape for panel in panels for shape in panel.shapes())]
    bottom = panels[-1].corner[1] + panels[-1].size[1]
    width = max(_LEFT + _WIDTH, MARGIN_PX + text_width(title, TITLE_PX)) + MARGIN_PX
    return Drawing(title=title, size=(width, bottom + _FOOTER), shapes=[*shapes, *_times(panels[-1], bottom)])


def _panels(course: Course, deviations: float) -> Iterator[Panel]:
    times_s, top = (course.stamps - course.stamps[0]) / _NS_PER_S, _TOP
    for title, names, columns, height in _PANELS:
        values, bands = course.values[:, columns].T, deviations * course.deviations[:, columns].T
        curves = [
            Curve(name=name, values=value, half_band=band)
            for name, value, band in zip(names, values, bands, strict=True)
        ]
        yield Panel(title=title, corner=(_LEFT, top), size=(_WIDTH, height), times_s=times_s, curves=curves)
        top += height + _BELOW


def _header(title: str, course: Course, deviations: float) -> Iterator[Shape]:
    first, last = (stamp / _NS_PER_S for stamp in (int(course.stamps[0]), int(course.stamps[-1])))
    sure = np.isfinite(course.deviations).any()
    bands = f"bands of {deviations:g} standard deviations" if sure else "no covariance is known"
    yield from heading(title, f"{last - first:.6g} s, counted from {first:.3f} s; {bands}")


def _times(panel: Panel, bottom: float) -> Iterator[Shape]:
    last = float(panel.times_s[-1])
    ticks = time_ticks(panel.times_s)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else round_step(1.0)
    for time_s in ticks:
        x = _LEFT + _WIDTH * time_s / (last or 1.0)
        said = round_text(time_s, step)
        yield Text(at=(x, bottom + 17), text=said, size=SMALL_PX, color=MUTED, anchor="middle")
    middle = (_LEFT + _WIDTH / 2, bottom + 35)
    yield Text(at=middle, text="time [s]", size=SMALL_PX, color=MUTED, anchor="middle")
