"""Shapes of a scene as batches of unit solids and point clouds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.scene import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere, VoxelGrid
from armillary.view._faces import points_of
from armillary.view.theme import Color, color_of
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
"""Most points drawn of one shape, if it has coarser levels of detail."""
_COLLISION_OPACITY = 0.35
_DARKEST_POINT = 0.15  # grey of the least intensity


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """Triangle mesh.

    Attributes:
        vertices: (V, 3) [m].
        faces: (F, 3) row indices of `vertices`, counter-clockwise seen from outside.
    """

    vertices: NDArray[float64]
    faces: NDArray[int64]


@cache
def unit_box() -> Triangles:
    """Return a cube with edges of length 1 around the origin; faces share no vertices, so that edges are sharp."""
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
    """Return a sphere of radius 1 around the origin."""
    polar = np.linspace(0.0, np.pi, _RINGS + 1)
    heights, radii = np.cos(polar), np.sin(polar)
    rings = [_ring(radius, height) for radius, height in zip(radii, heights, strict=True)]
    return Triangles(np.concatenate(rings), np.concatenate([_band(i) for i in range(_RINGS)]))


@cache
def unit_cylinder() -> Triangles:
    """Return a cylinder of radius 1 and length 1 around the origin, along z, with sharp edges."""
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
    """Return three bars of length 1 along x, y and z, to be drawn in one colour."""
    box = unit_box()
    along = np.eye(3)
    arms = [box.vertices * np.where(axis == 1.0, 1.0, 0.09) + axis / 2.0 for axis in along]
    faces = [box.faces + i * len(box.vertices) for i in range(3)]
    return Triangles(np.concatenate(arms), np.concatenate(faces))


def _ring(radius: float, height: float) -> NDArray[float64]:
    angles = np.linspace(0.0, 2 * np.pi, _SIDES, endpoint=False)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(_SIDES, height)], axis=1)


def _band(ring: int) -> NDArray[int64]:
    """Return the triangles between a ring and the next."""
    i = np.arange(_SIDES)
    upper, lower, after = ring * _SIDES, (ring + 1) * _SIDES, (i + 1) % _SIDES
    halves = ((upper + i, lower + i, lower + after), (upper + i, lower + after, upper + after))
    return np.concatenate([np.stack(half, axis=1) for half in halves])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """Scaled unit solid.

    Attributes:
        solid: "box", "sphere", "cylinder", or the digest of a mesh.
        frame: Frame it is fixed in.
        frame_T_piece: (7,).
        scale: (3,) scale along its own axes.
        color: (3,) from 0 to 1.
        opacity: From 0 to 1.
    """

    solid: str
    frame: str
    frame_T_piece: NDArray[float64]
    scale: tuple[float, float, float]
    color: Color
    opacity: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Pieces with the same solid, drawn by one object of viser.

    Attributes:
        triangles: The unit solid.
        frames: (N) frame of each piece.
        frame_T_piece: (N, 7).
        scales: (N, 3).
        colors: (N, 3) from 0 to 255.
        opacities: (N,).
    """

    triangles: Triangles
    frames: tuple[str, ...]
    frame_T_piece: NDArray[float64]
    scales: NDArray[float64]
    colors: NDArray[uint8]
    opacities: NDArray[float64]

    @staticmethod
    def of(triangles: Triangles, pieces: list[Piece]) -> Batch:
        """Combine pieces with the same solid, in their order."""
        return Batch(
            triangles=triangles,
            frames=tuple(piece.frame for piece in pieces),
            frame_T_piece=np.stack([piece.frame_T_piece for piece in pieces]),
            scales=np.array([piece.scale for piece in pieces]),
            colors=np.round(255.0 * np.clip([piece.color for piece in pieces], 0.0, 1.0)).astype(np.uint8),
            opacities=np.array([piece.opacity for piece in pieces]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cloud:
    """Point cloud that is fixed in one frame.

    Attributes:
        key: Unique name, which changes with the points.
        frame: Frame the points are fixed in.
        frame_T_cloud: (7,).
        points: (N, 3) around their centre: what is sent has seven digits, which are spent on the shape of the cloud
            rather than on its distance from the origin of the frame.
        colors: (N, 3) from 0 to 1, or one (3,).
    """

    key: str
    frame: str
    frame_T_cloud: NDArray[float64]
    points: NDArray[np.float32]
    colors: NDArray[float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Appearance:
    """Appearance of all shapes of a scene.

    Attributes:
        signature: Equal for equal appearances.
        batches: Batches by the name of their solid.
        clouds: Point clouds.
    """

    signature: tuple[object, ...]
    batches: Mapping[str, Batch]
    clouds: tuple[Cloud, ...]

    @property
    def frames(self) -> frozenset[str]:
        """All frames that a shape is fixed in."""
        solid = {frame for batch in self.batches.values() for frame in batch.frames}
        return frozenset(solid | {cloud.frame for cloud in self.clouds})


def appearance_of(world: ViewableWorld, versions: Sequence[SceneReader], names: NamedFrames) -> Appearance:
    """Collect the shapes of a scene; a node that is in several versions is taken from the first."""
    shown = _AppearanceCollector(world, names)
    for scene in versions:
        scene.traverse(shown)
    by_solid: dict[str, list[Piece]] = {}
    for piece in shown.pieces:
        by_solid.setdefault(piece.solid, []).append(piece)
    batches = {solid: Batch.of(shown.triangles[solid], pieces) for solid, pieces in by_solid.items()}
    return Appearance(signature=tuple(shown.signature), batches=batches, clouds=tuple(shown.clouds))


@dataclass
class _AppearanceCollector:
    """Visitor that collects the shapes of a scene."""

    world: ViewableWorld
    names: NamedFrames
    pieces: list[Piece] = field(default_factory=list)
    clouds: list[Cloud] = field(default_factory=list)
    triangles: dict[str, Triangles] = field(
        default_factory=lambda: {"box": unit_box(), "sphere": unit_sphere(), "cylinder": unit_cylinder()}
    )
    signature: list[object] = field(default_factory=list)
    seen: set[NodeId] = field(default_factory=set)

    def enter(self, node: VisitedNode) -> None:
        """Collect one node."""
        if node.kind != "geometry" or node.id in self.seen:
            return
        self.seen.add(node.id)
        shape, attributes = node.levels.with_at_most(MOST_POINTS), node.attributes
        color, opacity = color_of(attributes.get("color"))
        if attributes.get("role") == "collision":
            opacity *= _COLLISION_OPACITY
        frame, frame_T_shape = self.names.displayed_ancestor(self.world, node.frame)
        row = np.array(frame_T_shape.xyz_wxyz)
        self.signature += [node.id, shape, frame, frame_T_shape, color, opacity]
        if isinstance(shape, PointCloud | VoxelGrid):
            self._add_cloud(str(node.id), shape, frame, row, color)
        else:
            self._add_solid(shape, frame, row, color, opacity)

    def _add_solid(self, shape: Shape, frame: str, row: NDArray[float64], color: Color, opacity: float) -> None:
        for solid, offset, scale in _solids_of(shape):
            if isinstance(shape, Mesh):
                vertices, faces = np.asarray(shape.vertices, dtype=float), np.asarray(shape.triangles, dtype=np.int64)
                self.triangles.setdefault(solid, Triangles(vertices, faces))
            at = compose(row[None], np.array([[0.0, 0.0, offset, 1.0, 0.0, 0.0, 0.0]]))[0]
            self.pieces.append(
                Piece(solid=solid, frame=frame, frame_T_piece=at, scale=scale, color=color, opacity=opacity)
            )

    def _add_cloud(
        self,
        key: str,
        shape: PointCloud | VoxelGrid,
        frame: str,
        row: NDArray[float64],
        color: Color,
    ) -> None:
        points = shape.points if isinstance(shape, PointCloud) else points_of(shape)
        if not len(points):
            return
        exact = np.asarray(points, dtype=float)
        centre = (exact.min(axis=0) + exact.max(axis=0)) / 2.0
        at = compose(row[None], np.array([[*centre, 1.0, 0.0, 0.0, 0.0]]))[0]
        around, colors = (exact - centre).astype(np.float32), _point_colors(shape, color)
        self.clouds.append(Cloud(key=key, frame=frame, frame_T_cloud=at, points=around, colors=colors))


def _solids_of(shape: Shape) -> Iterator[tuple[str, float, tuple[float, float, float]]]:
    """Yield the solids of a shape: name, offset along z, scale."""
    match shape:
        case Box(size_m=size_m):
            yield "box", 0.0, size_m
        case Sphere(radius_m=r):
            yield "sphere", 0.0, (r, r, r)
        case Cylinder(radius_m=r, length_m=length_m):
            yield "cylinder", 0.0, (r, r, length_m)
        case Capsule(radius_m=r, length_m=length_m):
            yield "cylinder", 0.0, (r, r, length_m)
            yield "sphere", length_m / 2.0, (r, r, r)
            yield "sphere", -length_m / 2.0, (r, r, r)
        case Mesh() if len(shape.triangles):
            yield f"mesh_{hash(shape) & 0xFFFFFFFFFFFFFFFF:016x}", 0.0, (1.0, 1.0, 1.0)


def _point_colors(shape: PointCloud | VoxelGrid, color: Color) -> NDArray[float64]:
    """Return the field `color` or `rgb`, (N, 3), else `intensity` as a shade of grey, or one colour."""
    fields: Mapping[str, Any] = shape.fields if isinstance(shape, PointCloud) else {}
    for name in ("color", "colour", "rgb"):
        if name in fields and fields[name].ndim == 2 and fields[name].shape[1] >= 3:  # noqa: PLR2004
            given = fields[name][:, :3]
            return np.asarray(given / 255.0 if given.dtype.kind in "iu" else given, dtype=float)
    if "intensity" in fields and fields["intensity"].ndim == 1:
        return _grey(np.asarray(fields["intensity"], dtype=float))
    return np.array(color)


def _grey(values: NDArray[float64]) -> NDArray[float64]:
    """Return (N, 3) from dark for the least finite value to light for the greatest; what is not finite is dark."""
    is_finite = np.isfinite(values)
    low, high = (values[is_finite].min(), values[is_finite].max()) if is_finite.any() else (0.0, 0.0)
    part = np.where(is_finite, values - low, 0.0) / (high - low if high > low else 1.0)
    return np.repeat((_DARKEST_POINT + (1.0 - _DARKEST_POINT) * part)[:, None], 3, axis=1)
