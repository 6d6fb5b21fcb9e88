"""World in space as a picture: shapes, frames and uncertainty in parallel projection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError, InvalidArgument
from armillary.errors.format import format_stamp
from armillary.stamps import LATEST, Latest, as_when
from armillary.store.nodes import is_of_a_node
from armillary.view._annotations import Label, place_labels
from armillary.view._drawing import MARGIN_PX, Drawing, Image, Line, Polygon, Shape, as_points, heading
from armillary.view._faces import points_of, triangles_of
from armillary.view._files import svg_text, write_drawing
from armillary.view._raster import Surface, png_bytes, rasterise
from armillary.view._roots import default_frame
from armillary.view.theme import INK, SMALL_PX, TITLE_PX, TRACK_COLORS, Color, Theme, color_of, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from pathlib import Path

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.scene import Shape as SceneShape
    from armillary.scene import VisitedNode
    from armillary.transforms import Snapshot, Transform
    from armillary.view._world_protocol import DrawableWorld

_MOST_POINTS = 4000
_MOST_FRAMES = 60
_CERTAIN = 1e-18
FROM = (1.0, -1.4, 0.9)
_HEADER = 76.0
_WIDEST, _HIGHEST = 860.0, 620.0
_AXIS_PART = 0.035  # of the extent of the picture
_DOTS_PER_PX = 2.0  # of shapes
_LEAST_M = 1e-3
_DEVIATIONS = 2.0
_AXIS_COLORS = ("#d62728", "#2ca02c", "#1f5fd0")  # red, green, blue for x, y, z, as in the viewer
_LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])
_DARKEST = 0.68
_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedShape:
    """Shape with its pose, colour (from 0 to 1) and opacity."""

    shape: SceneShape
    transform: Transform
    color: Color
    opacity: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SceneContents:
    """Frames and shapes to draw, in the coordinates of one frame.

    Attributes:
        frames: Poses by name.
        shapes: Shapes of the scene.
        covariances: By name, the covariance of the position, (3, 3) [m2], if known and not zero.
    """

    frames: Mapping[str, Transform]
    shapes: Iterable[PlacedShape]
    covariances: Mapping[str, NDArray[float64]]


def scene_contents(
    world: DrawableWorld, in_frame: str, at: int | Latest, frames: Iterable[str] | None
) -> SceneContents:
    """Collect the frames and shapes whose pose is known.

    `frames` defaults to all frames with a name, or to those that a source reports if there are more than 60.
    """
    snapshot = world.snapshot(in_frame=in_frame, at=at)
    collected = _ContentsCollector(snapshot)
    (world.scene if isinstance(at, Latest) else world.scene.as_of(at)).traverse(collected)
    named = [name for name in snapshot if name not in collected.unnamed]
    wanted = _usual(world, named, in_frame) if frames is None else list(frames)
    for name in wanted:
        if name not in snapshot:
            raise snapshot.missing[name]
    covariances = {name: _covariance(world, name, in_frame, at) for name in wanted}
    known = {name: covariance for name, covariance in covariances.items() if covariance is not None}
    poses = {name: snapshot[name] for name in wanted}
    return SceneContents(frames=poses, shapes=collected.shapes, covariances=known)


def _usual(world: DrawableWorld, named: list[str], in_frame: str) -> list[str]:
    reported = {info.of for info in world.relations() if info.kind in {"sampled", "integrated"}} | {in_frame}
    return named if len(named) <= _MOST_FRAMES else [name for name in named if name in reported]


@dataclass
class _ContentsCollector:
    """Visitor that collects the shapes of a scene, and the frames of nodes without a name."""

    snapshot: Snapshot
    shapes: list[PlacedShape] = field(default_factory=list)
    unnamed: set[str] = field(default_factory=set)

    def enter(self, node: VisitedNode) -> None:
        """Collect one node."""
        if is_of_a_node(node.frame):
            self.unnamed.add(node.frame)
        if node.kind == "geometry" and node.frame in self.snapshot:
            color, opacity = color_of(node.attributes.get("color"))
            shape, transform = node.levels.with_at_most(_MOST_POINTS), self.snapshot[node.frame]
            self.shapes.append(PlacedShape(shape=shape, transform=transform, color=color, opacity=opacity))


def _covariance(world: DrawableWorld, name: str, in_frame: str, at: int | Latest) -> NDArray[float64] | None:
    try:
        pose = world.pose(of=name, in_frame=in_frame, at=at)
    except ArmillaryError:
        return None
    if pose.covariance is None or pose.covariance[:3, :3].max() < _CERTAIN:
        return None
    R = pose.rotation.matrix
    return np.asarray(R @ pose.covariance[:3, :3] @ R.T)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Camera:
    """Camera with parallel projection.

    Attributes:
        axes: (3, 3): rows to the right, up, and towards the viewer.
        scale: Pixels per metre.
        shift: (2,) [px].
    """

    axes: NDArray[float64]
    scale: float
    shift: NDArray[float64]

    def place(self, points: NDArray[float64]) -> NDArray[float64]:
        """Project points (N, 3) [m] to pixels (N, 2)."""
        return np.asarray(self.shift + self.scale * (points @ self.axes[:2].T) * (1.0, -1.0))


def draw_world(
    world: DrawableWorld,
    path: str | PathLike[str],
    *,
    in_frame: str | None = None,
    at: int | Latest = LATEST,
    from_: ArrayLike = FROM,
    frames: Iterable[str] | None = None,
    theme: Theme = "light",
) -> Path:
    """Draw the shapes of the scene, frames, and ellipses of uncertain positions.

    The projection is parallel. The suffix of `path` selects the format: .svg needs nothing, .png needs matplotlib.

    Args:
        world: The world.
        path: The file to write.
        in_frame: Frame whose z axis points upwards in the picture; by default the root with most descendants.
        at: The instant shown [ns].
        from_: Direction from `in_frame` to the viewer.
        frames: Frames whose axes and names are shown; by default all that have a name, or those that a source reports
            if there are more than 60.
        theme: "light" or "dark".

    Raises:
        InvalidArgument: `from_` is zero, or the suffix is another.
        MissingExtra: A PNG, and no matplotlib.
        ArmillaryError: As `world.snapshot`, or the reason why one of `frames` has no pose.
    """
    return write_drawing(_scene_drawing(world, in_frame, at, from_, frames), path, theme)


def world_svg(
    world: DrawableWorld,
    *,
    in_frame: str | None = None,
    at: int | Latest = LATEST,
    from_: ArrayLike = FROM,
    frames: Iterable[str] | None = None,
    theme: Theme = "light",
) -> str:
    """Return the picture of `draw_world` as SVG text."""
    return svg_text(_scene_drawing(world, in_frame, at, from_, frames), theme)


def _scene_drawing(
    world: DrawableWorld, in_frame: str | None, at: int | Latest, from_: ArrayLike, frames: Iterable[str] | None
) -> Drawing:
    seen_from = (default_frame(world) or world.root_frame) if in_frame is None else in_frame
    axes = _axes(from_)
    at = as_when(at)
    contents = scene_contents(world, seen_from, at, frames)
    title = f"'{world.name}' seen from {seen_from}" if world.name else f"seen from {seen_from}"
    when = "now" if isinstance(at, Latest) else f"at {format_stamp(at)}"
    subtitle = f"{when}; ellipses of {_DEVIATIONS:g} standard deviations" if contents.covariances else when
    extent_m, enclosing = _extent(contents)
    least = MARGIN_PX * 2 + max(text_width(title, TITLE_PX), text_width(subtitle, SMALL_PX))
    camera, size = _camera(axes, enclosing, least)
    shapes = [
        *heading(title, subtitle),
        *_shapes(camera, contents.shapes, size),
        *_ellipses(camera, contents),
        *_frames(camera, contents, extent_m * _AXIS_PART, size[0]),
    ]
    return Drawing(title=title, size=size, shapes=shapes)


def _axes(from_: ArrayLike) -> NDArray[float64]:
    eye = np.array(from_, dtype=float)
    if eye.shape != (3,) or not np.isfinite(eye).all() or not eye.any():
        raise InvalidArgument(f"from_ must be a direction (x, y, z) that is not zero, got {from_!r}.", from_)
    eye /= np.linalg.norm(eye)
    right = np.cross((0.0, 0.0, 1.0), eye)
    # Straight from above x is to the right, as on a map.
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > _LEAST_M else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def _extent(contents: SceneContents) -> tuple[float, NDArray[float64]]:
    """Return the extent of the contents [m], and points that enclose it, (N, 3) [m]."""
    corners = [_corners(shape) for shape in contents.shapes]
    origins = [transform.translation[None] for transform in contents.frames.values()]
    points = np.concatenate([np.zeros((1, 3)) if not origins and not corners else np.zeros((0, 3)), *corners, *origins])
    extent_m = max(float(np.ptp(points, axis=0).max()), _LEAST_M)
    return extent_m, np.concatenate([points, *(origin + extent_m * _AXIS_PART * np.eye(3) for origin in origins)])


def _corners(shape: PlacedShape) -> NDArray[float64]:
    box = shape.shape.bounding_box()
    if box is None:
        return np.zeros((0, 3))
    grid = np.stack(np.meshgrid(*zip(box.low, box.high, strict=True)), axis=-1).reshape(-1, 3)
    return np.asarray(shape.transform @ grid)


def _camera(axes: NDArray[float64], points: NDArray[float64], least: float) -> tuple[_Camera, tuple[float, float]]:
    """Return a camera that shows all points, and the size of the picture, which is at least so wide [px]."""
    flat = points @ axes[:2].T
    low, high = flat.min(axis=0), flat.max(axis=0)
    width_m, height_m = np.maximum(high - low, _LEAST_M).tolist()
    scale = min(_WIDEST / width_m, _HIGHEST / height_m)
    shift = np.array([MARGIN_PX - scale * low[0], _HEADER + scale * high[1]])
    size = (max(scale * width_m + 2 * MARGIN_PX, least), scale * height_m + _HEADER + MARGIN_PX)
    return _Camera(axes=axes, scale=scale, shift=shift), size


def _shapes(camera: _Camera, shapes: Iterable[PlacedShape], size: tuple[float, float]) -> Iterator[Shape]:
    """Yield the image of the shapes, as large as the picture."""
    surfaces = [_surface(camera, shape) for shape in shapes]
    if not surfaces:
        return
    width, height = (round(side * _DOTS_PER_PX) for side in size)
    yield Image(corner=(0.0, 0.0), size=size, png=png_bytes(rasterise(surfaces, width, height)))


def _surface(camera: _Camera, shape: PlacedShape) -> Surface:
    triangles, points = triangles_of(shape.shape), points_of(shape.shape)
    corners = np.asarray(shape.transform @ triangles.reshape(-1, 3)).reshape(-1, 3, 3)
    return Surface(
        triangles=_dots(camera, corners.reshape(-1, 3)).reshape(-1, 3, 3),
        colors=_shades(camera, corners, shape.color),
        points=_dots(camera, np.asarray(shape.transform @ points)),
        point_colors=np.tile(_rgb(np.ones((1, 3)) * shape.color), (len(points), 1)),
        opacity=shape.opacity,
    )


def _dots(camera: _Camera, points: NDArray[float64]) -> NDArray[float64]:
    """Return (N, 3): the place of each point in the image, and how near it is."""
    return np.column_stack([_DOTS_PER_PX * camera.place(points), points @ camera.axes[2]])


def _shades(camera: _Camera, corners: NDArray[float64], color: Color) -> NDArray[np.uint8]:
    """Return a colour for each triangle, (N, 3): that of the side that is seen, whichever that is."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    towards = np.where(normals @ camera.axes[2] < 0.0, -1.0, 1.0)
    light = _DARKEST + (1.0 - _DARKEST) * np.maximum(0.0, towards * (normals @ _LIGHT))
    return _rgb(light[:, None] * color)


