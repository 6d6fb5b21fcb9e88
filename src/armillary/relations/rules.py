"""The structural rules of a pose-and-twist graph, C1 to C8: each returns a violation, or None.

The functions store and change nothing. They see a graph through the protocol `Structure`, so that the time-free
`RelationGraph` and one selection of a timed world obey the same rules. The caller decides whether to raise a violation,
report it, or keep the relation inactive.

* C1 bodies are unique; C2 frames are unique and on one body; C3 every frame has a body.
* C4 poses are edges from frame to frame. C5 a pose within one body is constant.
* C6a a frame has at most one pose parent. C6b at most one path of poses leads from body to body.
* C7 twists are edges from a body to a frame. C8a a frame has at most one twist parent.
* C8b at most one path of twists leads from body to body among the twists of one tree of poses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol

from armillary.errors.relations import ConstraintViolation

__all__ = [
    "BodyNode",
    "Existing",
    "FrameNode",
    "PoseEdge",
    "Structure",
    "TwistEdge",
    "Violation",
    "is_moving",
    "new_body",
    "new_frame",
    "new_pose",
    "new_twist",
    "one_body",
    "one_pose_path",
    "one_twist_path",
    "one_twist_path_as_one_body",
    "one_twist_path_when_joined",
    "raise_if_violated",
    "twist_ends",
]


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
    """What the rules need to know of a graph. A tree of poses is named by its root frame."""

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
        """An identifier of the set of bodies that the twists of a tree connect with this one."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a relation cannot be added: the rule, the reason, the relations it contradicts, and what to do."""

    constraint: str
    reason: str
    existing: tuple[Existing, ...]
    hint: str

    def error(self, operation: str, asked: str, offer: Any = None) -> ConstraintViolation:
        """Return the error of the violation; `offer` is an equivalent relation that would be accepted."""
        return ConstraintViolation(
            constraint=self.constraint,
            operation=operation,
            asked=asked,
            reason=self.reason,
            existing=self.existing,
            hint=self.hint,
            offer=offer,
        )


def new_body(graph: Structure, name: str) -> Violation | None:
    """Check a new body: C1, and that no frame has its name (a frame named like a body is on it)."""
    if graph.is_body(name):
        hint = f"Use it, or give frames to it with add_frame(..., body='{name}')."
        return Violation("C1", f"There is a body '{name}' already.", (BodyNode(name),), hint)
    return _frame_on(graph, name, "Give the body another name.")


def new_frame(graph: Structure, name: str, body: str | None) -> Violation | None:
    """Check a new frame: C2 and C3."""
    if body is None:
        return Violation("C3", "Every frame is on a body.", (), f"Name it: add_frame('{name}', body=...).")
    if graph.is_body(name) and name != body:
        reason = f"A body has this name, and a frame named like a body is on it, not on '{body}'."
        return Violation("C2", reason, (BodyNode(name),), "Give the frame another name.")
    return _frame_on(graph, name, "Use it, or give the new frame another name.")


def new_pose(graph: Structure, of: str, in_frame: str, twists: Collection[TwistEdge] = ()) -> Violation | None:
    """Check a new pose: C4 to C6b, and C8b where it joins two trees that hold twists.

    Args:
        graph: The graph without the pose.
        of: Head of the new edge: the frame that is placed.
        in_frame: Its tail.
        twists: Twists that are added with the pose (the zero twist of a rigid mount).
    """
    return (
        _ends(graph, "C4", "A pose is between two frames", (of, in_frame))
        or _constant(graph, of, in_frame)
        or _one_pose_parent(graph, of, in_frame)
        or _one_pose_path(graph, of, in_frame)
        or _one_twist_parent_each(graph, twists)
        or one_twist_path_when_joined(graph, of, in_frame, twists)
    )


def one_pose_path(graph: Structure, of: str, in_frame: str) -> Violation | None:
    """Check C6b alone: no body is reached twice when the tree of the root `of` is put below `in_frame`."""
    return None if graph.root_of(of) == graph.root_of(in_frame) else _one_pose_path(graph, of, in_frame)


