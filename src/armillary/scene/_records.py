"""Records of changes, as observers are told them."""

from __future__ import annotations

from dataclasses import replace
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
    SetTransform,
)
from armillary.scene.frame_records import frame_change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeGuard

    from armillary._core import ChangeRecord, NodeId

__all__ = ["change_of", "told_by", "told_of"]

_NOBODY = bytes(16)


def told_of(wishes: Iterable[tuple[Any, ...]], records: list[ChangeRecord]) -> list[Change]:
    """What observers are told of a batch, in its order: each wish made one record to tell of, a sample made none."""
    told = iter(told_by(records, is_there=lambda _: True))  # what leaves limbo here was mounted
    return [_sample(wish) if wish[0] == "set_transform" else _as_wished(next(told), wish) for wish in wishes]


def _sample(wish: tuple[Any, ...]) -> Change:
    _, node, (transform, covariance, *_), at = wish
    return SetTransform(node, transform, covariance, at)


def _as_wished(change: Change, wish: tuple[Any, ...]) -> Change:
    return replace(change, subtree=wish[3]) if isinstance(change, Remove) else change


def told_by(records: Iterable[ChangeRecord], *, is_there: Callable[[NodeId], bool]) -> list[Change]:
    """What observers are told of records: that a root which is mounted waits no longer goes without saying.

    One that waits no longer without being mounted is removed. `is_there` tells which nodes are left afterwards.
    """
    told: list[Change] = []
    is_mounted: dict[NodeId, bool] = {}  # those of which the records tell that
    for change in map(change_of, records):
        if isinstance(change, AddParent | Restore):
            is_mounted[change.id] = change.parent is not None
        if not _is_leaving_limbo(change):
            told.append(change)
        elif not (is_mounted[change.id] if change.id in is_mounted else is_there(change.id)):
            told.append(Remove(change.id, change.at))
    return told


def _is_leaving_limbo(change: Change) -> TypeGuard[RemoveParent]:
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
        return _joined(node, parent, at, is_restored=restores)
    if record.kind == "remove_parents":
        # It happened, whatever hung there.
        return Remove(node, at, subtree=True) if parent.bytes == _NOBODY else RemoveParent(node, parent, at)
    common = {"parent": parent, "attributes": attributes, "at": at, "id": node}
    if parent == LIMBO_NODE:
        return AddRemoteRoot(node, attributes, at)
    return AddFrameNode(placement[4], at) if kind == "frame" else _new_node(common, kind, payload, placement)


def _joined(node: NodeId, parent: NodeId, at: int, *, is_restored: bool) -> Change:
    if parent == LIMBO_NODE:
        return Restore(node, None, at)
    return Restore(node, parent, at) if is_restored else AddParent(node, parent, at)


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
