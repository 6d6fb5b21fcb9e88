"""Records of changes, as observers are told them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._core import LIMBO_NODE
from armillary.scene._payloads import Connection
from armillary.scene.changes import (
    AddConnection,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Change,
    Remove,
    RemoveParent,
    Restore,
    RestoredTransform,
    RestoredUncertainTransform,
    SetAttributes,
)
from armillary.scene.frame_records import frame_change_of

if TYPE_CHECKING:
    from armillary._core import ChangeRecord

__all__ = ["change_of", "told_by"]

_NOBODY = bytes(16)


def told_by(records: list[ChangeRecord]) -> list[Change]:
    """What observers are told of records: that a root which is mounted waits no longer goes without saying."""
    return [change for record in records if not _is_leaving_limbo(change := change_of(record))]


def _is_leaving_limbo(change: Change) -> bool:
    return isinstance(change, RemoveParent) and change.parent == LIMBO_NODE


def change_of(record: ChangeRecord) -> Change:
    """What a record says, as a change that could be applied elsewhere."""
    if (of_frames := frame_change_of(record)) is not None:
        return of_frames
    _, _, _, _, _, at, node, _, parent, _, kind, payload, placement, _, restores, settings, _ = record.state()
    attributes = {key: value for key, _, value in settings}
    if record.kind == "set_attributes":
        return SetAttributes(node, attributes, at)
    if record.kind == "add_parent":
        return Restore(node, parent, at) if restores else AddParent(node, parent, at)
    if record.kind == "remove_parents":
        return Remove(node, at) if parent.bytes == _NOBODY else RemoveParent(node, parent, at)
    common = {"parent": parent, "attributes": attributes, "at": at, "id": node}
    if parent == LIMBO_NODE:
        return AddRemoteRoot(node, attributes, at)
    return AddFrameNode(placement[4], at) if kind == "frame" else _new_node(common, kind, payload, placement)


def _new_node(common: dict[str, Any], kind: str, payload: Any, placement: Any) -> Change:
    if placement is not None:
        return _new_transform(common, kind, placement)
    if payload is None:
        return AddGroup(**common)
    carried = payload[0]
    if isinstance(carried, Connection):
        ends: dict[str, Any] = {
            "sources": carried.sources,
            "targets": carried.targets,
            "start": carried.start,
            "end": carried.end,
        }
        return AddConnection(**common, **ends)
    shape, *coarser = carried
    since = None if carried.is_always else common["at"]
    return AddGeometry(**common | {"at": since}, shape=shape, levels=tuple(coarser))


def _new_transform(common: dict[str, Any], kind: str, placement: Any) -> Change:
    """What is restored may be a plain transform with a covariance, or an uncertain one without."""
    transform, covariance, is_fixed = placement[:3]
    given = common | {"transform": transform, "at": None if is_fixed else common["at"]}
    if kind == "transform":
        return AddTransform(**given) if covariance is None else RestoredTransform(**given, covariance=covariance)
    made = RestoredUncertainTransform if covariance is None else AddUncertainTransform
    return made(**given, covariance=covariance)
