"""Tracks of frames in a plane, seen from another frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidArgument, InvalidStamp
from armillary.errors.format import format_stamp
from armillary.stamps import as_stamps
from armillary.view._annotations import (
    Entry,
    Label,
    arrow,
    dot,
    legend,
    place_labels,
    ring,
    stroke_opacity,
    stroke_width,
    swatch,
)
from armillary.view._axes import LEGEND_PX, PLAN_CORNER_PX, Axes, axes_around, grid, plan_size
from armillary.view._drawing import (
    Drawing,
    Line,
    Point,
    Shape,
    as_points,
    heading,
)
from armillary.view._files import svg_text, write_drawing
from armillary.view.theme import EDGE, TRACK_COLORS, Theme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from armillary.view._world_protocol import DrawableWorld


_NS_PER_S = 1e9
_FLAT = 1e-6
_MOST_TICKS = 8
_TICK_STEPS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


def draw_tracks(
    world: DrawableWorld,
    path: str | PathLike[str],
    *,
    of: Sequence[str],
    in_frame: str,
    at: ArrayLike,
    theme: Theme = "light",
) -> Path:
    """Draw the tracks of frames in the x-y plane of `in_frame`: start, end and time markers.

    The suffix of `path` selects the format: .svg needs nothing, .png needs matplotlib.

    Args:
        world: The world.
        path: The file to write.
        of: Frames whose tracks are drawn; later ones are on top and thinner.
        in_frame: Frame they are seen from.
        at: The instants drawn, (N,) int64 [ns]; every pose must be known at each.
        theme: "light" or "dark".

    Raises:
        InvalidArgument: There is no frame or no instant, or the suffix is another.
        MissingExtra: A PNG, and no matplotlib.
        ArmillaryError: As `world.transforms`.
    """
    return write_drawing(_tracks_drawing(world, of, in_frame, at), path, theme)


def tracks_svg(world: DrawableWorld, *, of: Sequence[str], in_frame: str, at: ArrayLike, theme: Theme = "light") -> str:
    """Return the picture of `draw_tracks` as SVG text."""
    return svg_text(_tracks_drawing(world, of, in_frame, at), theme)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Track:
    """Track of one frame.

    Attributes:
        name: Frame.
        color: Colour.
        layer: 0 for the track on top.
        poses: (N, 7) xyz_wxyz at the instants drawn.
        ticks: (M, 7) xyz_wxyz at the time markers.
    """

    name: str
    color: str
    layer: int
    poses: NDArray[np.float64]
    ticks: NDArray[np.float64]


def _tracks_drawing(world: DrawableWorld, of: Sequence[str], in_frame: str, at: ArrayLike) -> Drawing:
    stamps = _sorted_stamps(at)
    times_s = _tick_times((stamps[-1] - stamps[0]) / _NS_PER_S)
    tracks = _tracks(world, _names(of), in_frame, stamps, times_s)
    axes = axes_around(np.concatenate([track.poses[:, :2] for track in tracks]), PLAN_CORNER_PX)
    title = f"{', '.join(track.name for track in tracks)} seen from {in_frame}"
    legend, legend_end = _legend(tracks, times_s)
    size = plan_size(axes, legend_end)
    shapes = [*_header(title, stamps), *legend, *grid(axes), *_lines(axes, tracks), *_marks(axes, tracks, times_s)]
    return Drawing(title=title, size=size, shapes=shapes)


def _sorted_stamps(at: ArrayLike) -> NDArray[np.int64]:
    try:
        stamps = as_stamps([at] if np.ndim(at) == 0 else at)
    except InvalidStamp as error:
        raise InvalidArgument(str(error), at) from None
    if stamps.size == 0:
        raise InvalidArgument("at must be instants in integer nanoseconds, at least one of them.", at)
    return np.sort(stamps)


def _names(of: Sequence[str]) -> tuple[str, ...]:
    names = (of,) if isinstance(of, str) else tuple(of)
    if not names:
        raise InvalidArgument("of must name at least one frame whose track is to be drawn.")
    return names


def _tick_times(span_s: float) -> NDArray[np.float64]:
    """Return round times from zero to the given duration."""
    step_s = next((step for step in _TICK_STEPS_S if span_s / step <= _MOST_TICKS), span_s / _MOST_TICKS)
    return np.arange(0.0, span_s + step_s * 1e-6, step_s)


def _tracks(
    world: DrawableWorld, names: Sequence[str], in_frame: str, stamps: NDArray[np.int64], times_s: NDArray[np.float64]
) -> list[_Track]:
    ticks = np.minimum(stamps[0] + np.rint(times_s * _NS_PER_S).astype(np.int64), stamps[-1])
    return [
        _Track(
            name=name,
            color=TRACK_COLORS[i % len(TRACK_COLORS)],
            layer=len(names) - 1 - i,
            poses=world.transforms(of=name, in_frame=in_frame, at=stamps, as_="xyz_wxyz"),
            ticks=world.transforms(of=name, in_frame=in_frame, at=ticks, as_="xyz_wxyz"),
        )
        for i, name in enumerate(names)
    ]


def _header(title: str, stamps: NDArray[np.int64]) -> Iterator[Shape]:
    span_s = (stamps[-1] - stamps[0]) / _NS_PER_S
    since = "" if stamps[0] == 0 else f", counted from {format_stamp(int(stamps[0]))}"
    yield from heading(title, f"{span_s:g} s of motion{since}")


def _legend(tracks: Sequence[_Track], times_s: NDArray[np.float64]) -> tuple[list[Shape], float]:
    entries = [Entry(partial(swatch, track.color, track.layer), track.name) for track in tracks]
    entries += [Entry(partial(ring, EDGE), "start"), Entry(partial(arrow, EDGE, (1.0, 0.0)), "end")]
    if len(times_s) > 1:
        entries.append(Entry(partial(dot, EDGE, 1), f"every {times_s[1]:g} s"))
    return legend(entries, LEGEND_PX)


def _lines(axes: Axes, tracks: Sequence[_Track]) -> Iterator[Shape]:
    for track in tracks:
        points, layer = as_points(axes.place(track.poses[:, :2])), track.layer
        yield Line(points=points, color=track.color, width=stroke_width(layer), opacity=stroke_opacity(layer))


def _marks(axes: Axes, tracks: Sequence[_Track], times_s: NDArray[np.float64]) -> Iterator[Shape]:
    spots = [axes.place(track.ticks[:, :2]) for track in tracks]
    for track, places in zip(tracks, spots, strict=True):
        yield from (dot(track.color, track.layer, center) for center in as_points(places[1:]))
    for track in tracks:
        start, end = as_points(axes.place(track.poses[[0, -1], :2]))
        yield ring(track.color, start)
        yield arrow(track.color, _heading(track.poses[-1]), end)
    obstacles = np.concatenate([axes.place(track.poses[:, :2]) for track in tracks])
    texts = [f"{time_s:g} s" for time_s in times_s[1:]]
    wanted = [
        Label(text, center, track.color)
        for track, places in zip(tracks, spots, strict=True)
        for text, center in zip(texts, as_points(places[1:]), strict=True)
    ]
    yield from place_labels(wanted, obstacles)


def _heading(xyz_wxyz: NDArray[np.float64]) -> Point:
    """Return the direction of the frame's x axis in the picture; to the right if it is perpendicular to the plane."""
    w, x, y, z = xyz_wxyz[3:]
    right, up = 1 - 2 * (y * y + z * z), 2 * (x * y + w * z)
    length = float(np.hypot(right, up))
    return (float(right) / length, -float(up) / length) if length > _FLAT else (1.0, 0.0)