def new_twist(graph: Structure, of: str, relative_to: str) -> Violation | None:
    """Check a new twist of the frame `of` relative to a body: C7, C8a and C8b."""
    return twist_ends(graph, of, relative_to) or one_twist_path(graph, of, relative_to)


def one_twist_path(graph: Structure, of: str, relative_to: str) -> Violation | None:
    """Check C8a and C8b alone, for a twist between a frame and a body."""
    return _one_twist_parent(graph, of, relative_to) or _one_twist_path(graph, of, relative_to)


def twist_ends(graph: Structure, of: str, relative_to: str) -> Violation | None:
    """Check C7 alone: the ends of a twist are a frame and a body."""
    return _ends(graph, "C7", "The moving end of a twist is a frame", (of,)) or _tail_is_body(graph, relative_to)


def is_moving(graph: Structure, of: str, relative_to: str) -> bool:
    """Whether twists determine already how a frame moves relative to a body."""
    root = graph.root_of(of)
    return graph.twist_group(root, graph.body_of(of) or "") == graph.twist_group(root, relative_to)


def one_body(graph: Structure, name: str, frames: Collection[str]) -> Violation | None:
    """Check that frames which had bodies of their own may be put on one body (C6b and C8b).

    In each tree the frames of a body must be connected; otherwise two paths would lead to what is between them.
    """
    tops: dict[str, str] = {}
    for frame in (frame for frame in frames if graph.pose_parent(frame) not in frames):
        other = tops.setdefault(graph.root_of(frame), frame)
        if other != frame:
            reason = f"'{other}' and '{frame}' are joined by frames that are not on '{name}'."
            path = tuple(_edges_between(graph, other, frame))
            return Violation("C6b", reason, path, "Add the frames between them too, or remove a pose on the way.")
    return one_twist_path_as_one_body(graph, name, frozenset(frames))


def _frame_on(graph: Structure, name: str, hint: str) -> Violation | None:
    body = graph.body_of(name)
    if body is None:
        return None
    return Violation("C2", f"There is a frame '{name}' already, on '{body}'.", (FrameNode(name, body),), hint)


def _ends(graph: Structure, constraint: str, rule: str, ends: Iterable[str]) -> Violation | None:
    for name in ends:
        if graph.body_of(name) is None:
            frames = ", ".join(graph.frames_of(name)) or "none yet"
            hint = f"Name one of its frames: {frames}."
            return Violation(constraint, f"{rule}, and '{name}' is a body.", (BodyNode(name),), hint)
    return None


def _tail_is_body(graph: Structure, name: str) -> Violation | None:
    if graph.is_body(name):
        return None
    body = graph.body_of(name) or ""
    reason = f"A twist is relative to a body, and '{name}' is a frame: every point of '{body}' sees the same motion."
    return Violation("C7", reason, (FrameNode(name, body),), f"Pass reference_body='{body}'.")


def _constant(graph: Structure, of: str, in_frame: str) -> Violation | None:
    body = graph.body_of(of)
    if graph.body_of(in_frame) != body or graph.pose_parent(of) != in_frame:
        return None
    reason = f"Both frames are on '{body}', whose poses are set once."
    hint = f"Call remove_pose(of='{of}', in_frame='{in_frame}') first if it was wrong."
    return Violation("C5", reason, (PoseEdge(of, in_frame),), hint)


def _one_pose_parent(graph: Structure, of: str, in_frame: str) -> Violation | None:
    parent = graph.pose_parent(of)
    if parent is None:
        return None
    reason = f"The frame '{of}' is placed in '{parent}' already."
    hint = f"Call remove_pose(of='{of}', in_frame='{parent}') first."
    if parent == in_frame:
        hint = "Give this edge a new value with set_pose(...)."
    elif graph.root_of(of) == graph.root_of(in_frame):
        hint = f"Pass adapt=True to keep it as a measurement, as it follows from what is there. Or c{hint[1:]}"
    return Violation("C6a", reason, (PoseEdge(of, parent),), hint)


