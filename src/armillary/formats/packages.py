"""Finding the files that a robot description refers to: `package://`, `model://`, `file://` and plain paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from armillary.errors import InvalidArgument

__all__ = ["FileFinder", "PackageFolders"]

PackageFolders = Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]]

_IN_PACKAGE = ("package://", "model://")
_PACKAGE_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
_LONGEST_MANIFEST = 100_000


class FileFinder:
    """Finds the files that another file refers to.

    It searches in this order: the given packages, the folders around the file itself, and the environment
    (`ROS_PACKAGE_PATH`, `AMENT_PREFIX_PATH`, `GZ_SIM_RESOURCE_PATH`).

    Args:
        packages: A mapping from a package to its folder, or folders that hold packages.
        beside: The folder of the file that names the others; None for a text.
    """

    def __init__(self, packages: PackageFolders = (), beside: Path | None = None) -> None:
        if isinstance(packages, str | os.PathLike):
            raise InvalidArgument(f"packages is a mapping or a list of folders, got {packages!r}. Pass it in a list.")
        self._beside = beside
        self._found: dict[str, Path | None] = {}
        self._paths: dict[str, str | None] = {}
        self._given: tuple[Path, ...] = ()
        if isinstance(packages, Mapping):
            self._found.update({name: Path(folder) for name, folder in packages.items()})
        else:
            self._given = tuple(map(Path, packages))

    def path_of(self, uri: str) -> str | None:
        """Return the path that a URI means, whether or not it exists; None where its package is not found."""
        if uri not in self._paths:
            self._paths[uri] = self._path_of(uri)
        return self._paths[uri]

    def _path_of(self, uri: str) -> str | None:
        if uri.startswith(_IN_PACKAGE):
            package, _, inside = uri.partition("://")[2].partition("/")
            return self._in_package(package, inside)
        if uri.startswith("file://"):
            return unquote(uri.removeprefix("file://"))
        if "://" in uri:
            return None
        path = Path(uri)
        return str(path if path.is_absolute() or self._beside is None else self._beside / path)

    def _in_package(self, package: str, inside: str) -> str | None:
        if package not in self._found:
            self._found[package] = self._find(package)
        folder = self._found[package]
        if folder is None or not _stays_inside(inside):
            return None
        is_plain = "//" not in inside and "./" not in inside and not inside.endswith((".", "/"))
        return f"{folder}/{inside}" if is_plain and inside and os.sep == "/" else str(folder / inside)

    def _find(self, package: str) -> Path | None:
        if not package or package in {".", ".."}:
            return None
        return next((folder for folder in self._candidates(package) if folder.is_dir()), None)

    def _candidates(self, package: str) -> Iterator[Path]:
        for folder in self._given:
            yield folder if _is_package(folder, package) else folder / package
        around = self._around
        yield from (folder for folder in around if _is_package(folder, package))
        yield from (folder / package for folder in (*around, *_from_environment()))

    @cached_property
    def _around(self) -> tuple[Path, ...]:
        beside = None if self._beside is None else self._beside.resolve()
        return () if beside is None else (beside, *list(beside.parents)[:-1])  # the root of the disk holds no packages


def _stays_inside(inside: str) -> bool:
    if ".." not in inside and not inside.startswith("/"):
        return True
    return not os.path.normpath(inside).startswith("..") and not inside.startswith("/")


def _is_package(folder: Path, package: str) -> bool:
    if folder.name == package:
        return True
    manifest = folder / "package.xml"
    if not manifest.is_file():
        return False
    with manifest.open(encoding="utf-8", errors="replace") as file:
        named = _PACKAGE_NAME.search(file.read(_LONGEST_MANIFEST))
    return named is not None and named[1] == package


def _from_environment() -> Iterator[Path]:
    for variable, inside in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"), ("GZ_SIM_RESOURCE_PATH", "")):
        yield from (Path(entry) / inside for entry in os.environ.get(variable, "").split(os.pathsep) if entry)
