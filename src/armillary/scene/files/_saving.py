"""A scene as it is, written to a file."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ROOT_NODE, NodeId
from armillary.scene.files._arrays import packed
from armillary.scene.files._format import CONTAINERS, FORMAT, TRANSFORMS, VERSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform
    from armillary.scene.reading import SceneVersion
    from armillary.shapes import Shape

__all__ = ["pose_fields", "scene_document", "write_scene", "write_whole", "write_with_arrays"]


def write_scene(scene: SceneVersion, path: Path) -> None:
    """A file of the scene alone."""
    document, arrays = scene_document(scene)
    write_with_arrays(path, document, document, arrays)


def scene_document(scene: SceneVersion) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a file says of a scene, and the arrays that belong beside it."""
    writer = _Writer(scene)
    return writer.document(), writer.arrays


def write_with_arrays(
    path: Path, document: dict[str, Any], scene: dict[str, Any] | None, arrays: dict[str, NDArray[Any]]
) -> None:
    """The arrays first, under a name made of what they are; then the file that names them replaces the old one.

    `scene` is the part of the document that names them.
    """
    before = _arrays_named_by(path)
    named = None
    if arrays and scene is not None:
        content, digest = packed(arrays)
        named = f"{path.stem}.{digest[:16]}.npz"
        scene["arrays"] = {"file": named, "sha256": digest}
        write_whole(path.with_name(named), content)
    write_whole(path, f"{_text(document, levels=1 if document is scene else 2)}\n".encode())
    if before is not None and before.name != named:
        before.unlink(missing_ok=True)


def _text(value: Any, levels: int) -> str:
    """One line for each entry of a list: short files, and differences that can be read."""
    if isinstance(value, dict) and levels:
        members = [f"{json.dumps(key)}: {_text(member, levels - 1)}" for key, member in value.items()]
        return "{\n" + ",\n".join(members) + "\n}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(entry, allow_nan=False) for entry in value) + "\n]"
    return json.dumps(value, allow_nan=False)


def write_whole(path: Path, content: bytes) -> None:
    """All of it, or nothing."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode)  # who may read it stays as it was
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _arrays_named_by(path: Path) -> Path | None:
    """What the file that is replaced has beside it, if that was written here."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        said = json.loads(path.read_bytes())
        name = said.get("scene", said)["arrays"]["file"]
        if name.startswith(f"{path.stem}.") and name.endswith(".npz") and Path(name).name == name:
            return path.with_name(name)
    return None


