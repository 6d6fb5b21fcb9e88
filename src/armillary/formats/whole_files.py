"""Files that are read and replaced as a whole.

All that the library saves is written by `write_whole`. What the system refuses becomes an error of the library, which
is an `OSError` too.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument, MissingFile, UnreadableFile, UnwritableFile

if TYPE_CHECKING:
    from armillary.formats.fields import FileError

__all__ = ["as_file_path", "read_bytes", "read_regular", "target_of", "write_whole"]

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NEW_MODE = 0o666  # less what the umask of the process takes away
_LEFT_BEHIND_S = 3600.0
"""A temporary file as old as this is of a process that was killed."""


def as_file_path(path: str | PathLike[str]) -> Path:
    """Return a path that can be that of a file."""
    if not isinstance(path, str | PathLike):
        raise InvalidArgument(f"A file is named by a str or a Path, got {type(path).__name__}.", path)
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidArgument(f"{name!r} is no path of a file. Give a str such as 'kitchen.json'.", path)
    return Path(name)


def read_bytes(path: Path, max_bytes: int, error: FileError) -> bytes:
    """Read a whole file; raises the error of this kind of file where it is too large, or a pipe that has no end."""
    data = read_regular(path, max_bytes, lambda reason: error(str(path), "", reason))
    if data is None:
        raise error(str(path), "", f"it is larger than max_bytes, {max_bytes} bytes")
    return data


def read_regular(path: Path, max_bytes: int, refused: Callable[[str], Exception]) -> bytes | None:
    """Read a regular file; None where it is larger than `max_bytes`.

    It is opened without waiting for a writer and checked afterwards, so that no pipe can be put in its place between.

    Raises:
        MissingFile: It does not exist.
        UnreadableFile: The system refuses to read it.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise refused("it is no regular file")
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise MissingFile(str(path)) from None
    except IsADirectoryError:
        raise UnreadableFile(str(path), "it is a folder") from None
    except OSError as error:
        raise UnreadableFile(str(path), error.strerror or str(error)) from None
    return None if len(data) > max_bytes else data


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def target_of(path: Path) -> Path:
    """Return the file that is written where `path` is given: where symbolic links lead."""
    try:
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except OSError as error:
        raise UnwritableFile(str(path), error.strerror or str(error)) from None


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file as a whole, or leave it as it was.

    The content is on the disk before the old one goes. A symbolic link stays, and the file that it leads to is
    replaced. Permissions stay; a file that nobody may write is refused.

    Raises:
        UnwritableFile: The system refuses to write it; nothing has changed.
    """
    try:
        _replace(target_of(path), content)
    except OSError as error:
        if isinstance(error, UnwritableFile):
            raise
        raise UnwritableFile(str(path), error.strerror or str(error)) from error


def _replace(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        raise UnwritableFile(str(path), f"there is no folder '{path.parent}'")
    mode = _mode_to_keep(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_MODE if mode is None else mode & 0o700)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _keep_folder(path.parent)
    _remove_left_behind(path)


def _mode_to_keep(path: Path) -> int | None:
    """Return the permissions of the file that is replaced; None where there is none."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise UnwritableFile(str(path), "it is a folder")
    if not stat.S_ISREG(mode):
        raise UnwritableFile(str(path), "it is no regular file")
    if not mode & _WRITABLE or not os.access(path, os.W_OK):
        raise UnwritableFile(str(path), "it is read-only")
    return stat.S_IMODE(mode)


def _keep_folder(folder: Path) -> None:
    """Let the new name survive a power cut; some file systems cannot, and the file is whole on them as well."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_left_behind(path: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote this file."""
    ours = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{16}")
    with contextlib.suppress(OSError):
        for name in filter(ours.fullmatch, os.listdir(path.parent)):  # noqa: PTH208  (names are enough)
            left = path.with_name(name)
            if time.time() - left.lstat().st_mtime > _LEFT_BEHIND_S:
                left.unlink(missing_ok=True)
