"""Shapes of a scene as batches of unit solids and point clouds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.scene import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere, VoxelGrid
from armillary.view.web._frames import NamedFrames, compose

if TYPE_CHECKING:
    from numpy import float64, int64, uint8
    from numpy.typing import NDArray

    from armillary.scene import NodeId, VisitedNode
    from armillary.scene.reading import SceneReader
    from armillary.view._world_protocol import ViewableWorld


_SIDES = 32
_RINGS = 16
MOST_POINTS = 200_000
"""Of one shape, where it has coarser levels."""
_PLAIN_COLOR = (0.60, 0.67, 0.74)
_TOUCHED_OPACITY = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """A surface.

    Attributes:
        vertices: (V, 3) [m].
        faces: (F, 3) rows of `vertices`, counter-clockwise seen from outside.
    """

    vertices: NDArray[float64]
    faces: NDArray[int64]


@cache
def unit_box() -> Triangles:
    """Edges of length 1 around the origin. Each face has corners of its own, so that its edges are sharp."""
    corners: list[NDArray[float64]] = []
    faces: list[tuple[int, int, int]] = []
    for axis, sign in product(range(3), (-1.0, 1.0)):
        first = len(corners)
        around = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
        corners += [np.roll((sign / 2, u, v), axis) for u, v in (around if sign > 0 else around[::-1])]
        faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Triangles(np.array(corners), np.array(faces))


@cache
def unit_sphere() -> Triangles:
    """Of radius 1 around the origin."""
    polar = np.linspace(0.0, np.pi, _RINGS + 1)
    heights, radii = np.cos(polar), np.sin(polar)
    rings = [_ring(radius, height) for radius, height in zip(radii, heights, strict=True)]
    return Triangles(np.concatenate(rings), np.concatenate([_band(i) for i in range(_RINGS)]))


@cache
def unit_cylinder() -> Triangles:
    """Of radius 1 and length 1 around the origin, along z, with sharp rims."""
    low, high = _ring(1.0, -0.5), _ring(1.0, 0.5)
    ends = np.array([(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)])
    i = np.arange(_SIDES)
    after = (i + 1) % _SIDES
    top, bottom = 2 * _SIDES + i, 3 * _SIDES + i
    upper, lower = np.full(_SIDES, 4 * _SIDES), np.full(_SIDES, 4 * _SIDES + 1)
    lids = [
        np.stack([upper, top, 2 * _SIDES + after], axis=1),
        np.stack([lower, 3 * _SIDES + after, bottom], axis=1),
    ]
    return Triangles(np.concatenate([high, low, high, low, ends]), np.concatenate([_band(0), *lids]))


@cache
def axes_cross() -> Triangles:
    """Three arms of length 1 along x, y and z, to be drawn in one colour."""
    box = unit_box()
    along = np.eye(3)
    arms = [box.vertices * np.where(axis == 1.0, 1.0, 0.09) + axis / 2.0 for axis in along]
    faces = [box.faces + i * len(box.vertices) for i in range(3)]
    return Triangles(np.concatenate(arms), np.concatenate(faces))


def _ring(radius: float, height: float) -> NDArray[float64]:
    angles = np.linspace(0.0, 2 * np.pi, _SIDES, endpoint=False)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(_SIDES, height)], axis=1)


def _band(ring: int) -> NDArray[int64]:
    """Between a ring and the one below it."""
    i = np.arange(_SIDES)
    upper, lower, after = ring * _SIDES, (ring + 1) * _SIDES, (i + 1) % _SIDES
    halves = ((upper + i, lower + i, lower + after), (upper + i, lower + after, upper + after))
    return np.concatenate([np.stack(half, axis=1) for half in halves])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """One stretched unit solid.

    Attributes:
        solid: "box", "ball", "pillar", or the digest of a mesh.
        frame: The frame it moves with.
        frame_T_piece: (7,).
        stretch: (3,) along its own axes.
        color: (3,) from 0 to 1.
        opacity: From 0 to 1.
    """

    solid: str
    frame: str
    frame_T_piece: NDArray[float64]
    stretch: tuple[float, float, float]
    color: tuple[float, float, float]
    opacity: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Pieces of one form. They are drawn at once, and told apart by their row.

    Attributes:
        triangles: The form.
        frames: (N) the frame of each.
        frame_T_piece: (N, 7).
        stretches: (N, 3).
        colors: (N, 3) from 0 to 255.
        opacities: (N,).
    """

    triangles: Triangles
    frames: tuple[str, ...]
    frame_T_piece: NDArray[float64]
    stretches: NDArray[float64]
    colors: NDArray[uint8]
    opacities: NDArray[float64]

    @staticmethod
    def of(triangles: Triangles, pieces: list[Piece]) -> Batch:
        """In the order of the pieces."""
        return Batch(
            triangles=triangles,
            frames=tuple(piece.frame for piece in pieces),
            frame_T_piece=np.stack([piece.frame_T_piece for piece in pieces]),
            stretches=np.array([piece.stretch for piece in pieces]),
            colors=np.round(255.0 * np.clip([piece.color for piece in pieces], 0.0, 1.0)).astype(np.uint8),
            opacities=np.array([piece.opacity for piece in pieces]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cloud:
    """Points that move with one frame.

    Attributes:
        key: Another one whenever the points are others.
        frame: The frame they move with.
        frame_T_cloud: (7,).
        points: (N, 3).
        colors: (N, 3) from 0 to 1, or one (3,).
    """

    key: str
    frame: str
    frame_T_cloud: NDArray[float64]
    points: NDArray[np.floating[Any]]
    colors: NDArray[float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Appearance:
    """What everything in a scene looks like.

    Attributes:
        signature: Equal where what is drawn is equal.
        batches: By the name of their form.
        clouds: One by one.
    """

    signature: tuple[object, ...]
    batches: Mapping[str, Batch]
    clouds: tuple[Cloud, ...]

    @property
    def frames(self) -> frozenset[str]:
        """The frames that something moves with."""
        solid = {frame for batch in self.batches.values() for frame in batch.frames}
        return frozenset(solid | {cloud.frame for cloud in self.clouds})


def appearance_of(world: ViewableWorld, versions: Sequence[SceneReader], names: NamedFrames) -> Appearance:
    """What a scene looks like; a node that is in several versions as in the first of them."""
    shown = _AppearanceCollector(world, names)
    for scene in versions:
        scene.traverse(shown)
    forms: dict[str, list[Piece]] = {}
    for piece in shown.pieces:
        forms.setdefault(piece.solid, []).append(piece)
    batches = {solid: Batch.of(shown.triangles[solid], pieces) for solid, pieces in forms.items()}
    return Appearance(signature=tuple(shown.signature), batches=batches, clouds=tuple(shown.clouds))


@dataclass
class _AppearanceCollector:
    """Collects what the nodes of a scene look like."""

    world: ViewableWorld
    names: NamedFrames
    pieces: list[Piece] = field(default_factory=list)
    clouds: list[Cloud] = field(default_factory=list)
    triangles: dict[str, Triangles] = field(
        default_factory=lambda: {"box": unit_box(), "ball": unit_sphere(), "pillar": unit_cylinder()}
    )
    signature: list[object] = field(default_factory=list)
    seen: set[NodeId] = field(default_factory=set)

    def enter(self, node: VisitedNode) -> None:
        """Called for every node."""
        if node.kind != "geometry" or node.id in self.seen:
            return
        self.seen.add(node.id)
        shape, said = node.levels.with_at_most(MOST_POINTS), node.attributes
        color, opacity = _color_of(said)
        frame, frame_T_shape = self.names.carrier(self.world, node.frame)
        row = np.array(frame_T_shape.xyz_wxyz)
        self.signature += [node.id, shape, frame, frame_T_shape, color, opacity]
        if isinstance(shape, PointCloud | VoxelGrid):
            self._add_cloud(str(node.id), shape, frame, row, color)
        else:
            self._add_solid(shape, frame, row, color, opacity)

    def _add_solid(
        self, shape: Shape, frame: str, row: NDArray[float64], color: tuple[float, float, float], opacity: float
    ) -> None:
        for solid, offset, stretch in _forms(shape):
            if isinstance(shape, Mesh):
                self.triangles.setdefault(solid, _triangles(shape))
            at = compose(row[None], np.array([[0.0, 0.0, offset, 1.0, 0.0, 0.0, 0.0]]))[0]
            self.pieces.append(
                Piece(solid=solid, frame=frame, frame_T_piece=at, stretch=stretch, color=color, opacity=opacity)
            )

    def _add_cloud(
        self,
        key: str,
        shape: PointCloud | VoxelGrid,
        frame: str,
        row: NDArray[float64],
        color: tuple[float, float, float],
    ) -> None:
        points = shape.points if isinstance(shape, PointCloud) else _centres(shape)
        if len(points):
            colors = _point_colors(shape, color)
            self.clouds.append(Cloud(key=key, frame=frame, frame_T_cloud=row, points=points, colors=colors))


def _forms(shape: Shape) -> Iterator[tuple[str, float, tuple[float, float, float]]]:
    """Which solids a shape is made of: form, how far along z, stretched how."""
    match shape:
        case Box(size_m=size_m):
            yield "box", 0.0, size_m
        case Sphere(radius_m=r):
            yield "ball", 0.0, (r, r, r)
        case Cylinder(radius_m=r, length_m=length_m):
            yield "pillar", 0.0, (r, r, length_m)
        case Capsule(radius_m=r, length_m=length_m):
            yield "pillar", 0.0, (r, r, length_m)
            yield "ball", length_m / 2.0, (r, r, r)
            yield "ball", -length_m / 2.0, (r, r, r)
        case Mesh() if len(shape.triangles):
            yield f"mesh_{hash(shape) & 0xFFFFFFFFFFFFFFFF:016x}", 0.0, (1.0, 1.0, 1.0)


def _triangles(mesh: Mesh) -> Triangles:
    return Triangles(np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.triangles, dtype=np.int64))


def _centres(grid: VoxelGrid) -> NDArray[float64]:
    cells = np.argwhere(grid.occupied)
    return np.asarray(np.asarray(grid.origin) + (cells + 0.5) * grid.voxel_size_m)


def _color_of(said: Mapping[str, Any]) -> tuple[tuple[float, float, float], float]:
    """What the attribute `color` says, as (r, g, b) or (r, g, b, a) from 0 to 1."""
    numbers = _numbers(said.get("color"))
    opacity = numbers[3] if len(numbers) > 3 else 1.0  # noqa: PLR2004
    if said.get("role") == "collision":
        opacity *= _TOUCHED_OPACITY
    r, g, b = numbers[:3] if len(numbers) in {3, 4} else _PLAIN_COLOR
    return (r, g, b), opacity


def _numbers(value: object) -> list[float]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return []
    return [float(number) for number in value if isinstance(number, int | float)]


def _point_colors(shape: PointCloud | VoxelGrid, color: tuple[float, float, float]) -> NDArray[float64]:
    """The field `color` or `rgb`, (N, 3); else `intensity` as grey; else one colour."""
    fields: Mapping[str, Any] = shape.fields if isinstance(shape, PointCloud) else {}
    for name in ("color", "colour", "rgb"):
        if name in fields and fields[name].ndim == 2 and fields[name].shape[1] >= 3:  # noqa: PLR2004
            given = fields[name][:, :3]
            return np.asarray(given / 255.0 if given.dtype.kind in "iu" else given, dtype=float)
    return np.array(color)