class _Writer:
    """One version on its way to a file."""

    def __init__(self, scene: SceneVersion) -> None:
        self._scene, self._view = scene, scene.view
        self.arrays: dict[str, NDArray[Any]] = {}

    def document(self) -> dict[str, Any]:
        """All but the arrays."""
        remote = self._view.remote_roots()
        nodes = list(dict.fromkeys(node for top in (ROOT_NODE, *remote) for node in self._view.find([], top)))
        return {
            "format": FORMAT,
            "version": VERSION,
            "arrays": None,
            "root": {"id": str(ROOT_NODE), "attributes": self._attributes(ROOT_NODE)},
            "nodes": [self._node(node) for node in nodes if node != ROOT_NODE],
            "contains": [[str(parent), str(child)] for parent, child in self._edges(nodes)],
            "remote_roots": [str(node) for node in remote],
        }

    def _attributes(self, node: NodeId) -> dict[str, Any]:
        return {key: _written(value) for key, value in sorted(self._view.attributes(node).items())}

    def _node(self, node: NodeId) -> dict[str, Any]:
        kind = self._view.kind(node)
        said: dict[str, Any] = {"id": str(node), "kind": kind, "attributes": self._attributes(node)}
        if kind in TRANSFORMS:
            return said | self._placement(node)
        if kind == "frame":
            return said | {"frame": self._view.frame(node)}
        said["at_ns"] = self._view.created_at(node)
        if kind == "geometry":
            levels = self._scene.levels(node)
            said |= {"levels": [self._shape(level) for level in levels]} | ({"at_ns": None} if levels.is_always else {})
        if kind == "connection":
            said |= self._connection(node)
        return said

    def _shape(self, shape: Shape) -> dict[str, Any]:
        plain, arrays = shape.to_fields()
        names = {}
        for field, array in arrays.items():
            names[field] = f"array_{len(self.arrays)}"
            self.arrays[names[field]] = array
        return {"kind": shape.kind, "fields": plain, "arrays": names}

    def _connection(self, node: NodeId) -> dict[str, Any]:
        tie = self._scene.connection(node)
        ends = {"sources": [str(end) for end in tie.sources], "targets": [str(end) for end in tie.targets]}
        return ends | {"start_ns": tie.start, "end_ns": tie.end}

    # -- Where transforms are

    def _placement(self, node: NodeId) -> dict[str, Any]:
        of, in_frame = self._view.frame(node), self._view.base_frame(node)
        transform, covariance = self._fixed.get((of, in_frame, self._view.source(node)), self._view.placement(node))
        began = pose_fields(transform.xyz_wxyz, covariance)
        samples = self._samples(node)
        if self._view.is_fixed(node):
            return {"fixed": began} | ({"samples": samples} if samples else {})
        return {"samples": samples or [{"at_ns": self._view.created_at(node)} | began]}  # the others are forgotten

    @cached_property
    def _fixed(self) -> dict[tuple[str, str, str], tuple[Transform, NDArray[np.float64] | None]]:
        """By relation, and not by asking for a pose: others may say something else of a node."""
        rows = self._scene.world._fixed_poses()  # noqa: SLF001
        return {row[:3]: (row[4], row[5]) for row in rows}

    def _samples(self, node: NodeId) -> list[dict[str, Any]]:
        """Of its present life; those of others that had its id are not its own."""
        stamps, transforms, spreads = self._scene.world.scene._core.samples(node)  # noqa: SLF001
        rows = zip(stamps.tolist(), transforms, [None] * len(stamps) if spreads is None else spreads, strict=True)
        return [{"at_ns": stamp} | pose_fields(row, spread) for stamp, row, spread in rows]

    # -- What is in what

    def _edges(self, nodes: list[NodeId]) -> Iterator[tuple[NodeId, NodeId]]:
        """Each (parent, child), in an order that keeps that of the children of a node and of the parents of a node."""
        chains = [[(node, child) for child in self._view.children(node)] for node in nodes if self._is_container(node)]
        chains += [[(parent, node) for parent in self._view.parents(node)] for node in nodes]
        after, waits = _order(chains)
        ready = deque(edge for edge, count in waits.items() if count == 0)
        while ready:
            edge = ready.popleft()
            yield edge
            for following in after.get(edge, ()):
                waits[following] -= 1
                if waits[following] == 0:
                    ready.append(following)

    def _is_container(self, node: NodeId) -> bool:
        return self._view.kind(node) in CONTAINERS


Edge = tuple[NodeId, NodeId]


def _order(chains: list[list[Edge]]) -> tuple[dict[Edge, list[Edge]], dict[Edge, int]]:
    """What follows each edge in its chains, and for how many others each waits."""
    after: dict[Edge, list[Edge]] = {}
    waits = {edge: 0 for chain in chains for edge in chain}
    for chain in chains:
        for earlier, later in pairwise(chain):
            after.setdefault(earlier, []).append(later)
            waits[later] += 1
    return after, waits


def pose_fields(xyz_wxyz: NDArray[np.float64], covariance: NDArray[np.float64] | None) -> dict[str, Any]:
    numbers = np.asarray(xyz_wxyz).tolist()
    said = {"xyz_m": numbers[:3], "wxyz": numbers[3:]}
    if covariance is not None and not np.isnan(covariance).any():
        said["covariance"] = np.asarray(covariance).tolist()
    return said


def _written(value: Any) -> Any:
    """An attribute: JSON has no infinity."""
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return {"float": str(value)}
    return value
