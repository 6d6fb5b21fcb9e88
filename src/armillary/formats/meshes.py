"""Triangle meshes, read with trimesh."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.errors import InvalidMesh, MissingExtra, MissingMeshes, UnreadableFile
from armillary.formats._mesh_budget import LARGEST_MESH_BYTES, checked_content
from armillary.formats.descriptions import MeshForm, RobotDescription, Triple
from armillary.formats.whole_files import as_file_path, read_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MeshArrays", "MeshPart", "MissingMesh", "missing_meshes", "read_mesh", "read_mesh_parts", "read_meshes"]

_SUFFIXES = (".stl", ".obj", ".dae", ".glb", ".gltf")
_CORNERS = _AXES = 3


class MeshArrays(NamedTuple):
    """A triangle mesh.

    Attributes:
        vertices: Shape (N, 3) [m], read-only.
        faces: Shape (M, 3), int64: which vertices make each triangle, read-only.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]


Rgba = tuple[float, float, float, float]


class MeshPart(NamedTuple):
    """The triangles of a mesh that have one colour.

    Attributes:
        arrays: The triangles.
        rgba: Red, green, blue and opacity, from 0 to 1; None where the file has no colour for them.
    """

    arrays: MeshArrays
    rgba: Rgba | None


class MissingMesh(NamedTuple):
    """A mesh file that was not found.

    Attributes:
        link: The link that it belongs to.
        uri: As the robot's file names it.
        path: Where it should be; None where its package is not found.
    """

    link: str
    uri: str
    path: str | None

    def __str__(self) -> str:
        """Which mesh of which link is missing, and why."""
        why = "its package is not found" if self.path is None else f"there is no file '{self.path}'"
        return f"'{self.uri}' of the link '{self.link}': {why}"


def missing_meshes(robot: RobotDescription) -> tuple[MissingMesh, ...]:
    """List the mesh files of a robot that do not exist, each once."""
    found = (
        MissingMesh(link.name, shape.form.uri, shape.form.path)
        for link, shape in robot.shapes
        if isinstance(shape.form, MeshForm) and not (shape.form.path and Path(shape.form.path).is_file())
    )
    return tuple({missing.uri: missing for missing in found}.values())


def read_meshes(robot: RobotDescription) -> dict[MeshForm, MeshArrays]:
    """Read every mesh of a robot, in the coordinates of its shape.

    Raises:
        MissingMeshes: Some are missing; it lists all of them, and none is read.
        InvalidMesh: A file holds no mesh.
    """
    missing = missing_meshes(robot)
    if missing:
        raise MissingMeshes(robot.name, [str(one) for one in missing])
    forms = [shape.form for _, shape in robot.shapes if isinstance(shape.form, MeshForm)]
    as_stored = {path: _stored(path) for path in dict.fromkeys(form.path for form in forms) if path is not None}
    return {form: _scaled(as_stored[form.path], form.scale) for form in forms if form.path is not None}


def read_mesh(path: str | PathLike[str], *, scale: Triple = (1.0, 1.0, 1.0)) -> MeshArrays:
    """Read one mesh from STL, OBJ, DAE (Collada) or glTF.

    The parts of a file become one mesh, each where the file places it. Collada's unit of length is applied; its up axis
    is ignored, as robot descriptions expect. A scale that mirrors keeps the normals outside. What a file would take is
    computed before it is decoded: more than 10 000 parts or 30 million vertices and corners are refused.

    Raises:
        InvalidMesh: The file is missing, of another kind, or holds no triangles.
    """
    return _scaled(_stored(fspath(as_file_path(path))), scale)


