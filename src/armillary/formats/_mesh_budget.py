"""What a mesh file would take in memory and time, computed from its headers before anything is decoded.

A few hundred bytes can declare gigabytes: arrays that are not in the file, one part that is placed millions of times.
Readers of meshes believe such headers, so they are added up here first.
"""

from __future__ import annotations

import json
import math
import re
import stat
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from armillary.errors import InvalidMesh
from armillary.formats._xml import declares_doctype, xml_root

__all__ = ["LARGEST_MESH_BYTES", "checked_content"]

LARGEST_MESH_BYTES = 512 * 2**20
_MOST_PARTS = 10_000
_MOST_PLACED = 30_000_000
"""Vertices and corners, every part as often as it is placed."""
_FREE_NUMBERS = 1_000_000
"""So many numbers a glTF file may declare beyond those that it holds."""
_FREE_TEXT = 100_000_000
"""So many characters of numbers the parts of a Collada file may take beyond its own, placed as often as they are."""
_DEEPEST = 200
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_GLB_HEAD, _GLB_MAGIC = struct.Struct("<4sIIII"), b"glTF"
_OBJ_PARTS = re.compile(rb"^[ \t]*(?:o|g|s|usemtl|mtllib|usemap|maplib)\b[^\r\n]*", re.MULTILINE)
_PRIMITIVES = {"triangles", "trifans", "tristrips", "polylist", "polygons", "lines", "linestrips"}
_INSTANCES = {"instance_geometry", "instance_controller"}


def checked_content(name: str, suffix: str, content: bytes) -> bytes:
    """Return what the reader of meshes gets of a file.

    Raises:
        InvalidMesh: Decoding it would take more than a file of its size should.
    """
    refused = _Refusal(name)
    match suffix:
        case ".obj":
            return _OBJ_PARTS.sub(b"", content)  # every part would be searched again for every other one
        case ".stl":
            refused.where_above(content.count(b"endsolid"), _MOST_PARTS, "parts")
        case ".dae":
            _check_collada(content, refused)
        case ".gltf" | ".glb":
            _check_gltf(_gltf_header(content, suffix, refused), len(content), Path(name).parent, refused)
    return content


