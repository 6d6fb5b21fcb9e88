"""Scene files: JSON, with the arrays of point clouds and meshes beside it."""

from armillary.scene.files._reader import LoadedScene, PlacedAt, load_into, pose_in, read_scene, scene_in
from armillary.scene.files._writer import pose_fields, scene_document, write_scene, write_with_arrays

__all__ = [
    "LoadedScene",
    "PlacedAt",
    "load_into",
    "pose_fields",
    "pose_in",
    "read_scene",
    "scene_document",
    "scene_in",
    "write_scene",
    "write_with_arrays",
]
