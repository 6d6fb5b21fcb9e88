"""What kind of log a file is: by how it begins, not by its name."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from armillary.errors import InvalidLog, MissingFile
from armillary.formats.logs import mcap
from armillary.formats.logs.bag import BagFile
from armillary.formats.logs.bag2 import DatabaseFile, Folder
from armillary.formats.logs.files import opened
from armillary.formats.logs.mcap import McapFile
from armillary.formats.whole_files import as_file_path

if TYPE_CHECKING:
    from armillary.formats.logs.blocks import LogFile

__all__ = ["is_log", "open_log"]

_DATABASE = b"SQLite format 3\0"
_SUFFIXES = (".bag", ".mcap", ".db3", ".active")


def is_log(path: Path) -> bool:
    """Whether a path is named like a log: a bag, an MCAP file, or a folder of rosbag2."""
    if path.suffix in _SUFFIXES:
        return True
    return path.is_dir() and any(any(path.glob(pattern)) for pattern in ("*.db3", "*.mcap"))


def open_log(path: str | PathLike[str]) -> LogFile:
    """Open a log.

    Raises:
        MissingFile: It does not exist.
        InvalidLog: It is no log.
    """
    file = as_file_path(path)
    if not file.exists():
        raise MissingFile(str(file))
    if file.is_dir():
        return Folder.at(file)
    with opened(file) as content:
        head = content.read(64) or b""
    if head.startswith(mcap.MAGIC):
        return McapFile(file)
    if head.startswith(b"#ROS"):
        return BagFile(file)
    if head.startswith(_DATABASE):
        return DatabaseFile(file)
    hint = "A bag of ROS 1 (.bag), a folder of rosbag2, or an MCAP file (.mcap) is expected."
    raise InvalidLog(str(file), "it begins like none that is known" if head else "it is empty", hint)
