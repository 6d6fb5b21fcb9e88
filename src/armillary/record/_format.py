"""The format of saved worlds, which `_saving` and `_loading` share; `docs/saved_world.schema.json` describes it."""

from __future__ import annotations

FORMAT, VERSION = "armillary.world", 1

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
    "thin_m": "thin_m",
    "thin_rad": "thin_rad",
    "process_noise": "process_noise",
    "predict_up_to_s": "predict_up_to_s",
    "max_waits": "max_waits",
    "max_paths": "max_paths",
    "max_changes": "max_changes",
    "max_undo": "max_undo",
    "authority": "authority",
}
"""By key in a file, the argument of `World`; its clock is not a value that a file can hold."""

ASSERTIONS = ("fixed", "bodies", "sampled", "measured", "preferences")
"""Sections of assertions that a new world validates when they are added."""
UNCHECKED = "said_last"
"""Section of assertions that are added last and without validation; each names one of the sections below."""
UNCHECKED_SECTIONS = (*ASSERTIONS, "contained")
"""`contained`: containment of nodes that would close a cycle; the scene itself holds what is active."""
SECTIONS = (
    "settings",
    "time_epoch",
    "frames",
    *ASSERTIONS,
    UNCHECKED,
    "kept",
    "models",
    "mounts",
    "joints",
    "scene",
)
MAX_EPOCHS = 100_000
"""How often time may have been reset; loading resets it as often."""
KINDS = ("pose", "twist")
EDGE = ("of", "in_frame", "source")
ROLES = ("visual", "collision")
