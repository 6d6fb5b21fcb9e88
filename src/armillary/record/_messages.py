"""Messages of recordings: change records, and samples as a store keeps them, in protobuf that the file describes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidMessage
from armillary.formats.logs.protobuf import fields_of, file_set, length_field, length_head, number_field
from armillary.wire.messages import SampleMessage, pack, unpack

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = [
    "DESCRIPTION",
    "SAMPLES_TYPE",
    "STRUCTURE_TYPE",
    "RecordedSamples",
    "pack_header",
    "samples_in",
    "samples_message",
    "unpack_header",
]

STRUCTURE_TYPE, SAMPLES_TYPE = "armillary.Structure", "armillary.Samples"
DESCRIPTION = file_set(
    "armillary",
    {
        "Structure": [("header", "string"), ("arrays", "bytes")],
        "Samples": [
            ("channel", "uint32"),
            ("base_wall_ns", "uint64"),
            ("base_count", "uint32"),
            ("since_ns", "uint64"),
            ("width", "uint32"),
            ("stamps_ns", "repeated sfixed64"),
            ("rows", "repeated double"),
        ],
    },
)
"""What they are made of. `header` is JSON: channels, change records; `arrays` has what it lists, in that order."""

_HEAD, _MOST_WIDTH, _NUMBER = 8, 100_000, 8
_TWO_64, _SIGN = 2**64, 2**63


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSamples:
    """Samples of one channel, and since when they had not been taken out: each came between then and the log time."""

    since: int
    samples: SampleMessage


def pack_header(packed: bytes) -> bytes:
    """Return a general message (`wire.messages.pack`) as one of a recording."""
    size = struct.unpack_from("<I", packed, 4)[0]
    return length_field(1, packed[_HEAD : _HEAD + size]) + length_field(2, packed[_HEAD + size :])


def unpack_header(data: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Read such a message.

    Raises:
        InvalidMessage: It is none.
    """
    found = _fields(data)
    text, arrays = found.get(1, b""), found.get(2, b"")
    if not isinstance(text, bytes) or not isinstance(arrays, bytes):
        raise InvalidMessage("it is no structure")
    return unpack(b"".join([pack({})[:4], struct.pack("<I", len(text)), text, arrays]))


def samples_message(
    channel: int, base: Sequence[int], since: int, stamps: NDArray[int64], rows: NDArray[float64]
) -> list[bytes | NDArray[Any]]:
    """Return samples as the parts of a message."""
    numbers = (channel, base[0] % _TWO_64, base[1], since % _TWO_64, rows.shape[1])
    head = b"".join(number_field(1 + i, number) for i, number in enumerate(numbers))
    times, values = np.ascontiguousarray(stamps), np.ascontiguousarray(rows)
    return [head + length_head(6, times.nbytes), times, length_head(7, values.nbytes), values]


def samples_in(data: bytes) -> RecordedSamples:
    """Read such a message; the arrays are read-only.

    Raises:
        InvalidMessage: It is none.
    """
    found = _fields(data)
    head = [found.get(number, 0) for number in range(1, 6)]
    stamps, rows = found.get(6, b""), found.get(7, b"")
    is_whole = all(isinstance(number, int) for number in head)
    if not is_whole or not isinstance(stamps, bytes) or not isinstance(rows, bytes):
        raise InvalidMessage("it holds no samples")
    channel, wall, count, since, width = (int(number) for number in head if isinstance(number, int))
    if not 0 < width <= _MOST_WIDTH or len(stamps) % _NUMBER or len(rows) != len(stamps) * width or count >= 2**32:
        raise InvalidMessage("its sizes do not fit")
    times = np.frombuffer(stamps, "<i8")
    values = np.frombuffer(rows, "<f8").reshape(len(times), width)
    return RecordedSamples(_signed(since), SampleMessage(channel, 0, (_signed(wall), count), times, values))


def _signed(value: int) -> int:
    return value - _TWO_64 if value >= _SIGN else value


def _fields(data: bytes) -> dict[int, int | bytes]:
    try:
        return dict(fields_of(data))
    except ValueError as error:
        raise InvalidMessage(str(error)) from None
