"""Changes become requests: names and nodes are looked up, and every `NOW` of a batch becomes one instant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from armillary._core import DETACHED_NODE, ROOT_NODE, NodeId
from armillary.errors import UnknownFrame, UnknownNode
from armillary.store.bodies import check_body
from armillary.store.changes import NOW, Now
from armillary.store.names import admit_name, declare_name, is_only_a_body, recall_joint, recall_name
from armillary.store.values import as_transform
from armillary.transforms import Transform, check_name

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.store.store import Store

__all__ = ["BatchNodes", "ChangeContext", "UncheckedContext", "node_of_frame"]

_NO_NAMES: frozenset[str] = frozenset()
_FRAME_SPACE = "frame"
"""Nodes that stand for frames of the world have ids of their names in this space."""
ALWAYS_NS = 1 - 2**62
"""The first of all stamps: what begins then has always been there, or since it was removed."""


class ChangeContext:
    """One batch of changes on its way to the core: names become nodes, `NOW` becomes one instant for all of it."""

    __slots__ = (
        "_gone",
        "_joints",
        "_named",
        "_nodes",
        "_store",
        "added",
        "frames",
        "now_ns",
        "requests",
    )

    def __init__(self, store: Store) -> None:
        self._store = store
        self.now_ns = store.now()
        self.requests: list[tuple[Any, ...]] = []  # one for each change
        self.frames: list[tuple[Any, ...]] = []  # for the nodes of frames that the changes name; they come first
        self.added: set[int] = set()  # those of frames that the batch makes, by their places among the requests
        self._nodes: BatchNodes | None = None
        self._named = _NO_NAMES  # frames that the batch makes
        self._gone = _NO_NAMES  # frames that it removes
        self._joints = _NO_NAMES  # joints that it makes

    def _nodes_by_now(self) -> BatchNodes:
        """Those of the scene when it was first looked at, and what the batch did since. Few changes look."""
        if self._nodes is None:
            self._nodes = BatchNodes(self._store.view())
        self._nodes.look_at(self.requests)
        return self._nodes

    @property
    def author(self) -> str:
        """Who says all this."""
        return self._store.name

    def at(self, at: int | Now) -> int:
        """One instant for every `NOW` of the batch."""
        return self.now_ns if at is NOW else at  # type: ignore[return-value]

    def since(self, at: int | Now | None) -> int:
        """From when on a node is there; None: always."""
        return ALWAYS_NS if at is None else self.at(at)

    def transform(self, value: Any) -> Transform:
        """Any pose coordinates, as the world takes them."""
        return value if isinstance(value, Transform) else as_transform(value)

    def node(self, target: NodeId | UUID | str) -> NodeId:
        """The node meant; a text names a frame, which gets a node where it has none yet."""
        if not isinstance(target, str):
            return target if isinstance(target, NodeId) else NodeId(target)
        node, frame = self._node_of_frame(target)
        if node != ROOT_NODE and not self._nodes_by_now().has(node):
            self._stands_for(node, frame)
        return node

    def _stands_for(self, node: NodeId, frame: str) -> None:
        """A node comes before everything, but for that of a frame that the batch makes, and one that it took out."""
        nodes, request = self._nodes_by_now(), frame_request(node, frame, ALWAYS_NS)
        if frame in self._named or nodes.knows(node):
            self.added.add(len(self.requests))
            self.requests.append(request)
        else:
            nodes.add(node, ROOT_NODE)
            self.frames.append(request)

    def frame(self, name: str, at: int) -> tuple[Any, ...]:
        """The request for a node that stands for a frame."""
        node, frame = self._node_of_frame(name)
        return frame_request(node, frame, at)

    def _node_of_frame(self, name: str) -> tuple[NodeId, str]:
        if name == self._store.root_frame:
            return ROOT_NODE, name
        stored = name if self._is_new(name) else self._recalled(name)
        return id_of_frame(stored), stored

    def _is_new(self, name: object) -> bool:
        """Whether the batch makes a frame of this name."""
        return isinstance(name, str) and name in self._named

    def _recalled(self, name: object) -> str:
        """A frame that was there before, and still is."""
        stored = recall_name(self._store, name)
        if stored in self._gone:
            raise UnknownFrame(stored, [frame for frame in self._store.frames() if frame not in self._gone])
        return stored

    # -- Frames beside the nodes

    def of_frames(
        self,
        kind: str,
        *,
        of: str = "",
        in_frame: str = "",
        source: str | None = "",
        since: int | None = None,
        pose: tuple[Any, ...] | None = None,
        recalibrate: bool = False,
        frames: Sequence[str] = (),
        clock: int | None = None,
        form: tuple[Any, ...] | None = None,
        joints: Sequence[tuple[str, str]] = (),
    ) -> tuple[Any, ...]:
        """The request for a change of frames."""
        if kind == "remove_frame":
            self._named, self._gone = self._named.difference(frames), self._gone.union(frames)
        elif frames:
            self._makes(frames)
        fact = (of, in_frame, source, since, pose, recalibrate, tuple(frames), clock, form, tuple(joints))
        return ("of_frames", kind, fact, self.now_ns)

    def edge(self, of: str, in_frame: str, source: str | None, since: int | None) -> dict[str, Any]:
        """The names of a relation that is said."""
        names = {"of": self.admitted(of), "in_frame": self.admitted(in_frame), "source": self.source(source)}
        self._store.check_new_relation(**names, start=since)
        self._makes((names["of"], names["in_frame"]))
        return names

    def _makes(self, frames: Iterable[str]) -> None:
        self._named = self._named.union(frames)
        if self._gone:
            self._gone = self._gone.difference(frames)

    def new_joints(self, kinds: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Names that joints may have, in their stored forms, with their kinds."""
        joints = tuple((check_name(name), kind) for name, kind in kinds.items())
        self._joints = self._joints.union(name for name, _ in joints)
        return joints

    def know_joints(self, names: Iterable[str]) -> None:
        """Joints that are there, or come with this batch."""
        for name in names:
            if name not in self._joints:
                recall_joint(self._store, name)

    def admitted(self, name: str) -> str:
        """A name that may be made by use."""
        return name if self._is_new(name) else admit_name(self._store, name)

    def declared(self, name: str) -> str:
        """A name that is made on purpose."""
        return declare_name(self._store, name)

    def known(self, name: str) -> str:
        """A frame that is there, or comes with this batch."""
        return name if self._is_new(name) else self._recalled(name)

    def source(self, source: str | None) -> str:
        """Who says it."""
        return self.author if source is None else source

    def body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """A body and the frames that are to be on it."""
        return check_body(self._store, name, frames)

    def is_only_a_body(self, name: str) -> bool:
        """Whether no frame has the name of this body."""
        return is_only_a_body(self._store, name)

    def removed(self, names: list[str], *, subtree: bool) -> list[str]:
        """These frames; with what hangs under them."""
        if not subtree:
            return names
        return list(dict.fromkeys(below for name in names for below in self._store.subtree(name)))

    def living(self, node: NodeId | UUID) -> NodeId:
        """An end of a connection: it must be there by now, after all that the batch did before."""
        self._nodes_by_now().check(node)
        return node  # type: ignore[return-value]


