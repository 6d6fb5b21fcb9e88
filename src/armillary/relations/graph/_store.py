"""What a relation graph holds: bodies, frames, trees of poses and twists, and the values on its edges."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from armillary.errors.relations import NoPosePath, UnknownName
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist
from armillary.relations.representations import LinearAngular, Representation
from armillary.relations.representations.adapters import unwrap
from armillary.relations.rules import PoseEdge, TwistEdge
from armillary.transforms import Rotation

Edge = TypeVar("Edge")


@dataclass(slots=True, eq=False)
class Tree:
    """The members of one tree, compared by identity."""

    root: str
    members: set[str]


class Forest(Generic[Edge]):
    """Rooted trees of names, which can be joined, re-rooted and split. An edge is kept at its lower end.

    Every node knows its tree: joining two updates the members of the smaller one, so that n insertions cost
    O(n log n) altogether. A path costs its own length, whatever the size of the tree.
    """

    __slots__ = ("_down", "_tree", "_up")

    def __init__(self) -> None:
        self._up: dict[str, tuple[str, Edge]] = {}
        self._down: dict[str, set[str]] = {}
        self._tree: dict[str, Tree] = {}

    def __contains__(self, node: str) -> bool:
        return node in self._tree

    def add(self, node: str) -> Tree:
        """Return the tree of a node; a new one if the node is new."""
        tree = self._tree.get(node)
        if tree is None:
            tree = self._tree[node] = Tree(node, {node})
            self._down[node] = set()
        return tree

    def tree(self, node: str) -> Tree:
        """The tree of a node."""
        return self._tree[node]

    def up(self, node: str) -> tuple[str, Edge] | None:
        """The parent and the edge to it; None for a root."""
        return self._up.get(node)

    def attach(self, root: str, parent: str, edge: Edge) -> tuple[Tree, Tree]:
        """Put a root below a node of another tree; return the tree that remains, and the one that is removed."""
        upper, lower = self._tree[parent], self._tree[root]
        self._up[root] = (parent, edge)
        self._down[parent].add(root)
        kept, removed = (upper, lower) if len(upper.members) >= len(lower.members) else (lower, upper)
        kept.root = upper.root
        self._assign(removed.members, kept)
        kept.members |= removed.members
        return kept, removed

    def link(self, a: str, b: str, edge: Edge) -> None:
        """Join two trees by an edge without direction: the smaller one is re-rooted and put below the other."""
        smaller, larger = sorted((a, b), key=lambda node: len(self.add(node).members))
        self._make_root(smaller)
        self.attach(smaller, larger, edge)

    def cut(self, node: str) -> tuple[Tree, Tree]:
        """Remove the edge above a node; return the rest of its tree, and the tree that it is now the root of."""
        rest, (parent, _) = self._tree[node], self._up.pop(node)
        self._down[parent].remove(node)
        own = Tree(node, set(self._subtree(node)))
        self._assign(own.members, own)
        rest.members -= own.members
        return rest, own

    def paths_to_ancestor(self, a: str, b: str) -> tuple[list[str], list[str]]:
        """Return the nodes from each up to, and without, the lowest common ancestor. Both are in one tree.

        Both climb in turn, so that the cost is bounded by the length of the path.
        """
        climbed: tuple[dict[str, int], dict[str, int]] = ({a: 0}, {b: 0})
        ends = [a, b]
        side, met = 0, a if a == b else None
        while met is None:
            above = self._up.get(ends[side])
            if above is not None:
                ends[side] = above[0]
                climbed[side][above[0]] = len(climbed[side])
                met = above[0] if above[0] in climbed[1 - side] else None
            side = 1 - side
        return list(climbed[0])[: climbed[0][met]], list(climbed[1])[: climbed[1][met]]

    def _make_root(self, node: str) -> None:
        """Make a node the root of its tree: the edges above it are reversed."""
        path = [node]
        while path[-1] in self._up:
            path.append(self._up[path[-1]][0])
        for child, parent in reversed(list(pairwise(path))):
            _, edge = self._up.pop(child)
            self._down[parent].remove(child)
            self._up[parent] = (child, edge)
            self._down[child].add(parent)
        self._tree[node].root = node

    def _subtree(self, node: str) -> Iterator[str]:
        waiting = [node]
        while waiting:
            yield (lower := waiting.pop())
            waiting.extend(self._down[lower])

    def _assign(self, members: set[str], tree: Tree) -> None:
        for member in members:
            self._tree[member] = tree


@dataclass(slots=True, eq=False)
class TreeContent:
    """The content of a tree of poses: how many frames of each body, and the twists whose head is in it."""

    bodies: dict[str, int] = field(default_factory=dict)
    twists: dict[str, TwistEdge] = field(default_factory=dict)
    motions: Forest[TwistEdge] = field(default_factory=Forest)

    def count(self, body: str, frames: int = 1) -> None:
        """Add to the number of frames of a body."""
        self.bodies[body] = self.bodies.get(body, 0) + frames


class GraphStructure:
    """Bodies, frames, trees of poses and twists within each tree, without values; implements `rules.Structure`.

    The edits trust their caller, who has checked the rules. Joining trees costs the size of the smaller one, splitting
    that of the whole.
    """

    __slots__ = ("_body", "_content", "_forest", "_frames")

    def __init__(self) -> None:
        self._frames: dict[str, list[str]] = {}
        self._body: dict[str, str] = {}
        self._forest: Forest[PoseEdge] = Forest()
        self._content: dict[Tree, TreeContent] = {}

    # For the rules

    def is_body(self, name: str) -> bool:
        """Whether a body has this name."""
        return name in self._frames

    def body_of(self, frame: str) -> str | None:
        """The body a frame is on; None where no frame has this name."""
        return self._body.get(frame)

    def frames_of(self, body: str) -> Collection[str]:
        """The frames on a body, in the order they were added."""
        return self._frames.get(body, ())

    def pose_parent(self, frame: str) -> str | None:
        """The frame in which this one is placed; None for a root."""
        above = self._forest.up(frame)
        return None if above is None else above[0]

    def root_of(self, frame: str) -> str:
        """The root of the tree that holds the frame."""
        return self._forest.tree(frame).root

    def bodies_in(self, root: str) -> Collection[str]:
        """The bodies with a frame in a tree."""
        return self._of(root).bodies

    def twists_in(self, root: str) -> Collection[TwistEdge]:
        """The twists whose head frame is in a tree."""
        return self._of(root).twists.values()

    def twist_parent(self, frame: str) -> str | None:
        """The body relative to which the twist of a frame is given."""
        edge = self._of(frame).twists.get(frame)
        return None if edge is None else edge.relative_to

    def twist_group(self, root: str, body: str) -> Hashable:
        """The root of the bodies that the twists of a tree connect with this one."""
        motions = self._of(root).motions
        return motions.tree(body).root if body in motions else body

    # For the queries

    def bodies(self) -> tuple[str, ...]:
        """All bodies, in the order they were added."""
        return tuple(self._frames)

    def frames(self) -> tuple[str, ...]:
        """All frames, in the order they were added."""
        return tuple(self._body)

    def twists(self) -> tuple[TwistEdge, ...]:
        """All twists, tree by tree."""
        return tuple(edge for content in self._content.values() for edge in content.twists.values())

    def in_one_tree(self, a: str, b: str) -> bool:
        """Whether poses lead from frame to frame."""
        return self._forest.tree(a) is self._forest.tree(b)

    def members(self, frame: str) -> Collection[str]:
        """The frames of the tree that holds this one."""
        return self._forest.tree(frame).members

    def pose_paths(self, a: str, b: str) -> tuple[list[str], list[str]]:
        """The heads of the edges from each frame up to their lowest common ancestor."""
        return self._forest.paths_to_ancestor(a, b)

    def twist_paths(self, frame: str, body: str, relative_to: str) -> tuple[list[TwistEdge], list[TwistEdge]] | None:
        """The twists from each body up to their common ancestor, in the tree of a frame; None where there is none."""
        motions = self._of(frame).motions
        if body not in motions or relative_to not in motions or motions.tree(body) is not motions.tree(relative_to):
            return None
        paths_to_ancestor = motions.paths_to_ancestor(body, relative_to)
        first, second = ([above[1] for node in path if (above := motions.up(node))] for path in paths_to_ancestor)
        return first, second

    def moving_with(self, frame: str, body: str) -> tuple[str, ...]:
        """The bodies whose motion relative to this one the twists in the tree of a frame determine."""
        motions = self._of(frame).motions
        return tuple(sorted(motions.tree(body).members - {body})) if body in motions else ()

    # Edits

    def add_body(self, name: str) -> None:
        """Add a body without frames."""
        self._frames[name] = []

    def add_frame(self, name: str, body: str) -> None:
        """Add a frame on a body, in a tree of its own."""
        self._body[name] = body
        self._frames[body].append(name)
        content = self._content[self._forest.add(name)] = TreeContent()
        content.count(body)

    def add_pose(self, edge: PoseEdge) -> Collection[str]:
        """Join two trees; return the frames that were added to the larger one."""
        kept, removed = self._forest.attach(edge.of, edge.in_frame, edge)
        content, other = self._content[kept], self._content.pop(removed)
        for body, frames in other.bodies.items():
            content.count(body, frames)
        self._connect(content, other.twists.values())
        return removed.members

    def cut_pose(self, of: str) -> None:
        """Split a tree above a frame."""
        rest, own = self._forest.cut(of)
        twists = self._content.pop(rest).twists.values()
        for tree in (rest, own):
            content = self._content[tree] = TreeContent()
            for frame in tree.members:
                content.count(self._body[frame])
            self._connect(content, [edge for edge in twists if edge.of in tree.members])

    def add_twist(self, edge: TwistEdge) -> None:
        """Join two groups of bodies in the tree of its frame."""
        self._connect(self._of(edge.of), [edge])

    def cut_twist(self, of: str) -> None:
        """Remove the twist of a frame."""
        content = self._of(of)
        edge = content.twists.pop(of)
        body = self._body[of]
        above = content.motions.up(body)
        content.motions.cut(body if above is not None and above[1] == edge else edge.relative_to)

    def _connect(self, content: TreeContent, edges: Iterable[TwistEdge]) -> None:
        for edge in edges:
            content.twists[edge.of] = edge
            content.motions.link(self._body[edge.of], edge.relative_to, edge)

    def _of(self, frame: str) -> TreeContent:
        return self._content[self._forest.tree(frame)]


class Pending:
    """Twists that wait for poses: by their head frame, and by any frame that they wait for."""

    __slots__ = ("_heads", "_twists")

    def __init__(self) -> None:
        self._twists: dict[str, Twist] = {}
        self._heads: dict[str, set[str]] = {}

    def __getitem__(self, head: str) -> Twist:
        return self._twists[head]

    def __contains__(self, head: str) -> bool:
        return head in self._twists

    def __iter__(self) -> Iterator[str]:
        return iter(self._twists)

    def add(self, head: str, twist: Twist) -> None:
        """Add a twist that waits."""
        self.discard(head)
        self._twists[head] = twist
        for frame in _needed(head, twist):
            self._heads.setdefault(frame, set()).add(head)

    def discard(self, head: str) -> None:
        """Remove the twist of a head frame, if one waits."""
        twist = self._twists.pop(head, None)
        for frame in _needed(head, twist) if twist is not None else ():
            self._heads[frame].discard(head)

    def touched_by(self, frames: Iterable[str]) -> list[str]:
        """The heads of the twists that wait for one of these frames."""
        if not self._twists:
            return []
        return sorted({head for frame in frames for head in self._heads.get(frame, ())})

    def twists(self) -> tuple[Twist, ...]:
        """All pending twists, as they were given."""
        return tuple(self._twists.values())


def _needed(head: str, twist: Twist) -> set[str]:
    return {head, twist.point, twist.expressed_in}


class GraphStore:
    """The structure, and the values by the head frame of their edge, which is unique for each edge."""

    __slots__ = ("measured", "pending", "poses", "representation", "rigid", "structure", "twists")

    def __init__(self, representation: Representation) -> None:
        self.representation = representation
        self.structure = GraphStructure()
        self.poses: dict[str, Pose] = {}
        self.twists: dict[str, Twist] = {}
        self.pending = Pending()
        self.rigid: set[str] = set()
        self.measured: dict[tuple[str, ...], Pose | Twist] = {}

    def body_of(self, frame: str) -> str:
        """Return the body of a frame; raises for an unknown frame."""
        body = self.structure.body_of(frame)
        if body is None:
            raise UnknownName(frame, self.structure.frames(), "frame", tuple(self.structure.frames_of(frame)))
        return body

    def body(self, name: str) -> str:
        """Return the body with this name, or with a frame of this name."""
        if self.structure.is_body(name):
            return name
        body = self.structure.body_of(name)
        if body is None:
            raise UnknownName(name, (*self.structure.bodies(), *self.structure.frames()), "body or frame")
        return body

    def require_path(self, of: str, in_frame: str) -> None:
        """Raise for frames that no poses connect."""
        self.body_of(of)
        self.body_of(in_frame)
        if not self.structure.in_one_tree(of, in_frame):
            roots = (self.structure.root_of(of), self.structure.root_of(in_frame))
            raise NoPosePath(of, in_frame, *roots)

    def identity(self, frame: str) -> Pose:
        """Return the pose of a frame in itself."""
        zero = self.representation.vector(np.zeros(3))
        coordinates = self.representation.pose(
            zero, self.representation.rotation(Rotation.identity()), is_frame_form=True
        )
        body = self.body_of(frame)
        return Pose(of=frame, in_frame=frame, body=body, reference_body=body, coordinates=unwrap(coordinates))

    def no_motion(self, *, point: str, body: str, relative_to: str, expressed_in: str) -> Twist:
        """Return a zero twist, which is exact."""
        coordinates = self.zero_motion
        is_numeric = isinstance(coordinates, LinearAngular)
        return Twist(
            point=point,
            body=body,
            reference_body=relative_to,
            expressed_in=expressed_in,
            coordinates=coordinates,
            covariance=np.zeros((6, 6)) if is_numeric else None,
        )

    @property
    def zero_motion(self) -> Any:
        """Coordinates of a zero twist, in the graph's representation."""
        zero = self.representation.vector(np.zeros(3))
        return unwrap(self.representation.twist(zero, zero))

    def put_pose(self, pose: Pose) -> Collection[str]:
        """Add a pose; return the frames that it connected with the larger tree."""
        self.poses[pose.of] = pose
        return self.structure.add_pose(PoseEdge(pose.of, pose.in_frame))

    def drop_pose(self, of: str) -> None:
        """Remove a pose."""
        del self.poses[of]
        self.structure.cut_pose(of)

    def put_twist(self, head: str, value: Twist) -> None:
        """Add a twist with its value."""
        self.structure.add_twist(TwistEdge(head, value.reference_body))
        self.twists[head] = value

    def put_twist_value(self, head: str, value: Twist | None, given: Twist) -> None:
        """Set the value of an edge, or keep the given twist as pending where there is none."""
        if value is None:
            self.twists.pop(head, None)
            self.pending.add(head, given)
        else:
            self.pending.discard(head)
            self.twists[head] = value

    def drop_twist(self, head: str) -> None:
        """Remove a twist, with or without a value."""
        self.structure.cut_twist(head)
        self.twists.pop(head, None)
        self.pending.discard(head)
