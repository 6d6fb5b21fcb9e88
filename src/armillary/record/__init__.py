"""Worlds in files: recordings and their replay, their structure as JSON, fixed poses as YAML that people edit."""

from armillary.record._extrinsics import load_extrinsics, save_extrinsics
from armillary.record._loading import SavedWorld, read_world, restore
from armillary.record._prefixes import with_prefix
from armillary.record._recording import Recording, RecordingOptions
from armillary.record._replaying import Replay, is_recording, recorded_settings
from armillary.record._saving import write_world
from armillary.record._trajectories import write_trajectory

__all__ = [
    "Recording",
    "RecordingOptions",
    "Replay",
    "SavedWorld",
    "is_recording",
    "load_extrinsics",
    "read_world",
    "recorded_settings",
    "restore",
    "save_extrinsics",
    "with_prefix",
    "write_trajectory",
    "write_world",
]
