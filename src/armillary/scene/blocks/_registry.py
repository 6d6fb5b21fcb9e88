"""Finding function blocks by name: ours, and those of installed packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument, UnknownBlock, UnusableBlock
from armillary.scene.blocks._block import FunctionBlock

if TYPE_CHECKING:
    from armillary.scene._scene import Scene

__all__ = ["GROUP", "block_class", "block_names", "make_block"]

GROUP = "armillary.blocks"

_OURS = {
    "associate_nearest": "armillary.scene.blocks.associate_nearest:AssociateNearest",
    "crop_to_box": "armillary.scene.blocks.point_clouds:CropToBox",
    "voxel_subsample": "armillary.scene.blocks.point_clouds:VoxelSubsample",
}


def block_names() -> list[str]:
    """The names of all installed blocks."""
    return sorted({*_OURS, *(point.name for point in entry_points(group=GROUP))})


def block_class(name: str) -> type[FunctionBlock]:
    """The class of the block with this name; those of other packages do not replace ours."""
    if not isinstance(name, str):
        raise InvalidArgument(f"A function block is loaded by its name, got {name!r}.", name)
    if name in _OURS:
        return _loaded(EntryPoint(name, _OURS[name], GROUP))
    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        raise UnknownBlock(name, block_names())
    offers = sorted({point.value for point in found})
    if len(offers) > 1:
        reason = f"several packages offer one of this name, {' and '.join(offers)}"
        raise UnusableBlock(name, reason, "Uninstall all but one, or make it of its class: Block(scene).")
    return _loaded(found[0])


def make_block(name: str, scene: Scene) -> FunctionBlock:
    """Make the block of this name for a scene."""
    kind = block_class(name)
    try:
        return kind(scene)
    except Exception as error:
        reason = f"making {kind.__module__}:{kind.__qualname__} raised {error!r}"
        raise UnusableBlock(name, reason, "Mend it, or what it needs.") from error


def _loaded(point: EntryPoint) -> type[FunctionBlock]:
    try:
        kind = point.load()
    except Exception as error:
        raise UnusableBlock(point.name, f"loading {point.value} raised {error!r}") from error
    if not (isinstance(kind, type) and issubclass(kind, FunctionBlock)):
        raise UnusableBlock(point.name, f"{point.value} is {kind!r}")
    return kind
