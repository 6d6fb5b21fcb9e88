"""What a store is made with, checked, and in the form that the core takes."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument
from armillary.stamps import seconds
from armillary.store.values import as_number
from armillary.transforms import check_name

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Settings", "as_count", "as_duration", "as_positive", "as_text", "as_thinning"]

_LONGEST_S = 4e9
_TANGENT = 6
_MOST_AUTHORITY = 255


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings:
    """What a store, and a `World`, is made with; `World` says what each of them means."""

    name: str = ""
    history: int = seconds(10)
    max_samples: int | None = None
    max_runs: int = 1000
    clock: Callable[[], int] | None = None
    default_covariance: ArrayLike | None = None
    root_frame: str = "map"
    interpolation: str = "linear"
    frames: str = "open"
    max_ahead_s: float | None = None
    thin_m: float | None = None
    thin_rad: float | None = None
    process_noise: ArrayLike | None = None
    predict_up_to_s: float = 1.0
    max_waits: int = 10_000
    max_paths: int = 64
    max_changes: int = 10_000
    max_undo: int = 100
    authority: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.frames, str) or self.frames not in {"open", "declared"}:
            raise InvalidArgument(f"frames must be 'open' or 'declared', got {self.frames!r}.", self.frames)
        if self.clock is not None and not callable(self.clock):
            raise InvalidArgument(
                "clock must be a callable that tells integer nanoseconds, like armillary.now.", self.clock
            )

    @property
    def keywords(self) -> dict[str, Any]:
        """All fields by name, as `World` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def for_core(self) -> dict[str, Any]:
        """Return the checked arguments of the core's constructor."""
        thin_m, thin_rad = as_thinning(self.thin_m, self.thin_rad)
        as_positive(self.max_paths, "max_paths")
        return {
            "name": as_text(self.name, "name"),
            "history_ns": as_duration(self.history, "history"),
            "max_samples": as_count(self.max_samples, "max_samples"),
            "max_runs": as_positive(self.max_runs, "max_runs"),
            "max_waits": as_positive(self.max_waits, "max_waits"),
            "thin_m": thin_m,
            "thin_rad": thin_rad,
            "default_covariance": self.default_covariance,
            "interpolation": as_text(self.interpolation, "interpolation"),
            "max_ahead_ns": as_ahead(self.max_ahead_s),
            "predict_up_to_ns": as_horizon(self.predict_up_to_s),
            "process_noise": as_noise(self.process_noise),
            "root_frame": check_name(self.root_frame),
            "max_changes": as_positive(self.max_changes, "max_changes"),
            "max_undo": as_positive(self.max_undo, "max_undo"),
            "authority": as_authority(self.authority),
            "replica_id": secrets.randbits(64),  # tells apart replicas of one name
        }


def as_ahead(max_ahead_s: float | None) -> int:
    """Check a limit and return it [ns]; below zero means none."""
    if max_ahead_s is None:
        return -1
    limit_s = as_number(max_ahead_s, "max_ahead_s")
    if not 0.0 <= limit_s < _LONGEST_S:
        raise InvalidArgument(
            f"max_ahead_s must be a number of seconds, at least 0, or None, got {max_ahead_s!r}.", max_ahead_s
        )
    return seconds(limit_s)


def as_text(value: object, name: str) -> str:
    """Check a text that is stored as UTF-8."""
    if not isinstance(value, str) or any("\ud800" <= letter < "\ue000" for letter in value):
        raise InvalidArgument(f"{name} must be a str that can be stored as UTF-8, got {value!r}.", value)
    return value


def as_duration(value: object, name: str) -> int:
    """Check a duration [ns] above zero."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidArgument(
            f"{name} must be a duration in integer nanoseconds, got {value!r}. Pass seconds(10).", value
        )
    duration_ns = value.__index__()
    if not 0 < duration_ns < 2**62:
        raise InvalidArgument(f"{name} must be above zero and below 146 years, got {value!r} ns.", value)
    return int(duration_ns)


def as_positive(value: object, name: str) -> int:
    """Check a whole number of at least 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value.__index__() < 2**62:
        raise InvalidArgument(f"{name} must be a whole number of at least 1, got {value!r}.", value)
    return int(value.__index__())


def as_count(value: object, name: str) -> int:
    """Check a limit of a number; 0 means none."""
    return 0 if value is None else as_positive(value, name)


def as_authority(value: object) -> int:
    """Check a whole number from 0 to 255."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() <= _MOST_AUTHORITY:
        raise InvalidArgument(f"authority must be a whole number from 0 to {_MOST_AUTHORITY}, got {value!r}.", value)
    return int(value.__index__())


def as_thinning(thin_m: float | None, thin_rad: float | None) -> tuple[float, float]:
    """Check the two tolerances of thinning [m] and [rad]; zero where they are not given."""
    if thin_m is None and thin_rad is None:
        return 0.0, 0.0
    if thin_m is None or thin_rad is None:
        raise InvalidArgument("thin_m and thin_rad go together: how far off a dropped sample may be [m] and [rad].")
    thin_m = as_number(thin_m, "thin_m", allowed="a finite length [m]")
    thin_rad = as_number(thin_rad, "thin_rad", allowed="a finite angle [rad]")
    if not (math.isfinite(thin_m) and math.isfinite(thin_rad) and thin_m >= 0.0 and thin_rad >= 0.0):
        raise InvalidArgument(f"thin_m and thin_rad must be finite and not negative, got {thin_m!r} and {thin_rad!r}.")
    return float(thin_m), float(thin_rad)


def as_horizon(predict_up_to_s: float) -> int:
    """Check a horizon of prediction and return it [ns]."""
    horizon_s = as_number(predict_up_to_s, "predict_up_to_s")
    if not 0.0 <= horizon_s < _LONGEST_S:
        raise InvalidArgument(
            f"predict_up_to_s must be a number of seconds, at least 0, got {predict_up_to_s!r}.", predict_up_to_s
        )
    return seconds(horizon_s)


def as_noise(process_noise: ArrayLike | None) -> NDArray[float64] | None:
    """Check a process noise a second and return it as (6, 6); six numbers are variances."""
    if process_noise is None:
        return None
    import numpy as np  # noqa: PLC0415  (`import armillary` does not need it)

    try:
        noise = np.asarray(process_noise, dtype=float)
    except (TypeError, ValueError, OverflowError):
        noise = np.empty(0)
    if noise.shape == (_TANGENT,):
        noise = np.diag(noise)
    if noise.shape != (_TANGENT, _TANGENT):
        raise InvalidArgument(
            "process_noise must be six variances a second, or a (6, 6) covariance a second, translation then rotation, "
            f"got {process_noise!r}.",
            process_noise,
        )
    return noise
