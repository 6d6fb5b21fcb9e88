"""Checks of arguments: each function returns the value in its one form, or raises `InvalidArgument`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from armillary.errors import ArmillaryError, InvalidArgument, SamplesDropped, StampOutOfRange
from armillary.errors.format import short_repr
from armillary.relations import Pose
from armillary.transforms.conversions import transform_in

__all__ = [
    "FOREVER_NS",
    "as_count",
    "as_duration",
    "as_history",
    "as_number",
    "as_positive",
    "as_several",
    "as_text",
    "as_thinning",
    "as_transform",
    "as_version_vector",
    "warn_of_dropped",
    "with_row",
]

Item = TypeVar("Item")

FOREVER_NS = 2**63 - 1  # more than lies between any two stamps
_EVIDENCE = ("edge", "requested", "first", "last", "inserting", "horizon", "hold_up_to", "joint")


def as_transform(value: Any) -> Any:
    """Return a pose in any coordinates of numbers as a `Transform`; what is no pose is returned as it is."""
    transform = transform_in(value)
    if transform is not None:
        return transform
    try:
        coordinates = Pose(of="child", in_frame="parent", coordinates=value)
    except InvalidArgument:
        return value
    return coordinates.transform


def with_row(error: ArmillaryError, row: int) -> ArmillaryError:
    """Return an error about a stamp with the row of the batch that caused it; any other error as it is."""
    if not isinstance(error, StampOutOfRange):
        return error
    return type(error)(row=row, **{key: getattr(error, key) for key in _EVIDENCE})


def warn_of_dropped(store: Any, what: str, dropped: int, given: int) -> None:
    """Warn that a call kept less than it was given; once for each relation, or joint, of a store."""
    if what not in store.warned_of:
        store.warned_of.add(what)
        warnings.warn(SamplesDropped(what, dropped, given), stacklevel=2)


def as_number(value: object, name: str, *, allowed: str = "a number of seconds") -> float:
    """Check a number of any type."""
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InvalidArgument(f"{name} must be {allowed}, got {value!r}.", value)
    return number


def as_text(value: object, name: str) -> str:
    """Check a text that is stored as UTF-8."""
    if not isinstance(value, str) or any("\ud800" <= letter < "\ue000" for letter in value):
        raise InvalidArgument(f"{name} must be a str that can be stored as UTF-8, got {value!r}.", value)
    return value


def whole_number(value: object) -> int | None:
    """Return a whole number as int; None for what is none: truth values, arrays of several, types."""
    if isinstance(value, bool | type) or not hasattr(value, "__index__"):
        return None
    try:
        return int(value.__index__())
    except TypeError:
        return None


def as_duration(value: object, name: str) -> int:
    """Check a duration [ns] above zero."""
    duration_ns = whole_number(value)
    if duration_ns is None:
        raise InvalidArgument(
            f"{name} must be a duration in integer nanoseconds, got {value!r}. Pass seconds(10).", value
        )
    if not 0 < duration_ns < 2**62:
        raise InvalidArgument(f"{name} must be above zero and below 146 years, got {value!r} ns.", value)
    return duration_ns


def as_history(value: object) -> int:
    """Check how long samples are kept [ns]; None is for ever."""
    return FOREVER_NS if value is None else as_duration(value, "history")


def as_positive(value: object, name: str) -> int:
    """Check a whole number of at least 1."""
    number = whole_number(value)
    if number is None or not 1 <= number < 2**62:
        raise InvalidArgument(f"{name} must be a whole number of at least 1, got {value!r}.", value)
    return number


def as_count(value: object, name: str) -> int:
    """Check a limit of a number; 0 means none."""
    return 0 if value is None else as_positive(value, name)


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


def as_several(given: Iterable[Item], name: str) -> tuple[Item, ...]:
    """Return any iterable as a tuple; refuse what is none."""
    try:
        return tuple(given)
    except TypeError:
        raise InvalidArgument(f"{name} must be a list, got {short_repr(given)}.", given) from None


def as_version_vector(given: object) -> dict[int, list[tuple[int, int]]]:
    """Check what `scene.version_vector()` of another replica returned."""
    if isinstance(given, Mapping) and all(_is_number(key) and _are_ranges(held) for key, held in given.items()):
        return {author: [(first, last) for first, last in ranges] for author, ranges in given.items()}
    raise InvalidArgument(
        f"since is what `scene.version_vector()` of another replica returns, got {short_repr(given)}.", given
    )


def _are_ranges(held: object) -> bool:
    """Whether these are pairs of a first and a last sequence number."""
    if not isinstance(held, Sequence) or isinstance(held, str | bytes):
        return False
    return all(
        isinstance(one, Sequence) and len(one) == 2 and all(map(_is_number, one)) and 0 < one[0] <= one[1]  # noqa: PLR2004
        for one in held
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 2**64
