"""Picture of positions and their uncertainty, seen from above."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidArgument
from armillary.view._annotations import Entry, Label, arrow, dot, legend, place_labels, swatch
from armillary.view._axes import LEGEND_PX, PLAN_CORNER_PX, Axes, axes_around, grid, plan_size
from armillary.view._drawing import Drawing, Line, Shape, as_points, heading
from armillary.view._files import svg_text, write_drawing
from armillary.view.theme import EDGE, MUTED, TRACK_COLORS, Theme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations import Pose
    from armillary.transforms import Transform

_CORNERS = 96
_INNER = 0.45  # opacity of one deviation, where more are drawn


def draw_ellipses(
    poses: Mapping[str, Pose],
    path: str | PathLike[str],
    *,
    marks: Mapping[str, Transform] | None = None,
    deviations: float = 2.0,
    title: str = "",
    theme: Theme = "light",
) -> Path:
    """Draw positions with their error ellipses, in the x-y plane of the frame they are seen from.

    The suffix of `path` selects the format: .svg needs nothing, .png needs matplotlib.

    Args:
        poses: Poses by name, all seen from one frame and each with a covariance.
        path: The file to write.
        marks: Further frames, shown as arrows along their x axes: cameras, robots.
        deviations: Size of the ellipse in standard deviations; a second, paler ellipse shows one.
        title: Title of the picture.
        theme: "light" or "dark".

    Raises:
        InvalidArgument: There is no pose, one has no covariance, or they are seen from several frames.
        MissingExtra: A PNG, and no matplotlib.
    """
    return write_drawing(_ellipses_drawing(poses, marks or {}, deviations, title), path, theme)


def ellipses_svg(
    poses: Mapping[str, Pose],
    *,
    marks: Mapping[str, Transform] | None = None,
    deviations: float = 2.0,
    title: str = "",
    theme: Theme = "light",
) -> str:
    """Return the picture of `draw_ellipses` as SVG text."""
    return svg_text(_ellipses_drawing(poses, marks or {}, deviations, title), theme)


def ellipse(pose: Pose, deviations: float) -> NDArray[float64]:
    """Return the error ellipse of a position in the x-y plane as a closed line, shape (N, 2) [m].

    Its radii are `deviations` times the square roots of the eigenvalues of the position's own covariance.
    """
    R = pose.rotation.matrix
    covariance = (R @ pose.covariance[:3, :3] @ R.T)[:2, :2]  # type: ignore[index]  # known: checked before
    values, axes = np.linalg.eigh(covariance)
    radii = deviations * np.sqrt(np.maximum(values, 0.0))
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray(pose.xyz[:2] + (circle * radii) @ axes.T)


def _ellipses_drawing(
    poses: Mapping[str, Pose], marks: Mapping[str, Transform], deviations: float, title: str
) -> Drawing:
    in_frame = _checked(poses)
    title = title or f"{', '.join(poses)} seen from {in_frame}"
    colors = {name: TRACK_COLORS[i % len(TRACK_COLORS)] for i, name in enumerate(poses)}
    outlines = {name: ellipse(pose, deviations) for name, pose in poses.items()}
    places = [transform.translation[None, :2] for transform in marks.values()]
    axes = axes_around(np.concatenate([*outlines.values(), *places]), PLAN_CORNER_PX)
    entries = [Entry(partial(swatch, colors[name], 0), name) for name in poses]
    explained, legend_end = legend(entries, LEGEND_PX)
    size = plan_size(axes, legend_end)
    subtitle = f"seen from {in_frame}; ellipses of 1 and {deviations:g} standard deviations"
    shapes = [
        *heading(title, subtitle),
        *explained,
        *grid(axes),
        *_marks(axes, marks),
        *(shape for name, pose in poses.items() for shape in _outlines(axes, pose, deviations, colors[name])),
    ]
    return Drawing(title=title, size=size, shapes=shapes)


def _checked(poses: Mapping[str, Pose]) -> str:
    frames = {pose.in_frame for pose in poses.values()}
    if len(frames) != 1:
        raise InvalidArgument(f"Draw at least one pose, all seen from one frame, got poses seen from {sorted(frames)}.")
    unknown = [name for name, pose in poses.items() if pose.covariance is None]
    if unknown:
        raise InvalidArgument(f"The uncertainty of {', '.join(unknown)} is not known: it has no ellipse. Leave it out.")
    return frames.pop()


def _outlines(axes: Axes, pose: Pose, deviations: float, color: str) -> Iterator[Shape]:
    for size, opacity in ((deviations, 1.0), (1.0, _INNER)):
        yield Line(points=as_points(axes.place(ellipse(pose, size))), color=color, width=2.2, opacity=opacity)
    (center,) = as_points(axes.place(pose.xyz[None, :2]))
    yield dot(color, 0, center)


def _marks(axes: Axes, marks: Mapping[str, Transform]) -> Iterator[Shape]:
    labels = []
    for name, transform in marks.items():
        (at,) = as_points(axes.place(transform.translation[None, :2]))
        right, up = transform.rotation.matrix[:2, 0]
        length = math.hypot(right, up) or 1.0
        yield arrow(EDGE, (float(right) / length, -float(up) / length), at)
        labels.append(Label(name, at, MUTED))
    if labels:
        yield from place_labels(labels, np.array([label.beside for label in labels]))
