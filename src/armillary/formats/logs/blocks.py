"""What all files of logs have in common: topics, and blocks of messages in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy import int64, uint32, uint64
    from numpy.typing import NDArray

__all__ = ["MAX_PART_BYTES", "Block", "LogFile", "Part", "Topic", "grouped"]

MAX_PART_BYTES = 1 << 28
"""No part of a log that is read at once may be larger, before and after decompression."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One stream of messages of a log.

    Attributes:
        name: As "/tf".
        type: Of its messages, as "tf2_msgs/msg/TFMessage"; of ROS 1 as "tf2_msgs/TFMessage".
        encoding: Of its messages: "ros1", "cdr", "protobuf", "json" ...
        schema_encoding: Of the definition of the type: "ros2msg", "protobuf" ...
        schema: The definition of the type.
        metadata: What else is said about it.
    """

    name: str
    type: str
    encoding: str
    schema_encoding: str = ""
    schema: bytes = b""
    metadata: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Messages that lie in one piece of memory, in the order of the file.

    Attributes:
        data: Where the messages are parts of.
        channels: By message, the number of its topic.
        log_times: By message, when it was written down [ns].
        offsets: By message, where it begins in `data`.
        sizes: By message, how many bytes it has.
    """

    data: bytes | memoryview
    channels: NDArray[uint32]
    log_times: NDArray[int64]
    offsets: NDArray[uint64]
    sizes: NDArray[uint64]

    def __len__(self) -> int:
        return len(self.channels)

    def message(self, i: int) -> bytes:
        """Return the bytes of one message."""
        return bytes(self.data[self.offsets[i] : self.offsets[i] + self.sizes[i]])

    def within(self, start: int | None, end: int | None) -> Block:
        """Return those messages that were written down from `start` until `end`, both included."""
        keep = np.ones(len(self), dtype=bool)
        if start is not None:
            keep &= self.log_times >= start
        if end is not None:
            keep &= self.log_times <= end
        return self if keep.all() else self.at(np.flatnonzero(keep))

    def at(self, rows: NDArray[np.intp]) -> Block:
        """Return some of the messages."""
        return Block(self.data, self.channels[rows], self.log_times[rows], self.offsets[rows], self.sizes[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The messages of one topic in a block."""

    topic: Topic
    block: Block


class LogFile(Protocol):
    """A log that can be read from its beginning, any number of times.

    Attributes:
        path: Where it is.
        topics: By the number that messages have; more may come while it is read.
        notes: What was found wrong while it was read; complete after the last block.
    """

    path: Path
    topics: dict[int, Topic]
    notes: list[str]

    @property
    def size(self) -> int:
        """How many bytes it has."""

    @property
    def place(self) -> int:
        """How many bytes have been read."""

    def blocks(self, start: int | None = None, end: int | None = None) -> Iterator[Block]:
        """Yield the messages that were written down from `start` until `end` [ns]."""


def grouped(log: LogFile, block: Block) -> Iterator[Part]:
    """Yield the messages of a block topic by topic; those of channels that nobody declared are left out."""
    for number in np.unique(block.channels).tolist():
        if (topic := log.topics.get(number)) is not None:
            yield Part(topic, block.at(np.flatnonzero(block.channels == number)))
