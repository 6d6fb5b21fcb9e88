"""The frames that the nodes of a scene make, told from others by their names."""

from __future__ import annotations

from armillary._core import NodeId

__all__ = ["MOUNT", "is_of_a_node", "maker_of"]

MOUNT = "/mount"
"""Ends the name of the frame in which a Transform with several parents is placed."""


def maker_of(frame: str) -> NodeId | None:
    """The node that made a frame; None where somebody named it otherwise."""
    try:
        return NodeId(frame.removesuffix(MOUNT))
    except ValueError:
        return None


def is_of_a_node(frame: str) -> bool:
    """Whether a node of the scene made this frame."""
    return maker_of(frame) is not None
