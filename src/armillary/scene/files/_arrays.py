"""Arrays in a file of their own: an `.npz` without compression and without pickles."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from armillary.errors import ArmillaryError
from armillary.formats.fields import Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["packed", "unpacked"]

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # equal arrays make equal files
_NUMBERS = "biuf"
_MAX_ARRAYS = 10_000_000


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, str]:
    """Pack arrays; returns the content of the file, and its SHA-256."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            npy.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _ZIP_DATE), member.getvalue())
    content = target.getvalue()
    return content, sha256(content).hexdigest()


def unpacked(reference: Field, beside: Path, max_bytes: int) -> dict[str, NDArray[Any]]:
    """Read the arrays file that a scene file names; refuses a file with another digest than it names."""
    parts = reference.members(("file", "sha256"))
    name = parts["file"].text()
    if not _is_plain(name):
        raise parts["file"].refused("the arrays must be in the same folder: a file name without folders is expected")
    content = _content(parts["file"], beside / name, max_bytes)
    if sha256(content).hexdigest() != parts["sha256"].text():
        raise parts["sha256"].refused(f"'{name}' is not the file that was saved with this one")
    return _members(parts["file"], content)


def _is_plain(name: str) -> bool:
    return bool(name) and name not in {".", ".."} and not set(name) & set("/\\:\0")


def _content(reference: Field, path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise reference.refused(f"it cannot be read ({error.strerror})") from None
    if len(content) > max_bytes:
        raise reference.refused(f"it is larger than what is left of max_bytes, {max_bytes} bytes")
    return content


def _members(reference: Field, content: bytes) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(reference, archive, len(content))
            return {info.filename.removesuffix(".npy"): _array(reference, archive, info) for info in archive.infolist()}
    except ArmillaryError:
        raise
    except Exception as error:  # noqa: BLE001  (a damaged file may make zipfile raise anything)
        raise reference.refused(f"it is no archive of arrays ({error})") from None


def _check_sizes(reference: Field, archive: zipfile.ZipFile, size: int) -> None:
    """Refuse members that are compressed or larger than the file: a small file cannot fill the memory."""
    members = archive.infolist()
    if len({info.filename for info in members}) != len(members) or len(members) > _MAX_ARRAYS:
        raise reference.refused("it holds an array twice, or too many")
    if any(info.compress_type != zipfile.ZIP_STORED for info in members):
        raise reference.refused("its arrays are compressed, and they must not be")
    if sum(info.file_size for info in members) > size:
        raise reference.refused("its arrays are declared larger than the file")


def _array(reference: Field, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    member = io.BytesIO(archive.read(info))
    try:
        shape, is_fortran, dtype = _header(member)
    except Exception as error:  # noqa: BLE001  (numpy parses headers as Python literals, which may raise anything)
        raise reference.refused(f"its member '{info.filename}' is no array ({error})") from None
    rest = member.read()
    try:
        return _shaped(rest, shape, dtype, is_fortran=is_fortran)
    except (TypeError, ValueError):  # numpy limits the number and lengths of axes
        reason = f"its member '{info.filename}' is declared as {dtype} of the shape {shape}, and is not that"
        raise reference.refused(reason) from None


def _shaped(data: bytes, shape: tuple[int, ...], dtype: np.dtype[Any], *, is_fortran: bool) -> NDArray[Any]:
    if dtype.kind not in _NUMBERS or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(shape)
    array = np.frombuffer(data, dtype)
    return array.reshape(shape[::-1]).T if is_fortran else array.reshape(shape)


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(member)
    if version == (1, 0):
        return npy.read_array_header_1_0(member)
    if version == (2, 0):
        return npy.read_array_header_2_0(member)
    raise ValueError(f"version {version}")
