"""Shapes as the geometries of coal: solids as convex pieces, for signed distances, and surfaces as triangles.

The triangles of coal are a surface: a ball inside a closed mesh is apart from them. Only convex pieces tell how deep an
overlap is. So a mesh is split into its shells, and a shell that is closed and convex becomes one convex piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armillary.errors import InvalidArgument, InvalidShape, MissingExtra
from armillary.shapes import Box, Capsule, Cylinder, Mesh, Sphere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from armillary.shapes import Shape

    Floats = NDArray[np.float64]

__all__ = ["MESHES", "Meshes", "Piece", "coal_module", "is_installed", "pieces_of"]

Meshes = Literal["exact", "hull", "surface"]
MESHES: tuple[Meshes, ...] = ("exact", "hull", "surface")
_FLAT = 1e-6
_ROWS = 2_000_000
_KEPT = 512
_LEAST_CORNERS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One geometry of coal, in the frame of its shape.

    Attributes:
        geometry: That of coal.
        center: The middle of its bounding box, (3,).
        half_size: Of its bounding box, (3,).
        solid: The closed mesh that a surface encloses; None for what is convex, or encloses nothing.
        is_convex: Whether distances are signed.
    """

    geometry: Any
    center: Floats
    half_size: Floats
    solid: Mesh | None
    is_convex: bool


def is_installed() -> bool:
    """Whether coal is there."""
    try:
        coal_module()
    except MissingExtra:
        return False
    return True


def coal_module() -> Any:
    """Return coal.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import coal  # noqa: PLC0415  (optional, and imported when it is used)
    except ModuleNotFoundError as missing:
        raise MissingExtra("collision", "coal") from missing
    return coal


@lru_cache(maxsize=_KEPT)
def pieces_of(shape: Shape, meshes: Meshes = "exact") -> tuple[Piece, ...]:
    """Return the pieces of a shape.

    Args:
        shape: A sphere, box, cylinder, capsule or mesh.
        meshes: "exact": each shell of a mesh as it is, and an open mesh is refused; "hull": the convex hull of each
            shell; "surface": the triangles, without an inside.

    Raises:
        InvalidShape: The shape has no surface, or a mesh is not closed, with the cure.
    """
    coal = coal_module()
    match shape:
        case Sphere(radius_m=radius):
            return (_piece(coal.Sphere(radius)),)
        case Box(size_m=size):
            return (_piece(coal.Box(*size)),)
        case Cylinder(radius_m=radius, length_m=length):
            return (_piece(coal.Cylinder(radius, length)),)
        case Capsule(radius_m=radius, length_m=length):
            return (_piece(coal.Capsule(radius, length)),)
        case Mesh():
            return tuple(_pieces_of_mesh(shape, meshes))
    raise InvalidShape(
        f"A {type(shape).__name__} has no surface to measure distances from. Give a sphere, box, cylinder, capsule or "
        "mesh, such as a box around it.",
        shape,
    )


def _pieces_of_mesh(mesh: Mesh, meshes: Meshes) -> Iterator[Piece]:
    if meshes not in MESHES:
        raise InvalidArgument(f"meshes is one of {', '.join(MESHES)}, got {meshes!r}.", meshes)
    if not len(mesh.triangles):
        raise InvalidShape("The mesh has no triangles, so nothing can be near it. Leave it out.", mesh)
    for vertices, triangles in _shells(mesh):
        if meshes == "hull":
            yield _hull(vertices)
        elif meshes == "surface":
            yield _surface(vertices, triangles, None)
        else:
            shell = Mesh(vertices, triangles)
            if not shell.is_closed:
                raise InvalidShape(
                    f"A mesh of {len(mesh.triangles)} triangles is not closed: an edge of it does not join two "
                    "triangles that turn the same way, so it has no inside and no signed distance. Close it, or pass "
                    "meshes='hull' for the convex hull of each shell, or meshes='surface' for the triangles alone.",
                    mesh,
                )
            yield _hull(vertices) if _is_convex(vertices, triangles) else _surface(vertices, triangles, shell)


def _shells(mesh: Mesh) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """Yield the vertices and triangles of parts that share no vertex."""
    places, place = np.unique(np.asarray(mesh.vertices, dtype=np.float64), axis=0, return_inverse=True)
    corners = place.reshape(-1)[mesh.triangles].astype(np.int64)
    corners = corners[(corners != np.roll(corners, -1, axis=1)).all(axis=1)]
    label = np.arange(len(places))
    while True:  # the smallest number among connected vertices spreads, by ever longer steps
        least = label[corners].min(axis=1)
        spread = label.copy()
        np.minimum.at(spread, corners.reshape(-1), np.repeat(least, 3))
        spread = spread[spread]
        if np.array_equal(spread, label):
            break
        label = spread
    of_triangle = label[corners[:, 0]]
    for shell in np.unique(of_triangle):
        own = corners[of_triangle == shell]
        used, renamed = np.unique(own, return_inverse=True)
        yield places[used], renamed.reshape(-1, 3)


def _is_convex(vertices: Floats, triangles: NDArray[np.int64]) -> bool:
    """Whether no vertex is outside the plane of any triangle."""
    first, second, third = (vertices[triangles[:, i]] for i in range(3))
    normals = np.cross(second - first, third - first)
    lengths = np.linalg.norm(normals, axis=1)
    flat = lengths > 0.0
    normals, offsets = normals[flat] / lengths[flat, None], None
    offsets = np.einsum("ij,ij->i", normals, first[flat])
    slack = _FLAT * float(np.ptp(vertices, axis=0).max())
    step = max(1, _ROWS // len(vertices))
    return all(
        bool((vertices @ normals[i : i + step].T <= offsets[i : i + step] + slack).all())
        for i in range(0, len(normals), step)
    )


def _hull(vertices: Floats) -> Piece:
    coal = coal_module()
    points = coal.StdVec_Vec3s()
    for vertex in vertices:
        points.append(vertex)
    try:
        geometry = coal.Convex.convexHull(points, True, "Qt") if len(vertices) >= _LEAST_CORNERS else None
    except (RuntimeError, ValueError):
        geometry = None
    if geometry is None:
        raise InvalidShape(
            "The vertices of a mesh lie in one plane: it has no convex hull with an inside. Give a thin box in its "
            "place, or meshes='surface'.",
            None,
        )
    return _piece(geometry)


def _surface(vertices: Floats, triangles: NDArray[np.int64], solid: Mesh | None) -> Piece:
    coal = coal_module()
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addVertices(vertices)
    model.addTriangles(triangles.astype(np.uint32))
    model.endModel()
    return _piece(model, solid=solid, is_convex=False)


def _piece(geometry: Any, *, solid: Mesh | None = None, is_convex: bool = True) -> Piece:
    geometry.computeLocalAABB()
    low, high = np.array(geometry.aabb_local.min_), np.array(geometry.aabb_local.max_)
    return Piece(geometry, 0.5 * (low + high), 0.5 * (high - low), solid, is_convex)
