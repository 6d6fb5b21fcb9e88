"""Compressed parts of logs; none may grow beyond what it says, nor beyond what is allowed."""

from __future__ import annotations

import bz2
import io
from collections.abc import Callable
from typing import Any

from armillary.errors import MissingExtra
from armillary.formats.logs.blocks import MAX_PART_BYTES

__all__ = ["COMPRESSIONS", "compressed", "decompressed"]

COMPRESSIONS = ("", "lz4", "zstd")
"""What chunks of new files may be compressed with."""


def decompressed(data: bytes | memoryview, kind: str, size: int) -> bytes | memoryview | None:
    """Return what was compressed; None where it is damaged, or has another size than it should.

    Args:
        data: What is in the file.
        kind: "", "none", "bz2", "lz4" or "zstd".
        size: How many bytes it must have afterwards.

    Raises:
        MissingExtra: The package for this compression is not installed.
    """
    if kind in {"", "none"}:
        return data if len(data) == size else None
    undo = _UNDO.get(kind)
    if undo is None or size > MAX_PART_BYTES:
        return None
    try:
        found = undo(bytes(data), size)
    except MissingExtra:
        raise
    except Exception:  # noqa: BLE001  (each package has errors of its own for damaged data)
        return None
    return found if len(found) == size else None


def compressed(data: bytes, kind: str) -> bytes:
    """Return data compressed by one of `COMPRESSIONS`."""
    if kind == "lz4":
        return bytes(_lz4().compress(data, store_size=False))
    if kind == "zstd":
        return bytes(_zstd().ZstdCompressor(level=1).compress(data))
    return data


def _lz4() -> Any:
    try:
        import lz4.frame  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingExtra("record", "lz4") from None
    return lz4.frame


def _zstd() -> Any:
    try:
        import zstandard  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingExtra("record", "zstandard") from None
    return zstandard


def _undo_bz2(data: bytes, size: int) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, max_length=size + 1)


def _undo_lz4(data: bytes, size: int) -> bytes:
    return bytes(_lz4().LZ4FrameDecompressor().decompress(data, max_length=size + 1))


def _undo_zstd(data: bytes, size: int) -> bytes:
    undo = _zstd().ZstdDecompressor(max_window_size=MAX_PART_BYTES)
    with undo.stream_reader(io.BytesIO(data)) as reader:
        return bytes(reader.read(size + 1))


_UNDO: dict[str, Callable[[bytes, int], bytes]] = {"bz2": _undo_bz2, "lz4": _undo_lz4, "zstd": _undo_zstd}
