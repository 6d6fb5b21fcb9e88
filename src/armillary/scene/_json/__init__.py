"""Scenes in files: JSON, with the arrays of clouds and meshes beside it."""

from armillary.scene._json._loading import LoadedScene, load_into, read_scene
from armillary.scene._json._saving import write_scene

__all__ = ["LoadedScene", "load_into", "read_scene", "write_scene"]
