"""Where blocks come from."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from armillary.errors import InvalidArgument, UnknownBlock, UnusableBlock
from armillary.scene.blocks._block import FunctionBlock

__all__ = ["GROUP", "block_class", "block_names"]

GROUP = "armillary.blocks"

_OURS = {
    "associate_nearest": "AssociateNearest",
    "crop_to_box": "CropToBox",
    "voxel_subsample": "VoxelSubsample",
}


def block_names() -> list[str]:
    """Every block that is installed."""
    return sorted({*_OURS, *(point.name for point in entry_points(group=GROUP))})


def block_class(name: str) -> type[FunctionBlock]:
    """The block of this name; ours are not replaced by those of others."""
    if not isinstance(name, str):
        raise InvalidArgument(f"A function block is loaded by its name, got {name!r}.", name)
    if name in _OURS:
        ours: type[FunctionBlock] = getattr(import_module(f"armillary.scene.blocks.{name}"), _OURS[name])
        return ours
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        raise UnknownBlock(name, block_names())
    return _loaded(found[0])


def _loaded(point: EntryPoint) -> type[FunctionBlock]:
    try:
        kind = point.load()
    except Exception as error:
        raise UnusableBlock(point.name, f"loading {point.value} raised {error!r}") from error
    if not (isinstance(kind, type) and issubclass(kind, FunctionBlock)):
        raise UnusableBlock(point.name, f"{point.value} is {kind!r}")
    return kind
