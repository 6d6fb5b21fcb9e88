"""Translation of changes into requests, as the C++ core takes them: names are looked up, nodes are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from armillary._core import DETACHED_NODE, ROOT_NODE, ChangeRequest, NodeId
from armillary.errors import InvalidArgument, InvalidName, UnknownFrame, UnknownNode
from armillary.errors.format import join_names, short_repr
from armillary.stamps import LATEST
from armillary.store import limits
from armillary.store.bodies import check_body, check_on_body
from armillary.store.changes import NOW, Now, RemoveParent
from armillary.store.names import admit_name, declare_name, is_only_a_body, recall_joint, recall_name
from armillary.store.nodes import TRANSFORM_KINDS, id_of_frame, is_of_a_node
from armillary.store.values import as_transform
from armillary.transforms import Transform, check_name

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.relations import Pose
    from armillary.store.store import Store

__all__ = ["BatchNodes", "ChangeContext", "UncheckedContext"]

_NO_NAMES: frozenset[str] = frozenset()
_NO_FRAMES: Mapping[str, str] = MappingProxyType({})
ALWAYS_NS = 1 - 2**62
"""The first of all stamps: what begins then exists always, or since it was removed."""


class ChangeContext:
    """Translates one batch of changes: names become nodes, every `NOW` becomes the same instant.

    Attributes:
        now_ns: The instant of every `NOW`.
        requests: One for each change, with those that changes imply between them.
        frames: Requests for nodes of frames that the changes name; they precede `requests`.
        added: The indices of implied requests among `requests`.
    """

    __slots__ = (
        "_called",
        "_gone",
        "_joints",
        "_named",
        "_nodes",
        "_store",
        "_taken_out",
        "added",
        "frames",
        "now_ns",
        "requests",
    )

    def __init__(self, store: Store, batch: Sequence[object] = ()) -> None:
        self._store = store
        self.now_ns = store.now()
        self.requests: list[ChangeRequest] = []
        self.frames: list[ChangeRequest] = []
        self.added: set[int] = set()
        self._taken_out = {change.id for change in batch if isinstance(change, RemoveParent)} if len(batch) > 1 else ()
        self._nodes: BatchNodes | None = None
        self._named = _NO_NAMES  # frames that the batch adds
        self._gone = _NO_NAMES  # frames that it removes
        self._joints = _NO_NAMES  # joints that it adds
        self._called = _NO_FRAMES  # frames of nodes that it adds, by the names that they are given

    def _current_nodes(self) -> BatchNodes:
        """Return the nodes after the requests so far; made on first use, since few changes need it."""
        if self._nodes is None:
            self._nodes = BatchNodes(self._store.view())
        self._nodes.follow(self.requests)
        return self._nodes

    @property
    def author(self) -> str:
        """The author of the changes."""
        return self._store.name

    def at(self, at: int | Now) -> int:
        """Return an instant; the same one for every `NOW` of the batch."""
        return self.now_ns if at is NOW else at  # type: ignore[return-value]

    def contained_since(self, node: NodeId, parent: NodeId, at: int | Now) -> int:
        """Return since when a node is in a further parent; `NOW`: always, unless it was put elsewhere."""
        if at is not NOW or node in self._taken_out:
            return self.at(at)
        view = self._store.view()
        is_known = view.contains(node) and view.contains(parent)
        return ALWAYS_NS if is_known and view.may_always_be_in(node, parent) else self.now_ns

    def since(self, at: int | Now | None) -> int:
        """Return the instant from which a node exists; None: always."""
        return ALWAYS_NS if at is None else self.at(at)

    def transform(self, value: Any) -> Transform:
        """Return any pose coordinates as a `Transform`."""
        return value if isinstance(value, Transform) else as_transform(value)

    def node(self, target: NodeId | UUID | str) -> NodeId:
        """Return the id of a node; a text names a frame, for which a node is requested where it has none yet."""
        if not isinstance(target, str):
            return target if isinstance(target, NodeId) else NodeId(target)
        node, frame = self._node_of_frame(target)
        if node != ROOT_NODE and not self._current_nodes().has(node):
            self._request_frame_node(node, frame)
        return node

    def _request_frame_node(self, node: NodeId, frame: str) -> None:
        """Request the node of a frame: before the batch, or here if the batch adds the frame or removed the node."""
        nodes, request = self._current_nodes(), frame_request(node, frame, ALWAYS_NS)
        if frame in self._named or nodes.knows(node):
            self.added.add(len(self.requests))
            self.requests.append(request)
        else:
            nodes.add(node, ROOT_NODE)
            self.frames.append(request)

    def frame(self, name: str, at: int) -> ChangeRequest:
        """Return the request for the node that represents a frame."""
        node, frame = self._node_of_frame(name)
        return frame_request(node, frame, at)

    def _node_of_frame(self, name: str) -> tuple[NodeId, str]:
        if name == self._store.root_frame:
            return ROOT_NODE, name
        stored = self.known(name)
        return id_of_frame(stored), stored

    def _is_new(self, name: object) -> bool:
        """Whether the batch adds a frame of this name."""
        return isinstance(name, str) and name in self._named

    def _recalled(self, name: object) -> str:
        """Return the name by which records know a frame that exists and that the batch has not removed."""
        recalled = recall_name(self._store, name)
        stored = self._store.frame_key(recalled)
        if stored in self._gone:
            raise UnknownFrame(recalled, [frame for frame in self._store.frames() if frame not in self._gone])
        return stored

    # -- Moving a node

    def frame_in(self, target: NodeId | str) -> str:
        """Return the frame of a node, or a frame that is given by name, also where the batch adds it."""
        own = self._own_frame(target)
        if own is not None or isinstance(target, str):
            return self.known(target) if own is None else own  # type: ignore[arg-type]
        return self._store.frame_key(self._store.view().frame(target))

    def frames_of_moved(self, thing: NodeId | str) -> tuple[str, str]:
        """Return the frame that a thing has once it is moved, and the one that it is in now."""
        if isinstance(thing, str):
            return self.known(thing), thing
        view = self._store.view()
        if view.kind(thing) == "frame":
            return view.frame(thing), view.frame(thing)
        if not view.has_frame(thing):  # it gets one by the move
            self.note_added((str(thing),))
        return str(thing), view.frame(thing)

    def place_in(self, of: str, to: NodeId | str, at: int | Now, *, outside: str, policy: Any) -> Pose:
        """Return where a frame is in a node or a frame: at an instant, or where it was seen last for `NOW`."""
        when: Any = LATEST if at is NOW else at
        return self._store.pose(of=of, in_frame=self.frame_in(to), at=when, outside=outside, policy=policy)

    def move_containment(self, node: NodeId, to: NodeId, at: int) -> None:
        """Request that a node is in one other node alone from `at` on; these requests precede that of the change."""
        above = self._current_nodes().above(node)
        implied = [] if to in above else [ChangeRequest.add_edge(node=node, parent=to, at=at)]
        left = sorted(above - {to, DETACHED_NODE}, key=str)
        implied += [ChangeRequest.remove_edges(node=node, parent=parent, at=at) for parent in left]
        for request in implied:
            self.added.add(len(self.requests))
            self.requests.append(request)

    def is_transform(self, node: NodeId) -> bool:
        """Whether a node has a pose of its own in what contains it."""
        view = self._store.view()
        return view.contains(node) and view.kind(node) in TRANSFORM_KINDS

    # -- Changes of frames

    def edge(self, of: str, in_frame: str, source: str | None, since: int | None) -> dict[str, Any]:
        """Return the checked names of a relation that rules of bodies allow."""
        self._store.check_own_frame(of)
        names = {"of": self.admitted(of), "in_frame": self.admitted(in_frame), "source": self.source(source)}
        self._store.check_new_relation(**names, start=since)
        self.note_added((names["of"], names["in_frame"]))
        return names

    def note_added(self, frames: Sequence[str]) -> Sequence[str]:
        """Note that the batch adds these frames, and return them."""
        if frames:
            self._named = self._named.union(frames)
            if self._gone:
                self._gone = self._gone.difference(frames)
        return frames

    def note_removed(self, frames: Sequence[str]) -> Sequence[str]:
        """Note that the batch removes these frames, and return them."""
        self._named, self._gone = self._named.difference(frames), self._gone.union(frames)
        return frames

    def new_joints(self, kinds: Mapping[str, str]) -> dict[str, str]:
        """Return the kinds of new joints by their stored names, and note that the batch adds them."""
        if not isinstance(kinds, Mapping):
            raise InvalidArgument(f"Joints are given as {{name: kind}}, got {kinds!r}.", kinds)
        joints = {check_name(name): kind for name, kind in kinds.items()}
        known = {name for name, _ in self._store.variables()}
        total = len(known.union(self._joints, joints))
        limits.check_limit(total, limits.MOST_JOINTS, "joints", "Remove those that are gone with RemoveJoints.")
        self._joints = self._joints.union(joints)
        return joints

    def check_joints(self, names: Iterable[str]) -> None:
        """Raise `UnknownVariable` for a joint that neither exists nor is added by the batch."""
        for name in names:
            if name not in self._joints:
                recall_joint(self._store, name)

    def admitted(self, name: str) -> str:
        """Return the stored form of a frame's name that may be added by use."""
        own = self._own_frame(name)
        return self._store.frame_key(admit_name(self._store, name)) if own is None else own

    def declared(self, name: str) -> str:
        """Return the stored form of a frame's name that is added explicitly."""
        return self._store.frame_key(declare_name(self._store, name))

    def known(self, name: str) -> str:
        """Return the stored name of a frame that exists, or that the batch adds."""
        own = self._own_frame(name)
        return self._recalled(name) if own is None else own

    def _own_frame(self, name: object) -> str | None:
        """Return the stored name of a frame that the batch adds, given by name or by the node; None for others."""
        if isinstance(name, NodeId):
            return str(name) if str(name) in self._called.values() else None
        if not isinstance(name, str):
            return None
        return self._called.get(name, name if self._is_new(name) else None)

    def frame_name(self, name: str | None) -> str | None:
        """Return the name that the frame of a new node is given, or raise; None where it is given none."""
        if name is None:
            return None
        stored = check_name(name)
        if is_of_a_node(stored):
            raise InvalidName(f"The frame of a node cannot have the id of a node as its name, got '{stored}'.", name)
        return stored

    def note_named(self, request: ChangeRequest, frame: str | None) -> ChangeRequest:
        """Note that the batch adds a node whose frame has this name, and return its request."""
        if frame is not None:
            self._called = {**self._called, frame: str(request.node)}
        return request

    def key(self, name: str | NodeId) -> str:
        """Return the stored form of a name that may be of no frame, or that of a body."""
        return self._store.frame_key(name if isinstance(name, NodeId) else check_name(name))

    def source(self, source: str | None) -> str:
        """Return the source; the author where none is given."""
        return self.author if source is None else source

    def known_source(self, of: str | NodeId, source: str | NodeId | None) -> str:
        """Return a source of a frame as records have it; the author where none is given, the id of a parent."""
        return self._store.source_key(of, source)

    def known_source_of_joint(self, name: str, source: str | None) -> tuple[str, str | None]:
        """Return the joint whose sources are preferred with those of a joint, and one of these sources."""
        lead = self._store.leading_joint(name)
        if source is None:
            return lead, None
        known = self._store.joint_sources(name)
        if not isinstance(source, str) or source not in known:
            truth = f"these do: {join_names(known)}." if known else "nobody does yet."
            raise InvalidArgument(f"No source {short_repr(source)} says where joint '{name}' is: {truth}", source)
        return lead, source

    def body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """Return the checked names of a body and of frames that may be on it."""
        return check_body(self._store, name, frames)

    def declared_body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """Return the stored names of a body that was declared, and of frames that are on it."""
        return check_on_body(self._store, name, frames)

    def take_off(self, body: str) -> None:
        """Request that all frames of a body leave it, before what is requested next."""
        frames = [self._store.frame_key(frame) for frame in self._store.frames_of(body)]
        if frames:
            self.added.add(len(self.requests))
            self.requests.append(ChangeRequest.set_body(body=body, frames=frames, present=False, at=self.now_ns))

    def is_only_a_body(self, name: str) -> bool:
        """Whether no frame has the name of this body."""
        return is_only_a_body(self._store, name)

    def removed(self, names: list[str], *, subtree: bool) -> list[str]:
        """Return these frames; with `subtree`, also the frames placed in them."""
        if not subtree:
            return names
        return list(dict.fromkeys(below for name in names for below in self._store.subtree(name)))

    def existing(self, node: NodeId | UUID) -> NodeId:
        """Return an end of a connection, which must exist after the requests so far."""
        self._current_nodes().check(node)
        return node  # type: ignore[return-value]


