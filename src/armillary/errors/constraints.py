"""What a graph of relations refuses: a structure that would contradict itself, and questions it has no path for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armillary.errors._base import ArmillaryError
from armillary.errors.format import list_names, nearest_name
from armillary.errors.frames import NotConnected, UnknownFrame
from armillary.errors.semantics import SemanticError

__all__ = [
    "ConstraintViolation",
    "NoPosePath",
    "NoTwistPath",
    "NoValue",
    "NotMeasured",
    "PosesMissing",
    "UnknownName",
    "UnknownRelation",
]


def _quoted(names: Sequence[str]) -> str:
    return list_names([f"'{name}'" for name in names])


class ConstraintViolation(SemanticError):
    """A statement that breaks a structural rule; nothing was changed.

    Attributes:
        constraint: The rule, "C1" to "C8b".
        existing: What stands in the way, as names: bodies, frames, poses and twists.
        hint: What to do.
        offer: The same statement in a form that would be accepted (inverted, or moved to another frame of the same
            body), or None. `adapt=True` applies it.
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
        rule = f"{reason[:1].lower()}{reason[1:].removesuffix('.')} ({constraint})."
        ArmillaryError.__init__(self, f"Cannot {asked}: {rule}{self._in_the_way()} {hint}{instead}")

    def _in_the_way(self) -> str:
        return f" In the way: {list_names(self.existing)}." if self.existing else ""


class UnknownName(UnknownFrame):
    """A name that no frame, or no body, of the graph has."""

    def __init__(self, name: str, known: Sequence[str], what: str, own: Sequence[str] = ()) -> None:
        self.name, self.what = name, what
        super().__init__(name, known, own)

    def __str__(self) -> str:
        """The sentence; the search for a similar name is left until somebody reads it."""
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
    """A pose or twist that was never added, or is there the other way round."""

    def __init__(self, what: str, existing: Any, hint: str) -> None:
        self.what, self.existing, self.hint = what, existing, hint
        there = "" if existing is None else f" There is {existing}."
        super().__init__(f"This graph does not hold {what}.{there} {hint}")


class NoPosePath(NotConnected):
    """Two frames of a graph that no poses connect."""

    def __init__(self, of: str, in_frame: str, of_root: str, in_frame_root: str) -> None:
        super().__init__(of, in_frame, of_root, in_frame_root, None)
        what = f"The pose of '{of}' in '{in_frame}'"
        roots = f"the first is in the tree of '{of_root}', the second in that of '{in_frame_root}'"
        why = f"no poses lead from '{of}' to '{in_frame}'; {roots}"
        self.args = (f"{what} is not known: {why}. Add a pose between a frame of each.",)


class NoTwistPath(ArmillaryError, LookupError):
    """Two bodies that no twists connect, among those that poses can carry to the point asked for."""

    def __init__(self, body: str, relative_to: str, reachable: Sequence[str], unusable: Sequence[Any]) -> None:
        self.body, self.relative_to = body, relative_to
        self.reachable, self.unusable = tuple(reachable), tuple(unusable)
        near = _quoted(self.reachable) if self.reachable else "none"
        super().__init__(
            f"How '{body}' moves relative to '{relative_to}' is not known: twists tell its motion relative to {near}."
            f"{self._told()} Add the missing twist, or add_pose(..., rigid=True) where one is mounted on the other."
        )

    def _told(self) -> str:
        return f" Not usable, as no poses lead there: {list_names(self.unusable)}." if self.unusable else ""


class NotMeasured(ArmillaryError, LookupError):
    """A motion that follows from poses alone, where a measured one was asked for."""

    def __init__(self, of: str, relative_to: str) -> None:
        self.of, self.relative_to = of, relative_to
        super().__init__(
            f"Nobody measured how '{of}' moves relative to '{relative_to}' at that instant. Say it with "
            "world.set_twist(...); world.twist(...) answers from the poses."
        )


class NoValue(ArmillaryError, LookupError):
    """A twist on the path waits for the poses that would tell its value."""

    def __init__(self, twist: Any, of: str, in_frame: str) -> None:
        self.twist, self.of, self.in_frame = twist, of, in_frame
        super().__init__(
            f"{twist!r} is pending: it was given along the axes of '{in_frame}' and waits for poses that lead from "
            f"'{of}' to '{in_frame}'. Add them."
        )


class PosesMissing(NoPosePath):
    """A relation that can only be taken in with the help of poses that are not there yet."""

    def __init__(self, relation: Any, of: str, in_frame: str, of_root: str, in_frame_root: str) -> None:
        self.relation = relation
        NoPosePath.__init__(self, of, in_frame, of_root, in_frame_root)
        why = f"it is kept at the origin and along the axes of '{of}', and no poses lead there from '{in_frame}'"
        trees = f"the tree of '{in_frame_root}' and one of the tree of '{of_root}'"
        hint = f"Add a pose between a frame of {trees}, or pass pending=True: it then waits for them."
        self.args = (f"Cannot take in {relation!r} yet: {why}. {hint}",)
