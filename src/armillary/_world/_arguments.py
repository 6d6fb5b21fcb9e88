"""The arguments of a world, checked: each in the form that the native half takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument
from armillary.stamps import seconds
from armillary.transforms import as_number

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

_LONGEST_S = 4e9
_TANGENT = 6
_MOST_AUTHORITY = 255


def as_ahead(max_ahead_s: float | None) -> int:
    """Below zero means no limit on the native side."""
    if max_ahead_s is None:
        return -1
    limit_s = as_number(max_ahead_s, "max_ahead_s")
    if not 0.0 <= limit_s < _LONGEST_S:
        raise InvalidArgument(
            f"max_ahead_s must be a number of seconds, at least 0, or None, got {max_ahead_s!r}.", max_ahead_s
        )
    return seconds(limit_s)


def as_text(value: object, name: str) -> str:
    if not isinstance(value, str) or any("\ud800" <= letter < "\ue000" for letter in value):
        raise InvalidArgument(f"{name} must be a str that can be stored as UTF-8, got {value!r}.", value)
    return value


def as_duration(value: object, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidArgument(
            f"{name} must be a duration in integer nanoseconds, got {value!r}. Pass seconds(10).", value
        )
    duration_ns = value.__index__()
    if not 0 < duration_ns < 2**62:
        raise InvalidArgument(f"{name} must be above zero and below 146 years, got {value!r} ns.", value)
    return int(duration_ns)


def as_positive(value: object, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value.__index__() < 2**62:
        raise InvalidArgument(f"{name} must be a whole number of at least 1, got {value!r}.", value)
    return int(value.__index__())


def as_count(value: object, name: str) -> int:
    """0 means no bound on the native side."""
    return 0 if value is None else as_positive(value, name)


def as_authority(value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() <= _MOST_AUTHORITY:
        raise InvalidArgument(f"authority must be a whole number from 0 to {_MOST_AUTHORITY}, got {value!r}.", value)
    return int(value.__index__())


def as_thinning(thin_m: float | None, thin_rad: float | None) -> tuple[float, float]:
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
    """Nanoseconds."""
    horizon_s = as_number(predict_up_to_s, "predict_up_to_s")
    if not 0.0 <= horizon_s < _LONGEST_S:
        raise InvalidArgument(
            f"predict_up_to_s must be a number of seconds, at least 0, got {predict_up_to_s!r}.", predict_up_to_s
        )
    return seconds(horizon_s)


def as_noise(process_noise: ArrayLike | None) -> NDArray[float64] | None:
    """(6, 6) a second; six numbers are variances."""
    if process_noise is None:
        return None
    import numpy as np  # noqa: PLC0415  (the native half imports it when it must)

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
