"""Payloads of nodes: shapes and the ends of connections, with their digests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from armillary.errors import InvalidArgument, InvalidShape
from armillary.errors.format import short_repr
from armillary.shapes import Levels, Shape
from armillary.stamps import as_stamp
from armillary.store.values import as_several

if TYPE_CHECKING:
    from armillary._core import ChangeRecord, NodeId

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection from some nodes to others, from `start` until `end`; None: without a start, without an end."""

    sources: tuple[NodeId, ...]
    targets: tuple[NodeId, ...]
    start: int | None = None
    end: int | None = None

    def holds_at(self, stamp: int) -> bool:
        """Whether the connection exists at an instant; `end` is excluded."""
        return (self.start is None or self.start <= stamp) and (self.end is None or stamp < self.end)

    def digest(self) -> bytes:
        """Return bytes that are equal for equal connections."""
        ends = [",".join(map(str, nodes)) for nodes in (self.sources, self.targets)]
        return sha256(f"connection|{ends[0]}|{ends[1]}|{self.start}|{self.end}".encode()).digest()


def shape_payload(shape: Shape, coarser: Sequence[Shape], *, is_always: bool) -> tuple[Levels, bytes]:
    """Return the payload of a geometry: its levels and their digest."""
    if not isinstance(shape, Shape):
        is_wrong = f"{short_repr(shape)} is no shape."
        raise InvalidShape(f"{is_wrong} Give one, as Box((x, y, z)); coarser ones of the thing go to levels=.", shape)
    levels = Levels((shape, *as_several(coarser, "levels")), is_always)
    return levels, _digest_of_levels(levels)


def _digest_of_levels(levels: Levels) -> bytes:
    since = b"always" if levels.is_always else b""
    return sha256(b"".join(level.digest() for level in levels) + since).digest()


def check_contents(records: Iterable[ChangeRecord]) -> None:
    """Refuse records of new nodes that do not carry what they name."""
    for record in records:
        if record.type == "add_node":
            check_content(record.kind, record.content, record.content_object)


def check_content(kind: str, digest: str, content: object) -> None:
    """Refuse what a record of somebody else carries, unless it is what a node of its kind carries, with its digest."""
    if content is None:
        return
    if kind == "geometry" and isinstance(content, Levels):
        found = _digest_of_levels(content)
    elif kind == "connection" and isinstance(content, Connection):
        found = content.digest()
    else:
        raise InvalidArgument(f"A record of a new {kind} carries {short_repr(content)}. Merge what `changes()` gave.")
    if found.hex() != digest:
        raise InvalidArgument(
            f"A record of a new {kind} carries another one than it names. Merge what `changes()` gave."
        )


def connection_payload(
    sources: tuple[NodeId, ...], targets: tuple[NodeId, ...], start: int | None, end: int | None
) -> tuple[Connection, bytes]:
    """Return the payload of a connection, and its digest."""
    start, end = as_stamp(start, "start"), as_stamp(end, "end")
    if start is not None and end is not None and end < start:
        raise InvalidArgument(f"The connection ends ({end}) before it starts ({start}). Swap them.", end)
    connection = Connection(sources, targets, start, end)
    return connection, connection.digest()
