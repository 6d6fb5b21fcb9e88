"""Errors about frames, joints and their sources: unknown names, separate trees, ambiguity, waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from armillary.errors.base import ArmillaryError, FromEvidence
from armillary.errors.format import format_stamp, join_names, list_names, nearest_name

__all__ = [
    "AmbiguousPath",
    "ContestedJoint",
    "ContestedWrench",
    "FrameInUse",
    "FrameLoop",
    "JointLimitsExceeded",
    "JointLimitsWarning",
    "JointsDisagree",
    "NoPathChosen",
    "NoSuchRelation",
    "NotConnected",
    "SuspiciousName",
    "UnknownCovariance",
    "UnknownFrame",
    "UnknownJointsSkipped",
    "UnknownVariable",
    "UnknownWrench",
    "WaitTimeout",
]


_NODE_FRAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(/mount)?")


def _body_hint(frames: Sequence[str]) -> str:
    if not frames:
        return "It is a body without frames: give it some with add_body(name, frames=[...])."
    quoted = [f"'{name}'" for name in frames]
    return f"It is a body: name one of its frames, {list_names(quoted)}."


class UnknownFrame(ArmillaryError, LookupError):
    """No frame of the world has this name; `own` are the frames of a body that has it.

    Args:
        frame: The name that was not found.
        known: The names of frames; a function that returns them is called when they are first looked at, so that a
            program that goes on asking does not pay for a list of all frames.
        own: The frames of a body that has this name.
        bodies: The names of bodies.
    """

    def __init__(
        self,
        frame: str,
        known: Sequence[str] | Callable[[], Sequence[str]],
        own: Sequence[str] = (),
        bodies: Sequence[str] = (),
    ) -> None:
        self.frame, self.own, self.bodies = frame, tuple(own), tuple(bodies)
        self._known = known if callable(known) else tuple(known)
        super().__init__(frame)

    @property
    def known(self) -> tuple[str, ...]:
        """The names of frames."""
        if callable(self._known):
            self._known = tuple(self._known())
        return self._known

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the error with its evidence, the names included."""
        self._known = self.known
        return super().__reduce__()

    def __str__(self) -> str:
        """The message; similar names are searched for only when it is read."""
        return f"No frame named '{self.frame}' in this world. {self._hint()}"

    def _hint(self) -> str:
        if self.own or self.frame in self.bodies:
            return _body_hint(self.own)
        near = nearest_name(self.frame, (*self.known, *self.bodies), cutoff=0.8)
        if near is not None:
            return f"Did you mean {'' if near in self.known else 'the body '}'{near}'?"
        if not self.known:
            return "It has no frames yet: set_pose or fix one first."
        named = [name for name in self.known if _NODE_FRAME.fullmatch(name) is None]
        known = f"Known: {list_names(named)}." if named else "None of its frames is named."
        if len(named) == len(self.known):
            return known
        return f"{known} Nodes of the scene have ids: scene.find({{'name': {self.frame!r}}}) searches their attributes."


def _tree_of(frame: str, root: str) -> str:
    return f"'{frame}' has no parent" if frame == root else f"'{frame}' is in the tree of '{root}'"


class NotConnected(FromEvidence, LookupError):
    """Two frames are in different trees; `ended` is the frame that has had no parent since `ended_at`."""

    def __init__(
        self,
        of: str,
        in_frame: str,
        of_root: str,
        in_frame_root: str,
        requested: int | None,
        *,
        ended: str | None = None,
        ended_at: int | None = None,
    ) -> None:
        self.of, self.in_frame, self.requested = of, in_frame, requested
        self.of_root, self.in_frame_root = of_root, in_frame_root
        self.ended, self.ended_at = ended, ended_at

    def _message(self) -> str:
        when = "" if self.requested is None else f" at {format_stamp(self.requested)}"
        return f"No chain of poses leads from '{self.of}' to '{self.in_frame}'{when}: {self._reason()}"

    def _reason(self) -> str:
        if self.ended is not None:
            since = "at any time" if self.ended_at is None else f"since {format_stamp(self.ended_at)}"
            return f"'{self.ended}' has no parent {since}. Ask for an earlier instant, or place it again."
        return (
            f"{_tree_of(self.of, self.of_root)}, and {_tree_of(self.in_frame, self.in_frame_root)}. "
            f"Set the pose of '{self.of_root}' in '{self.in_frame_root}', or the other way round."
        )


class FrameLoop(ArmillaryError, ValueError):
    """A relation would make a frame its own ancestor at one instant."""

    def __init__(self, path: Sequence[str], at: int | None) -> None:
        self.path, self.at = tuple(path), at
        when = "" if at is None else f" at {format_stamp(at)}"
        chain = "' in '".join(self.path)
        super().__init__(
            f"This would close a loop{when}: '{chain}'. Turn one of these relations round, or end it with a move first."
        )


