"""MCAP files, read from their beginning: an index or a summary is not needed, so that what was cut off is read too."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armillary._core import crc32, index_mcap
from armillary.errors import InvalidLog
from armillary.formats.logs.blocks import MAX_PART_BYTES, Block, Topic
from armillary.formats.logs.compression import decompressed
from armillary.formats.logs.files import RecordFile

__all__ = ["CHANNEL", "CHUNK", "HEADER", "MAGIC", "METADATA", "SCHEMA", "McapFile"]

MAGIC = b"\x89MCAP0\r\n"
HEADER, SCHEMA, CHANNEL, CHUNK, METADATA, DATA_END = 0x01, 0x03, 0x04, 0x06, 0x0C, 0x0F
_CHUNK_HEAD = struct.Struct("<QQQI")
_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")


class _MalformedError(ValueError):
    """A record does not hold what it should."""


class McapFile:
    """A file in the MCAP format.

    Attributes:
        path: Where it is.
        topics: By channel.
        notes: What was found wrong while it was read.
        size: How many bytes it has.
        place: How many of them have been read.
        profile: Of whom the messages are, as "ros2".
        metadata: By name, what is said beside the messages.
        is_closed: Whether who wrote it came to its end; known once everything was read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.notes, self.topics = path, list[str](), dict[int, Topic]()
        self.profile, self.metadata, self.is_closed = "", dict[str, dict[str, str]](), False
        self.place = 0
        self._schemas: dict[int, tuple[str, str, bytes]] = {}
        with RecordFile(path, index_mcap, []) as file:
            self.size = file.size
            if file.head(len(MAGIC)) != MAGIC:
                raise InvalidLog(str(path), "it does not begin like an MCAP file")

    def blocks(self, start: int | None = None, end: int | None = None) -> Iterator[Block]:
        """Yield the messages that were written down from `start` until `end` [ns]."""
        self.notes.clear()
        self.is_closed = False
        with RecordFile(self.path, index_mcap, self.notes) as file:
            file.head(len(MAGIC))
            for data, found in file.records():
                for block in self._blocks_in(data, found, start, end):
                    self.place = file.place
                    yield block
                if self.is_closed or self.notes:
                    return
            if not self.notes and not self.is_closed:
                self.notes.append("the file was not closed by who wrote it")

    def _blocks_in(self, data: bytes, found: tuple[Any, ...], start: int | None, end: int | None) -> Iterator[Block]:
        """Yield the messages of some records: first those that lie there alone, then those in chunks."""
        channels, log_times, offsets, sizes, others, *_ = found
        try:
            for kind, offset, size in others:
                if kind == DATA_END:
                    self.is_closed = True
                    break
                if kind in {SCHEMA, CHANNEL, METADATA, HEADER}:
                    self._take(kind, data[offset : offset + size])
                elif kind == CHUNK:
                    yield from self._chunk(data, offset, size, start, end)
        except _MalformedError as error:
            self.notes.append(f"{error}: only what is before it was read")
        if len(channels):
            yield Block(data, channels, log_times, offsets, sizes).within(start, end)

    def _chunk(self, data: bytes, offset: int, size: int, start: int | None, end: int | None) -> Iterator[Block]:
        where = f"the chunk {offset} bytes further than byte {self.place}"
        if size < _CHUNK_HEAD.size + _U32.size + _U64.size:
            raise _MalformedError(f"{where} is too short")
        first, last, plain_size, crc = _CHUNK_HEAD.unpack_from(data, offset)
        kind, place = _text(data, offset + _CHUNK_HEAD.size, offset + size)
        if place + _U64.size > offset + size:
            raise _MalformedError(f"{where} is too short")
        (packed_size,) = _U64.unpack_from(data, place)
        place += _U64.size
        if packed_size != offset + size - place or plain_size > MAX_PART_BYTES:
            raise _MalformedError(f"{where} has impossible sizes")
        plain = decompressed(memoryview(data)[place : place + packed_size], kind, plain_size)
        if plain is None:
            raise _MalformedError(f"{where} cannot be decompressed ('{kind}')")
        if crc and crc32(plain) != crc:
            raise _MalformedError(f"{where} is damaged: its checksum does not fit")
        channels, log_times, offsets, sizes, others, _, _, _ = found = index_mcap(plain)
        for record, at, count in others:
            if record in {SCHEMA, CHANNEL}:
                self._take(record, bytes(plain[at : at + count]))
        is_wanted = (start is None or last >= start) and (end is None or first <= end)
        if is_wanted and len(channels):
            yield Block(plain, channels, log_times, offsets, sizes).within(start, end)
        if found[5] != len(plain):
            raise _MalformedError(f"{where} holds something else than records")

    def _take(self, kind: int, record: bytes) -> None:
        try:
            if kind == HEADER:
                self.profile, _ = _text(record, 0, len(record))
            elif kind == SCHEMA:
                number = _U16.unpack_from(record)[0]
                name, place = _text(record, _U16.size, len(record))
                encoding, place = _text(record, place, len(record))
                self._schemas[number] = (name, encoding, record[place + _U32.size :])
            elif kind == CHANNEL:
                self._take_channel(record)
            elif kind == METADATA:
                name, place = _text(record, 0, len(record))
                self.metadata[name] = _mapping(record, place)
        except struct.error:
            raise _MalformedError(f"a record before byte {self.place} is too short") from None

    def _take_channel(self, record: bytes) -> None:
        number, schema = struct.unpack_from("<HH", record)
        name, place = _text(record, 4, len(record))
        encoding, place = _text(record, place, len(record))
        kind, schema_encoding, definition = self._schemas.get(schema, ("", "", b""))
        self.topics[number] = Topic(name, kind, encoding, schema_encoding, definition, _mapping(record, place))


def _text(data: bytes, place: int, end: int) -> tuple[str, int]:
    """Read a text; return it and where it ends."""
    if place + _U32.size > end:
        raise _MalformedError("a record is too short for its text")
    (size,) = _U32.unpack_from(data, place)
    place += _U32.size
    if size > end - place:
        raise _MalformedError("a text reaches beyond its record")
    return data[place : place + size].decode("utf-8", "replace"), place + size


def _mapping(data: bytes, place: int) -> dict[str, str]:
    if place + _U32.size > len(data):
        raise _MalformedError("a record is too short for its metadata")
    end = place + _U32.size + _U32.unpack_from(data, place)[0]
    place += _U32.size
    if end > len(data):
        raise _MalformedError("metadata reach beyond their record")
    found = {}
    while place < end:
        key, place = _text(data, place, end)
        found[key], place = _text(data, place, end)
    return found
