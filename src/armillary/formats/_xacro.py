"""Xacro, expanded by xacrodoc where that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from armillary.errors import InvalidRobotFile, MissingExtra
from armillary.formats._xml import Source, refuse_doctype, source_of
from armillary.formats.packages import PackageFolders

__all__ = ["expanded", "is_xacro"]


def is_xacro(path_or_text: str | PathLike[str]) -> bool:
    """Whether the name of a file says so."""
    return fspath(path_or_text).endswith(".xacro")


def expanded(path: str | PathLike[str], arguments: Mapping[str, str], packages: PackageFolders) -> Source:
    """The URDF that a file of xacro stands for; its lines are those of the expanded text."""
    source = source_of(path)
    refuse_doctype(source)
    try:
        xacrodoc = import_module("xacrodoc")
    except ModuleNotFoundError as missing:
        raise MissingExtra("xacro", "xacrodoc") from missing
    _tell(xacrodoc.packages, packages)
    try:
        document = xacrodoc.XacroDoc.from_file(fspath(path), subargs=dict(arguments), resolve_packages=False)
    except Exception as error:  # whatever an expression in the file raises
        reason = f"xacro cannot expand it: {type(error).__name__}: {error}"
        raise InvalidRobotFile(source.name, None, "", reason) from error
    return Source(f"{source.name} (expanded)", Path(fspath(path)), document.to_urdf_string())


def _tell(finder: Any, packages: PackageFolders) -> None:
    """Let `$(find package)` find what was given."""
    if isinstance(packages, Mapping):
        finder.update_package_cache(dict(packages))
    elif folders := [fspath(folder) for folder in packages]:
        finder.look_in(folders)
