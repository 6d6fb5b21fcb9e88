"""Reading a scene from a file: it is checked as a whole before anything is changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary._core import DETACHED_NODE, ROOT_NODE, NodeId, Pose
from armillary.errors import InvalidSceneFile
from armillary.formats.fields import Field, parse_json
from armillary.formats.whole_files import as_file_path, read_bytes, target_of
from armillary.scene.files._arrays import unpacked
from armillary.scene.files._contents import CONNECTION, connection_in, shape_in
from armillary.shapes import Levels
from armillary.store.changes import (
    NOW,
    AddConnection,
    AddFrame,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    Change,
    Now,
    RemoveParent,
    RestoredTransform,
    RestoredUncertainTransform,
    SetAttributes,
    SetTransform,
    connection_request,
)
from armillary.store.nodes import CONTAINER_KINDS, KINDS, TRANSFORM_KINDS, id_of_frame, is_of_a_node
from armillary.transforms import Transform, check_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import ChangeRequest
    from armillary.store import Store
    from armillary.store.requests import ChangeContext

__all__ = [
    "FORMAT",
    "VERSION",
    "LoadedScene",
    "PlacedAt",
    "load_into",
    "pose_in",
    "read_scene",
    "samples_in",
    "scene_in",
]

FORMAT, VERSION = "armillary.scene", 1
"""Of scene files; `docs/scene.schema.json` describes the format."""

Arrays = Mapping[str, "NDArray[Any]"]
Edge = tuple[NodeId, NodeId]
"""(parent, child)."""

_DEEPEST_LIST = 8
"""How deep lists may be nested in an attribute."""
_COMMON = ("id", "kind", "attributes")


@dataclass(frozen=True, slots=True)
class LoadedScene:
    """The content of a scene file.

    Attributes:
        changes: The changes that add it to a scene, in order.
        nodes: The ids of its nodes.
        frames: The names of the frames that have a node in it.
    """

    changes: tuple[Change, ...]
    nodes: tuple[NodeId, ...]
    frames: tuple[str, ...]


def read_scene(path: str | PathLike[str], *, max_bytes: int) -> LoadedScene:
    """Read and check a scene file; raises InvalidSceneFile."""
    file = as_file_path(path)
    data = read_bytes(file, max_bytes, InvalidSceneFile)
    return scene_in(parse_json(data, str(file), InvalidSceneFile), target_of(file).parent, max_bytes - len(data))


def scene_in(top: Field, folder: Path, max_bytes: int) -> LoadedScene:
    """Read a scene that is a file, or a part of one; its arrays are in `folder`."""
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", "arrays", "root", "nodes", "contains", "remote_roots"))
    arrays = {} if parts["arrays"].value is None else unpacked(parts["arrays"], folder, max_bytes)
    root = parts["root"].members(("id", "attributes"))
    if root["id"].node() != ROOT_NODE:
        raise root["id"].refused(f"the root of a scene is {ROOT_NODE}")
    nodes = _nodes(parts["nodes"], arrays)
    remote = _remote_roots(parts["remote_roots"], nodes)
    edges = _containment(parts, nodes, remote)
    attributes = _attributes(root["attributes"])
    changes = [*([SetAttributes(ROOT_NODE, attributes)] if attributes else []), *_changes(nodes, remote, edges)]
    frames = tuple(node.frame for node in nodes.values() if node.frame is not None)
    return LoadedScene(tuple(changes), tuple(nodes), frames)


def load_into(store: Store, apply: Callable[[Sequence[Change]], object], loaded: LoadedScene) -> None:
    """Apply all changes of a file together, with the frames that it names."""
    new = [name for name in loaded.frames if not store.has_frame(name)]
    apply([*([AddFrame(new)] if new else []), *loaded.changes])


def _nodes(listed: Field, arrays: dict[str, NDArray[Any]]) -> dict[NodeId, _LoadedNode]:
    nodes: dict[NodeId, _LoadedNode] = {}
    for field in listed.items():
        node = _loaded_node(field, arrays)
        if node.id in nodes or node.id in {ROOT_NODE, DETACHED_NODE}:
            raise field.at("id").refused("this id is taken by another node")
        nodes[node.id] = node
    return nodes


def _remote_roots(listed: Field, nodes: dict[NodeId, _LoadedNode]) -> set[NodeId]:
    remote: set[NodeId] = set()
    for field in listed.items():
        node = field.node()
        if node not in nodes or nodes[node].kind != "group" or node in remote:
            raise field.refused("the id of a group among the nodes is expected, each once")
        remote.add(node)
    return remote


def _changes(nodes: dict[NodeId, _LoadedNode], remote: set[NodeId], edges: list[Edge]) -> Iterator[Change]:
    placed: set[NodeId] = set()
    for node in remote:
        yield AddRemoteRoot(node, nodes[node].attributes, nodes[node].at)
        placed.add(node)
    for parent, child in edges:
        if child in placed:
            yield AddParent(child, parent, nodes[child].at)
        else:
            yield from nodes[child].make(parent)
            placed.add(child)
    # The node of a frame is put under the root when it is made.
    under_root = {child for parent, child in edges if parent == ROOT_NODE}
    for loaded in nodes.values():
        if loaded.frame is not None and loaded.id not in under_root:
            yield RemoveParent(loaded.id, ROOT_NODE)


# -- Containment


def _containment(parts: dict[str, Field], nodes: dict[NodeId, _LoadedNode], remote: set[NodeId]) -> list[Edge]:
    """Each (parent, child) of the file, ordered parents first; cycles and nodes without a parent are refused."""
    found: dict[Edge, Field] = {}
    for field in parts["contains"].items():
        edge = _edge(field, nodes, remote)
        if edge in found:
            raise field.refused("this entry is repeated")
        found[edge] = field
    _check_parents(parts["nodes"], nodes, remote, found)
    _check_acyclic(nodes, found)
    return _parents_first(list(found), {ROOT_NODE, *remote})


def _edge(field: Field, nodes: dict[NodeId, _LoadedNode], remote: set[NodeId]) -> Edge:
    above, below = field.items(2)
    parent, child = above.node(), below.node()
    if parent != ROOT_NODE and (parent not in nodes or nodes[parent].kind not in CONTAINER_KINDS):
        raise above.refused("the id of a node that can have children is expected")
    if child not in nodes:
        raise below.refused("the id of a node is expected")
    if child in remote:
        raise below.refused("this is a remote root, which has no parent")
    return parent, child


def _check_parents(
    listed: Field, nodes: dict[NodeId, _LoadedNode], remote: set[NodeId], edges: dict[Edge, Field]
) -> None:
    inside = {child for _, child in edges} | remote
    for i, node in enumerate(nodes):
        if node not in inside:
            raise listed.at(i).refused("the node has no parent: no entry of 'contains' names it")


def _check_acyclic(nodes: dict[NodeId, _LoadedNode], edges: dict[Edge, Field]) -> None:
    """Remove nodes without parents repeatedly: what remains is in a cycle."""
    children: dict[NodeId, list[NodeId]] = {}
    waits = dict.fromkeys((ROOT_NODE, *nodes), 0)
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
        waits[child] += 1
    free = deque(node for node, count in waits.items() if count == 0)
    while free:
        node = free.popleft()
        del waits[node]
        for child in children.get(node, ()):
            waits[child] -= 1
            if waits[child] == 0:
                free.append(child)
    for (parent, child), field in edges.items():
        if parent in waits and child in waits:
            raise field.refused("this and others form a cycle: a node would contain itself")


def _parents_first(edges: list[Edge], made: set[NodeId]) -> list[Edge]:
    """Order edges as in the file, but an edge after those that add its parent."""
    ordered: list[Edge] = []
    waiting: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        ready = deque([edge])
        while ready:
            parent, child = ready.popleft()
            if parent not in made:
                waiting.setdefault(parent, []).append((parent, child))
                continue
            ordered.append((parent, child))
            if child not in made:
                made.add(child)
                ready.extend(waiting.pop(child, ()))
    return ordered


# -- Nodes


@dataclass(frozen=True, slots=True)
class _LoadedNode:
    """A node of a file.

    Attributes:
        make: Gives the changes that add it to a first parent.
        at: Since when it exists.
        frame: The name of its frame, where it is the node of one.
    """

    id: NodeId
    kind: str
    attributes: dict[str, Any]
    make: Callable[[NodeId], Iterator[Change]]
    at: int | Now = NOW
    frame: str | None = None


def _loaded_node(field: Field, arrays: Arrays) -> _LoadedNode:
    """Read a node of any kind."""
    kind = field.mapping().get("kind")
    if kind is None or kind.value not in KINDS:
        raise (field if kind is None else kind).refused(f"a kind is expected, one of {', '.join(KINDS)}")
    read = _transform if kind.value in TRANSFORM_KINDS else _READERS[kind.value]
    return read(field, arrays)


def _attributes(field: Field) -> dict[str, Any]:
    """Read attributes: names to values."""
    found = {}
    for key, value in field.mapping().items():
        if not Field(key, value.file, value.error, field, key).text():
            raise value.refused("the name of an attribute is not empty")
        found[key] = _attribute(value, _DEEPEST_LIST)
    return found


def _attribute(field: Field, deepest: int) -> Any:
    if isinstance(field.value, str):
        return field.text()
    if isinstance(field.value, list):
        if deepest == 0:
            raise field.refused(f"lists may be nested {_DEEPEST_LIST} deep")
        return [_attribute(item, deepest - 1) for item in field.items()]
    if isinstance(field.value, dict):
        return field.real()
    if isinstance(field.value, bool):
        return field.value
    return field.integer() if isinstance(field.value, int) else field.number()


# -- Groups and frames


def _group(field: Field, _: Arrays) -> _LoadedNode:
    parts = field.members((*_COMMON, "at_ns"), ("frame",))
    node, attributes, at = parts["id"].node(), _attributes(parts["attributes"]), parts["at_ns"].stamp()
    frame = _frame_name(parts)

    def make(parent: NodeId) -> Iterator[Change]:
        yield AddGroup(parent=parent, attributes=attributes, at=at, id=node, frame=frame)

    return _LoadedNode(node, "group", attributes, make, at)


def _frame_name(parts: Mapping[str, Field]) -> str | None:
    """Read the name that the frame of a node was given, if it was given one."""
    if "frame" not in parts:
        return None
    name: str = parts["frame"].checked(lambda: check_name(parts["frame"].text()))
    if is_of_a_node(name):
        raise parts["frame"].refused("the frame of a node cannot have the id of a node as its name")
    return name


def _frame(field: Field, _: Arrays) -> _LoadedNode:
    parts = field.members((*_COMMON, "frame"))
    node, attributes = parts["id"].node(), _attributes(parts["attributes"])
    name = parts["frame"].checked(lambda: check_name(parts["frame"].text()))
    if id_of_frame(name) != node:
        raise parts["id"].refused(f"this is not the id of the frame '{name}'")

    def make(parent: NodeId) -> Iterator[Change]:
        yield AddFrameNode(name)
        if attributes:
            yield SetAttributes(node, attributes)
        if parent != ROOT_NODE:
            yield AddParent(node, parent)

    return _LoadedNode(node, "frame", attributes, make, frame=name)


# -- Transforms


@dataclass(frozen=True, slots=True)
class PlacedAt:
    """A pose, its covariance, and since when or at which stamp it holds."""

    transform: Transform
    covariance: list[list[float]] | None
    at: int | None


def _transform(field: Field, _: Arrays) -> _LoadedNode:
    parts = field.members(_COMMON, ("fixed", "samples", "frame"))
    if "fixed" not in parts and "samples" not in parts:
        raise field.refused("a transform has 'fixed', 'samples', or both")
    node, attributes, kind = parts["id"].node(), _attributes(parts["attributes"]), parts["kind"].value
    fixed = [_fixed(parts["fixed"])] if "fixed" in parts else []
    frame = _frame_name(parts)
    first, *later = fixed + (samples_in(parts["samples"]) if "samples" in parts else [])

    def make(parent: NodeId) -> Iterator[Change]:
        add = RestoredTransform if kind == "transform" else RestoredUncertainTransform
        yield add(
            parent=parent,
            transform=first.transform,
            covariance=first.covariance,  # type: ignore[arg-type]  # see the two classes
            at=first.at,
            attributes=attributes,
            id=node,
            frame=frame,
        )
        for sample in later:
            yield SetTransform(node, sample.transform, sample.covariance, NOW if sample.at is None else sample.at)

    return _LoadedNode(node, kind, attributes, make, NOW if first.at is None else first.at)


def _fixed(field: Field) -> PlacedAt:
    return pose_in(field, field.members(("xyz_m", "wxyz"), ("covariance",)), None)


def samples_in(field: Field) -> list[PlacedAt]:
    """Read the samples of a Transform, oldest first."""
    samples: list[PlacedAt] = []
    for item in field.items():
        parts = item.members(("at_ns", "xyz_m", "wxyz"), ("covariance",))
        at = parts["at_ns"].stamp()
        if samples and at <= (samples[-1].at or 0):
            raise parts["at_ns"].refused("the stamps of samples increase")
        samples.append(pose_in(item, parts, at))
    if not samples:
        raise field.refused("at least one sample is expected")
    return samples


def pose_in(field: Field, parts: Mapping[str, Field], at: int | None) -> PlacedAt:
    """Read a pose from the fields `xyz_m`, `wxyz` and, if given, `covariance`."""
    xyz, wxyz = parts["xyz_m"].numbers(3), parts["wxyz"].numbers(4)
    transform = parts["wxyz"].checked(lambda: Transform.from_xyz_wxyz(xyz=xyz, wxyz=wxyz))
    covariance = None
    if "covariance" in parts:
        covariance = parts["covariance"].matrix(6)
        field.checked(lambda: Pose(of="node", in_frame="parent", transform=transform, covariance=covariance))
    return PlacedAt(transform, covariance, at)


# -- Geometry


def _geometry(field: Field, arrays: Arrays) -> _LoadedNode:
    parts = field.members((*_COMMON, "at_ns", "levels"), ("frame",))
    node, attributes, frame = parts["id"].node(), _attributes(parts["attributes"]), _frame_name(parts)
    at = None if parts["at_ns"].value is None else parts["at_ns"].stamp()
    shapes = tuple(shape_in(level, arrays) for level in parts["levels"].items())
    levels = parts["levels"].checked(lambda: Levels(shapes))

    def make(parent: NodeId) -> Iterator[Change]:
        finest, *coarser = levels
        about: dict[str, Any] = {"attributes": attributes, "at": at, "id": node, "frame": frame}
        yield AddGeometry(parent=parent, shape=finest, levels=tuple(coarser), **about)

    return _LoadedNode(node, "geometry", attributes, make, NOW if at is None else at)


# -- Connections


@dataclass(frozen=True, kw_only=True)
class _RestoredConnection(AddConnection):
    """A connection whose ends may be removed, as they may be where it was saved."""

    def request(self, context: ChangeContext) -> ChangeRequest:
        return connection_request(self, tuple(self.sources), tuple(self.targets), context)


def _connection(field: Field, _: Arrays) -> _LoadedNode:
    parts = field.members((*_COMMON, "at_ns", *CONNECTION))
    node, attributes, at = parts["id"].node(), _attributes(parts["attributes"]), parts["at_ns"].stamp()
    ends = connection_in(parts)

    def make(parent: NodeId) -> Iterator[Change]:
        yield _RestoredConnection(
            parent=parent,
            sources=ends.sources,
            targets=ends.targets,
            start=ends.start,
            end=ends.end,
            attributes=attributes,
            at=at,
            id=node,
        )

    return _LoadedNode(node, "connection", attributes, make, at)


_READERS = {"group": _group, "frame": _frame, "geometry": _geometry, "connection": _connection}
