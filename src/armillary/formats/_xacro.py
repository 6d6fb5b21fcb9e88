"""Xacro, expanded by xacrodoc where that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path

from armillary.errors import InvalidRobotFile, MissingExtra
from armillary.formats._xml import Source, source_of

__all__ = ["expanded", "is_xacro"]


def is_xacro(path_or_text: str | PathLike[str]) -> bool:
    """Whether the name of a file says so."""
    return fspath(path_or_text).endswith(".xacro")


def expanded(path: str | PathLike[str], arguments: Mapping[str, str]) -> Source:
    """The URDF that a file of xacro stands for; its lines are those of the expanded text."""
    source = source_of(path)
    try:
        xacrodoc = import_module("xacrodoc")
    except ModuleNotFoundError as missing:
        raise MissingExtra("xacro", "xacrodoc") from missing
    try:
        document = xacrodoc.XacroDoc.from_file(fspath(path), subargs=dict(arguments), resolve_packages=False)
    except Exception as error:  # whatever an expression in the file raises
        truth = f"xacro cannot expand it: {type(error).__name__}: {error}"
        raise InvalidRobotFile(source.name, None, "", truth) from error
    return Source(f"{source.name} (expanded)", Path(fspath(path)), document.to_urdf_string())
