"""Change records and samples of nodes in messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ChangeRecord, NodeId, Transform
from armillary.errors import ArmillaryError, InvalidMessage, UnknownNode
from armillary.formats.fields import Field
from armillary.scene import SetTransform
from armillary.scene.files import content_entries, contents_in
from armillary.store.nodes import TRANSFORM_KINDS
from armillary.wire.messages import pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeSample
    from armillary.store import Store

__all__ = [
    "NodeSamples",
    "all_node_samples",
    "from_tap",
    "node_samples_in",
    "pack_structure",
    "records_in",
    "store_node_samples",
    "vector_entry",
    "vector_in",
]

_ROW, _COVARIANCE = 7, 36
_MOST_RECORDS = 10_000_000
_CARRYING = ("geometry", "connection")

NodeSamples = list[tuple[NodeId, int, Transform, "NDArray[Any] | None"]]
"""Node, stamp [ns], pose, covariance or None."""


def pack_structure(header: dict[str, Any], records: Sequence[ChangeRecord], samples: NodeSamples) -> bytes:
    """Return a message with change records, what their nodes carry, and samples of nodes."""
    arrays: dict[str, NDArray[Any]] = {}
    contents = list(content_entries(records, arrays))
    rows = np.full((len(samples), _ROW + _COVARIANCE), np.nan)
    for row, (_, _, transform, covariance) in zip(rows, samples, strict=True):
        row[:_ROW] = transform.xyz_wxyz
        if covariance is not None:
            row[_ROW:] = np.ravel(covariance)
    entries = {
        "records": [record.to_json() for record in records],
        "contents": contents,
        "names": list(arrays),
        "nodes": [[str(node), at] for node, at, _, _ in samples],
    }
    return pack({**header, **entries}, [*arrays.values(), rows])


def records_in(header: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> list[ChangeRecord]:
    """Read the change records of a message.

    Raises:
        InvalidMessage: One of them is malformed; none of them is returned.
    """
    texts, names = header.get("records"), header.get("names")
    if not isinstance(texts, list) or len(texts) > _MOST_RECORDS or not isinstance(names, list):
        raise InvalidMessage("it has no records")
    if len(names) + 1 != len(arrays) or not all(isinstance(name, str) for name in names):
        raise InvalidMessage("its arrays are not named")
    field = Field(header.get("contents"), "a message", _refused)
    contents = contents_in(field, dict(zip(names, arrays, strict=False)))
    return [_record(text, contents) for text in texts]


def _refused(_file: str, place: str, reason: str, *_hint: str) -> InvalidMessage:
    return InvalidMessage(f"contents{place}: {reason}")


def _record(text: Any, contents: Mapping[str, Any]) -> ChangeRecord:
    if not isinstance(text, str):
        raise InvalidMessage("a record is no text")
    try:
        plain = json.loads(text)
        digest = plain.get("content") if isinstance(plain, dict) else None
        content = contents.get(digest) if isinstance(digest, str) else None
        record = ChangeRecord.from_json(text, content)
    except (ArmillaryError, TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(str(error).rstrip(".")) from None
    if record.type == "add_node" and record.kind in _CARRYING and content is None:
        raise InvalidMessage(f"what a {record.kind} carries is missing")
    return record


def node_samples_in(header: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> NodeSamples:
    """Read the samples of nodes of a message."""
    entries, rows = header.get("nodes"), arrays[-1] if arrays else np.empty((0, 0))
    if not isinstance(entries, list) or rows.shape != (len(entries), _ROW + _COVARIANCE) or rows.dtype != np.float64:
        raise InvalidMessage("its samples of nodes do not fit")
    found: NodeSamples = []
    for entry, row in zip(entries, rows, strict=True):
        try:
            node, at = entry
            pose = Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:_ROW])
            covariance = None if np.isnan(row[_ROW:]).any() else row[_ROW:].reshape(6, 6)
            found.append((NodeId(node), int(at), pose, covariance))
        except (ArmillaryError, TypeError, ValueError) as error:
            raise InvalidMessage(f"a sample of a node: {error}") from None
    return found


def from_tap(samples: Sequence[NodeSample]) -> NodeSamples:
    """Return samples of nodes as a tap has them."""
    return [(one.node, one.at, one.transform, one.covariance) for one in samples]


def all_node_samples(store: Store) -> NodeSamples:
    """Return the samples of every Transform of a store."""
    view, found = store.view(), []
    for record in store.records():
        if record.type != "add_node" or record.kind not in TRANSFORM_KINDS or not view.contains(record.node):
            continue
        stamps, transforms, covariances = store.node_samples(record.node)
        for i, at in enumerate(stamps.tolist()):
            spread = None if covariances is None or np.isnan(covariances[i]).any() else covariances[i]
            pose = Transform.from_xyz_wxyz(xyz=transforms[i, :3], wxyz=transforms[i, 3:])
            found.append((record.node, at, pose, spread))
    return found


def store_node_samples(store: Store, samples: NodeSamples) -> NodeSamples:
    """Store samples of nodes one by one; return those of nodes that are not known, or late."""
    left: NodeSamples = []
    for sample in samples:
        node, at, pose, covariance = sample
        change = SetTransform(node, pose, covariance, at)
        try:
            store.as_others(partial(store.apply, [change], for_undo=False))
        except UnknownNode:
            left.append(sample)
        except ArmillaryError:  # older than what is remembered, or of a node that is no transform any more
            continue
    return left


def vector_entry(vector: Mapping[int, Sequence[tuple[int, int]]]) -> list[Any]:
    """Return a version vector for a message."""
    return [[f"{author:016x}", [list(limits) for limits in ranges]] for author, ranges in sorted(vector.items())]


def vector_in(entry: Any) -> dict[int, list[tuple[int, int]]]:
    """Read a version vector of a message."""
    try:
        vector = {int(author, 16): [(int(first), int(last)) for first, last in ranges] for author, ranges in entry}
    except (TypeError, ValueError):
        raise InvalidMessage("it has no version vector") from None
    limits = [limit for ranges in vector.values() for limit in ranges]
    if not all(0 < first <= last < 2**63 for first, last in limits) or any(author >= 2**64 for author in vector):
        raise InvalidMessage("its version vector has impossible numbers")
    return vector