def _rgb(parts: NDArray[float64]) -> NDArray[np.uint8]:
    return np.asarray(np.round(255.0 * parts), dtype=np.uint8)


def _ellipses(camera: _Camera, contents: SceneContents) -> Iterator[Shape]:
    for name, covariance in contents.covariances.items():
        values, ways = np.linalg.eigh(camera.axes[:2] @ covariance @ camera.axes[:2].T)
        circle = np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)], axis=1)
        around = (circle * _DEVIATIONS * np.sqrt(np.maximum(values, 0.0))) @ ways.T
        (center,) = camera.place(contents.frames[name].translation[None])
        points = as_points(center + camera.scale * around * (1.0, -1.0))
        yield Polygon(points=points, fill=TRACK_COLORS[3], outline=TRACK_COLORS[3], opacity=0.3)
        yield Line(points=(*points, points[0]), color=TRACK_COLORS[3], width=1.4)


def _frames(camera: _Camera, contents: SceneContents, length_m: float, width: float) -> Iterator[Shape]:
    labels = []
    for name, transform in contents.frames.items():
        origin, *ends = as_points(camera.place(transform @ (length_m * np.vstack([np.zeros(3), np.eye(3)]))))
        for end, color in zip(ends, _AXIS_COLORS, strict=True):
            yield Line(points=(origin, end), color=color, width=2.0)
        labels.append(Label(name, origin, INK))
    if labels:
        obstacles = np.array([label.beside for label in labels])
        yield from place_labels(labels, obstacles, width=width, halo=True)
