"""Scene files: JSON, with the arrays of point clouds and meshes beside it."""

from armillary.scene.files._fields import Field, parsed
from armillary.scene.files._reader import (
    LoadedScene,
    PlacedAt,
    checked,
    load_into,
    pose_in,
    read_bytes,
    read_scene,
    scene_in,
)
from armillary.scene.files._writer import pose_fields, scene_document, write_scene, write_whole, write_with_arrays

__all__ = [
    "Field",
    "LoadedScene",
    "PlacedAt",
    "checked",
    "load_into",
    "parsed",
    "pose_fields",
    "pose_in",
    "read_bytes",
    "read_scene",
    "scene_document",
    "scene_in",
    "write_scene",
    "write_whole",
    "write_with_arrays",
]
