"""Nodes and frames: the kinds of nodes, the frames that nodes create, and the nodes of other frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import UnknownNode
from armillary.store.names import recall_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armillary.store.store import Store

__all__ = [
    "CONTAINER_KINDS",
    "KINDS",
    "MOUNT",
    "TRANSFORM_KINDS",
    "id_of_frame",
    "is_of_a_node",
    "maker_of",
    "names_of_nodes",
    "node_of_frame",
]

TRANSFORM_KINDS = ("transform", "uncertain_transform")
"""The kinds that have a pose in their parent."""
CONTAINER_KINDS = ("group", *TRANSFORM_KINDS, "frame")
"""The kinds that may have children."""
KINDS = (*CONTAINER_KINDS, "geometry", "connection")

MOUNT = "/mount"
"""Ends the name of the frame in which a transform with several parents is placed."""
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


def names_of_nodes(store: Store, frames: Iterable[str]) -> dict[str, str]:
    """Return, by frame that has no name of its own, the attribute `name` of the node that created it."""
    found = {}
    for frame in frames:
        node = maker_of(frame)  # of a frame with a name of its own none is found
        try:
            name = None if node is None else store.view().attributes(node).get("name")
        except UnknownNode:  # removed
            continue
        if isinstance(name, str):
            found[frame] = name
    return found


def node_of_frame(store: Store, frame: str) -> tuple[NodeId, str]:
    """Return the id of the node that represents a frame, and the stored form of the frame's name."""
    if frame == store.root_frame:
        return ROOT_NODE, frame
    stored = recall_name(store, frame)
    return id_of_frame(store.frame_key(stored)), stored


def id_of_frame(stored: str) -> NodeId:
    """Return the id of the node that represents a frame: its maker, or a node with an id made of its name."""
    try:
        return NodeId(stored)
    except ValueError:
        return NodeId.of_name(_FRAME_SPACE, stored)
