"""Worlds in files: their structure as JSON, and fixed poses as YAML that people edit."""

from armillary.record._extrinsics import load_extrinsics, save_extrinsics
from armillary.record._loading import SavedWorld, read_world, restore
from armillary.record._prefixes import with_prefix
from armillary.record._saving import write_world

__all__ = ["SavedWorld", "load_extrinsics", "read_world", "restore", "save_extrinsics", "with_prefix", "write_world"]
