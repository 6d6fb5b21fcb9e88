"""What relations between bodies refuse: each check of the geometric semantics is an error of its own."""

from __future__ import annotations

from typing import ClassVar

from armillary.errors._base import ArmillaryError

__all__ = [
    "AmbiguousOrder",
    "BodyDiffers",
    "CoordinateFrameDiffers",
    "HelperBodiesDiffer",
    "HelperBodyDiffers",
    "HelperCoordinateFrameDiffers",
    "HelperOrientationFrameDiffers",
    "HelperPointDiffers",
    "InnerBodyDiffers",
    "InnerOrientationFrameDiffers",
    "InnerPointDiffers",
    "KindDiffers",
    "NotNumeric",
    "NotRepresentable",
    "OrientationFrameDiffers",
    "PointDiffers",
    "ReferenceBodyDiffers",
    "RelationMissing",
    "RepresentationDiffers",
    "SemanticError",
    "StampDiffers",
]


class SemanticError(ArmillaryError, ValueError):
    """An operation on relations that has no meaning.

    Attributes:
        operation: The operation that was asked for: `compose`, `change_point`, ...
        expected: The name that would fit.
        found: The name that was given.
        hint: What repairs it.
    """

    _differing: ClassVar[str] = "meanings"

    def __init__(
        self, *, operation: str, asked: str, expected: str, found: str, hint: str, reason: str | None = None
    ) -> None:
        self.operation, self.expected, self.found, self.hint = operation, expected, found, hint
        super().__init__(f"Cannot {asked}: {reason or self._reason()}. {hint}")

    def _reason(self) -> str:
        return f"{self._differing} '{self.expected}' and '{self.found}' differ"


class KindDiffers(SemanticError, TypeError):
    """A relation of another kind than the operation takes."""

    def _reason(self) -> str:
        return f"it takes {self.expected} and was given {self.found}"


class CoordinateFrameDiffers(SemanticError):
    """Numbers along the axes of two different frames."""

    _differing = "the coordinate frames"


class HelperCoordinateFrameDiffers(CoordinateFrameDiffers):
    """An orientation that does not start at the axes the numbers are along."""

    _differing = "the coordinate frame and the orientation's target"


class PointDiffers(SemanticError):
    """Velocities or moments at two different points."""

    _differing = "the points"


class InnerPointDiffers(PointDiffers):
    """The point where two relations should meet."""

    _differing = "the inner points"


class HelperPointDiffers(PointDiffers):
    """A position that does not start, or end, at the point to be moved."""

    _differing = "the point to be moved and the position's end"


class OrientationFrameDiffers(SemanticError):
    """Two different orientation frames."""

    _differing = "the orientation frames"


class InnerOrientationFrameDiffers(OrientationFrameDiffers):
    """The axes where two relations should meet."""

    _differing = "the inner orientation frames"


class HelperOrientationFrameDiffers(OrientationFrameDiffers):
    """An orientation that does not start, or end, at the axes to be changed."""

    _differing = "the orientation frame to be changed and the helper's end"


class BodyDiffers(SemanticError):
    """Two different bodies."""

    _differing = "the bodies"


class InnerBodyDiffers(BodyDiffers):
    """The body where two relations should meet."""

    _differing = "the inner bodies"


class ReferenceBodyDiffers(BodyDiffers):
    """Motions relative to two different bodies."""

    _differing = "the reference bodies"


class HelperBodiesDiffer(BodyDiffers):
    """A helper between two bodies, where one within a body is needed."""

    _differing = "the helper's two bodies"


class HelperBodyDiffers(BodyDiffers):
    """A helper within another body than the relation's."""

    _differing = "the relation's body and the helper's"


class StampDiffers(SemanticError):
    """Values of two different instants."""

    _differing = "the stamps"

    def _reason(self) -> str:
        return f"{self._differing} {self.expected} ns and {self.found} ns differ"


class RelationMissing(SemanticError):
    """An operation that needs one more relation to have a meaning."""

    def _reason(self) -> str:
        return f"it also needs {self.expected}, and has {self.found}"


class AmbiguousOrder(SemanticError):
    """Two relations that compose either way, to different results."""

    def _reason(self) -> str:
        return f"both orders have a meaning, {self.expected} and {self.found}"


class RepresentationDiffers(SemanticError):
    """Coordinates in two representations, neither of which was asked to change."""

    def _reason(self) -> str:
        return f"the coordinates are {self.expected} and {self.found}"


class NotRepresentable(SemanticError):
    """A meaning that the chosen coordinates cannot express."""

    def _reason(self) -> str:
        return f"{self.expected}; here it is {self.found}"


class NotNumeric(SemanticError, TypeError):
    """Coordinates that are expressions, where numbers are needed."""

    def _reason(self) -> str:
        return f"it needs {self.expected}, and the coordinates are {self.found}"
