"""The kinds of nodes, and the frames that nodes create, recognised by their names."""

from __future__ import annotations

from armillary._core import NodeId

__all__ = ["CONTAINER_KINDS", "KINDS", "MOUNT", "TRANSFORM_KINDS", "is_of_a_node", "maker_of"]

TRANSFORM_KINDS = ("transform", "uncertain_transform")
"""The kinds that have a pose in their parent."""
CONTAINER_KINDS = ("group", *TRANSFORM_KINDS, "frame")
"""The kinds that may have children."""
KINDS = (*CONTAINER_KINDS, "geometry", "connection")

MOUNT = "/mount"
"""Ends the name of the frame in which a transform with several parents is placed."""


def maker_of(frame: str) -> NodeId | None:
    """The node that created a frame; None where the frame has another name than such nodes give."""
    try:
        return NodeId(frame.removesuffix(MOUNT))
    except ValueError:
        return None


def is_of_a_node(frame: str) -> bool:
    """Whether a node of the scene created this frame."""
    return maker_of(frame) is not None
