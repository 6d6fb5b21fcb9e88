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
    Prefer,
    Release,
    Remove,
    RemoveFrame,
    RemoveJoints,
    RemoveParent,
    ResetTime,
    Restore,
    RestoredTransform,
    RestoredUncertainTransform,
    SetAttributes,
    SetTransform,
    Unfix,
)
from armillary.store.driven_forms import driven_form
from armillary.store.payloads import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from armillary._core import ChangeRecord, NodeId

__all__ = ["change_of", "changes_of_records", "changes_of_requests", "frame_change_of"]

_NIL = bytes(16)


def changes_of_requests(requests: Iterable[tuple[Any, ...]], records: list[ChangeRecord]) -> list[Change]:
    """Return the changes of a batch of requests, in its order: each made one record, a sample made none."""
    changes = iter(
        changes_of_records(records, is_there=lambda _: True)
    )  # a remote root that is no longer detached was mounted
    made: list[Change] = []
    for request in requests:
        if request[0] == "set_transform":
            _, node, (transform, covariance, *_), at = request
            made.append(SetTransform(node, transform, covariance, at))
            continue
        change = next(changes)
        made.append(replace(change, subtree=request[3]) if isinstance(change, Remove) else change)
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
    if (of_frames := frame_change_of(record)) is not None:
        return of_frames
    _, _, _, _, _, at, node, _, parent, _, kind, payload, placement, _, restores, settings, _ = record.state()
    attributes = {key: value for key, _, value in settings}
    if record.kind == "set_attributes":
        return SetAttributes(node, attributes, at)
    if record.kind == "add_parent":
        return _joined(node, parent, at, is_restored=restores)
    if record.kind == "remove_parents":
        # It was accepted, whatever was placed in it: `subtree` lets it be applied elsewhere.
        return Remove(node, at, subtree=True) if parent.bytes == _NIL else RemoveParent(node, parent, at)
    common = {"parent": parent, "attributes": attributes, "at": at, "id": node}
    if parent == DETACHED_NODE:
        return AddRemoteRoot(node, attributes, at)
    return AddFrameNode(placement[4], at) if kind == "frame" else _new_node(common, kind, payload, placement)


def _joined(node: NodeId, parent: NodeId, at: int, *, is_restored: bool) -> Change:
    if parent == DETACHED_NODE:
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
    """Return the change of a new transform: restored ones may be plain with a covariance, or uncertain without."""
    transform, covariance, is_fixed = placement[:3]
    given = common | {"transform": transform, "at": None if is_fixed else common["at"]}
    if kind == "transform":
        return AddTransform(**given) if covariance is None else RestoredTransform(**given, covariance=covariance)
    made = RestoredUncertainTransform if covariance is None else AddUncertainTransform
    return made(**given, covariance=covariance)


_FACT = 13
"""The index of what is asserted of frames in the state of a record."""


def frame_change_of(record: ChangeRecord) -> Change | None:
    """Return a record about frames as a change that could be applied elsewhere; None for one about nodes."""
    make = _MAKERS.get(record.kind)
    if make is None:
        return None
    of, in_frame, source, since, pose, recalibrate, frames, clock, form, joints = record.state()[_FACT]
    return make(
        {
            "of": of,
            "in_frame": in_frame,
            "source": source,
            "since": since,
            "pose": pose,
            "recalibrate": recalibrate,
            "frames": frames,
            "clock": clock,
            "form": form,
            "joints": dict(joints),
        }
    )


def _fix(fact: dict[str, Any]) -> Change:
    transform, covariance, is_unsure = fact["pose"]
    return Fix(
        **_edge(fact),
        at=fact["since"],
        transform=transform,
        covariance=covariance,
        recalibrate=fact["recalibrate"],
        is_unsure=is_unsure,
    )


def _edge(fact: dict[str, Any]) -> dict[str, Any]:
    return {key: fact[key] for key in ("of", "in_frame", "source")}


_MAKERS: dict[str, Callable[[dict[str, Any]], Change]] = {
    "add_frame": lambda fact: AddFrame(fact["frames"]),
    "fix": _fix,
    "unfix": lambda fact: Unfix(**_edge(fact), at=fact["since"]),
    "add_relation": lambda fact: AddRelation(**_edge(fact), at=fact["since"]),
    "add_twist_relation": lambda fact: AddTwistRelation(
        of=fact["of"], relative_to=fact["in_frame"], source=fact["source"]
    ),
    "add_body": lambda fact: AddBody(fact["of"], fact["frames"]),
    "prefer": lambda fact: Prefer(of=fact["of"], source=fact["source"]),
    "remove_frame": lambda fact: RemoveFrame(fact["frames"]),
    "reset_time": lambda fact: ResetTime(fact["clock"]),
    "add_joints": lambda fact: AddJoints(fact["joints"]),
    "remove_joints": lambda fact: RemoveJoints(tuple(fact["joints"])),
    "drive": lambda fact: Drive(**_edge(fact), at=fact["since"], form=driven_form(fact["form"])),
    "release": lambda fact: Release(of=fact["of"], at=fact["since"], source=fact["source"]),
}
