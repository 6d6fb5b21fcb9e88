"""Models that SDFormat includes from files of their own."""

from __future__ import annotations

from pathlib import Path

from armillary.formats._sdf_values import is_true
from armillary.formats._xml import Element, parsed, source_of
from armillary.formats.packages import FileFinder

__all__ = ["included"]

_MANIFEST = "model.config"


def included(include: Element, files: FileFinder) -> Element:
    """The `<model>` that an `<include>` brings."""
    if is_true(include.get("merge")):
        raise include.refused("merging included models is not supported", "Include it without merge.")
    uri = include.needed_child("uri").text
    path = files.path_of(uri) if uri else None
    if path is None or not Path(path).exists():
        hint = "Pass packages={name: folder} or a list of folders that hold models."
        raise include.refused(f"the model '{uri}' is not found", hint)
    root = parsed(source_of(_file_in(Path(path), include)))
    models = list(root.children("model")) if root.tag == "sdf" else []
    if len(models) != 1:
        raise root.refused(f"it is included in '{include.source.name}', and holds {len(models)} models instead of one")
    return models[0]


def _file_in(path: Path, include: Element) -> Path:
    """A folder names its file in a manifest, the newest version last."""
    if path.is_file():
        return path
    manifest = path / _MANIFEST
    if not manifest.is_file():
        return path / "model.sdf"
    named = [entry for entry in parsed(source_of(manifest)).children("sdf") if entry.text]
    if not named or "/" in named[-1].text or named[-1].text.startswith("."):
        raise include.refused(f"the manifest '{manifest}' names no file beside it")
    return path / named[-1].text
