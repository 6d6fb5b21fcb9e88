"""Expanding xacro, by xacrodoc. What xacro keeps for the whole process is put back after every file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from armillary.errors import InvalidRobotFile, MissingExtra
from armillary.forks import new_lock
from armillary.formats._xml import Source, read_source, reject_doctype
from armillary.formats.packages import PackageFolders

__all__ = ["expand_xacro"]

_one_at_a_time = new_lock()  # xacro keeps the file that it is in, and xacrodoc the packages, in globals


def expand_xacro(path: str | PathLike[str], arguments: Mapping[str, str], packages: PackageFolders) -> Source:
    """Expand a xacro file to URDF with xacrodoc; line numbers are those of the expanded text.

    Files that it includes are looked for beside the file that includes them.
    """
    source = read_source(path)
    reject_doctype(source)
    file = Path(fspath(path))
    try:
        xacrodoc = import_module("xacrodoc").xacrodoc
    except ModuleNotFoundError as missing:
        raise MissingExtra("xacro", "xacrodoc") from missing
    try:
        with _one_at_a_time, _only_for(xacrodoc, file.absolute(), packages):
            document = xacrodoc.XacroDoc.from_file(fspath(file), subargs=dict(arguments), resolve_packages=False)
            text = document.to_urdf_string()
    except Exception as error:  # an expression in the file may raise anything
        reason = f"xacro cannot expand it: {type(error).__name__}: {error}"
        raise InvalidRobotFile(source.name, None, "", reason) from error
    return Source(f"{source.name} (expanded)", file, text)


@contextmanager
def _only_for(xacrodoc: Any, file: Path, packages: PackageFolders) -> Iterator[None]:
    """Let xacro expand this file, with these packages, as if it were the first one."""
    finder = xacrodoc.packages
    xacrodoc.xacro.init_stacks(str(file))
    finder.reset()
    try:
        if isinstance(packages, Mapping):
            finder.update_package_cache(dict(packages))
        elif folders := [fspath(folder) for folder in packages]:
            finder.look_in(folders)
        yield
    finally:
        xacrodoc.xacro.init_stacks(None)
        finder.reset()