class AmbiguousPath(ArmillaryError, LookupError):
    """Several sources place the same frame, and no preference chooses one of them."""

    def __init__(self, frame: str, sources: Sequence[str], requested: int | None, *, motion: bool = False) -> None:
        self.frame, self.sources, self.requested, self.motion = frame, tuple(sources), requested, motion
        when = "now" if requested is None else f"at {format_stamp(requested)}"
        what = f"The motion of '{frame}' is measured" if motion else f"Frame '{frame}' is placed"
        # Policies choose among poses; a twist with several sources needs a preference.
        by_query = "" if motion else ", or with each question: policy='latest', 'most_certain' or 'fuse'"
        super().__init__(
            f"{what} by several sources {when}: {join_names(self.sources)}. Choose one with "
            f"world.prefer(of='{frame}', source='{self.sources[0] if self.sources else ''}'){by_query}."
        )


class WaitTimeout(ArmillaryError, TimeoutError):
    """A wait timed out; `reason` is the error that a query raised last."""

    def __init__(self, of: str, in_frame: str, timeout_s: float, reason: ArmillaryError, *, what: str = "pose") -> None:
        """`what` is "pose" or "twist"; of a twist, `in_frame` is the frame or body it is relative to."""
        self.of, self.in_frame, self.timeout_s, self.reason, self.what = of, in_frame, timeout_s, reason, what
        between = "in" if what == "pose" else "relative to"
        super().__init__(
            f"The {what} of '{of}' {between} '{in_frame}' did not become known within {timeout_s:g} s. "
            f"Last reason: {reason}"
        )


class FrameInUse(ArmillaryError, ValueError):
    """A frame cannot be removed because other frames are, or were, below it; those of nodes come first."""

    def __init__(self, frame: str, frames: Sequence[str]) -> None:
        self.frame, self.frames = frame, tuple(frames)
        super().__init__(
            f"Frame '{frame}' carries {list_names(self.frames)}. "
            "Remove those first, or pass subtree=True to remove all of them."
        )


class SuspiciousName(UserWarning):
    """A new frame has a name one typo away from an existing one."""

    def __init__(self, name: str, near: str) -> None:
        self.name, self.near = name, near
        super().__init__(name, near)

    @property
    def reason(self) -> str:
        """Why the name is suspicious."""
        return f"New frame '{self.name}' is one typo away from the known '{self.near}'."

    def __str__(self) -> str:
        return f"{self.reason} If both are meant, add it first: world.add_frame('{self.name}')."


class NoPathChosen(ArmillaryError, LookupError):
    """No candidate path satisfies the policy; `paths` are the relations in which the candidates differ."""

    def __init__(self, of: str, in_frame: str, wanted: str, paths: Sequence[Sequence[tuple[str, str, str]]]) -> None:
        self.of, self.in_frame, self.wanted = of, in_frame, wanted
        self.paths = tuple(tuple(path) for path in paths)
        listed = "; ".join(" and ".join(f"'{of}' by '{source}'" for of, _, source in path) for path in self.paths)
        super().__init__(
            f"No path from '{of}' to '{in_frame}' goes by {wanted}. There are: {listed}. Choose among these, or pass "
            "policy='latest', 'most_certain' or 'fuse'."
        )


class NoSuchRelation(ArmillaryError, LookupError):
    """No source places a frame directly in another, or measures its motion relative to it.

    `known` are the relations of the frame that there are, as (in_frame, source); None stands for any.
    """

    def __init__(self, of: str, in_frame: str | None, source: str | None, known: Sequence[tuple[str, str]]) -> None:
        self.of, self.in_frame, self.source, self.known = of, in_frame, source, tuple(known)
        where = "" if in_frame is None else f" in '{in_frame}'"
        who = "" if source is None else f" by '{source}'"
        there = [f"in '{parent}' by '{by}'" for parent, by in self.known]
        hint = f"There is: '{of}' {list_names(there)}." if there else f"Nothing is asserted of '{of}' directly."
        super().__init__(f"There is no relation of '{of}'{where}{who}. {hint}")


class UnknownCovariance(ArmillaryError, LookupError):
    """A policy weighs paths, or a filter samples, by their covariances, and none is known.

    Attributes:
        of: The frame whose pose or motion was asked for.
        in_frame: The frame, or body, it was asked in.
        paths: How many paths had an answer; of a filter, how many relations have samples.
        relations: (of, in_frame, source) of the relations without a covariance.
    """

    def __init__(self, of: str, in_frame: str, paths: int, relations: Sequence[tuple[str, str, str]]) -> None:
        self.of, self.in_frame, self.paths = of, in_frame, paths
        self.relations = tuple(tuple(relation) for relation in relations)
        listed = ", ".join(f"'{of}' in '{in_frame}' by '{source}'" for of, in_frame, source in self.relations)
        asked = f"How certain the pose of '{of}' in '{in_frame}' is, is unknown"
        if paths > 1:
            asked = f"Which of {paths} paths from '{of}' to '{in_frame}' is how certain is unknown"
        super().__init__(
            f"{asked}: there is no covariance of {listed}. Give covariance= with their samples, or "
            "World(default_covariance=) for all that come without, or take the newest with policy='latest'."
        )