def _one_pose_path(graph: Structure, of: str, in_frame: str) -> Violation | None:
    """Check C6b for a frame `of` without a parent: its tree is joined with that of `in_frame`."""
    if graph.root_of(of) == graph.root_of(in_frame):
        return _already_connected(graph, of, in_frame)
    own = {graph.body_of(of)} if graph.body_of(of) == graph.body_of(in_frame) else set()
    fewer, more = sorted((graph.bodies_in(graph.root_of(frame)) for frame in (of, in_frame)), key=len)
    twice = min((body for body in fewer if body in more and body not in own), default=None)
    return None if twice is None else _body_in_both_trees(graph, of, in_frame, twice)


def _already_connected(graph: Structure, of: str, in_frame: str) -> Violation:
    if of == in_frame:
        reason = f"'{of}' in itself is the identity."
        return Violation("C6b", reason, (), "Name two different frames.")
    reason = f"The pose of '{of}' in '{in_frame}' follows from the poses already there."
    hint = "Pass adapt=True to keep it as a measurement, or remove one pose of that path first."
    return Violation("C6b", reason, tuple(_edges_up(graph, in_frame)), hint)


def _body_in_both_trees(graph: Structure, of: str, in_frame: str, body: str) -> Violation:
    here, there = (_frame_in(graph, body, graph.root_of(frame)) for frame in (of, in_frame))
    reason = f"The body '{body}' would be reached twice, through its frames '{there}' and '{here}'."
    path = (*_edges_between(graph, in_frame, there), *_edges_between(graph, of, here))
    hint = f"Remove one pose on the way to '{there}' or to '{here}' first."
    return Violation("C6b", reason, path, hint)


def _one_twist_parent(graph: Structure, of: str, relative_to: str) -> Violation | None:
    parent = graph.twist_parent(of)
    if parent is None:
        return None
    reason = f"The frame '{of}' has a twist already, relative to '{parent}'."
    hint = f"Give the twist of another frame of '{graph.body_of(of)}', or remove_twist(of='{of}', ...) first."
    if parent == relative_to:
        hint = "Give this edge a new value with set_twist(...), or pass adapt=True to keep it as a measurement."
    elif is_moving(graph, of, relative_to):
        hint = f"Pass adapt=True to keep it as a measurement, as it follows from what is there. Or g{hint[1:]}"
    return Violation("C8a", reason, (TwistEdge(of, parent),), hint)


def _one_twist_parent_each(graph: Structure, twists: Iterable[TwistEdge]) -> Violation | None:
    found = (_one_twist_parent(graph, twist.of, twist.relative_to) for twist in twists)
    return next((violation for violation in found if violation), None)


def _one_twist_path(graph: Structure, of: str, relative_to: str) -> Violation | None:
    body, root = graph.body_of(of) or "", graph.root_of(of)
    if body == relative_to:
        return Violation("C8b", f"'{body}' does not move relative to itself.", (), "Name two different bodies.")
    if not is_moving(graph, of, relative_to):
        return None
    return _already_moving(
        graph, graph.twists_in(root), body, relative_to, "Pass adapt=True to keep it as a measurement"
    )


def one_twist_path_when_joined(
    graph: Structure, of: str, in_frame: str, twists: Collection[TwistEdge] = ()
) -> Violation | None:
    """Check C8b alone, for a pose that joins the trees of two frames, and twists that are added with it."""
    if graph.root_of(of) == graph.root_of(in_frame):
        return None
    joined, kept = sorted((graph.root_of(of), graph.root_of(in_frame)), key=lambda root: len(graph.twists_in(root)))
    groups = _Groups(lambda body: graph.twist_group(kept, body))
    for edge in chain(graph.twists_in(joined), twists):
        body = graph.body_of(edge.of) or ""
        if not groups.join(body, edge.relative_to):
            others = (other for other in (*graph.twists_in(kept), *graph.twists_in(joined), *twists) if other != edge)
            return _already_moving(graph, others, body, edge.relative_to, "Keep one of these twists")
    return None


