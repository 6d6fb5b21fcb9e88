"""MCAP files that are written chunk by chunk: whenever the program dies, what was flushed can be read."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path

from armillary._core import Chunk, crc32
from armillary.errors import InvalidArgument, UnwritableFile
from armillary.formats.logs.compression import COMPRESSIONS, compressed
from armillary.formats.logs.mcap import CHANNEL, CHUNK, DATA_END, HEADER, MAGIC, METADATA, SCHEMA

__all__ = ["McapWriter"]

_FOOTER, _CHUNK_INDEX, _STATISTICS, _METADATA_INDEX, _SUMMARY_OFFSET = 0x02, 0x08, 0x0B, 0x0D, 0x0E
_HEAD = struct.Struct("<BQ")
_MOST_CHANNELS = 65_000


class McapWriter:
    """A new file in the MCAP format.

    Attributes:
        path: Where it is.
        chunk: The messages that are not in the file yet.
        size: How many bytes the file has.
        messages: How many messages are in the file.
    """

    def __init__(self, path: Path, *, profile: str = "", compression: str = "", overwrite: bool = False) -> None:
        if compression not in COMPRESSIONS:
            known = ", ".join(map(repr, COMPRESSIONS))
            raise InvalidArgument(f"compression is one of {known}, got {compression!r}.", compression)
        compressed(b"", compression)  # it says here that a package is missing
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if overwrite else os.O_EXCL) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(path, flags, 0o666)
        except FileExistsError:
            raise InvalidArgument(f"'{path}' exists. Take another name, or give overwrite=True.", str(path)) from None
        except OSError as error:
            raise UnwritableFile(str(path), error.strerror or str(error)) from None
        self.path, self.chunk, self.size, self.messages = path, Chunk(), 0, 0
        self._compression, self._is_closed = compression, False
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._chunk_indexes: list[bytes] = []
        self._metadata: list[bytes] = []
        self._counts: dict[int, int] = {}
        self._span: tuple[int, int] | None = None
        self._write(MAGIC + _record(HEADER, _text(profile) + _text("armillary")))

    def schema(self, name: str, encoding: str, data: bytes) -> int:
        """Add the description of a kind of messages; return its number."""
        number = len(self._schemas) + 1
        content = struct.pack("<H", number) + _text(name) + _text(encoding) + struct.pack("<I", len(data)) + data
        self._schemas.append(_record(SCHEMA, content))
        self._write(self._schemas[-1])
        return number

    def channel(self, topic: str, schema: int, encoding: str, metadata: Mapping[str, str] | None = None) -> int:
        """Add a channel; return its number, which messages in `chunk` name."""
        number = len(self._channels) + 1
        if number > _MOST_CHANNELS:
            raise InvalidArgument(f"An MCAP file has at most {_MOST_CHANNELS} channels.", number)
        content = struct.pack("<HH", number, schema) + _text(topic) + _text(encoding) + _mapping(metadata or {})
        self._channels.append(_record(CHANNEL, content))
        self._write(self._channels[-1])
        return number

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Add what is said beside the messages."""
        record = _record(METADATA, _text(name) + _mapping(values))
        self._metadata.append(_record(_METADATA_INDEX, struct.pack("<QQ", self.size, len(record)) + _text(name)))
        self._write(record)

    def flush(self) -> None:
        """Write what is in `chunk` to the file."""
        if not len(self.chunk):
            return
        records, index, begins, counts, first, last = self.chunk.take()
        packed = compressed(records.tobytes(), self._compression) if self._compression else records.data
        head = struct.pack("<QQQI", first, last, len(records), crc32(records)) + _text(self._compression)
        content = head + struct.pack("<Q", len(packed))
        start, size = self.size, _HEAD.size + len(content) + len(packed)
        self._write(_HEAD.pack(CHUNK, len(content) + len(packed)) + content, packed, index)
        places = b"".join(struct.pack("<HQ", channel, start + size + at) for channel, at in begins.items())
        self._chunk_indexes.append(
            _record(
                _CHUNK_INDEX,
                struct.pack("<QQQQI", first, last, start, size, len(places))
                + places
                + struct.pack("<Q", len(index))
                + _text(self._compression)
                + struct.pack("<QQ", len(packed), len(records)),
            )
        )
        for channel, count in counts.items():
            self._counts[channel] = self._counts.get(channel, 0) + count
            self.messages += count
        self._span = (first, last) if self._span is None else (min(first, self._span[0]), max(last, self._span[1]))

    def close(self) -> None:
        """Write what is left and the summary, by which other programs find their way; safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self.flush()
            self._write(_record(DATA_END, struct.pack("<I", 0)))
            self._write(self._summary())
        finally:
            os.close(self._file)

    def abandon(self) -> None:
        """Close the file as it is, without a summary."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._file)

    def _summary(self) -> bytes:
        groups = {
            SCHEMA: self._schemas,
            CHANNEL: self._channels,
            _STATISTICS: [_record(_STATISTICS, self._statistics())],
            _CHUNK_INDEX: self._chunk_indexes,
            _METADATA_INDEX: self._metadata,
        }
        begin, parts, offsets = self.size, [], []
        place = begin
        for kind, records in groups.items():
            group = b"".join(records)
            if group:
                offsets.append(_record(_SUMMARY_OFFSET, struct.pack("<BQQ", kind, place, len(group))))
                parts.append(group)
                place += len(group)
        body = b"".join([*parts, *offsets])
        footer = _HEAD.pack(_FOOTER, 20) + struct.pack("<QQ", begin, place)
        crc = crc32(body + footer)
        return body + footer + struct.pack("<I", crc) + MAGIC

    def _statistics(self) -> bytes:
        first, last = self._span or (0, 0)
        counts = b"".join(struct.pack("<HQ", *entry) for entry in self._counts.items())
        many = (len(self._schemas), len(self._channels), 0, len(self._metadata), len(self._chunk_indexes))
        return struct.pack("<QHIIIIQQI", self.messages, *many, first, last, len(counts)) + counts

    def _write(self, *parts: bytes | memoryview) -> None:
        """Write all, if possible with one call of the system."""
        left = [memoryview(part) for part in parts]
        while left:
            done = os.writev(self._file, left)
            self.size += done
            while left and done >= len(left[0]):
                done -= len(left.pop(0))
            if left:
                left[0] = left[0][done:]


def _record(kind: int, content: bytes) -> bytes:
    return _HEAD.pack(kind, len(content)) + content


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def _mapping(values: Mapping[str, str]) -> bytes:
    data = b"".join(_text(key) + _text(value) for key, value in values.items())
    return struct.pack("<I", len(data)) + data
