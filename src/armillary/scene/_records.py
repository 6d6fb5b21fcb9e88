"""Records of changes, as observers are told them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._core import LIMBO_NODE
from armillary.scene.changes import (
    AddConnection,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Change,
    Remove,
    RemoveParent,
    SetAttributes,
)

if TYPE_CHECKING:
    from armillary._core import ChangeRecord, NodeId

__all__ = ["change_of"]

_NOBODY = bytes(16)


def change_of(record: ChangeRecord) -> Change:
    """What a record says, as a change that could be applied elsewhere."""
    _, _, _, _, _, at, node, _, parent, _, kind, payload, placement, settings, _ = record.state()
    attributes = {key: value for key, _, value in settings}
    if record.kind == "add_node":
        return _new_node(node, parent, kind, attributes, at, payload, placement)
    if record.kind == "set_attributes":
        return SetAttributes(node, attributes, at)
    if record.kind == "add_parent":
        return AddParent(node, parent, at)
    return Remove(node, at) if parent.bytes == _NOBODY else RemoveParent(node, parent, at)


def _new_node(
    node: NodeId, parent: NodeId, kind: str, attributes: dict[str, Any], at: int, payload: Any, placement: Any
) -> Change:
    if placement is not None and kind != "frame":
        return _new_transform(node, parent, attributes, at, placement)
    if kind == "geometry":
        shape, *coarser = payload[0]
        return AddGeometry(
            parent=parent, shape=shape, levels=tuple(coarser), attributes=attributes, at=at, id=node
        )
    if kind == "connection":
        tie = payload[0]
        return AddConnection(
            parent=parent,
            sources=tie.sources,
            targets=tie.targets,
            start=tie.start,
            end=tie.end,
            attributes=attributes,
            at=at,
            id=node,
        )
    if parent == LIMBO_NODE:
        return AddRemoteRoot(node, attributes, at)
    return AddGroup(parent=parent, attributes=attributes, at=at, id=node)


def _new_transform(node: NodeId, parent: NodeId, attributes: dict[str, Any], at: int, placement: Any) -> Change:
    transform, covariance, is_fixed = placement[:3]
    valid_from = None if is_fixed else at
    if covariance is None:
        return AddTransform(parent=parent, transform=transform, at=valid_from, attributes=attributes, id=node)
    return AddUncertainTransform(
        parent=parent, transform=transform, covariance=covariance, at=valid_from, attributes=attributes, id=node
    )
