"""Writing a scene to a file."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ROOT_NODE, NodeId
from armillary.formats.fields import write_whole
from armillary.scene.files._arrays import packed
from armillary.scene.files._reader import FORMAT, VERSION
from armillary.store.nodes import CONTAINER_KINDS, TRANSFORM_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform
    from armillary.scene.reading import SceneVersion
    from armillary.shapes import Shape

__all__ = ["pose_fields", "scene_document", "write_scene", "write_with_arrays"]


def write_scene(scene: SceneVersion, path: Path) -> None:
    """Write a file of the scene alone."""
    document, arrays = scene_document(scene)
    write_with_arrays(path, document, document, arrays)


def scene_document(scene: SceneVersion) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The JSON document of a scene, and the arrays that belong beside it."""
    writer = _Writer(scene)
    return writer.document(), writer.arrays


def write_with_arrays(
    path: Path, document: dict[str, Any], scene: dict[str, Any] | None, arrays: dict[str, NDArray[Any]]
) -> None:
    """Write the arrays, under a name made of their digest, then replace the file that names them.

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
    """JSON with one line for each entry of a list: short files with readable differences."""
    if isinstance(value, dict) and levels:
        members = [f"{json.dumps(key)}: {_text(member, levels - 1)}" for key, member in value.items()]
        return "{\n" + ",\n".join(members) + "\n}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(entry, allow_nan=False) for entry in value) + "\n]"
    return json.dumps(value, allow_nan=False)


def _arrays_named_by(path: Path) -> Path | None:
    """The arrays file of a scene file that is replaced, if we wrote it."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        document = json.loads(path.read_bytes())
        name = document.get("scene", document)["arrays"]["file"]
        if name.startswith(f"{path.stem}.") and name.endswith(".npz") and Path(name).name == name:
            return path.with_name(name)
    return None


class _Writer:
    """Makes the JSON document of one version of a scene, and collects the arrays."""

    def __init__(self, scene: SceneVersion) -> None:
        self._scene, self._view = scene, scene.view
        self.arrays: dict[str, NDArray[Any]] = {}

    def document(self) -> dict[str, Any]:
        """The JSON document, without the arrays."""
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
        return {key: _json_value(value) for key, value in sorted(self._view.attributes(node).items())}

    def _node(self, node: NodeId) -> dict[str, Any]:
        kind = self._view.kind(node)
        entry: dict[str, Any] = {"id": str(node), "kind": kind, "attributes": self._attributes(node)}
        if kind in TRANSFORM_KINDS:
            return entry | self._placement(node)
        if kind == "frame":
            return entry | {"frame": self._view.frame(node)}
        entry["at_ns"] = self._view.created_at(node)
        if kind == "geometry":
            levels = self._scene.levels(node)
            entry |= {"levels": [self._shape(level) for level in levels]} | (
                {"at_ns": None} if levels.is_always else {}
            )
        if kind == "connection":
            connection = self._scene.connection(node)
            for name in ("sources", "targets"):
                entry[name] = [str(end) for end in getattr(connection, name)]
            entry |= {"start_ns": connection.start, "end_ns": connection.end}
        return entry

    def _shape(self, shape: Shape) -> dict[str, Any]:
        plain, arrays = shape.to_fields()
        names = {}
        for field, array in arrays.items():
            names[field] = f"array_{len(self.arrays)}"
            self.arrays[names[field]] = array
        return {"kind": shape.kind, "fields": plain, "arrays": names}

    # -- Poses of transforms

    def _placement(self, node: NodeId) -> dict[str, Any]:
        of, in_frame = self._view.frame(node), self._view.base_frame(node)
        transform, covariance = self._fixed.get((of, in_frame, self._view.source(node)), self._view.placement(node))
        began = pose_fields(transform.xyz_wxyz, covariance)
        samples = self._samples(node)
        if self._view.is_fixed(node):
            return {"fixed": began} | ({"samples": samples} if samples else {})
        return {
            "samples": samples or [{"at_ns": self._view.created_at(node)} | began]
        }  # its samples are not kept any more

    @cached_property
    def _fixed(self) -> dict[tuple[str, str, str], tuple[Transform, NDArray[np.float64] | None]]:
        """Fixed poses by relation: other sources may give a node another pose."""
        rows = self._scene.store.fixed_poses()
        return {row[:3]: (row[4], row[5]) for row in rows}

    def _samples(self, node: NodeId) -> list[dict[str, Any]]:
        """The samples of its present incarnation."""
        stamps, transforms, spreads = self._scene.store.node_samples(node)
        rows = zip(stamps.tolist(), transforms, [None] * len(stamps) if spreads is None else spreads, strict=True)
        return [{"at_ns": stamp} | pose_fields(row, spread) for stamp, row, spread in rows]

    # -- Containment

    def _edges(self, nodes: list[NodeId]) -> Iterator[tuple[NodeId, NodeId]]:
        """Each (parent, child), in an order that keeps the order of the children and of the parents of each node."""
        chains = [
            [(node, child) for child in self._view.children(node)]
            for node in nodes
            if self._view.kind(node) in CONTAINER_KINDS
        ]
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


Edge = tuple[NodeId, NodeId]


def _order(chains: list[list[Edge]]) -> tuple[dict[Edge, list[Edge]], dict[Edge, int]]:
    """What follows each edge in its chains, and how many others must precede each."""
    after: dict[Edge, list[Edge]] = {}
    waits = {edge: 0 for chain in chains for edge in chain}
    for chain in chains:
        for earlier, later in pairwise(chain):
            after.setdefault(earlier, []).append(later)
            waits[later] += 1
    return after, waits


def pose_fields(xyz_wxyz: NDArray[np.float64], covariance: NDArray[np.float64] | None) -> dict[str, Any]:
    """The fields of a pose in a file."""
    numbers = np.asarray(xyz_wxyz).tolist()
    fields = {"xyz_m": numbers[:3], "wxyz": numbers[3:]}
    if covariance is not None and not np.isnan(covariance).any():
        fields["covariance"] = np.asarray(covariance).tolist()
    return fields


def _json_value(value: Any) -> Any:
    """An attribute as JSON, which has no infinity."""
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return {"float": str(value)}
    return value
