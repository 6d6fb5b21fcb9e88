"""Shapes as pixels: each pixel shows what is nearest to the viewer (a depth buffer), in parallel projection.

Triangles are sorted by the size of their bounding boxes and rasterised many at a time; large ones, one at a time.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy import float64, int64, uint8
    from numpy.typing import NDArray

_LARGEST_TOGETHER_PX = 32  # side of a bounding box; larger triangles are rasterised one at a time
_MOST_FRAGMENTS = 4_000_000  # at a time
_EDGE = 1e-9  # a pixel on an edge belongs to both triangles
_POINT_PX = 2  # a point is a square with sides of 2 n + 1 pixels


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """Triangles and points in pixels, with their colours.

    Attributes:
        triangles: (T, 3, 3): x to the right, y down, and depth, which is greater nearer to the viewer.
        colors: (T, 3) from 0 to 255.
        points: (P, 3), as the corners of triangles.
        point_colors: (P, 3) from 0 to 255.
        opacity: From 0 to 1.
    """

    triangles: NDArray[float64]
    colors: NDArray[uint8]
    points: NDArray[float64]
    point_colors: NDArray[uint8]
    opacity: float


def rasterise(surfaces: Iterable[Surface], width: int, height: int) -> NDArray[uint8]:
    """Return an image (height, width, 4) of the surfaces with red, green, blue and opacity, from 0 to 255.

    Opaque surfaces are drawn first. Translucent ones follow, the farthest first, each over what is behind it.
    """
    given = list(surfaces)
    layer = _Layer(width, height)
    for surface in given:
        if surface.opacity >= 1.0:
            layer.draw(surface)
    image = np.zeros((height * width, 4))
    image[layer.is_drawn] = np.column_stack([layer.colors[layer.is_drawn], np.full(layer.is_drawn.sum(), 255.0)])
    for surface in sorted((one for one in given if one.opacity < 1.0), key=_mean_depth):
        over = _Layer(width, height)
        over.draw(surface)
        _blend(image, over, over.is_drawn & (over.depth > layer.depth), surface.opacity)
    return np.round(image).astype(np.uint8).reshape(height, width, 4)


def _mean_depth(surface: Surface) -> float:
    depths = [part[..., 2].ravel() for part in (surface.triangles, surface.points)]
    return float(np.concatenate(depths).mean()) if any(map(len, depths)) else 0.0


def _blend(image: NDArray[float64], over: _Layer, where: NDArray[np.bool_], opacity: float) -> None:
    """Draw a layer over an image."""
    behind, before = image[where], over.colors[where]
    alpha = behind[:, 3:] / 255.0
    total = opacity + alpha * (1.0 - opacity)
    image[where, :3] = (before * opacity + behind[:, :3] * alpha * (1.0 - opacity)) / np.maximum(total, _EDGE)
    image[where, 3] = 255.0 * total[:, 0]


class _Layer:
    """Colour and depth of each pixel, row by row."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self.depth = np.full(width * height, -np.inf)
        self.colors = np.zeros((width * height, 3), dtype=np.uint8)

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """Whether there is something at each pixel."""
        return self.depth > -np.inf

    def draw(self, surface: Surface) -> None:
        """Draw a surface where it is nearer than what was drawn before."""
        for group in self._groups(surface.triangles):
            self._draw_triangles(surface.triangles[group], surface.colors[group])
        if len(surface.points):
            self._draw_points(surface.points, surface.point_colors)

    def _groups(self, triangles: NDArray[float64]) -> Iterator[NDArray[int64]]:
        """Yield indices of triangles whose bounding boxes are of similar size, as many as fit in memory at a time."""
        low, high = triangles[..., :2].min(axis=1), triangles[..., :2].max(axis=1)
        is_inside = (high >= 0.0).all(axis=1) & (low < (self._width, self._height)).all(axis=1)
        side = np.maximum(np.ceil((high - low).max(axis=1, initial=0.0)) + 1, 1)
        steps = np.ceil(np.log2(np.where(is_inside, side, 1.0))).astype(int)
        for step in np.unique(steps[is_inside]):
            found = np.flatnonzero(is_inside & (steps == step))
            together = max(1, _MOST_FRAGMENTS // 4**step) if 2**step <= _LARGEST_TOGETHER_PX else 1
            yield from np.array_split(found, -(-len(found) // together))

    def _draw_triangles(self, triangles: NDArray[float64], colors: NDArray[uint8]) -> None:
        a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
        low = np.maximum(np.floor(triangles[..., :2].min(axis=1)), 0.0).astype(np.int64)
        last = (self._width - 1, self._height - 1)
        high = np.minimum(np.floor(triangles[..., :2].max(axis=1)), last).astype(np.int64)
        wide, tall = (high - low).max(axis=0) + 1
        across, down = (line.ravel() for line in np.meshgrid(np.arange(wide), np.arange(tall)))
        x, y = low[:, :1] + across, low[:, 1:] + down  # (T, pixels of the largest bounding box)
        area = _cross(b - a, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = ((x + 0.5 - a[:, :1]) * (c - a)[:, 1:2] - (y + 0.5 - a[:, 1:2]) * (c - a)[:, :1]) / area[:, None]
            v = ((y + 0.5 - a[:, 1:2]) * (b - a)[:, :1] - (x + 0.5 - a[:, :1]) * (b - a)[:, 1:2]) / area[:, None]
            hit = (u >= -_EDGE) & (v >= -_EDGE) & (u + v <= 1.0 + _EDGE) & (x <= high[:, :1]) & (y <= high[:, 1:])
        row, pixel = np.nonzero(hit)
        depth = a[row, 2] + u[row, pixel] * (b - a)[row, 2] + v[row, pixel] * (c - a)[row, 2]
        self._put(y[row, pixel] * self._width + x[row, pixel], depth, colors[row])

    def _draw_points(self, points: NDArray[float64], colors: NDArray[uint8]) -> None:
        square = np.arange(-_POINT_PX, _POINT_PX + 1)
        across, down = (line.ravel() for line in np.meshgrid(square, square))
        x, y = (np.floor(points[:, i, None]).astype(np.int64) + line for i, line in enumerate((across, down)))
        row, pixel = np.nonzero((x >= 0) & (x < self._width) & (y >= 0) & (y < self._height))
        self._put(y[row, pixel] * self._width + x[row, pixel], points[row, 2], colors[row])

    def _put(self, pixels: NDArray[int64], depth: NDArray[float64], colors: NDArray[uint8]) -> None:
        nearer = depth > self.depth[pixels]
        pixels, depth, colors = pixels[nearer], depth[nearer], colors[nearer]
        # Of several assignments to one pixel the last one stays, which is the nearest.
        order = np.argsort(depth, kind="stable")
        self.depth[pixels[order]] = depth[order]
        self.colors[pixels[order]] = colors[order]


def _cross(first: NDArray[float64], second: NDArray[float64]) -> NDArray[float64]:
    product: NDArray[float64] = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    return product


def png_bytes(image: NDArray[uint8]) -> bytes:
    """Return an image (height, width, 4) as a PNG file, without third-party code."""
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