class UncheckedContext(ChangeContext):
    """A context that does not check whether the rules allow a change."""

    __slots__ = ()

    def edge(self, of: str, in_frame: str, source: str | None, since: int | None) -> dict[str, Any]:  # noqa: ARG002
        """Return the checked names of a relation."""
        names = {"of": self.admitted(of), "in_frame": self.admitted(in_frame), "source": self.source(source)}
        self.note_added((names["of"], names["in_frame"]))
        return names

    def known(self, name: str) -> str:
        """Return the stored name of a frame, which may have been removed."""
        return self._store.frame_key(check_name(name))

    def known_source_of_joint(self, name: str, source: str | None) -> tuple[str, str | None]:
        """Return the joint whose sources are preferred with those of a joint; samples of the source may still come."""
        return self._store.leading_joint(name), source

    def body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """Return the stored names of a body and of frames."""
        return check_name(name), [self.admitted(frame) for frame in frames]

    def declared_body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """Return the stored names of a body and of frames."""
        return check_name(name), [check_name(frame) for frame in frames]


def frame_request(node: NodeId, frame: str, at: int) -> ChangeRequest:
    """Return the request for a node that represents a frame of the world."""
    return ChangeRequest.add_node("frame", node, ROOT_NODE, None, at, frame_name=frame)