def read_mesh_parts(path: str | PathLike[str], *, scale: Triple = (1.0, 1.0, 1.0)) -> tuple[MeshPart, ...]:
    """Read one mesh as its parts of one colour each: those of the materials in a DAE (Collada) file.

    Other files are one part without a colour. Textures are not read: what has one has the colour that it is tinted
    with. Together the parts have the triangles of `read_mesh`.

    Raises:
        InvalidMesh: As for `read_mesh`.
    """
    name = fspath(as_file_path(path))
    if Path(name).suffix.lower() != ".dae":
        return (MeshPart(read_mesh(name, scale=scale), None),)
    scene, metres = _scene(name, _checked_content(name))
    by_color: dict[Rgba | None, list[Any]] = {}
    try:
        for piece in scene.dump():
            by_color.setdefault(_color_of(piece), []).append(piece)
        joined = [(_joined(pieces, metres), color) for color, pieces in by_color.items()]
    except Exception as error:  # a reader of untrusted files may raise anything
        raise InvalidMesh(name, f"trimesh cannot read it ({type(error).__name__}: {error})") from error
    if not joined:
        raise InvalidMesh(name, "it holds no triangles")
    for (vertices, faces), _ in joined:
        _check_triangles(name, vertices, faces)
    return tuple(MeshPart(_scaled(arrays, scale), color) for arrays, color in joined)


def _joined(pieces: list[Any], metres: float) -> MeshArrays:
    counts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    faces = [np.asarray(piece.faces, dtype=np.int64) + count for piece, count in zip(pieces, counts, strict=False)]
    vertices = np.concatenate([np.asarray(piece.vertices, dtype=np.float64) for piece in pieces]) * metres
    return MeshArrays(vertices, np.concatenate(faces))


def _color_of(piece: Any) -> Rgba | None:
    """Return the diffuse colour of the material; None where it has none. What is not seen at all is a mistake."""
    factor = getattr(getattr(piece.visual, "material", None), "baseColorFactor", None)
    if factor is None:
        return None
    red, green, blue, opacity = (float(round(number / 255.0, 4)) for number in factor)
    return red, green, blue, opacity or 1.0


def _stored(name: str) -> MeshArrays:
    """Read a mesh as its file has it."""
    vertices, faces = _triangles(name, _checked_content(name))
    _check_triangles(name, vertices, faces)
    return MeshArrays(vertices, faces)


def _scaled(stored: MeshArrays, scale: Triple) -> MeshArrays:
    factors = np.asarray(scale, dtype=np.float64)
    vertices, faces = stored.vertices * factors, stored.faces
    if np.prod(factors) < 0.0:
        faces = np.ascontiguousarray(faces[:, ::-1])
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return MeshArrays(vertices, faces)


def _checked_content(name: str) -> bytes:
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidMesh(name, f"files that end in '{path.suffix}' are not read")
    try:
        content = read_regular(path, LARGEST_MESH_BYTES, partial(InvalidMesh, name))
    except UnreadableFile as error:
        raise InvalidMesh(name, error.reason) from None
    if content is None:
        raise InvalidMesh(name, f"it is larger than {LARGEST_MESH_BYTES // 2**20} MiB")
    return checked_content(name, suffix, content)


def _triangles(name: str, content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    scene, metres = _scene(name, content)
    try:
        mesh = scene.to_mesh()
        return np.array(mesh.vertices, dtype=np.float64) * metres, np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # a reader of untrusted files may raise anything
        raise InvalidMesh(name, f"trimesh cannot read it ({type(error).__name__}: {error})") from error


def _scene(name: str, content: bytes) -> tuple[Any, float]:
    """Return what trimesh reads of a file, and the length of its unit."""
    trimesh, kind = _imported("trimesh"), Path(name).suffix.lower().removeprefix(".")
    if kind == "dae":
        _imported("collada")
    try:
        beside = trimesh.resolvers.FilePathResolver(name) if kind == "gltf" else None
        options = {"process": False, "skip_materials": True}
        scene = trimesh.load_scene(BytesIO(content), file_type=kind, resolver=beside, **options)
        return scene, float(trimesh.units.unit_conversion(scene.units, "meters")) if scene.units else 1.0
    except Exception as error:  # a reader of untrusted files may raise anything
        raise InvalidMesh(name, f"trimesh cannot read it ({type(error).__name__}: {error})") from error


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtra("articulation", "pycollada" if module == "collada" else module) from missing


def _check_triangles(name: str, vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> None:
    if faces.shape[1:] != (_CORNERS,) or not len(faces) or vertices.shape[1:] != (_AXES,):
        raise InvalidMesh(name, "it holds no triangles")
    if not np.isfinite(vertices).all():
        raise InvalidMesh(name, "some of its vertices are not finite")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InvalidMesh(name, "some of its triangles have corners that are not there")
