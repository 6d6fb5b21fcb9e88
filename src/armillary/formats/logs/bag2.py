"""Bags of ROS 2: folders with SQLite databases or MCAP files; their `metadata.yaml` is not needed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from armillary.errors import InvalidLog
from armillary.formats.logs.blocks import MAX_PART_BYTES, Block, Topic
from armillary.formats.logs.mcap import McapFile

if TYPE_CHECKING:
    from armillary.formats.logs.blocks import LogFile

__all__ = ["DatabaseFile", "Folder"]

_MESSAGES_AT_ONCE = 2000
_QUERY = "SELECT id, topic_id, timestamp, data FROM messages WHERE timestamp >= ? AND timestamp <= ? ORDER BY id"
_LEAST, _MOST = -(2**63), 2**63 - 1


class DatabaseFile:
    """A database of rosbag2; attributes as `McapFile`."""

    def __init__(self, path: Path) -> None:
        self.path, self.notes, self.topics = path, list[str](), dict[int, Topic]()
        self.size, self.place = path.stat().st_size, 0
        with closing(self._connect()) as database:
            try:
                rows = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise InvalidLog(str(path), f"it is no database of rosbag2 ({error})") from None
        for number, name, kind, form in rows:
            if isinstance(number, int) and 0 <= number < 2**32:
                self.topics[number] = Topic(str(name), str(kind), str(form))

    def _connect(self) -> sqlite3.Connection:
        """Open it for reading: nothing is written beside it."""
        try:
            database = sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro&immutable=1", uri=True)
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_PART_BYTES)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise InvalidLog(str(self.path), str(error)) from None
        return database

    def blocks(self, start: int | None = None, end: int | None = None) -> Iterator[Block]:
        """Yield the messages that were written down from `start` until `end` [ns]."""
        self.notes.clear()
        self.place = 0
        with closing(self._connect()) as database:
            try:
                found = database.execute(_QUERY, (_LEAST if start is None else start, _MOST if end is None else end))
                while rows := found.fetchmany(_MESSAGES_AT_ONCE):
                    block = _block([row for row in rows if _is_message(row)])
                    self.place = min(self.size, self.place + len(block.data))
                    yield block
            except (sqlite3.Error, UnicodeDecodeError) as error:
                self.notes.append(f"the database is damaged ({error}): only what is before that was read")


def _is_message(row: tuple[object, ...]) -> bool:
    _, topic, log_time, data = row
    is_number = isinstance(topic, int) and 0 <= topic < 2**32 and isinstance(log_time, int)
    return is_number and isinstance(data, bytes)


def _block(rows: list[tuple[int, int, int, bytes]]) -> Block:
    sizes = np.array([len(row[3]) for row in rows], dtype=np.uint64)
    offsets = np.zeros(len(rows), dtype=np.uint64)
    np.cumsum(sizes[:-1], out=offsets[1:])
    channels = np.array([row[1] for row in rows], dtype=np.uint32)
    log_times = np.array([row[2] for row in rows], dtype=np.int64)
    return Block(b"".join(row[3] for row in rows), channels, log_times, offsets, sizes)


class Folder:
    """A folder of rosbag2, or several parts of one recording: one log after the other; attributes as `McapFile`."""

    def __init__(self, path: Path, files: list[LogFile]) -> None:
        self.path, self._files = path, files
        self.topics, self._numbers = dict[int, Topic](), dict[tuple[int, int], int]()
        self.notes: list[str] = []

    @classmethod
    def at(cls, path: Path) -> Folder:
        """Open the files of a folder, in the order of their names.

        Raises:
            InvalidLog: There are none.
        """
        databases = sorted(path.glob("*.db3"), key=_natural)
        files: list[LogFile] = [DatabaseFile(file) for file in databases]
        files += [McapFile(file) for file in sorted(path.glob("*.mcap"), key=_natural)]
        if not files:
            packed = sorted(file.name for file in path.glob("*.zstd"))
            hint = f"Unpack it first: zstd -d {packed[0]}" if packed else ""
            raise InvalidLog(str(path), "the folder has no .db3 and no .mcap file", hint)
        return cls(path, files)

    @property
    def size(self) -> int:
        """How many bytes all files have."""
        return sum(file.size for file in self._files)

    @property
    def place(self) -> int:
        """How many bytes have been read."""
        return sum(file.place for file in self._files)

    def blocks(self, start: int | None = None, end: int | None = None) -> Iterator[Block]:
        """Yield the messages that were written down from `start` until `end` [ns]."""
        self.notes.clear()
        for i, file in enumerate(self._files):
            for block in file.blocks(start, end):
                numbers = np.unique(block.channels)
                ours = np.array([self._number(i, file, number) for number in numbers.tolist()], dtype=np.uint32)
                channels = ours[np.searchsorted(numbers, block.channels)]
                yield Block(block.data, channels, block.log_times, block.offsets, block.sizes)
            self.notes += [f"{file.path.name}: {note}" for note in file.notes]

    def _number(self, i: int, file: LogFile, channel: int) -> int:
        number = self._numbers.setdefault((i, channel), len(self._numbers))
        if channel in file.topics:
            self.topics[number] = file.topics[channel]
        return number


def _natural(path: Path) -> list[object]:
    """Order by the numbers in a name: part 10 after part 9."""
    parts = []
    digits = ""
    for character in path.name:
        if character.isdigit():
            digits += character
            continue
        if digits:
            parts.append((1, int(digits), ""))
            digits = ""
        parts.append((0, 0, character))
    return [*parts, (1, int(digits), "")] if digits else list(parts)