class BatchNodes:
    """Which nodes exist after the requests of a batch so far."""

    __slots__ = ("_before", "_followed", "_has_removals", "_parents")

    def __init__(self, before: SceneView) -> None:
        self._before = before
        self._parents: dict[NodeId | UUID, set[NodeId]] = {}  # of those that the batch adds, moves and removes
        self._has_removals = False
        self._followed = 0

    def follow(self, requests: Sequence[ChangeRequest]) -> None:
        """Follow the requests that came since the last call."""
        for request in requests[self._followed :]:
            self._follow_one(request)
        self._followed = len(requests)

    def add(self, node: NodeId, parent: NodeId) -> None:
        """Note a node that precedes all requests."""
        self._parents[node] = {parent}

    def has(self, node: object) -> bool:
        """Whether a node exists now."""
        if not isinstance(node, NodeId | UUID):
            return False
        if self._has_removals:
            return self._is_reached(node)
        return node in self._parents or self._before.contains(node)

    def knows(self, node: NodeId) -> bool:
        """Whether a node existed before the batch, or was added by it; it may be removed."""
        return node in self._parents or self._before.contains(node)

    def check(self, node: NodeId | UUID) -> None:
        """Raise `UnknownNode` where a node does not exist now."""
        if not self.has(node):
            self._before.kind(node)  # raises, unless the batch removed it
            raise UnknownNode(NodeId(node))

    def _follow_one(self, request: ChangeRequest) -> None:
        node, parent = request.node, request.parent
        if node is None:
            return
        if request.type == "add_node" and parent is not None:
            self._parents[node] = {parent}
        elif request.type == "add_edge" and parent is not None:
            self._parents[node] = self.above(node) - {DETACHED_NODE} | {parent}
        elif request.type == "remove_edges":
            self._parents[node] = set() if parent is None else self.above(node) - {parent}
            self._has_removals = True

    def above(self, node: NodeId | UUID) -> set[NodeId]:
        """Return the parents of a node now."""
        known = self._parents.get(node)
        if known is not None:
            return known
        if not self._before.contains(node):
            return set()
        return set(self._before.parents(NodeId(node))) or {DETACHED_NODE}

    def _is_reached(self, node: NodeId | UUID) -> bool:
        """Whether the root is an ancestor, or the parent of detached remote roots."""
        pending, seen = [node], set[NodeId | UUID]()
        while pending:
            above = pending.pop()
            if above in {ROOT_NODE, DETACHED_NODE}:
                return True
            if above not in seen:
                seen.add(above)
                pending.extend(self.above(above))
        return False