class UncheckedContext(ChangeContext):
    """A context that does not check whether the rules allow a change."""

    __slots__ = ()

    def edge(self, of: str, in_frame: str, source: str | None, since: int | None) -> dict[str, Any]:  # noqa: ARG002
        """The names of a relation that is said."""
        names = {"of": self.admitted(of), "in_frame": self.admitted(in_frame), "source": self.source(source)}
        self._makes((names["of"], names["in_frame"]))
        return names

    def known(self, name: str) -> str:
        """A frame that need not be there: it may have been removed."""
        return check_name(name)

    def body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """A body and the frames that are to be on it."""
        return check_name(name), [self.admitted(frame) for frame in frames]


def node_of_frame(store: Store, frame: str) -> tuple[NodeId, str]:
    """The id of the node that stands for a frame, and the frame's name as it is stored."""
    if frame == store.root_frame:
        return ROOT_NODE, frame
    stored = recall_name(store, frame)
    return id_of_frame(stored), stored


def id_of_frame(stored: str) -> NodeId:
    """The id of the node that stands for a frame. A frame that is named like a node is that node's."""
    try:
        return NodeId(stored)
    except ValueError:
        return NodeId.of_name(_FRAME_SPACE, stored)


def frame_request(node: NodeId, frame: str, at: int) -> tuple[Any, ...]:
    """A node that stands for a frame of the world."""
    return ("add_node", "frame", node, ROOT_NODE, None, at, None, (Transform.identity(), None, True, "", frame))


class BatchNodes:
    """The nodes of a scene, and what the requests of a batch do to them; each request is looked at once."""

    __slots__ = ("_before", "_looked_at", "_parents", "_takes_out")

    def __init__(self, before: SceneView) -> None:
        self._before = before
        self._parents: dict[NodeId | UUID, set[NodeId]] = {}  # of those that the batch adds, moves and removes
        self._takes_out = False
        self._looked_at = 0

    def look_at(self, requests: Sequence[tuple[Any, ...]]) -> None:
        """Those of the batch so far."""
        for request in requests[self._looked_at :]:
            self._take(*request[:4])
        self._looked_at = len(requests)

    def add(self, node: NodeId, parent: NodeId) -> None:
        """A node that comes before all requests."""
        self._parents[node] = {parent}

    def has(self, node: object) -> bool:
        """Whether a node is there by now."""
        if not isinstance(node, NodeId | UUID):
            return False
        if self._takes_out:
            return self._is_reached(node)
        return node in self._parents or self._before.contains(node)

    def knows(self, node: NodeId) -> bool:
        """Whether a node was there before the batch, or came with it; it may be gone."""
        return node in self._parents or self._before.contains(node)

    def check(self, node: NodeId | UUID) -> None:
        """Raises UnknownNode where a node is not there by now."""
        if not self.has(node):
            self._before.kind(node)  # raises, unless the batch took it out
            raise UnknownNode(NodeId(node))

    def _take(self, kind: str, node: Any, other: Any, parent: Any = None) -> None:
        """Of a node that is added, the id and the parent come last."""
        if kind == "add_node" and isinstance(other, NodeId | UUID):
            self._parents[other] = {DETACHED_NODE if parent is None else parent}
        elif kind in {"add_parent", "restore"}:
            self._parents[node] = self._above(node) - {DETACHED_NODE} | {DETACHED_NODE if other is None else other}
        elif kind in {"remove", "remove_parent"}:
            self._parents[node] = set() if kind == "remove" else self._above(node) - {other}
            self._takes_out = True

    def _above(self, node: NodeId | UUID) -> set[NodeId]:
        known = self._parents.get(node)
        if known is not None:
            return known
        if not self._before.contains(node):
            return set()
        return set(self._before.parents(NodeId(node))) or {DETACHED_NODE}

    def _is_reached(self, node: NodeId | UUID) -> bool:
        """Whether the root is above it, or what roots of others wait in."""
        pending, seen = [node], set[NodeId | UUID]()
        while pending:
            above = pending.pop()
            if above in {ROOT_NODE, DETACHED_NODE}:
                return True
            if above not in seen:
                seen.add(above)
                pending.extend(self._above(above))
        return False