class _Refusal:
    """Makes the errors about one file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, reason: str) -> InvalidMesh:
        return InvalidMesh(self.name, reason)

    def where_above(self, count: float, limit: float, what: str) -> None:
        """Raise where there are too many of something."""
        if count > limit:
            raise self(f"it makes {count:.3g} {what}, and at most {limit:.3g} are read from a file of its size")


# -- glTF


def _gltf_header(content: bytes, suffix: str, refused: _Refusal) -> dict[str, Any]:
    text = content
    if suffix == ".glb":
        if len(content) < _GLB_HEAD.size or not content.startswith(_GLB_MAGIC):
            raise refused("trimesh cannot read it (no GLB)")
        *_, length, _kind = _GLB_HEAD.unpack_from(content)
        text = content[_GLB_HEAD.size : _GLB_HEAD.size + length]
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refused(f"trimesh cannot read it ({error})") from None
    if not isinstance(header, dict):
        raise refused("trimesh cannot read it (no object of glTF)")
    return header


def _check_gltf(header: Mapping[str, Any], size: int, folder: Path, refused: _Refusal) -> None:
    try:
        held = size + sum(_buffer_bytes(one, folder, refused) for one in header.get("buffers", []))
        accessors = header.get("accessors", [])
        declared = sum(_count(one) * _COMPONENTS.get(one.get("type"), 16) for one in accessors)
        refused.where_above(declared, held + _FREE_NUMBERS, "numbers")
        parts, placed = _placed_gltf(header, accessors, refused)
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise refused(f"trimesh cannot read it ({type(error).__name__}: {error})") from None
    refused.where_above(parts, _MOST_PARTS, "parts")
    refused.where_above(placed, _MOST_PLACED, "vertices and corners")


def _count(accessor: Mapping[str, Any]) -> int:
    count = accessor["count"]
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"count is {count!r}")
    return count


def _buffer_bytes(buffer: Mapping[str, Any], folder: Path, refused: _Refusal) -> int:
    """Return how much a buffer holds; one that is a file must be a regular one beside the mesh."""
    uri = buffer.get("uri")
    if uri is None or uri.startswith("data:"):
        return 0  # it is in the file itself
    name = unquote(uri)
    path = folder / name
    if "://" in name or not path.resolve().is_relative_to(folder.resolve()):
        raise refused(f"its buffer '{uri[:60]}' is not beside it")
    try:
        status = path.stat()
    except OSError as error:
        raise refused(f"its buffer '{uri[:60]}' cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_MESH_BYTES:
        raise refused(f"its buffer '{uri[:60]}' is too large or no regular file")
    return status.st_size


def _placed_gltf(header: Mapping[str, Any], accessors: list[Any], refused: _Refusal) -> tuple[float, float]:
    """Return how many parts there are and how much they hold, each as often as it is placed."""
    meshes, nodes = header.get("meshes", []), header.get("nodes", [])
    sizes = [_gltf_mesh_size(mesh, accessors) for mesh in meshes]

    def own(node: Any) -> tuple[float, float]:
        return sizes[node["mesh"]] if "mesh" in node else (0, 0)

    total = _Total(lambda i: own(nodes[i]), lambda i: nodes[i].get("children", []), refused)
    every = [total.of(root) for scene in header.get("scenes", []) for root in scene.get("nodes", [])]
    every += sizes  # trimesh makes each once, placed or not
    return sum(parts for parts, _ in every), sum(held for _, held in every)


def _gltf_mesh_size(mesh: Mapping[str, Any], accessors: list[Any]) -> tuple[float, float]:
    primitives = mesh.get("primitives", [])
    used = [one["attributes"].get("POSITION") for one in primitives] + [one.get("indices") for one in primitives]
    return len(primitives), sum(_count(accessors[i]) for i in used if i is not None)


# -- Collada


def _check_collada(content: bytes, refused: _Refusal) -> None:
    if declares_doctype(content):
        raise refused("it declares a document type, through which a file can name others")
    root = xml_root(content)
    if root is None:
        raise refused("trimesh cannot read it (no XML)")
    for unit in root.iter("{*}unit"):
        _check_unit(unit.get("meter"), refused)
    by_id = {node.get("id"): node for node in root.iter("{*}node", "{*}geometry", "{*}controller")}
    geometries: dict[Any, tuple[float, float]] = {}

    def size_of(url: str) -> tuple[float, float]:
        found = by_id.get(url)
        if found is None:
            return 1, 0
        if url not in geometries:
            texts = [len(element.text or "") for element in found.iter() if isinstance(element.tag, str)]
            parts = sum(_tag(element) in _PRIMITIVES for element in found.iter())
            source = found.find("{*}skin")
            inner = (0.0, 0.0) if source is None else size_of((source.get("source") or "").lstrip("#"))
            geometries[url] = parts + inner[0], sum(texts) + inner[1]
        return geometries[url]

    def own(node: Any) -> tuple[float, float]:
        sizes = [size_of((one.get("url") or "").lstrip("#")) for one in node if _tag(one) in _INSTANCES]
        return 1 + sum(parts for parts, _ in sizes), sum(held for _, held in sizes)

    def below(node: Any) -> list[Any]:
        named = [by_id.get((one.get("url") or "").lstrip("#")) for one in node if _tag(one) == "instance_node"]
        return [one for one in node if _tag(one) == "node"] + [one for one in named if one is not None]

    total = _Total(own, below, refused)
    every = [total.of(node) for scene in root.iter("{*}visual_scene") for node in scene if _tag(node) == "node"]
    refused.where_above(sum(parts for parts, _ in every), _MOST_PARTS, "parts")
    refused.where_above(sum(held for _, held in every), len(content) + _FREE_TEXT, "characters of numbers")


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _check_unit(meter: str | None, refused: _Refusal) -> None:
    if meter is None:
        return
    try:
        metres = float(meter)
    except ValueError:
        metres = math.nan
    if not 0.0 < metres < math.inf:
        raise refused(f"its unit of length is {meter[:40]!r} metres, and a number above zero is expected")


# -- Both


class _Total:
    """Adds up what is below nodes that may be placed several times; each is visited once."""

    def __init__(
        self, own: Callable[[Any], tuple[float, float]], below: Callable[[Any], list[Any]], refused: _Refusal
    ) -> None:
        self._own, self._below, self._refused = own, below, refused
        self._known: dict[Any, tuple[float, float] | None] = {}

    def of(self, node: Any, depth: int = 0) -> tuple[float, float]:
        """Return how many parts there are at a node and below it, and how much they hold."""
        if depth > _DEEPEST:
            raise self._refused(f"its nodes are nested more than {_DEEPEST} deep")
        if node in self._known:
            found = self._known[node]
            if found is None:
                raise self._refused("its nodes contain each other in a cycle")
            return found
        self._known[node] = None
        parts, held = self._own(node)
        for one in self._below(node):
            more = self.of(one, depth + 1)
            parts, held = parts + more[0], held + more[1]
        self._known[node] = parts, held
        return parts, held
