"""Worlds in files: all that is structure as JSON, and fixed poses as YAML that people edit."""

from armillary.record._extrinsics import load_extrinsics, save_extrinsics
from armillary.record._reading import SavedWorld, read_world
from armillary.record._restoring import restore
from armillary.record._writing import write_world

__all__ = ["SavedWorld", "load_extrinsics", "read_world", "restore", "save_extrinsics", "write_world"]
