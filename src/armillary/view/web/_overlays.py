"""Overlays as objects of viser: labels, trails, velocities, ellipsoids and rival hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.view.theme import TRACK_COLORS
from armillary.view.web._appearance import Triangles, axes_cross, unit_sphere
from armillary.view.web._label_places import Projection, arrange

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view.web._overlay_data import Ellipsoid, Motion, Rival


_MOST_MOVES = 16
_STILL_M = 2e-3
_LINEAR, _ANGULAR, _SURE = TRACK_COLORS[2], TRACK_COLORS[3], TRACK_COLORS[0]
_METRES_PER_SPEED = 0.5  # an arrow shows the motion of half a second
_METRES_PER_TURN = 0.15
_SHORTEST_M = 0.01
_OPACITY = 0.4


class Labels:
    """Text labels at positions. Each is one object of viser, so that only those are sent that have moved.

    Args:
        scene: Scene of one client of viser.
        folder: Path of the labels in the scene of viser.
        most_moves: Most labels moved at a time; those farthest from their position come first.
    """

    def __init__(self, scene: viser.SceneApi, folder: str, *, most_moves: int = _MOST_MOVES) -> None:
        self._scene, self._folder, self._most = scene, folder, most_moves
        self._handles: dict[str, Any] = {}
        self._places: dict[str, NDArray[float64]] = {}
        self._count = 0

    def show(self, texts: Mapping[str, str]) -> None:
        """Show exactly these texts, by key."""
        for key in [key for key, handle in self._handles.items() if texts.get(key) != handle.text]:
            self._handles.pop(key).remove()
            self._places.pop(key, None)
        for key, text in texts.items():
            if key not in self._handles:
                self._handles[key] = self._drawn(text)

    def move(self, places: Mapping[str, NDArray[float64]]) -> None:
        """Set positions (3,) by key; labels without a position, or with NaN, are hidden."""
        for key, handle in self._handles.items():
            is_shown = key in places and not np.isnan(places[key][0])
            if handle.visible != is_shown:
                handle.visible = is_shown
        for key in self._moved(places):
            self._handles[key].position = places[key]
            self._places[key] = places[key]

    def _moved(self, places: Mapping[str, NDArray[float64]]) -> list[str]:
        """Return the keys of labels to move, farthest first; new labels come first of all."""
        far = {
            key: float(np.linalg.norm(places[key] - self._places[key])) if key in self._places else np.inf
            for key in self._handles
            if key in places and not np.isnan(places[key][0])
        }
        moved = sorted((key for key, way_m in far.items() if way_m > _STILL_M), key=lambda key: -far[key])
        new = [key for key in moved if far[key] == np.inf]
        return new + moved[len(new) : len(new) + self._most]

    def _drawn(self, text: str) -> Any:
        self._count += 1
        return self._scene.add_label(
            f"{self._folder}/{self._count}", text, font_screen_scale=0.7, anchor="bottom-left", visible=False
        )


def rgb(color: str) -> tuple[int, int, int]:
    """Convert `#rrggbb` to integers from 0 to 255."""
    r, g, b = bytes.fromhex(color.removeprefix("#"))
    return r, g, b


class Overlays:
    """Draws overlays for one client; each call replaces the previous content.

    Args:
        scene: Scene of one client of viser.

    Attributes:
        axes_length_m: Length of displayed axes, which sets the thickness of lines and arrows.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene, self.axes_length_m = scene, 0.1
        self._drawn: dict[str, tuple[int, Any]] = {}
        self._labels = Labels(scene, "/names")

    def clear(self) -> None:
        """Remove all overlays."""
        self.draw_trails({})
        self.draw_motions([])
        self.draw_ellipsoids([], [])
        self.draw_rivals([])
        self._labels.show({})

    def draw_labels(
        self,
        frames: Mapping[str, str],
        places: Mapping[str, NDArray[float64]],
        rivals: Sequence[Rival],
        labels: Mapping[str, str],
        projection: Projection | None,
    ) -> None:
        """Draw the names of rivals and of frames, so that none lies over another.

        Args:
            frames: Texts of frames, the most important first.
            places: Places (3,) of frames.
            rivals: Hypotheses, each of which gets a label.
            labels: Labels of frames, also of the contested ones.
            projection: Camera.
        """
        texts = {_rival_key(rival): f"{labels.get(rival.of, rival.of)} ({rival.source_label})" for rival in rivals}
        texts |= frames
        placed = {_rival_key(rival): rival.row[:3] for rival in rivals} | dict(places)
        self._labels.show(texts)
        self._labels.move(arrange(texts, placed, projection))

    def draw_trails(self, paths: Mapping[str, NDArray[float64]]) -> None:
        """Draw each trail in its own colour, fading towards its beginning."""
        segments = [np.stack([path[:-1], path[1:]], axis=1) for path in paths.values()]
        colors = [_fading(rgb(TRACK_COLORS[i % len(TRACK_COLORS)]), len(part)) for i, part in enumerate(segments)]
        self._lines("/trails", segments, colors)

    def draw_motions(self, motions: Iterable[Motion]) -> None:
        """Draw one arrow for each linear and each angular velocity."""
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

    def draw_ellipsoids(self, ellipsoids: Sequence[Ellipsoid], rivals: Sequence[Rival]) -> None:
        """Draw transparent ellipsoids; those of rivals in the colours of their sources."""
        rival_colors = source_colors(rivals)
        contested = [(rival.ellipsoid, rival_colors[rival.source_label]) for rival in rivals if rival.ellipsoid]
        colored = [(one, rgb(_SURE)) for one in ellipsoids] + contested
        rows = np.array([(*one.centre, *one.wxyz) for one, _ in colored]).reshape(-1, 7)
        sizes = np.array([one.radii for one, _ in colored]).reshape(-1, 3)
        colors = np.array([color for _, color in colored], dtype=np.uint8).reshape(-1, 3)
        self._solids("/ellipsoids", unit_sphere(), rows, sizes, colors, opacity=_OPACITY)

    def draw_rivals(self, rivals: Sequence[Rival]) -> None:
        """Draw axes in the colour of each source."""
        rows = np.array([rival.row for rival in rivals]).reshape(-1, 7)
        palette = source_colors(rivals)
        colors = np.array([palette[rival.source_label] for rival in rivals], dtype=np.uint8).reshape(-1, 3)
        sizes = np.full((len(rows), 3), 0.7 * self.axes_length_m)
        self._solids("/rivals", axes_cross(), rows, sizes, colors, opacity=None)

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
        solid: Triangles,
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
            solid.vertices,
            solid.faces,
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
        """Whether an object must be created; one with another count is removed first."""
        if name in self._drawn and self._drawn[name][0] != count:
            self._drawn.pop(name)[1].remove()
        return count > 0 and name not in self._drawn


def source_colors(rivals: Sequence[Rival]) -> dict[str, tuple[int, int, int]]:
    """Return one colour for each source of rivals, by its label; the same source has the same colour everywhere."""
    sources = sorted({rival.source_label for rival in rivals})
    return {source: rgb(TRACK_COLORS[1 + i % (len(TRACK_COLORS) - 1)]) for i, source in enumerate(sources)}


def _rival_key(rival: Rival) -> str:
    return f"{rival.of} {rival.source_label}"


def _fading(color: tuple[int, int, int], count: int) -> NDArray[np.uint8]:
    """Return colours (count, 2, 3) from a pale shade to the full colour."""
    part = np.linspace(0.4, 1.0, count + 1)[:, None]
    shades = np.round(255.0 + part * (np.array(color) - 255.0)).astype(np.uint8)
    return np.stack([shades[:-1], shades[1:]], axis=1)
