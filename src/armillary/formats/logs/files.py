"""Reading a file of records from its beginning, in parts, however it ends."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Self

from armillary.errors import InvalidLog, MissingFile, UnreadableFile
from armillary.formats.logs.blocks import MAX_PART_BYTES

__all__ = ["RecordFile", "opened"]

_READ_BYTES = 1 << 22


def opened(path: Path) -> IO[bytes]:
    """Open a regular file for reading.

    Raises:
        MissingFile: It does not exist.
        UnreadableFile: The system refuses to read it, or it is no regular file.
    """
    try:
        file = path.open("rb", buffering=0)
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise UnreadableFile(str(path), "it is no regular file")
    except FileNotFoundError:
        raise MissingFile(str(path)) from None
    except OSError as error:
        raise UnreadableFile(str(path), error.strerror or str(error)) from None
    return file


class RecordFile:
    """The whole records of a file, a few megabytes at a time.

    Attributes:
        path: Where it is.
        size: How many bytes it has.
        place: How many of them have been read.
        notes: What was found wrong.
    """

    def __init__(self, path: Path, index: Callable[[bytes], tuple[Any, ...]], notes: list[str]) -> None:
        self.path, self.notes, self.place = path, notes, 0
        self._index = index
        self._file = opened(path)
        self.size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def head(self, count: int) -> bytes:
        """Return the first bytes, and go on behind them."""
        data = self._read(count)
        self.place = len(data)
        return data

    def records(self) -> Iterator[tuple[bytes, tuple[Any, ...]]]:
        """Yield data with its index, as `index_mcap` and `index_bag` return it, until nothing whole is left."""
        rest = b""
        wanted = 0
        while True:
            data = rest + self._read(max(_READ_BYTES, wanted - len(rest)))
            if len(data) == len(rest):
                if rest:
                    self.note_end(len(rest))
                return
            found = self._index(data)
            end, wanted, is_malformed = found[5:]
            if end:
                self.place += end
                yield data, found
            if is_malformed:
                self.notes.append(f"what follows byte {self.place} is no record: only what is before it was read")
                return
            if wanted > MAX_PART_BYTES:
                self.notes.append(f"the record at byte {self.place} would have {wanted} bytes: reading ended there")
                return
            if wanted > self.size - self.place:
                self.note_end(self.size - self.place)
                return
            rest = data[end:] if end else data

    def note_end(self, left: int) -> None:
        """Note that the file ends within a record."""
        self.notes.append(f"the file is cut off: its last {left} bytes are no whole record")

    def _read(self, count: int) -> bytes:
        try:
            parts = []
            while count > 0 and (data := self._file.read(count)):
                parts.append(data)
                count -= len(data)
        except OSError as error:
            raise InvalidLog(str(self.path), error.strerror or str(error)) from None
        return b"".join(parts)
