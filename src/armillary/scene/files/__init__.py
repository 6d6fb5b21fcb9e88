"""Scene files: JSON, with the arrays of point clouds and meshes beside it; saved worlds share parts of it."""

from armillary.scene.files._arrays import unpacked
from armillary.scene.files._contents import (
    CONNECTION,
    connection_entry,
    connection_in,
    content_entries,
    contents_in,
    shape_entry,
    shape_in,
)
from armillary.scene.files._reader import LoadedScene, PlacedAt, load_into, pose_in, read_scene, samples_in, scene_in
from armillary.scene.files._writer import JsonLines, document_text, pose_fields, write_scene, write_with_arrays

__all__ = [
    "CONNECTION",
    "JsonLines",
    "LoadedScene",
    "PlacedAt",
    "connection_entry",
    "connection_in",
    "content_entries",
    "contents_in",
    "document_text",
    "load_into",
    "pose_fields",
    "pose_in",
    "read_scene",
    "samples_in",
    "scene_in",
    "shape_entry",
    "shape_in",
    "unpacked",
    "write_scene",
    "write_with_arrays",
]
