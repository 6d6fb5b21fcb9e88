"""Places of labels on the screen of one browser, so that they can be read: none lies over another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

_LETTER_PX, _LINE_PX = 7.0, 19.0  # size of the labels' font
_PADDING_PX = 10.0
_MOST_LINES = 4  # a label is moved up by at most so many lines
_NEAREST_M = 1e-3
_NO_CAMERA_PX = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection:
    """Camera of one browser.

    Attributes:
        position: (3,) [m].
        axes: (3, 3): rows to the right, up, and forwards.
        focal_px: Distance of the image plane in pixels.
    """

    position: NDArray[float64]
    axes: NDArray[float64]
    focal_px: float

    @staticmethod
    def of(camera: Any) -> Projection | None:
        """Return the projection of a camera of viser; None while its browser has not said how large its picture is."""
        if camera.image_height <= _NO_CAMERA_PX:
            return None
        position = np.asarray(camera.position, dtype=float)
        forwards = np.asarray(camera.look_at, dtype=float) - position
        right = np.cross(forwards, np.asarray(camera.up_direction, dtype=float))
        if not np.linalg.norm(right) > 0.0:
            return None
        forwards, right = forwards / np.linalg.norm(forwards), right / np.linalg.norm(right)
        axes = np.stack([right, np.cross(right, forwards), forwards])
        focal_px = camera.image_height / 2.0 / np.tan(camera.fov / 2.0)
        return Projection(position=position, axes=axes, focal_px=float(focal_px))

    def pixels(self, points: NDArray[float64]) -> NDArray[float64]:
        """Return (N, 2): to the right and up from the centre of the picture; NaN behind the camera."""
        seen = (points - self.position) @ self.axes.T
        depth = np.where(seen[:, 2:] > _NEAREST_M, seen[:, 2:], np.nan)
        return np.asarray(self.focal_px * seen[:, :2] / depth)

    def lifted(self, point: NDArray[float64], up_px: float) -> NDArray[float64]:
        """Return the point that is drawn so many pixels above a point."""
        depth = float((point - self.position) @ self.axes[2])
        return np.asarray(point + self.axes[1] * (up_px * depth / self.focal_px))


def arrange(
    texts: Mapping[str, str], places: Mapping[str, NDArray[float64]], projection: Projection | None
) -> dict[str, NDArray[float64]]:
    """Return places (3,) of labels that do not overlap: earlier keys first, later ones above them, or left out.

    Args:
        texts: Text by key.
        places: Place (3,) by key; keys without one, or with NaN, are left out.
        projection: Camera; None leaves all where they are.
    """
    keys = [key for key in texts if key in places and not np.isnan(places[key][0])]
    if projection is None or not keys:
        return {key: places[key] for key in keys}
    corners = projection.pixels(np.array([places[key] for key in keys]))
    taken, arranged = np.empty((0, 4)), {}
    for key, corner in zip(keys, corners, strict=True):
        width = len(texts[key]) * _LETTER_PX + _PADDING_PX
        line = _free_line(corner, width, taken)
        if line is not None:
            up_px = line * _LINE_PX
            taken = np.vstack([taken, [corner[0], corner[1] + up_px, width, _LINE_PX]])
            arranged[key] = places[key] if line == 0 else projection.lifted(places[key], up_px)
    return arranged


def _free_line(corner: NDArray[float64], width: float, taken: NDArray[float64]) -> int | None:
    """Return by how many lines a label is moved up; None if there is no room, or it is behind the camera."""
    if np.isnan(corner[0]):
        return None
    is_beside = (taken[:, 0] >= corner[0] + width) | (taken[:, 0] + taken[:, 2] <= corner[0])
    below = taken[~is_beside, 1]
    for line in range(_MOST_LINES + 1):
        if not (np.abs(below - corner[1] - line * _LINE_PX) < _LINE_PX - 1e-6).any():
            return line
    return None
