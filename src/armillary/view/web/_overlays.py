"""What is drawn over frames and things: names, ways, arrows, ellipsoids, and hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.view._style import TRACK_COLORS
from armillary.view.web._labels import Labels
from armillary.view.web._solids import Triangles, axes_cross, unit_ball

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view.web._ellipsoids import Ellipsoid
    from armillary.view.web._motion import Motion
    from armillary.view.web._rivals import Rival

__all__ = ["Overlays", "rgb"]

_LINEAR, _ANGULAR, _SURE = TRACK_COLORS[2], TRACK_COLORS[3], TRACK_COLORS[0]
_METRES_PER_SPEED = 0.5  # an arrow is as long as the way of half a second
_METRES_PER_TURN = 0.15
_SHORTEST_M = 0.01
_OPACITY = 0.28
_LINE = 0.5  # of the length of axes: from one name to the one above it


def rgb(color: str) -> tuple[int, int, int]:
    """Of `#rrggbb`, from 0 to 255."""
    r, g, b = bytes.fromhex(color.removeprefix("#"))
    return r, g, b


class Overlays:
    """What is drawn over one picture, on one server; each call replaces what was there.

    Args:
        server: Of viser.

    Attributes:
        axes_length_m: Of the frames below; lines and arrows are as thick as suits them.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene, self.axes_length_m = server.scene, 0.1
        self._drawn: dict[str, tuple[int, Any]] = {}
        self.names = Labels(server, "/names")
        self._rival_names = Labels(server, "/rival_names")

    def clear(self) -> None:
        """Draw nothing."""
        self.draw_trails({})
        self.draw_motions([])
        self.draw_ellipsoids([])
        self.draw_rivals([], {})
        self.names.show({})

    def draw_trails(self, ways: Mapping[str, NDArray[float64]]) -> None:
        """Each way in a colour of its own; it begins pale."""
        segments = [np.stack([way[:-1], way[1:]], axis=1) for way in ways.values()]
        colors = [_fading(rgb(TRACK_COLORS[i % len(TRACK_COLORS)]), len(part)) for i, part in enumerate(segments)]
        self._lines("/trails", segments, colors)

    def draw_motions(self, motions: Iterable[Motion]) -> None:
        """One arrow for the velocity, one for the turning."""
        arrows = [
            (color, motion.origin, motion.origin + metres * speed)
            for motion in motions
            for color, metres, speed in (
                (_LINEAR, _METRES_PER_SPEED, motion.linear),
                (_ANGULAR, _METRES_PER_TURN, motion.angular),
            )
            if np.linalg.norm(metres * speed) > _SHORTEST_M
        ]
        points = np.array([(start, end) for _, start, end in arrows]).reshape(-1, 2, 3)
        colors = np.array([rgb(color) for color, *_ in arrows], dtype=np.uint8).reshape(-1, 3)
        self._arrows("/motions", points, colors)

    def draw_ellipsoids(self, ellipsoids: Sequence[Ellipsoid]) -> None:
        """Pale, so that what is in them is seen."""
        rows = np.array([(*one.centre, *one.wxyz) for one in ellipsoids]).reshape(-1, 7)
        sizes = np.array([one.radii for one in ellipsoids]).reshape(-1, 3)
        colors = np.tile(np.array(rgb(_SURE), dtype=np.uint8), (len(rows), 1))
        self._solids("/ellipsoids", unit_ball(), rows, sizes, colors, opacity=_OPACITY)

    def draw_rivals(self, rivals: Sequence[Rival], labels: Mapping[str, str]) -> None:
        """Axes in the colour of who says so, with a name; the names of one frame stand above each other."""
        said_by = {source: i for i, source in enumerate(dict.fromkeys(rival.said_by for rival in rivals))}
        rows = np.array([rival.row for rival in rivals]).reshape(-1, 7)
        palette = [rgb(TRACK_COLORS[(i + 1) % len(TRACK_COLORS)]) for i in range(len(said_by))]
        colors = np.array([palette[said_by[rival.said_by]] for rival in rivals], dtype=np.uint8).reshape(-1, 3)
        sizes = np.full((len(rows), 3), 1.2 * self.axes_length_m)
        self._solids("/rivals", axes_cross(), rows, sizes, colors, opacity=None)
        keys = [f"{rival.of} {rival.said_by}" for rival in rivals]
        texts = [f"{labels.get(rival.of, rival.of)} ({rival.said_by})" for rival in rivals]
        upwards = np.array([0.0, 0.0, self.axes_length_m * _LINE])
        places = [rival.row[:3] + said_by[rival.said_by] * upwards for rival in rivals]
        self._rival_names.show(dict(zip(keys, texts, strict=True)))
        self._rival_names.move(dict(zip(keys, places, strict=True)))

    def _lines(self, name: str, segments: list[NDArray[float64]], colors: list[NDArray[np.uint8]]) -> None:
        count = sum(map(len, segments))
        if not self._is_new(name, count):
            if count:
                self._drawn[name][1].points = np.concatenate(segments).astype(np.float32)
            return
        handle = self._scene.add_line_segments(
            name, np.concatenate(segments), np.concatenate(colors), thickness=0.35 * self.axes_length_m * 0.12
        )
        self._drawn[name] = (count, handle)

    def _arrows(self, name: str, points: NDArray[float64], colors: NDArray[np.uint8]) -> None:
        if not self._is_new(name, len(points)):
            if len(points):
                handle = self._drawn[name][1]
                handle.points, handle.colors = points.astype(np.float32), colors
            return
        radius = 0.15 * self.axes_length_m
        handle = self._scene.add_arrows(
            name, points, colors, shaft_radius=radius, head_radius=2.5 * radius, head_length=5.0 * radius
        )
        self._drawn[name] = (len(points), handle)

    def _solids(
        self,
        name: str,
        form: Triangles,
        rows: NDArray[float64],
        sizes: NDArray[float64],
        colors: NDArray[np.uint8],
        *,
        opacity: float | None,
    ) -> None:
        if not self._is_new(name, len(rows)):
            if len(rows):
                handle = self._drawn[name][1]
                handle.batched_positions, handle.batched_wxyzs = rows[:, :3], rows[:, 3:]
                handle.batched_scales, handle.batched_colors = sizes, colors
            return
        handle = self._scene.add_batched_meshes_simple(
            name,
            form.vertices,
            form.faces,
            rows[:, 3:],
            rows[:, :3],
            batched_scales=sizes,
            batched_colors=colors,
            opacity=opacity,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )
        self._drawn[name] = (len(rows), handle)

    def _is_new(self, name: str, count: int) -> bool:
        """Whether so many have to be drawn anew; what is drawn in another number is taken away."""
        if name in self._drawn and self._drawn[name][0] != count:
            self._drawn.pop(name)[1].remove()
        return count > 0 and name not in self._drawn


def _fading(color: tuple[int, int, int], count: int) -> NDArray[np.uint8]:
    """(count, 2, 3): from a pale shade to the colour."""
    part = np.linspace(0.4, 1.0, count + 1)[:, None]
    shades = np.round(255.0 + part * (np.array(color) - 255.0)).astype(np.uint8)
    return np.stack([shades[:-1], shades[1:]], axis=1)
