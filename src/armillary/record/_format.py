"""The format of saved worlds, version 2; `docs/saved_world.schema.json` describes it.

A file is the change log of a world, and what is beside it: settings, samples, retention, models with their mounts and
the kinematic loops between them. Structure is in the records alone: loading merges them.
"""

from __future__ import annotations

FORMAT, VERSION = "armillary.world", 2

SETTINGS = {
    "name": "name",
    "history_ns": "history",
    "max_samples": "max_samples",
    "max_runs": "max_runs",
    "default_covariance": "default_covariance",
    "root_frame": "root_frame",
    "interpolation": "interpolation",
    "frames": "frames",
    "max_ahead_s": "max_ahead_s",
    "rival_timeout_ns": "rival_timeout",
    "thin_m": "thin_m",
    "thin_rad": "thin_rad",
    "process_noise": "process_noise",
    "predict_up_to_s": "predict_up_to_s",
    "hold_up_to_s": "hold_up_to_s",
    "max_sources": "max_sources",
    "max_waits": "max_waits",
    "max_paths": "max_paths",
    "max_changes": "max_changes",
    "max_undo": "max_undo",
    "authority": "authority",
}
"""By key in a file, the argument of `World`; its clock is not a value that a file can hold."""

SECTIONS = (
    "settings",
    "has_root_frame",
    "held",
    "dropped",
    "records",
    "arrays",
    "contents",
    "samples",
    "kept",
    "joints",
    "joint_preferences",
    "models",
    "mounts",
    "closed_loops",
)
KINDS = ("pose", "twist")
EDGE = ("of", "in_frame", "source")
ROLES = ("visual", "collision")
MOUNT = ("model", "under", "in_frame", "prefix", "since_ns", "roles", "skip_missing", "shapes")
