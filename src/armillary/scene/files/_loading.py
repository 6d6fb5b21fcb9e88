"""A scene from a file: checked as a whole before anything is done with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary._core import LIMBO_NODE, ROOT_NODE, NodeId
from armillary.scene.changes import AddParent, AddRemoteRoot, Change, RemoveParent, SetAttributes
from armillary.scene.files._arrays import unpacked
from armillary.scene.files._fields import Field, parsed
from armillary.scene.files._format import FORMAT, VERSION
from armillary.scene.files._nodes import LoadedNode, attributes_of, loaded_node
from armillary.scene.files._order import containment
from armillary.scene.frame_changes import AddFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["LoadedScene", "load_into", "read_bytes", "read_scene", "scene_in"]


@dataclass(frozen=True, slots=True)
class LoadedScene:
    """What a file holds.

    Attributes:
        changes: That make it, in order.
        nodes: The ids it brings.
        frames: The names of frames of which it says something.
    """

    changes: tuple[Change, ...]
    nodes: tuple[NodeId, ...]
    frames: tuple[str, ...]


def read_scene(path: Path, *, max_bytes: int) -> LoadedScene:
    """All of a file, or InvalidSceneFile."""
    data = read_bytes(path, max_bytes, Field)
    return scene_in(parsed(data, str(path), Field), path.parent, max_bytes - len(data))


def scene_in(top: Field, folder: Path, max_bytes: int) -> LoadedScene:
    """A scene that is a file, or a part of one; its arrays are in `folder`."""
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", "arrays", "root", "nodes", "contains", "remote_roots"))
    arrays = {} if parts["arrays"].value is None else unpacked(parts["arrays"], folder, max_bytes)
    root = parts["root"].members(("id", "attributes"))
    if root["id"].node() != ROOT_NODE:
        raise root["id"].refused(f"the root of a scene is {ROOT_NODE}")
    nodes = _nodes(parts["nodes"], arrays)
    remote = _remote_roots(parts["remote_roots"], nodes)
    edges = containment(parts, nodes, remote)
    said = attributes_of(root["attributes"])
    changes = [*([SetAttributes(ROOT_NODE, said)] if said else []), *_changes(nodes, remote, edges)]
    frames = tuple(node.frame for node in nodes.values() if node.frame is not None)
    return LoadedScene(tuple(changes), tuple(nodes), frames)


def load_into(world: Any, apply: Callable[[Sequence[Change]], object], loaded: LoadedScene) -> None:
    """Apply all of it at once, with the frames that it names."""
    new = [name for name in loaded.frames if not world._has_frame(name)]  # noqa: SLF001
    apply([*([AddFrame(new)] if new else []), *loaded.changes])


def read_bytes(path: Path, max_bytes: int, kind: type[Field]) -> bytes:
    """The whole file, or the error of this kind of file."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise kind.error(str(path), "", f"it is larger than max_bytes, {max_bytes} bytes")
    return data


def _nodes(said: Field, arrays: dict[str, NDArray[Any]]) -> dict[NodeId, LoadedNode]:
    nodes: dict[NodeId, LoadedNode] = {}
    for field in said.items():
        node = loaded_node(field, arrays)
        if node.id in nodes or node.id in {ROOT_NODE, LIMBO_NODE}:
            raise field.at("id").refused("this id is taken by another node")
        nodes[node.id] = node
    return nodes


def _remote_roots(said: Field, nodes: dict[NodeId, LoadedNode]) -> set[NodeId]:
    remote: set[NodeId] = set()
    for field in said.items():
        node = field.node()
        if node not in nodes or nodes[node].kind != "group" or node in remote:
            raise field.refused("the id of a group among the nodes is expected, each once")
        remote.add(node)
    return remote


def _changes(
    nodes: dict[NodeId, LoadedNode], remote: set[NodeId], edges: list[tuple[NodeId, NodeId]]
) -> Iterator[Change]:
    placed: set[NodeId] = set()
    for node in remote:
        yield AddRemoteRoot(node, nodes[node].attributes, nodes[node].at)
        placed.add(node)
    for parent, child in edges:
        if child in placed:
            yield AddParent(child, parent, nodes[child].at)
        else:
            yield from nodes[child].added(parent)
            placed.add(child)
    yield from _frames_off_root(nodes, edges)


def _frames_off_root(nodes: dict[NodeId, LoadedNode], edges: list[tuple[NodeId, NodeId]]) -> Iterator[Change]:
    """A frame of which something is said is put under the root at first."""
    under_root = {child for parent, child in edges if parent == ROOT_NODE}
    for node in nodes.values():
        if node.frame is not None and node.id not in under_root:
            yield RemoveParent(node.id, ROOT_NODE)
