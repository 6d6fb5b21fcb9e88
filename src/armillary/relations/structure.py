"""What the structural rules see of a graph, and what they say of it."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ["BodyNode", "Existing", "FrameNode", "PoseEdge", "Structure", "TwistEdge", "Violation"]


class BodyNode(NamedTuple):
    """A body."""

    name: str

    def __str__(self) -> str:
        return f"the body '{self.name}'"


class FrameNode(NamedTuple):
    """A frame and the body it is fixed to."""

    name: str
    body: str

    def __str__(self) -> str:
        return f"the frame '{self.name}' on '{self.body}'"


class PoseEdge(NamedTuple):
    """Where the frame `of` is, seen from `in_frame`: the edge from tail `in_frame` to head `of`."""

    of: str
    in_frame: str

    def __str__(self) -> str:
        return f"the pose of '{self.of}' in '{self.in_frame}'"


class TwistEdge(NamedTuple):
    """How the body of the frame `of` moves, seen from a body: the edge from that body to `of`."""

    of: str
    relative_to: str

    def __str__(self) -> str:
        return f"the twist of '{self.of}' relative to '{self.relative_to}'"


Existing = BodyNode | FrameNode | PoseEdge | TwistEdge


class Structure(Protocol):
    """All that the rules know of a graph. A tree of poses is called by the name of its root frame."""

    def is_body(self, name: str) -> bool:
        """Whether a body has this name."""

    def body_of(self, frame: str) -> str | None:
        """The body a frame is on; None where no frame has this name."""

    def frames_of(self, body: str) -> Collection[str]:
        """The frames on a body."""

    def pose_parent(self, frame: str) -> str | None:
        """The frame in which this one is placed; None for a root."""

    def root_of(self, frame: str) -> str:
        """The root of the tree that holds the frame."""

    def bodies_in(self, root: str) -> Collection[str]:
        """The bodies with a frame in a tree; asked for its length and for membership."""

    def twists_in(self, root: str) -> Collection[TwistEdge]:
        """The twists whose head frame is in a tree."""

    def twist_parent(self, frame: str) -> str | None:
        """The body relative to which the twist of a frame is given."""

    def twist_group(self, root: str, body: str) -> Hashable:
        """A name for the set of bodies that the twists of a tree connect with this one."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a statement cannot be taken in: what is true instead, by which relations, and what to do."""

    constraint: str
    reason: str
    existing: tuple[Existing, ...]
    hint: str
