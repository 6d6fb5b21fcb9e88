"""Change records as changes that could be applied elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from armillary._core import DETACHED_NODE
from armillary.store.changes import (
    AddBody,
    AddConnection,
    AddFrame,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddJoints,
    AddParent,
    AddRelation,
    AddRemoteRoot,
    AddTransform,
    AddTwistRelation,
    AddUncertainTransform,
    Change,
    Drive,
    Fix,
    Forget,
    Prefer,
    PreferJoint,
    Release,
    Remove,
    RemoveBody,
    RemoveFrame,
    RemoveJoints,
    RemoveParent,
    RemoveRelation,
    ResetTime,
    Restore,
    RestoredTransform,
    RestoredUncertainTransform,
    RetractFrame,
    SetAttributes,
    SetTransform,
    Unfix,
)
from armillary.store.driven_forms import driven_form
from armillary.store.payloads import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from armillary._core import ChangeRecord, ChangeRequest, NodeId

__all__ = ["change_of", "changes_of_records", "changes_of_requests", "frame_change_of"]


def changes_of_requests(requests: Iterable[ChangeRequest], records: list[tuple[int, ChangeRecord]]) -> list[Change]:
    """Return the changes of a batch of requests, in its order; `records` come with the numbers of their requests.

    Each made one record, a sample none, a removal of frames also those that remove the nodes in them, and one of
    samples also those that take back what they leave empty: they follow from it.
    """
    made: list[Change] = []
    for row, request in enumerate(requests):
        own = [record for of_row, record in records if of_row == row]
        if request.type == "sample" and request.node is not None:
            made.append(SetTransform(request.node, request.transform, request.covariance, request.at))
        elif request.type == "forget":
            made.append(_removed_relation(own[-1]) if request.removes_relation else _forgotten(own[-1]))
        else:  # a remote root that is no longer detached was mounted
            made += [
                replace(change, subtree=request.with_frames_under) if isinstance(change, Remove) else change
                for change in changes_of_records(own, is_there=lambda _: True)
            ]
    return made


def changes_of_records(records: Iterable[ChangeRecord], *, is_there: Callable[[NodeId], bool]) -> list[Change]:
    """Return records as changes that could be applied elsewhere.

    A remote root that gets a parent leaves its detached state without a change of its own; one that leaves it without
    getting a parent is removed. `is_there` returns whether a node exists afterwards.
    """
    changes: list[Change] = []
    is_mounted: dict[NodeId, bool] = {}  # by remote root, where a record mounts or detaches it
    for change in map(change_of, records):
        if isinstance(change, AddParent | Restore):
            is_mounted[change.id] = change.parent is not None
        if not isinstance(change, RemoveParent) or change.parent != DETACHED_NODE:
            changes.append(change)
        elif not (is_mounted[change.id] if change.id in is_mounted else is_there(change.id)):
            changes.append(Remove(change.id, change.at))
    return changes


def change_of(record: ChangeRecord) -> Change:
    """Return a record as a change that could be applied elsewhere."""
    return (_OF_NODES | _OF_FRAMES)[record.type](record)


def _new_parent(record: ChangeRecord) -> Change:
    node, parent, at = record.node, record.parent, record.at
    if parent is None or parent == DETACHED_NODE:
        return Restore(node, None, at)
    return Restore(node, parent, at) if record.restores else AddParent(node, parent, at)


def _removal(record: ChangeRecord) -> Change:
    if record.parent is not None:
        return RemoveParent(record.node, record.parent, record.at)
    # It was accepted, whatever was placed in it: `subtree` lets it be applied elsewhere.
    return Remove(record.node, record.at, subtree=True)


def _new_node(record: ChangeRecord) -> Change:
    at = record.at
    if record.parent == DETACHED_NODE:
        return AddRemoteRoot(record.node, record.attributes, at)
    common: dict[str, Any] = {"parent": record.parent, "attributes": record.attributes, "at": at, "id": record.node}
    if record.kind == "connection":
        return _new_connection(common, record.content_object)
    common["frame"] = record.frame_name or None
    match record.kind:
        case "frame":
            return AddFrameNode(record.frame_name, at)
        case "group":
            return AddGroup(**common)
        case "geometry":
            shape, *coarser = levels = record.content_object
            return AddGeometry(**common | {"at": None if levels.is_always else at}, shape=shape, levels=tuple(coarser))
    return _new_transform(record, common)


def _new_connection(common: dict[str, Any], connection: Connection) -> Change:
    ends = {name: getattr(connection, name) for name in ("sources", "targets", "start", "end")}
    return AddConnection(**common, **ends)


def _new_transform(record: ChangeRecord, common: dict[str, Any]) -> Change:
    """Return the change of a new transform: restored ones may be plain with a covariance, or uncertain without."""
    covariance = record.covariance
    given = common | {"transform": record.transform, "at": None if record.is_fixed else common["at"]}
    if record.kind == "transform":
        return AddTransform(**given) if covariance is None else RestoredTransform(**given, covariance=covariance)
    made = RestoredUncertainTransform if covariance is None else AddUncertainTransform
    return made(**given, covariance=covariance)


_OF_NODES: dict[str, Callable[[ChangeRecord], Change]] = {
    "add_node": _new_node,
    "add_edge": _new_parent,
    "remove_edges": _removal,
    "set_attributes": lambda record: SetAttributes(record.node, record.attributes, record.at),
}


def frame_change_of(record: ChangeRecord) -> Change | None:
    """Return a record about frames as a change that could be applied elsewhere; None for one about nodes."""
    make = _OF_FRAMES.get(record.type)
    return None if make is None else make(record)


def _joints(kinds: dict[str, str | None]) -> Change:
    """Return the change of a record that either adds joints or removes them."""
    added = {name: kind for name, kind in kinds.items() if kind is not None}
    return AddJoints(added) if added else RemoveJoints(tuple(kinds))


def _asserted(record: ChangeRecord) -> Change:
    track, of, source = record.track
    since, in_frame, given = record.since, record.in_frame, {"of": of, "source": source}
    if track == "twist" and record.value_type == "sampled":
        return AddTwistRelation(**given, relative_to=in_frame)
    match record.value_type:
        case "empty":
            return _emptied(record)
        case "ended":
            return Release(**given, at=since)
        case "sampled":
            return AddRelation(**given, in_frame=in_frame, at=since, interpolation=record.interpolation)
        case "driven":
            return Drive(**given, in_frame=in_frame, at=since, form=driven_form(record.form))
    return Fix(
        **given,
        in_frame=in_frame,
        at=since,
        transform=record.transform,
        covariance=record.covariance,
        recalibrate=record.recalibrate,
        is_unsure=record.is_unsure,
        rank=record.rank,
    )


def _emptied(record: ChangeRecord) -> Change:
    """Return the change of a record that takes back what was asserted: samples under one parent, or a fixed pose."""
    track, of, source = record.track
    if record.value is None:
        return Unfix(of=of, source=source, at=record.since)
    return RemoveRelation(of=of, source=source, in_frame=record.value["empty"]["sampled_in"], kind=track)


def _forgotten(record: ChangeRecord) -> Change:
    """Return the change of a record that removes samples; its `end` is the first instant that stays."""
    return Forget(
        of=record.of,
        in_frame=record.in_frame,
        source=record.source,
        start=record.start,
        end=None if record.end is None else record.end - 1,
        kind=record.track_kind,
    )


def _removed_relation(record: ChangeRecord) -> Change:
    return RemoveRelation(of=record.of, in_frame=record.in_frame, source=record.source, kind=record.track_kind)


def _body(record: ChangeRecord) -> Change:
    return (AddBody if record.present else RemoveBody)(record.body, record.frames)


def _preferred(record: ChangeRecord) -> Change:
    ((kind, name),) = record.subject.items()
    when = {"source": record.source, "start": record.start, "end": record.end}
    return Prefer(of=name, **when) if kind == "frame" else PreferJoint(name, **when)


_OF_FRAMES: dict[str, Callable[[ChangeRecord], Change]] = {
    "forget": _forgotten,
    "assert": _asserted,
    "set_frames": lambda record: (AddFrame if record.present else RetractFrame)(record.names),
    "remove_frames": lambda record: RemoveFrame(record.names),
    "set_body": _body,
    "prefer": _preferred,
    "set_variables": lambda record: _joints(dict(record.variables)),
    "reset_time": lambda record: ResetTime(record.clock),
}
