"""The settings of a store, checked, and in the form that the core takes."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.stamps import seconds
from armillary.store.values import (
    FOREVER_NS,
    as_count,
    as_history,
    as_number,
    as_positive,
    as_text,
    as_thinning,
    whole_number,
)
from armillary.transforms import check_name

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Settings"]

_LONGEST_S = 4e9
_TANGENT = 6
_MOST_AUTHORITY = 255


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings:
    """The settings of a store and of a `World`, whose docstring describes each."""

    name: str = ""
    history: int | None = seconds(10)
    max_samples: int | None = None
    max_runs: int = 1000
    max_sources: int = 1000
    clock: Callable[[], int] | None = None
    default_covariance: ArrayLike | None = None
    root_frame: str = "map"
    interpolation: str = "linear"
    frames: str = "open"
    max_ahead_s: float | None = None
    rival_timeout: int | None = seconds(1)
    thin_m: float | None = None
    thin_rad: float | None = None
    process_noise: ArrayLike | None = None
    predict_up_to_s: float = 1.0
    hold_up_to_s: float | None = None
    max_waits: int = 10_000
    max_paths: int = 64
    max_changes: int = 10_000
    max_undo: int = 100
    authority: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.frames, str) or self.frames not in {"open", "declared"}:
            raise InvalidArgument(f"frames must be 'open' or 'declared', got {self.frames!r}.", self.frames)
        object.__setattr__(self, "default_covariance", _from_variances(self.default_covariance))
        if self.clock is not None and not callable(self.clock):
            raise InvalidArgument(
                "clock must be a callable that returns integer nanoseconds, like armillary.now.", self.clock
            )

    @property
    def keywords(self) -> dict[str, Any]:
        """All fields by name, as `World` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def for_core(self) -> dict[str, Any]:
        """Return the checked arguments of the core's constructor."""
        thin_m, thin_rad = as_thinning(self.thin_m, self.thin_rad)
        return {
            "name": as_text(self.name, "name"),
            "history_ns": as_history(self.history),
            "max_samples": as_count(self.max_samples, "max_samples"),
            "max_runs": as_positive(self.max_runs, "max_runs"),
            "max_sources": as_positive(self.max_sources, "max_sources"),
            "max_waits": as_positive(self.max_waits, "max_waits"),
            "max_paths": as_positive(self.max_paths, "max_paths"),
            "thin_m": thin_m,
            "thin_rad": thin_rad,
            "default_covariance": self.default_covariance,
            "interpolation": as_text(self.interpolation, "interpolation"),
            "max_ahead_ns": _as_limit(self.max_ahead_s, "max_ahead_s"),
            "rival_timeout_ns": _as_timeout(self.rival_timeout),
            "predict_up_to_ns": _as_horizon(self.predict_up_to_s),
            "hold_up_to_ns": _as_limit(self.hold_up_to_s, "hold_up_to_s"),
            "process_noise": _as_noise(self.process_noise),
            "root_frame": check_name(self.root_frame),
            "max_changes": as_positive(self.max_changes, "max_changes"),
            "max_undo": as_positive(self.max_undo, "max_undo"),
            "authority": _as_authority(self.authority),
            "replica_id": secrets.randbits(64),  # distinguishes replicas of one name
        }


def _as_limit(given_s: float | None, name: str) -> int:
    """Check a limit and return it [ns]; below zero means none."""
    if given_s is None:
        return -1
    limit_s = as_number(given_s, name)
    if not 0.0 <= limit_s < _LONGEST_S:
        raise InvalidArgument(f"{name} must be a number of seconds, at least 0, or None, got {given_s!r}.", given_s)
    return seconds(limit_s)


def _as_timeout(rival_timeout: Any) -> int:
    """Check for how long a silent source contests others and return it [ns]; None means for ever."""
    if rival_timeout is None:
        return FOREVER_NS
    timeout_ns = whole_number(rival_timeout)
    if timeout_ns is None or not 0 <= timeout_ns < FOREVER_NS:
        raise InvalidArgument(
            "rival_timeout must be a duration in nanoseconds, at least 0, such as seconds(1), or None, "
            f"got {rival_timeout!r}.",
            rival_timeout,
        )
    return timeout_ns


def _as_authority(value: object) -> int:
    """Check a whole number from 0 to 255."""
    authority = whole_number(value)
    if authority is None or not 0 <= authority <= _MOST_AUTHORITY:
        raise InvalidArgument(f"authority must be a whole number from 0 to {_MOST_AUTHORITY}, got {value!r}.", value)
    return authority


def _as_horizon(predict_up_to_s: float) -> int:
    """Check a horizon of prediction and return it [ns]."""
    horizon_s = as_number(predict_up_to_s, "predict_up_to_s")
    if not 0.0 <= horizon_s < _LONGEST_S:
        raise InvalidArgument(
            f"predict_up_to_s must be a number of seconds, at least 0, got {predict_up_to_s!r}.", predict_up_to_s
        )
    return seconds(horizon_s)


def _from_variances(given: Any) -> Any:
    """Return six variances as a (6, 6) covariance; anything else as it is."""
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return given
    return np.diag(numbers) if numbers.shape == (_TANGENT,) else given


def _as_noise(process_noise: ArrayLike | None) -> NDArray[float64] | None:
    """Check a process noise a second and return it as (6, 6); six numbers are variances."""
    if process_noise is None:
        return None
    try:
        noise = np.asarray(_from_variances(process_noise), dtype=float)
    except (TypeError, ValueError, OverflowError):
        noise = np.empty(0)
    if noise.shape != (_TANGENT, _TANGENT):
        raise InvalidArgument(
            "process_noise must be six variances a second, or a (6, 6) covariance a second, translation then rotation, "
            f"got {process_noise!r}.",
            process_noise,
        )
    return noise
