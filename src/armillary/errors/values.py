"""What is refused of what is given: numbers, names, stamps and arguments that cannot be taken."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError, GivenValue

__all__ = ["InvalidArgument", "InvalidName", "InvalidShape", "InvalidStamp", "InvalidTransform"]


class InvalidTransform(GivenValue, ArmillaryError, ValueError):
    """Numbers that are no rigid motion."""


class InvalidName(GivenValue, ArmillaryError, ValueError):
    """A name that no frame can have."""


class InvalidStamp(GivenValue, ArmillaryError, TypeError, ValueError):
    """Something that is not integer nanoseconds."""


class InvalidArgument(GivenValue, ArmillaryError, TypeError, ValueError):
    """An argument of the wrong kind, shape or value."""


class InvalidShape(GivenValue, ArmillaryError, ValueError):
    """Sizes, points or indices that are no shape."""
