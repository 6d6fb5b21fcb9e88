"""The structure of a relation graph, without any value: bodies, frames, trees of poses, twists within each tree."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

from armillary.relations._graph_forest import Forest, Tree
from armillary.relations.structure import PoseEdge, TwistEdge


@dataclass(slots=True, eq=False)
class TreeContent:
    """What a tree of poses holds: how many frames of which body, and the twists whose head is in it."""

    bodies: dict[str, int] = field(default_factory=dict)
    twists: dict[str, TwistEdge] = field(default_factory=dict)
    moving: Forest[TwistEdge] = field(default_factory=Forest)

    def count(self, body: str, frames: int = 1) -> None:
        """Notes more frames of a body."""
        self.bodies[body] = self.bodies.get(body, 0) + frames


class GraphStructure:
    """What the rules ask about, and the edits that keep it quick to ask.

    The edits trust their caller: the rules were asked before. Joining trees costs the smaller one, parting them
    the whole one.
    """

    __slots__ = ("_body", "_content", "_forest", "_frames")

    def __init__(self) -> None:
        self._frames: dict[str, list[str]] = {}
        self._body: dict[str, str] = {}
        self._forest: Forest[PoseEdge] = Forest()
        self._content: dict[Tree, TreeContent] = {}

    # What the rules ask

    def is_body(self, name: str) -> bool:
        """Whether a body has this name."""
        return name in self._frames

    def body_of(self, frame: str) -> str | None:
        """The body a frame is on; None where no frame has this name."""
        return self._body.get(frame)

    def frames_of(self, body: str) -> Collection[str]:
        """The frames on a body, in the order they came."""
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
        moving = self._of(root).moving
        return moving.tree(body).root if body in moving else body

    # What the queries ask

    def bodies(self) -> tuple[str, ...]:
        """All bodies, in the order they came."""
        return tuple(self._frames)

    def frames(self) -> tuple[str, ...]:
        """All frames, in the order they came."""
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

    def pose_ways(self, a: str, b: str) -> tuple[list[str], list[str]]:
        """The heads of the edges from each frame up to their youngest common ancestor."""
        return self._forest.ways(a, b)

    def twist_ways(self, frame: str, body: str, relative_to: str) -> tuple[list[TwistEdge], list[TwistEdge]] | None:
        """The twists from each body up to where they meet, in the tree of a frame; None where they do not."""
        moving = self._of(frame).moving
        if body not in moving or relative_to not in moving or moving.tree(body) is not moving.tree(relative_to):
            return None
        ways = moving.ways(body, relative_to)
        first, second = ([above[1] for node in way if (above := moving.up(node))] for way in ways)
        return first, second

    def moving_with(self, frame: str, body: str) -> tuple[str, ...]:
        """The bodies whose motion relative to this one the twists in the tree of a frame tell."""
        moving = self._of(frame).moving
        return tuple(sorted(moving.tree(body).members - {body})) if body in moving else ()

    # Edits

    def add_body(self, name: str) -> None:
        """A body without frames."""
        self._frames[name] = []

    def add_frame(self, name: str, body: str) -> None:
        """A frame on a body, in a tree of its own."""
        self._body[name] = body
        self._frames[body].append(name)
        content = self._content[self._forest.add(name)] = TreeContent()
        content.count(body)

    def add_pose(self, edge: PoseEdge) -> Collection[str]:
        """Joins two trees; the frames that came to the larger one."""
        kept, gone = self._forest.hang(edge.of, edge.in_frame, edge)
        content, other = self._content[kept], self._content.pop(gone)
        for body, frames in other.bodies.items():
            content.count(body, frames)
        self._connect(content, other.twists.values())
        return gone.members

    def cut_pose(self, of: str) -> None:
        """Parts a tree above a frame."""
        rest, own = self._forest.cut(of)
        twists = self._content.pop(rest).twists.values()
        for tree in (rest, own):
            content = self._content[tree] = TreeContent()
            for frame in tree.members:
                content.count(self._body[frame])
            self._connect(content, [edge for edge in twists if edge.of in tree.members])

    def add_twist(self, edge: TwistEdge) -> None:
        """Joins two groups of bodies in the tree of its frame."""
        self._connect(self._of(edge.of), [edge])

    def cut_twist(self, of: str) -> None:
        """Takes the twist of a frame away."""
        content = self._of(of)
        edge = content.twists.pop(of)
        body = self._body[of]
        above = content.moving.up(body)
        content.moving.cut(body if above is not None and above[1] == edge else edge.relative_to)

    def _connect(self, content: TreeContent, edges: Iterable[TwistEdge]) -> None:
        for edge in edges:
            content.twists[edge.of] = edge
            content.moving.link(self._body[edge.of], edge.relative_to, edge)

    def _of(self, frame: str) -> TreeContent:
        return self._content[self._forest.tree(frame)]