class UnknownVariable(ArmillaryError, LookupError):
    """No joint of a mounted model has this name."""

    def __init__(self, joint: str, known: Sequence[str]) -> None:
        self.joint, self.known = joint, tuple(known)
        super().__init__(joint)

    def __str__(self) -> str:
        """The message; similar names are searched for only when it is read."""
        return f"No joint named '{self.joint}' in this world. {self._hint()}"

    def _hint(self) -> str:
        near = nearest_name(self.joint, self.known, cutoff=0.7)
        if near is not None:
            return f"Did you mean '{near}'?"
        return f"Known: {list_names(self.known)}." if self.known else "It has no joints yet: mount a model first."


class UnknownJointsSkipped(UserWarning):
    """Names that no joint has were given, and skipped, as was asked; each is reported once."""

    def __init__(self, joints: Sequence[str], known: Sequence[str]) -> None:
        self.joints, self.known = tuple(joints), tuple(known)
        super().__init__(self.joints, self.known)

    def __str__(self) -> str:
        return (
            f"No joints of this world have the names {list_names(self.joints)}: they are skipped, now and later. "
            f"Known: {list_names(self.known)}."
        )


class JointsDisagree(ArmillaryError, ValueError):
    """A joint was reported elsewhere than the joint that it follows puts it."""

    def __init__(self, joint: str, leader: str, expected: float, given: float, tolerance: float) -> None:
        self.joint, self.leader, self.expected, self.given, self.tolerance = joint, leader, expected, given, tolerance
        super().__init__(
            f"Joint '{joint}' follows '{leader}', which puts it at {expected:.6g}, and it is reported at {given:.6g}: "
            f"{abs(given - expected):.3g} off, and {tolerance:g} is allowed. Nothing was stored. Give one of the two "
            "alone, or mend multiplier and offset of the mimic in the robot's file."
        )


def _limits_sentence(broken: Sequence[tuple[str, float, float, float]]) -> str:
    parts = [f"'{name}' at {value:.6g} is outside [{low:.6g}, {high:.6g}]" for name, value, low, high in broken]
    return f"Joints are beyond their limits: {list_names(parts)}."


class JointLimitsExceeded(ArmillaryError, ValueError):
    """Positions of joints are outside their limits; `broken` lists (joint, position, lower, upper)."""

    def __init__(self, broken: Sequence[tuple[str, float, float, float]]) -> None:
        self.broken = tuple(broken)
        hint = "Nothing was stored. Pass limits='warn' or limits='ignore' to store what a robot reports anyway."
        super().__init__(f"{_limits_sentence(self.broken)} {hint}")


class JointLimitsWarning(UserWarning):
    """Positions of joints are outside their limits, and were stored; `broken` as in `JointLimitsExceeded`."""

    def __init__(self, broken: Sequence[tuple[str, float, float, float]]) -> None:
        self.broken = tuple(broken)
        super().__init__(self.broken)

    def __str__(self) -> str:
        return f"{_limits_sentence(self.broken)} They were stored as given."


class ContestedJoint(ArmillaryError, LookupError):
    """Several sources give values of the same joint, and no preference chooses one of them."""

    def __init__(self, joint: str, sources: Sequence[str]) -> None:
        self.joint, self.sources = joint, tuple(sorted(sources))
        super().__init__(
            f"Several sources give values of joint '{joint}': {join_names(self.sources)}. "
            f"Choose one with world.prefer_joint('{joint}', source='{self.sources[0]}')."
        )


class ContestedWrench(ArmillaryError, LookupError):
    """Several sources measure what one body exerts on another, and no preference chooses one of them."""

    def __init__(self, of: str, by: str, sources: Sequence[str]) -> None:
        self.of, self.by, self.sources = of, by, tuple(sorted(sources))
        super().__init__(
            f"Several sources measure what '{by}' exerts on '{of}': {join_names(self.sources)}. "
            f"Choose one with world.prefer_wrench(of='{of}', by='{by}', source='{self.sources[0]}')."
        )


class UnknownWrench(ArmillaryError, LookupError):
    """What one body exerts on another was never measured."""

    def __init__(self, of: str, by: str, known: Sequence[tuple[str, str]]) -> None:
        self.of, self.by, self.known = of, by, tuple(known)
        listed = list_names([f"on '{frame}' by '{body}'" for frame, body in self.known])
        hint = f"Known are those {listed}." if self.known else "Set it with world.set_wrench(of=..., by=..., ...)."
        super().__init__(f"No wrench on '{of}' by '{by}' was measured. {hint}")
