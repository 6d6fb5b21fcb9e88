"""Nodes and frames: the kinds of nodes, the frames that nodes create, and the nodes of other frames."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import InvalidArgument
from armillary.store.names import recall_name
from armillary.transforms import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from armillary._core import SceneView
    from armillary.store.store import Store
    from armillary.transforms import RelationInfo

__all__ = [
    "CONTAINER_KINDS",
    "KINDS",
    "MOUNT",
    "TRANSFORM_KINDS",
    "check_is_no_containment",
    "frame_or_digits",
    "frames_of_removed",
    "id_of_frame",
    "is_containment",
    "is_of_a_node",
    "maker_of",
    "names_in",
    "names_of_nodes",
    "node_of_frame",
    "without_nodes",
]

TRANSFORM_KINDS = ("transform", "uncertain_transform")
"""The kinds that have a pose in their parent."""
CONTAINER_KINDS = ("group", *TRANSFORM_KINDS, "frame")
"""The kinds that may have children."""
KINDS = (*CONTAINER_KINDS, "geometry", "connection")

MOUNT = "/mount"
"""Ends the name of the frame in which a transform with several parents is placed."""
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_FRAME_SPACE = "frame"
"""The namespace of the ids of nodes that represent frames, which are made of the names of the frames."""


def maker_of(frame: str) -> NodeId | None:
    """Return the node that a frame is named by: its id. Also frames of nodes may have names: `store.node_of_frame`."""
    try:
        return NodeId(frame.removesuffix(MOUNT))
    except ValueError:
        return None


def is_of_a_node(frame: str) -> bool:
    """Whether a frame is named by the id of a node of the scene, because it was given no name."""
    return maker_of(frame) is not None


def is_containment(store: Store, relation: RelationInfo) -> bool:
    """Whether a relation follows from where a node is: its source is the node that contains it."""
    return relation.kind == "fixed" and is_of_a_node(store.source_key(relation.of, relation.source))


def check_is_no_containment(store: Store, of: str | NodeId, source: str) -> None:
    """Raise where a source of a frame is a node that contains it: that ends only with the containment."""
    container = maker_of(source)
    if container is not None and store.view().contains(container):
        raise InvalidArgument(
            f"That '{store.frame_label(of)}' is in '{store.view().frame(container)}' follows from where a node is: "
            "move the node with scene.move(id, to=), or remove it with scene.remove(id).",
            source,
        )


def frames_of_removed(store: Store, parents: Mapping[str, object]) -> set[str]:
    """Return the frames without a parent whose nodes do not exist any more."""
    view = store.view()
    makers = {name: maker_of(store.frame_key(name)) for name, parent in parents.items() if parent is None}
    return {name for name, node in makers.items() if node is not None and not view.contains(node)}


def names_of_nodes(store: Store, frames: Iterable[str]) -> dict[str, str]:
    """Return, by frame that has no name of its own, the attribute `name` of the node that created it."""
    makers = {frame: node for frame in frames if (node := maker_of(frame)) is not None}
    names = store.view().names(makers.values())
    return {frame: names[node] for frame, node in makers.items() if node in names}


def frame_or_digits(view: SceneView, node: NodeId) -> str:
    """Return the name of the frame of a node in quotes; the first digits of its id where its frame has no name."""
    is_named = node == ROOT_NODE or view.frame_name(node) is not None or view.kind(node) == "frame"
    return repr(view.frame(node)) if is_named else str(node)[:8]


def names_in(store: Store, text: str) -> dict[str, str]:
    """Return what people call the nodes whose ids are in a text, by id; without those that have no name."""
    nodes = [NodeId(node) for node in dict.fromkeys(_ID.findall(text))]
    names = store.view().names(nodes) | ({ROOT_NODE: store.root_frame} if ROOT_NODE in nodes else {})
    return {str(node): name for node, name in names.items()}


def node_of_frame(store: Store, frame: str) -> tuple[NodeId, str]:
    """Return the id of the node that represents a frame, and the stored form of the frame's name."""
    if isinstance(frame, str) and frame == store.root_frame:
        return ROOT_NODE, frame
    stored = recall_name(store, frame)
    return id_of_frame(store.frame_key(stored)), stored


def id_of_frame(stored: str) -> NodeId:
    """Return the id of the node that represents a frame: its maker, or a node with an id made of its name."""
    try:
        return NodeId(stored)
    except ValueError:
        return NodeId.of_name(_FRAME_SPACE, stored)


def without_nodes(tree: Tree) -> Tree:
    """Return a tree without the frames of scene nodes, which are named by ids."""
    parents = {name: parent for name, parent in tree.parents.items() if not is_of_a_node(name)}
    placed = {name: None if parent is None or parent[0] not in parents else parent for name, parent in parents.items()}
    return Tree(placed, tree.notes, tree.names)
