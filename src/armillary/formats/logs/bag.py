"""Bags of ROS 1, read from their beginning: the index at their end is not needed, so that `.bag.active` is read too."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armillary._core import index_bag
from armillary.errors import InvalidLog
from armillary.formats.logs.blocks import Block, Topic
from armillary.formats.logs.compression import decompressed
from armillary.formats.logs.files import RecordFile

__all__ = ["MAGIC", "BagFile"]

MAGIC = b"#ROSBAG V2.0\n"
_CHUNK, _CONNECTION = 0x05, 0x07
_U32 = struct.Struct("<I")


class BagFile:
    """A bag of ROS 1.

    Attributes:
        path: Where it is.
        topics: By connection.
        notes: What was found wrong while it was read.
        size: How many bytes it has.
        place: How many of them have been read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.notes, self.topics, self.place = path, list[str](), dict[int, Topic](), 0
        with RecordFile(path, index_bag, []) as file:
            self.size, head = file.size, file.head(len(MAGIC))
        if head != MAGIC:
            is_older = head.startswith((b"#ROSBAG V1", b"#ROSRECORD"))
            hint = "Bring it to version 2.0 with ROS: rosbag fix old.bag new.bag" if is_older else ""
            raise InvalidLog(str(path), "it does not begin like a bag of version 2.0", hint)

    def blocks(self, start: int | None = None, end: int | None = None) -> Iterator[Block]:
        """Yield the messages that were written down from `start` until `end` [ns]."""
        self.notes.clear()
        with RecordFile(self.path, index_bag, self.notes) as file:
            file.head(len(MAGIC))
            for data, (channels, log_times, offsets, sizes, others, *_) in file.records():
                for kind, offset, size in others:
                    record = memoryview(data)[offset : offset + size]
                    if kind == _CONNECTION:
                        self._connection(record)
                    elif kind == _CHUNK and (block := self._chunk(record)) is not None and len(block):
                        self.place = file.place
                        yield block.within(start, end)
                    if self.notes:
                        return
                if len(channels):
                    yield Block(data, channels, log_times, offsets, sizes).within(start, end)

    def _chunk(self, record: memoryview) -> Block | None:
        fields, data = _record(record)
        kind, size = fields.get("compression", b"none").decode("ascii", "replace"), fields.get("size", b"")
        plain = decompressed(data, kind, _U32.unpack(size)[0]) if len(size) == _U32.size else None
        if plain is None:
            self.notes.append(f"a chunk after byte {self.place} is damaged ('{kind}'): only what is before it was read")
            return None
        channels, log_times, offsets, sizes, others, whole, _, _ = index_bag(plain)
        for number, offset, count in others:
            if number == _CONNECTION:
                self._connection(memoryview(plain)[offset : offset + count])
        if whole != len(plain):
            self.notes.append(f"a chunk after byte {self.place} holds something else than records")
        return Block(plain, channels, log_times, offsets, sizes)

    def _connection(self, record: memoryview) -> None:
        fields, data = _record(record)
        number, described = fields.get("conn", b""), _fields(bytes(data))
        if len(number) != _U32.size:
            return
        name = fields.get("topic", described.get("topic", b"")).decode("utf-8", "replace")
        kind = described.get("type", b"").decode("utf-8", "replace")
        told = {
            key: value.decode("utf-8", "replace") for key, value in described.items() if key != "message_definition"
        }
        definition = described.get("message_definition", b"")
        self.topics[_U32.unpack(number)[0]] = Topic(name, kind, "ros1", "ros1msg", definition, told)


def _record(record: memoryview) -> tuple[dict[str, bytes], memoryview]:
    """Return the fields of the header of a record, and its data."""
    (size,) = _U32.unpack_from(record)
    return _fields(bytes(record[_U32.size : _U32.size + size])), record[2 * _U32.size + size :]


def _fields(data: bytes) -> dict[str, bytes]:
    found: dict[str, Any] = {}
    place = 0
    while place + _U32.size <= len(data):
        (size,) = _U32.unpack_from(data, place)
        name, _, value = data[place + _U32.size : place + _U32.size + size].partition(b"=")
        found[name.decode("ascii", "replace")] = value
        place += _U32.size + size
    return found
