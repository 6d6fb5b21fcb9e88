"""Values that cross the border between callers and the core, brought into their one form."""

from __future__ import annotations

import math
from typing import Any

from armillary.errors import ArmillaryError, InvalidArgument, StampOutOfRange
from armillary.relations import Pose

__all__ = ["as_number", "as_transform", "with_row"]

_EVIDENCE = ("edge", "requested", "first", "last", "inserting", "horizon", "joint")


def as_transform(value: Any) -> Any:
    """Return a pose in any coordinates of numbers as a `Transform`; what is no pose is returned as it is."""
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


def as_number(value: object, name: str, *, allowed: str = "a number of seconds") -> float:
    """A number, whatever its type; anything else is refused."""
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InvalidArgument(f"{name} must be {allowed}, got {value!r}.", value)
    return number
