"""The names that people gave to nodes, beside the frames that nodes make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import UnknownNode
from armillary.store.nodes import maker_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armillary._core import NodeId
    from armillary.store.store import Store

__all__ = ["names_of_nodes"]


def names_of_nodes(store: Store, frames: Iterable[str]) -> dict[str, str]:
    """Return, by frame, the attribute `name` of the node that made it."""
    makers = {frame: node for frame in frames if (node := maker_of(frame)) is not None}
    names = {frame: _name_of(store, node) for frame, node in makers.items()}
    return {frame: name for frame, name in names.items() if isinstance(name, str)}


def _name_of(store: Store, node: NodeId) -> object:
    try:
        return store.view().attributes(node).get("name")
    except UnknownNode:  # it is gone by now
        return None
