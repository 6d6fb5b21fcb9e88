"""Messages of a share as bytes: checked before anything of them is used, and nothing in them is executed.

Two forms. A general message is a JSON header with arrays behind it. Samples have a header of fixed size, because there
are so many of them: kind, channel, sequence, base, then stamps, then rows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidMessage

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["MAX_BYTES", "VERSION", "SampleMessage", "pack", "pack_samples", "unpack", "unpack_samples"]

VERSION = 1
MAX_BYTES = 256_000_000
"""Larger messages are refused."""

_MAGIC, _SAMPLES = b"ARG1", b"ARS1"
_LENGTH = struct.Struct("<4sI")
_HEADER = struct.Struct("<4sHHIQqII")  # magic, flags, width, channel, sequence, base: wall and count; rows
_MAX_ROWS, _MAX_WIDTH, _MAX_ARRAYS, _MAX_DIMENSIONS = 1_000_000, 4096, 100_000, 4
_KINDS = {"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"}
_NUMBER = 8


def pack(header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """Return a header and arrays as one message."""
    given = [np.ascontiguousarray(array) for array in arrays]
    given = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in given]
    forms = [[array.dtype.str, list(array.shape)] for array in given]
    text = json.dumps({**header, "v": VERSION, "arrays": forms}, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(_MAGIC, len(text)), text, *(array.tobytes() for array in given)])


def unpack(data: bytes, *, max_bytes: int = MAX_BYTES) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Return the header and the arrays of a message; the arrays are read-only.

    Raises:
        InvalidMessage: It is none, of another version, too large, or its parts do not fit.
    """
    if len(data) > max_bytes:
        raise InvalidMessage(f"it has {len(data)} bytes, and {max_bytes} are the most")
    if len(data) < _LENGTH.size or data[:4] != _MAGIC:
        raise InvalidMessage("it does not begin like a message of Armillary")
    length = _LENGTH.unpack_from(data)[1]
    if length > len(data) - _LENGTH.size:
        raise InvalidMessage("it is cut off")
    try:
        header = json.loads(data[_LENGTH.size : _LENGTH.size + length])
    except (ValueError, RecursionError):
        raise InvalidMessage("its header is no JSON") from None
    if not isinstance(header, dict) or header.get("v") != VERSION:
        raise InvalidMessage(f"its version is not {VERSION}")
    return header, _arrays(header.get("arrays"), data, _LENGTH.size + length)


def _arrays(forms: Any, data: bytes, place: int) -> list[NDArray[Any]]:
    if not isinstance(forms, list) or len(forms) > _MAX_ARRAYS:
        raise InvalidMessage("its arrays are not listed")
    found = []
    for form in forms:
        kind, shape = _form(form)
        count = int(np.prod(shape, dtype=object))
        size = count * np.dtype(kind).itemsize
        if size > len(data) - place:
            raise InvalidMessage("its arrays are cut off")
        found.append(np.frombuffer(data, kind, count, place).reshape(shape))
        place += size
    if place != len(data):
        raise InvalidMessage("there is more behind its arrays")
    return found


def _form(form: Any) -> tuple[str, list[int]]:
    is_form = isinstance(form, list) and len(form) == 2 and isinstance(form[0], str) and isinstance(form[1], list)  # noqa: PLR2004
    if not is_form or form[0] not in _KINDS or len(form[1]) > _MAX_DIMENSIONS:
        raise InvalidMessage("an array has an unknown form")
    kind, shape = form
    if not all(isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= MAX_BYTES for size in shape):
        raise InvalidMessage("an array has an impossible size")
    return kind, shape


@dataclass(frozen=True, slots=True, eq=False)
class SampleMessage:
    """Samples of one channel.

    Attributes:
        channel: The sender's number of the relation, or of the joints that are given together.
        sequence: How many samples of the channel its sender sent before the first of these.
        base: The newest change of structure that the sender held.
        stamps: Their stamps [ns].
        rows: (N, width), as `SampleBatch.rows`.
    """

    channel: int
    sequence: int
    base: tuple[int, int]
    stamps: NDArray[int64]
    rows: NDArray[float64]


def pack_samples(
    channel: int, sequence: int, base: tuple[int, int], stamps: NDArray[int64], rows: NDArray[float64]
) -> bytes:
    """Return samples as one message."""
    count, width = rows.shape
    head = _HEADER.pack(_SAMPLES, 0, width, channel, sequence, base[0], base[1], count)
    return b"".join([head, stamps.tobytes(), rows.tobytes()])


def unpack_samples(data: bytes) -> SampleMessage:
    """Return the samples of a message; the arrays are read-only.

    Raises:
        InvalidMessage: It is none, or its parts do not fit.
    """
    if len(data) < _HEADER.size or data[:4] != _SAMPLES:
        raise InvalidMessage("it does not begin like samples of Armillary")
    _, flags, width, channel, sequence, wall, count, rows = _HEADER.unpack_from(data)
    if flags or not 0 < width <= _MAX_WIDTH or not 0 < rows <= _MAX_ROWS:
        raise InvalidMessage("its sizes are impossible")
    if len(data) != _HEADER.size + rows * _NUMBER * (1 + width):
        raise InvalidMessage("its length does not fit its sizes")
    stamps = np.frombuffer(data, "<i8", rows, _HEADER.size)
    values = np.frombuffer(data, "<f8", rows * width, _HEADER.size + rows * _NUMBER).reshape(rows, width)
    return SampleMessage(channel, sequence, (wall, count), stamps, values)
