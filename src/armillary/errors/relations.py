"""Errors about relations: operations without a meaning, and what a graph of relations rejects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from armillary.errors.base import ArmillaryError
from armillary.errors.format import list_names, nearest_name
from armillary.errors.frames import NotConnected, UnknownFrame

__all__ = [
    "AmbiguousOrder",
    "BodyDiffers",
    "ConstraintViolation",
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
    "NoPosePath",
    "NoTwistPath",
    "NoValue",
    "NotMeasured",
    "NotNumeric",
    "NotRepresentable",
    "OrientationFrameDiffers",
    "PointDiffers",
    "PosesMissing",
    "ReferenceBodyDiffers",
    "RelationMissing",
    "RepresentationDiffers",
    "SemanticError",
    "StampDiffers",
    "UnknownName",
    "UnknownRelation",
]


class SemanticError(ArmillaryError, ValueError):
    """An operation on relations has no meaning.

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
    """A relation is of another kind than the operation needs."""

    def _reason(self) -> str:
        return f"it takes {self.expected} and was given {self.found}"


class CoordinateFrameDiffers(SemanticError):
    """The coordinates are along the axes of two different frames."""

    _differing = "the coordinate frames"


class HelperCoordinateFrameDiffers(CoordinateFrameDiffers):
    """An orientation does not start at the axes that the coordinates are along."""

    _differing = "the coordinate frame and the orientation's target"


class PointDiffers(SemanticError):
    """The velocities or moments are at two different points."""

    _differing = "the points"


class InnerPointDiffers(PointDiffers):
    """The inner points of a composition differ."""

    _differing = "the inner points"


class HelperPointDiffers(PointDiffers):
    """A position neither starts nor ends at the point to be changed."""

    _differing = "the point to be moved and the position's end"


class OrientationFrameDiffers(SemanticError):
    """The orientation frames of two relations differ."""

    _differing = "the orientation frames"


class InnerOrientationFrameDiffers(OrientationFrameDiffers):
    """The inner orientation frames of a composition differ."""

    _differing = "the inner orientation frames"


class HelperOrientationFrameDiffers(OrientationFrameDiffers):
    """An orientation neither starts nor ends at the axes to be changed."""

    _differing = "the orientation frame to be changed and the helper's end"


class BodyDiffers(SemanticError):
    """The bodies of two relations differ."""

    _differing = "the bodies"


class InnerBodyDiffers(BodyDiffers):
    """The inner bodies of a composition differ."""

    _differing = "the inner bodies"


class ReferenceBodyDiffers(BodyDiffers):
    """The motions are relative to two different bodies."""

    _differing = "the reference bodies"


class HelperBodiesDiffer(BodyDiffers):
    """A helper relates two bodies, where one within a body is needed."""

    _differing = "the helper's two bodies"


class HelperBodyDiffers(BodyDiffers):
    """A helper is within another body than the relation."""

    _differing = "the relation's body and the helper's"


class StampDiffers(SemanticError):
    """The values are of two different instants."""

    _differing = "the stamps"

    def _reason(self) -> str:
        return f"{self._differing} {self.expected} ns and {self.found} ns differ"


class RelationMissing(SemanticError):
    """An operation needs one more relation."""

    def _reason(self) -> str:
        return f"it also needs {self.expected}, and has {self.found}"


class AmbiguousOrder(SemanticError):
    """Two relations compose in either order, to different results."""

    def _reason(self) -> str:
        return f"both orders have a meaning, {self.expected} and {self.found}"


class RepresentationDiffers(SemanticError):
    """The coordinates of two relations are in different representations."""

    def _reason(self) -> str:
        return f"the coordinates are {self.expected} and {self.found}"


class NotRepresentable(SemanticError):
    """A coordinate representation cannot express the relation."""

    def _reason(self) -> str:
        return f"{self.expected}; here it is {self.found}"


class NotNumeric(SemanticError, TypeError):
    """The coordinates are expressions, where numbers are needed."""

    def _reason(self) -> str:
        return f"it needs {self.expected}, and the coordinates are {self.found}"


def _quoted(names: Sequence[str]) -> str:
    return list_names([f"'{name}'" for name in names])