def one_twist_path_as_one_body(graph: Structure, name: str, frames: Collection[str]) -> Violation | None:
    """Check C8b alone, for frames that are put on one body."""
    merged = {graph.body_of(frame) for frame in frames} | {name}

    def renamed(body: str) -> str:
        return name if body in merged else body

    for root in {graph.root_of(frame) for frame in frames}:
        groups = _Groups(lambda body: body)
        for edge in graph.twists_in(root):
            body, tail = renamed(graph.body_of(edge.of) or ""), renamed(edge.relative_to)
            if not groups.join(body, tail):
                known = "relative to its own body" if body == tail else "known twice"
                reason = f"On one body '{name}', {edge} would be {known}."
                return Violation("C8b", reason, (edge,), "Remove that twist first.")
    return None


def _already_moving(graph: Structure, edges: Iterable[TwistEdge], body: str, relative_to: str, hint: str) -> Violation:
    reason = f"How '{body}' moves relative to '{relative_to}' would be known twice in one tree of poses."
    path = tuple(_twist_path(graph, edges, body, relative_to))
    return Violation("C8b", reason, path, f"{hint}, or remove one of the others first.")


def _edges_up(graph: Structure, frame: str) -> Iterator[PoseEdge]:
    """The pose edges from a frame up to the root of its tree."""
    parent = graph.pose_parent(frame)
    while parent is not None:
        yield PoseEdge(frame, parent)
        frame, parent = parent, graph.pose_parent(parent)


def _edges_between(graph: Structure, a: str, b: str) -> list[PoseEdge]:
    """The pose edges of the path between two frames of one tree."""
    from_a, from_b = list(_edges_up(graph, a)), list(_edges_up(graph, b))
    while from_a and from_b and from_a[-1] == from_b[-1]:
        from_a.pop()
        from_b.pop()
    return [*from_a, *reversed(from_b)]


def _frame_in(graph: Structure, body: str, root: str) -> str:
    return next(frame for frame in graph.frames_of(body) if graph.root_of(frame) == root)


def _twist_path(graph: Structure, edges: Iterable[TwistEdge], start: str, end: str) -> list[TwistEdge]:
    """The twists of the path from body to body, for the message of a violation."""
    neighbours: dict[str, list[tuple[str, TwistEdge]]] = {}
    for edge in edges:
        body = graph.body_of(edge.of) or ""
        neighbours.setdefault(body, []).append((edge.relative_to, edge))
        neighbours.setdefault(edge.relative_to, []).append((body, edge))
    reached: dict[str, list[TwistEdge]] = {start: []}
    front = [start]
    for body in front:
        for other, edge in neighbours.get(body, ()):
            if other not in reached:
                reached[other] = [*reached[body], edge]
                front.append(other)
    return reached.get(end, [])


class _Groups:
    """A union-find structure of bodies, on top of given groups that are not changed."""

    def __init__(self, group_of: Callable[[str], Hashable]) -> None:
        self._group_of, self._joined = group_of, dict[Hashable, Hashable]()

    def join(self, a: str, b: str) -> bool:
        """Join the groups of two bodies; False if they are one already."""
        first, second = self._find(a), self._find(b)
        self._joined[first] = second
        return first != second

    def _find(self, body: str) -> Hashable:
        group = self._group_of(body)
        while (parent := self._joined.get(group, group)) != group:
            self._joined[group] = self._joined.get(parent, parent)
            group = parent
        return group


def raise_if_violated(violation: Violation | None, operation: str, asked: str) -> None:
    """Raise the error of a violation, if there is one."""
    if violation is not None:
        raise violation.error(operation, asked)
