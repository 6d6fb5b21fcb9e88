"""What is refused about frames: names, trees, sources, and waits that are over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError
from armillary.errors.format import format_stamp, join_names, list_names, nearest_name

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AmbiguousPath", "FrameInUse", "FrameLoop", "NotConnected", "SuspiciousName", "UnknownFrame", "WaitTimeout"]

_OF_A_NODE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(/mount)?")


def _node_hint(name: str) -> str:
    return f"Things of the scene go by their ids: scene.find({{'name': {name!r}}}) looks for one by what is said of it."


def _body_hint(frames: Sequence[str]) -> str:
    if not frames:
        return "It is a body without frames: give it some with add_body(name, frames=[...])."
    quoted = [f"'{name}'" for name in frames]
    return f"It is a body: name one of its frames, {list_names(quoted)}."


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
        near = nearest_name(self.frame, (*self.known, *self.bodies), cutoff=0.8)
        if near is not None:
            return f"Did you mean {'' if near in self.known else 'the body '}'{near}'?"
        if not self.known:
            return "It has no frames yet: set_pose or fix one first."
        named = [name for name in self.known if _OF_A_NODE.fullmatch(name) is None]
        known = f"Known: {list_names(named)}." if named else "None of its frames is named."
        return known if len(named) == len(self.known) else f"{known} {_node_hint(self.frame)}"


def _standing(frame: str, root: str) -> str:
    return f"nothing places '{frame}'" if frame == root else f"'{frame}' hangs under '{root}'"


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
        when = "" if requested is None else f" at {format_stamp(requested)}"
        super().__init__(f"No chain of poses leads from '{of}' to '{in_frame}'{when}: {self._reason()}")

    def _reason(self) -> str:
        if self.ended is not None:
            since = "from the beginning" if self.ended_at is None else f"since {format_stamp(self.ended_at)}"
            return f"'{self.ended}' hangs nowhere {since}. Ask for an earlier instant, or place it again."
        return (
            f"{_standing(self.of, self.of_root)}, and {_standing(self.in_frame, self.in_frame_root)}. "
            f"Set the pose of '{self.of_root}' in '{self.in_frame_root}', or the other way round."
        )


class FrameLoop(ArmillaryError, ValueError):
    """A relation that would hang a frame under itself at one instant."""

    def __init__(self, path: Sequence[str], at: int | None) -> None:
        self.path, self.at = tuple(path), at
        when = "" if at is None else f" at {format_stamp(at)}"
        chain = "' in '".join(self.path)
        super().__init__(
            f"This would close a loop{when}: '{chain}'. Turn one of these relations round, or end it with a move first."
        )


class AmbiguousPath(ArmillaryError, LookupError):
    """Two sources place the same frame, and nothing says whom to believe."""

    def __init__(self, frame: str, sources: Sequence[str], requested: int | None, *, motion: bool = False) -> None:
        self.frame, self.sources, self.requested, self.motion = frame, tuple(sources), requested, motion
        when = "now" if requested is None else f"at {format_stamp(requested)}"
        said = f"The motion of '{frame}' is measured" if motion else f"Frame '{frame}' is placed"
        # A motion that several measure stays contested with every policy.
        each = "" if motion else ", or with each question: policy='latest', 'most_certain' or 'fuse'"
        super().__init__(
            f"{said} by several sources {when}: {join_names(self.sources)}. Choose one with "
            f"world.prefer(of='{frame}', source='{self.sources[0] if self.sources else ''}'){each}."
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
            f"Frame '{frame}' carries {list_names(self.frames)}. "
            "Remove those first, or pass subtree=True to remove all of them."
        )


class SuspiciousName(UserWarning):
    """A new frame whose name is one typo away from an old one."""

    def __init__(self, name: str, near: str) -> None:
        self.name, self.near = name, near
        super().__init__(name, near)

    @property
    def reason(self) -> str:
        """What is odd."""
        return f"New frame '{self.name}' is one typo away from the known '{self.near}'."

    def __str__(self) -> str:
        return f"{self.reason} If both are meant, say so first: world.add_frame('{self.name}')."