class ConstraintViolation(SemanticError):
    """A pose, twist or body would break a structural rule; nothing was changed.

    Attributes:
        constraint: The rule, "C1" to "C8b".
        existing: What it contradicts, as names: bodies, frames, poses and twists.
        hint: What to do.
        offer: An equivalent relation that would be accepted (inverted, or moved to another frame of the same body),
            or None. `adapt=True` applies it.
    """

    def __init__(
        self,
        *,
        constraint: str,
        operation: str,
        asked: str,
        reason: str,
        existing: Sequence[Any],
        hint: str,
        offer: Any,
    ) -> None:
        self.constraint, self.existing, self.offer = constraint, tuple(existing), offer
        self.operation, self.expected, self.found, self.hint = operation, "", "", hint
        instead = "" if offer is None else f" It would be accepted as {offer!r}: pass adapt=True, or add that."
        contradicts = f" In the way: {list_names(self.existing)}." if self.existing else ""
        rule = f"{reason[:1].lower()}{reason[1:].removesuffix('.')} ({constraint})."
        ArmillaryError.__init__(self, f"Cannot {asked}: {rule}{contradicts} {hint}{instead}")


class UnknownName(UnknownFrame):
    """No frame, or no body, of the graph has this name."""

    def __init__(self, name: str, known: Sequence[str], what: str, own: Sequence[str] = ()) -> None:
        self.name, self.what = name, what
        super().__init__(name, known, own)

    def __str__(self) -> str:
        """The message; similar names are searched for only when it is read."""
        return f"No {self.what} named '{self.name}' in this graph. {self._hint()}"

    def _hint(self) -> str:
        if self.own:
            return super()._hint()
        near = nearest_name(self.name, self.known)
        if near is not None:
            return f"Did you mean '{near}'?"
        if not self.known:
            return "It has none yet: add_body(name, frames=[...]) first."
        return f"Known: {_quoted(self.known)}."


class UnknownRelation(ArmillaryError, LookupError):
    """The graph does not hold this pose or twist; `existing` is its inverse where it holds that."""

    def __init__(self, what: str, existing: Any, hint: str) -> None:
        self.what, self.existing, self.hint = what, existing, hint
        there = "" if existing is None else f" There is {existing}."
        super().__init__(f"This graph does not hold {what}.{there} {hint}")


class NoPosePath(NotConnected):
    """No poses of the graph connect two frames."""

    def __init__(self, of: str, in_frame: str, of_root: str, in_frame_root: str) -> None:
        super().__init__(of, in_frame, of_root, in_frame_root, None)

    def _message(self) -> str:
        what = f"The pose of '{self.of}' in '{self.in_frame}'"
        roots = f"the first is in the tree of '{self.of_root}', the second in that of '{self.in_frame_root}'"
        why = f"no poses lead from '{self.of}' to '{self.in_frame}'; {roots}"
        return f"{what} is not known: {why}. Add a pose between a frame of each."


class NoTwistPath(ArmillaryError, LookupError):
    """No twists connect two bodies, among those that poses can transform to the requested point."""

    def __init__(self, body: str, relative_to: str, reachable: Sequence[str], unusable: Sequence[Any]) -> None:
        self.body, self.relative_to = body, relative_to
        self.reachable, self.unusable = tuple(reachable), tuple(unusable)
        near = _quoted(self.reachable) if self.reachable else "none"
        unused = f" Not usable, as no poses lead there: {list_names(self.unusable)}." if self.unusable else ""
        super().__init__(
            f"How '{body}' moves relative to '{relative_to}' is not known: twists give its motion relative to {near}."
            f"{unused} Add the missing twist, or add_pose(..., rigid=True) where one is mounted on the other."
        )


class NotMeasured(ArmillaryError, LookupError):
    """A motion follows from poses alone, where a measured one was asked for."""

    def __init__(self, of: str, relative_to: str) -> None:
        self.of, self.relative_to = of, relative_to
        super().__init__(
            f"How '{of}' moves relative to '{relative_to}' was not measured at that instant. Set it with "
            "world.set_twist(...); world.twist(...) answers from the poses."
        )


class NoValue(ArmillaryError, LookupError):
    """A twist on the path has no value until the poses are added that it depends on."""

    def __init__(self, twist: Any, of: str, in_frame: str) -> None:
        self.twist, self.of, self.in_frame = twist, of, in_frame
        super().__init__(
            f"{twist!r} is pending: it was given along the axes of '{in_frame}' and waits for poses that lead from "
            f"'{of}' to '{in_frame}'. Add them."
        )


class PosesMissing(NoPosePath):
    """A relation can be added only with the help of poses that are missing."""

    def __init__(self, relation: Any, of: str, in_frame: str, of_root: str, in_frame_root: str) -> None:
        self.relation = relation
        super().__init__(of, in_frame, of_root, in_frame_root)

    def _message(self) -> str:
        axes = f"the axes of '{self.of}', and no poses lead there from '{self.in_frame}'"
        trees = f"the tree of '{self.in_frame_root}' and one of the tree of '{self.of_root}'"
        hint = f"Add a pose between a frame of {trees}, or pass pending=True: it then waits for them."
        return f"Cannot take in {self.relation!r} yet: it is kept at the origin and along {axes}. {hint}"
