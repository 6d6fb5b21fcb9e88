"""What writing and reading agree on; `docs/saved_world.schema.json` says the same to others."""

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
"""By key in a file, what `World` calls it; its clock is no value that a file can hold."""

WORDS = ("fixed", "bodies", "sampled", "measured", "preferences")
LAST_WORDS = (*WORDS, "contained")
"""Containment that counts is the scene's own; here is what would run in a circle."""
SECTIONS = (
    "settings",
    "time_epoch",
    "frames",
    *WORDS,
    "said_last",
    "kept",
    "models",
    "mounts",
    "joints",
    "scene",
)
MOST_EPOCHS = 100_000
"""How often time may have begun anew; each is said again."""
KINDS = ("pose", "twist")
EDGE = ("of", "in_frame", "source")
ROLES = ("visual", "collision")
