"""Everything that Armillary refuses, and why.

Each error carries its evidence as attributes and builds its own sentence: what was asked, what is true, what to do.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError, GivenValue
from armillary.errors._words import instant as _instant
from armillary.errors._words import length as _length
from armillary.errors.blocks import BlockFailed, PortMismatch, UnknownBlock, UnusableBlock
from armillary.errors.expressions import CannotCompile, InvalidExpression, NoSuchEntry, NoSuchOrder, NotGrounded
from armillary.errors.files import InvalidExtrinsicsFile, InvalidSceneFile, InvalidWorldFile, UnsavableWorld
from armillary.errors.formats import CannotSayInUrdf, InvalidMesh, InvalidRobotFile, MissingMeshes, UnknownLink
from armillary.errors.joints import ContestedJoint, UnknownVariable
from armillary.errors.loops import LoopError, OpenLoop, SingularLoop, UnreachableLoop
from armillary.errors.models import (
    InvalidModelFile,
    InvalidOperation,
    InvalidPath,
    LinkLoop,
    MissingRead,
    MountOutdated,
    OperationFailed,
    TagTaken,
    UndeclaredRead,
    UndeclaredWrite,
    UndoneAtModel,
    UnknownPath,
    UnknownTag,
    UnsavableModel,
    WrongValue,
)
from armillary.errors.nodes import (
    AlreadyItsParent,
    BuiltUpon,
    ChangesForgotten,
    FramesHanging,
    InvalidAttribute,
    NodeExists,
    NoOpposite,
    NotAGroup,
    NotATransform,
    NothingToUndo,
    NotItsParent,
    ObserverBehind,
    PermanentNode,
    SceneCycle,
    UnknownNode,
    WrongKind,
)
from armillary.errors.policies import NoPathChosen
from armillary.errors.running import LimitReached, MissingExtra, WorldClosed
from armillary.errors.scene import InvalidShape
from armillary.errors.semantics import (
    AmbiguousOrder,
    BodyDiffers,
    CoordinateFrameDiffers,
    HelperBodiesDiffer,
    HelperBodyDiffers,
    HelperCoordinateFrameDiffers,
    HelperOrientationFrameDiffers,
    HelperPointDiffers,
    InnerBodyDiffers,
    InnerOrientationFrameDiffers,
    InnerPointDiffers,
    KindDiffers,
    NotNumeric,
    NotRepresentable,
    OrientationFrameDiffers,
    PointDiffers,
    ReferenceBodyDiffers,
    RelationMissing,
    RepresentationDiffers,
    SemanticError,
    StampDiffers,
)
from armillary.errors.tapes import InvalidTape, UnloadableTape

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AfterHistory",
    "AlreadyItsParent",
    "AmbiguousOrder",
    "AmbiguousPath",
    "ArmillaryError",
    "BeforeHistory",
    "BlockFailed",
    "BodyDiffers",
    "BuiltUpon",
    "CannotCompile",
    "CannotSayInUrdf",
    "ChangesForgotten",
    "ConstraintViolation",
    "ContestedJoint",
    "CoordinateFrameDiffers",
    "FrameInUse",
    "FrameLoop",
    "FramesHanging",
    "HelperBodiesDiffer",
    "HelperBodyDiffers",
    "HelperCoordinateFrameDiffers",
    "HelperOrientationFrameDiffers",
    "HelperPointDiffers",
    "InnerBodyDiffers",
    "InnerOrientationFrameDiffers",
    "InnerPointDiffers",
    "InvalidArgument",
    "InvalidAttribute",
    "InvalidExpression",
    "InvalidExtrinsicsFile",
    "InvalidMesh",
    "InvalidModelFile",
    "InvalidName",
    "InvalidOperation",
    "InvalidPath",
    "InvalidRobotFile",
    "InvalidSceneFile",
    "InvalidShape",
    "InvalidStamp",
    "InvalidTape",
    "InvalidTransform",
    "InvalidWorldFile",
    "KindDiffers",
    "LimitReached",
    "LinkLoop",
    "LoopError",
    "MissingExtra",
    "MissingMeshes",
    "MissingRead",
    "MountOutdated",
    "NoOpposite",
    "NoPathChosen",
    "NoPosePath",
    "NoSamples",
    "NoSuchEntry",
    "NoSuchOrder",
    "NoTwistPath",
    "NoValue",
    "NodeExists",
    "NotAGroup",
    "NotATransform",
    "NotConnected",
    "NotGrounded",
    "NotItsParent",
    "NotMeasured",
    "NotNumeric",
    "NotRepresentable",
    "NothingToUndo",
    "ObserverBehind",
    "OpenLoop",
    "OperationFailed",
    "OrientationFrameDiffers",
    "PermanentNode",
    "PointDiffers",
    "PortMismatch",
    "PosesMissing",
    "ReferenceBodyDiffers",
    "RelationMissing",
    "RepresentationDiffers",
    "SceneCycle",
    "SemanticError",
    "SingleSample",
    "SingularLoop",
    "StampDiffers",
    "StampOutOfRange",
    "SuspiciousName",
    "TagTaken",
    "UndeclaredRead",
    "UndeclaredWrite",
    "UndoneAtModel",
    "UnknownBlock",
    "UnknownFrame",
    "UnknownLink",
    "UnknownName",
    "UnknownNode",
    "UnknownPath",
    "UnknownRelation",
    "UnknownTag",
    "UnknownVariable",
    "UnloadableTape",
    "UnreachableLoop",
    "UnsavableModel",
    "UnsavableWorld",
    "UnusableBlock",
    "WaitTimeout",
    "WorldClosed",
    "WrongKind",
    "WrongValue",
]

Edge = tuple[str, str, str]
"""A pose relation: (of, in_frame, source)."""

_MANY = 12


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MANY])
    return f"{shown}, and {len(names) - _MANY} more" if len(names) > _MANY else shown


def _edge_text(edge: Edge) -> str:
    of, in_frame, source = edge
    return f"'{of}' in '{in_frame}'" + (f" (source '{source}')" if source else "")


def _body_hint(frames: Sequence[str]) -> str:
    if not frames:
        return "It is a body without frames: give it some with add_body(name, frames=[...])."
    quoted = [f"'{name}'" for name in frames]
    return f"It is a body: name one of its frames, {_listing(quoted)}."


class UnknownFrame(ArmillaryError, LookupError):
    """A frame name that this world has never seen; `own` are the frames of a body that has this name."""

    def __init__(self, frame: str, known: Sequence[str], own: Sequence[str] = (), bodies: Sequence[str] = ()) -> None:
        self.frame, self.known, self.own, self.bodies = frame, tuple(known), tuple(own), tuple(bodies)
        super().__init__(frame)

    def __str__(self) -> str:
        """The sentence; the search for a similar name is left until somebody reads it."""
        return f"No frame named '{self.frame}' in this world. {self._hint()}"

    def _hint(self) -> str:
        if self.own or self.frame in self.bodies:
            return _body_hint(self.own)
        near = get_close_matches(self.frame, (*self.known, *self.bodies), n=1, cutoff=0.8)
        if near:
            return f"Did you mean {'' if near[0] in self.known else 'the body '}'{near[0]}'?"
        return f"Known: {_listing(self.known)}." if self.known else "It has no frames yet: set_pose or fix one first."


class NotConnected(ArmillaryError, LookupError):
    """Two frames that exist, in different trees; `ended` is the frame that hangs nowhere since `ended_at`."""

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
        when = "" if requested is None else f" at {_instant(requested)}"
        super().__init__(f"No chain of poses leads from '{of}' to '{in_frame}'{when}: {self._truth()}")

    def _truth(self) -> str:
        if self.ended is not None:
            since = "from the beginning" if self.ended_at is None else f"since {_instant(self.ended_at)}"
            return f"'{self.ended}' hangs nowhere {since}. Ask for an earlier instant, or place it again."
        return (
            f"'{self.of}' hangs under '{self.of_root}', '{self.in_frame}' under '{self.in_frame_root}'. "
            f"Set the pose of '{self.of_root}' in '{self.in_frame_root}', or the other way round."
        )


class StampOutOfRange(ArmillaryError, LookupError):
    """An edge on the path holds nothing around the instant asked for; `joint` names the variable that does not.

    `edge` is None where a joint itself was asked for, or given a sample.
    """

    def __init__(
        self,
        *,
        edge: Edge | None,
        requested: int | None,
        first: int | None,
        last: int | None,
        row: int | None = None,
        inserting: bool = False,
        horizon: int | None = None,
        joint: str | None = None,
    ) -> None:
        self.edge, self.requested, self.first, self.last, self.row = edge, requested, first, last, row
        self.inserting, self.horizon, self.joint = inserting, horizon, joint
        where = "" if row is None else f" (row {row} of the batch)"
        super().__init__(self._sentence() + where)

    def _sentence(self) -> str:
        return f"The {self._what()} is not known {self._when()}; {self._held()}."

    def _what(self, asked: str = "pose") -> str:
        return self._name() if self.edge is None else f"{asked} of {_edge_text(self.edge)}"

    def _name(self) -> str:
        return f"joint '{self.joint}'" if self.edge is None else _edge_text(self.edge)

    def _when(self) -> str:
        return "at any common time" if self.requested is None else f"at {_instant(self.requested)}"

    def _held(self) -> str:
        holder = "it" if self.edge is None or self.joint is None else f"its joint '{self.joint}'"
        if self.first is None:
            return f"{holder} holds no samples"
        if self.last is None:
            return f"{holder} holds from {_instant(self.first)} on"
        return f"{holder} holds [{_instant(self.first)}, {_instant(self.last)}]"


class BeforeHistory(StampOutOfRange):
    """Asked before the oldest sample, or given a sample older than the history."""

    def _sentence(self) -> str:
        if self.inserting:
            return (
                f"A sample of {self._name()} at {_instant(self.requested or 0)} is older than its history, "
                f"which reaches back to {_instant(self.first or 0)}. Give World(history=) or world.keep(history=) a "
                "longer time, or call reset_time() if the clock started again."
            )
        if self.requested is not None and self.first is None:
            gone = f"The samples of {self._name()} around {_instant(self.requested)} have expired"
            return f"{gone}. Keep a longer history."
        if self.requested is not None and self.last is None and self.joint is None:
            return (
                f"The {self._what()} was asked {_length((self.first or 0) - self.requested)} before "
                f"it was fixed, from {_instant(self.first or 0)} on. Ask for a later stamp, or pass outside='hold'."
            )
        if self.requested is None or self.first is None:
            return (
                f"The histories on the path do not overlap: {self._name()} begins after another edge ends; "
                f"{self._held()}."
            )
        return (
            f"The {self._what()} was asked {_length(self.first - self.requested)} before its first "
            f"sample ({self._held()}). Ask for a later stamp, keep a longer history, or pass outside='hold'."
        )


class AfterHistory(StampOutOfRange):
    """Asked after the newest sample, or between two parents."""

    def _sentence(self) -> str:
        late = _length((self.requested or 0) - (self.last or 0))
        if self.horizon is not None:
            return (
                f"The {self._what()} was asked {late} after its last sample ({self._held()}), and a "
                f"prediction reaches {_length(self.horizon)}. Pass at=LATEST, or give World(predict_up_to_s=) more."
            )
        return (
            f"The {self._what()} was asked {late} after its last sample ({self._held()}). "
            "Pass at=LATEST, wait_for_pose(...), outside='hold' to accept the nearest sample, or outside='predict' to "
            "continue its motion."
        )


class SingleSample(StampOutOfRange):
    """One sample: nothing to interpolate at another stamp, nothing to differentiate at its own."""

    def _sentence(self) -> str:
        if self.requested is not None and self.requested == self.last:
            return (
                f"The {self._what('velocity')} was asked at {_instant(self.requested)}, where its only "
                "sample is, and one pose does not move. Give it another sample, or say the motion with set_twist(...)."
            )
        return (
            f"The {self._what()} was asked at {_instant(self.requested or 0)}, and its only sample is "
            f"at {_instant(self.last or 0)}. Pass outside='hold' to accept it, or fix() what never moves."
        )


class NoSamples(StampOutOfRange):
    """The relation is known, its samples are gone."""

    def _sentence(self) -> str:
        if self.joint is not None:
            return (
                f"The {self._what()} is not known: nothing was said of joint '{self.joint}'. "
                f"Call set_joints({{'{self.joint}': ...}}, at=...)."
            )
        return f"The {self._what()} holds no samples. Set one, or wait for it with wait_for_pose(...)."


class InvalidTransform(GivenValue, ArmillaryError, ValueError):
    """Numbers that are no rigid motion."""


class InvalidName(GivenValue, ArmillaryError, ValueError):
    """A name that no frame can have."""


class InvalidStamp(GivenValue, ArmillaryError, TypeError, ValueError):
    """Something that is not integer nanoseconds."""


class InvalidArgument(GivenValue, ArmillaryError, TypeError, ValueError):
    """An argument of the wrong kind, shape or value."""


class FrameLoop(ArmillaryError, ValueError):
    """A relation that would hang a frame under itself at one instant."""

    def __init__(self, path: Sequence[str], at: int | None) -> None:
        self.path, self.at = tuple(path), at
        when = "" if at is None else f" at {_instant(at)}"
        chain = "' in '".join(self.path)
        super().__init__(
            f"This would close a loop{when}: '{chain}'. Turn one of these relations round, or end it with a move first."
        )


class AmbiguousPath(ArmillaryError, LookupError):
    """Two sources place the same frame, and nothing says whom to believe."""

    def __init__(self, frame: str, sources: Sequence[str], requested: int | None, *, motion: bool = False) -> None:
        self.frame, self.sources, self.requested, self.motion = frame, tuple(sources), requested, motion
        names = " and ".join(f"'{source}'" for source in self.sources)
        when = "now" if requested is None else f"at {_instant(requested)}"
        said = f"The motion of '{frame}' is measured" if motion else f"Frame '{frame}' is placed"
        super().__init__(
            f"{said} by several sources {when}: {names}. "
            f"Choose one with world.prefer(of='{frame}', source='{self.sources[0] if self.sources else ''}')."
        )


class WaitTimeout(ArmillaryError, TimeoutError):
    """The time to wait is over; `reason` says what was still missing."""

    def __init__(self, of: str, in_frame: str, timeout_s: float, reason: ArmillaryError, *, what: str = "pose") -> None:
        """`what` is a "pose", or a "twist": then `in_frame` is what it was asked relative to."""
        self.of, self.in_frame, self.timeout_s, self.reason, self.what = of, in_frame, timeout_s, reason, what
        between = "in" if what == "pose" else "relative to"
        super().__init__(
            f"The {what} of '{of}' {between} '{in_frame}' did not become known within {timeout_s:g} s. "
            f"Last reason: {reason}"
        )


class FrameInUse(ArmillaryError, ValueError):
    """A frame that cannot be removed because others hang under it."""

    def __init__(self, frame: str, frames: Sequence[str]) -> None:
        self.frame, self.frames = frame, tuple(frames)
        super().__init__(
            f"Frame '{frame}' carries {_listing(self.frames)}. "
            "Remove those first, or pass subtree=True to remove all of them."
        )


class SuspiciousName(UserWarning):
    """A new frame whose name is one typo away from an old one."""


# Last, because these are kinds of the errors above.
from armillary.errors.constraints import (  # noqa: E402
    ConstraintViolation,
    NoPosePath,
    NotMeasured,
    NoTwistPath,
    NoValue,
    PosesMissing,
    UnknownName,
    UnknownRelation,
)
