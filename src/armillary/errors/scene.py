"""What the shared scene refuses."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError, GivenValue

__all__ = [
    "InvalidShape",
]


class InvalidShape(GivenValue, ArmillaryError, ValueError):
    """Sizes, points or indices that are no shape."""


for _name in __all__:
    globals()[_name].__module__ = "armillary.errors"
