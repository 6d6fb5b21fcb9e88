"""Writing a scene to a file."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ROOT_NODE, NodeId
from armillary.formats.whole_files import as_file_path, target_of, write_whole
from armillary.scene.files._arrays import packed
from armillary.scene.files._contents import connection_entry, shape_entry
from armillary.scene.files._reader import FORMAT, VERSION
from armillary.store.nodes import CONTAINER_KINDS, TRANSFORM_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform
    from armillary.scene.reading import SceneVersion

__all__ = ["JsonLines", "document_text", "pose_fields", "write_scene", "write_with_arrays"]

_HEAD = 64
"""So many bytes tell whether a file may be ours: it begins with an object."""


def write_scene(scene: SceneVersion, path: str | PathLike[str]) -> None:
    """Write a file of the scene alone."""
    file, writer = as_file_path(path), _Writer(scene)
    document = writer.document()
    write_with_arrays(file, writer.arrays, lambda arrays: document_text({**document, "arrays": arrays}))


def write_with_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], text_with: Callable[[dict[str, str] | None], str]
) -> None:
    """Write the arrays, under a name made of their digest, then replace the file that names them.

    `text_with` gets the entry that names the arrays, None where there are none, and returns the text of the file. The
    arrays of the file before are deleted, unless another file of the folder names them. Where `path` is a symbolic
    link, the arrays are beside the file that it leads to.
    """
    path = target_of(path)
    before = _arrays_named_by(path)
    named = None
    if arrays:
        content, digest = packed(arrays)
        named = {"file": f"{path.stem}.{digest[:16]}.npz", "sha256": digest}
        write_whole(path.with_name(named["file"]), content)
    write_whole(path, f"{text_with(named)}\n".encode())
    if before is not None and (named is None or before != named["file"]) and not _is_named_beside(path, before):
        path.with_name(before).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A list whose entries are JSON already."""

    entries: list[str]


def document_text(document: dict[str, Any]) -> str:
    """Return an object as JSON, with one line for each entry of its lists: short files with readable differences."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {_text(value)}" for key, value in document.items()) + "\n}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = JsonLines([json.dumps(entry, allow_nan=False) for entry in value])
    if isinstance(value, JsonLines):
        return "[\n" + ",\n".join(value.entries) + "\n]"
    return json.dumps(value, allow_nan=False)


def _arrays_named_by(path: Path) -> str | None:
    """Return the name of the arrays file of a file that is replaced, if we wrote it."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        document = json.loads(path.read_bytes()) if path.is_file() else {}
        named = document.get("arrays") or document["scene"]["arrays"]
        name = str(named["file"])
        if name.startswith(f"{path.stem}.") and name.endswith(".npz") and Path(name).name == name:
            return name
    return None


def _is_named_beside(path: Path, arrays: str) -> bool:
    """Whether another file of ours in the same folder names an arrays file, or cannot be asked."""
    try:
        return any(other != path and _names(other, arrays) for other in path.parent.iterdir())
    except OSError:
        return True


def _names(file: Path, arrays: str) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        head = content.read(_HEAD)
        return head.lstrip()[:1] == b"{" and arrays.encode() in head + content.read()


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
        if kind == "frame":
            return entry | {"frame": self._view.frame(node)}
        if (frame := self._view.frame_name(node)) is not None:
            entry["frame"] = frame
        if kind in TRANSFORM_KINDS:
            return entry | self._placement(node)
        entry["at_ns"] = self._view.created_at(node)
        if kind == "geometry":
            levels = self._scene.levels(node)
            entry |= {"levels": [shape_entry(level, self.arrays) for level in levels]} | (
                {"at_ns": None} if levels.is_always else {}
            )
        if kind == "connection":
            entry |= connection_entry(self._scene.connection(node))
        return entry

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
