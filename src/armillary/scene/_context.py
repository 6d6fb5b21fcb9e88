"""What a change refers to, looked up while a batch is made ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import UnknownFrame
from armillary.scene._batch_nodes import BatchNodes
from armillary.scene.changes import NOW, Now
from armillary.transforms import Transform, check_name

if TYPE_CHECKING:
    from uuid import UUID

    from armillary._core import SceneCore

__all__ = ["ChangeContext", "InsistingContext", "SceneWorld"]

_NO_NAMES: frozenset[str] = frozenset()
_FRAME_SPACE = "frame"
"""Nodes that stand for frames of the world have ids of their names in this space."""
ALWAYS_NS = 1 - 2**62
"""The first of all stamps: what begins then has always been there, or since it was removed."""


class SceneWorld(Protocol):
    """What a scene asks of the world it belongs to."""

    name: str
    root_frame: str

    def now(self) -> int:
        """The time of the world's clock [ns]."""

    def frames(self) -> tuple[str, ...]:
        """The names of all frames."""

    def _recall(self, name: object) -> str:
        """A frame that exists, or UnknownFrame."""

    def _as_transform(self, value: object) -> Transform:
        """A transform from any pose coordinates."""

    def _admit(self, name: object) -> str:
        """A name that may be made by use, in its stored form."""

    def _declare(self, name: object) -> str:
        """A name that is made on purpose, in its stored form."""

    def _check_new_relation(self, of: str, in_frame: str, source: str, start: int | None) -> None:
        """Rules of bodies that a new relation may break."""

    def _check_body(self, name: object, frames: list[str]) -> tuple[str, list[str]]:
        """A body and frames that may be on it, in their stored forms."""

    def _is_only_a_body(self, name: object) -> bool:
        """Whether a declared body has this name, and no frame."""

    def _subtree(self, name: str, whole: bool) -> list[str]:  # noqa: FBT001
        """A frame, and all that hangs or hung under it."""

    def _admit_joint(self, name: object) -> str:
        """A name that a joint may have, in its stored form."""

    def _recall_joint(self, name: object) -> str:
        """A joint that exists, or UnknownVariable."""

    def _observe(self, is_observed: bool) -> None:  # noqa: FBT001
        """Whether somebody wants to be told of changes."""

    def _check_taking_back(self, tag: str, *, again: bool) -> None:
        """Refuse to undo, or to do `again`, what is not the scene's to take back."""

    def _took_back(self, tag: str, *, again: bool) -> None:
        """What was applied with a tag was undone, or done `again`."""

    def _go_on_from(self, stamp: int) -> None:
        """Set the clock."""


class ChangeContext:
    """One batch on its way to the native door: names become nodes, `NOW` becomes one instant for all of it."""

    __slots__ = (
        "_core",
        "_gone",
        "_joints",
        "_named",
        "_nodes",
        "_world",
        "added",
        "frames",
        "now_ns",
        "wishes",
    )

    def __init__(self, world: SceneWorld, core: SceneCore) -> None:
        self._world, self._core = world, core
        self.now_ns = world.now()
        self.wishes: list[tuple[Any, ...]] = []  # one for each change
        self.frames: list[tuple[Any, ...]] = []  # for the nodes of frames that the changes name; they come first
        self.added: set[int] = set()  # those of frames that the batch makes, by their places among the wishes
        self._nodes: BatchNodes | None = None
        self._named = _NO_NAMES  # frames that the batch makes
        self._gone = _NO_NAMES  # frames that it removes
        self._joints = _NO_NAMES  # joints that it makes

    def _nodes_by_now(self) -> BatchNodes:
        """Those of the scene when it was first looked at, and what the batch did since. Few changes look."""
        if self._nodes is None:
            self._nodes = BatchNodes(self._core.view())
        self._nodes.look_at(self.wishes)
        return self._nodes

    @property
    def author(self) -> str:
        """Who says all this."""
        return self._world.name

    def at(self, at: int | Now) -> int:
        """One instant for every `NOW` of the batch."""
        return self.now_ns if at is NOW else at  # type: ignore[return-value]

    def since(self, at: int | Now | None) -> int:
        """From when on a node is there; None: always."""
        return ALWAYS_NS if at is None else self.at(at)

    def transform(self, value: Any) -> Transform:
        """Any pose coordinates, as the world takes them."""
        return value if isinstance(value, Transform) else self._world._as_transform(value)  # noqa: SLF001

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
        nodes, wish = self._nodes_by_now(), frame_wish(node, frame, ALWAYS_NS)
        if frame in self._named or nodes.knows(node):
            self.added.add(len(self.wishes))
            self.wishes.append(wish)
        else:
            nodes.add(node, ROOT_NODE)
            self.frames.append(wish)

    def frame(self, name: str, at: int) -> tuple[Any, ...]:
        """The wish for a node that stands for a frame."""
        node, frame = self._node_of_frame(name)
        return frame_wish(node, frame, at)

    def _node_of_frame(self, name: str) -> tuple[NodeId, str]:
        if name == self._world.root_frame:
            return ROOT_NODE, name
        stored = name if self._is_new(name) else self._recalled(name)
        return id_of_frame(stored), stored

    def _is_new(self, name: object) -> bool:
        """Whether the batch makes a frame of this name."""
        return isinstance(name, str) and name in self._named

    def _recalled(self, name: object) -> str:
        """A frame that was there before, and still is."""
        stored = self._world._recall(name)  # noqa: SLF001
        if stored in self._gone:
            raise UnknownFrame(stored, [frame for frame in self._world.frames() if frame not in self._gone])
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
        """The wish for a change of frames."""
        if kind == "remove_frame":
            self._named, self._gone = self._named.difference(frames), self._gone.union(frames)
        elif frames:
            self._makes(frames)
        fact = (of, in_frame, source, since, pose, recalibrate, tuple(frames), clock, form, tuple(joints))
        return ("of_frames", kind, fact, self.now_ns)

    def edge(self, of: str, in_frame: str, source: str | None, since: int | None) -> dict[str, Any]:
        """The names of a relation that is said."""
        names = {"of": self.admitted(of), "in_frame": self.admitted(in_frame), "source": self.source(source)}
        self._world._check_new_relation(**names, start=since)  # noqa: SLF001
        self._makes((names["of"], names["in_frame"]))
        return names

    def _makes(self, frames: Iterable[str]) -> None:
        self._named = self._named.union(frames)
        if self._gone:
            self._gone = self._gone.difference(frames)

    def new_joints(self, kinds: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Names that joints may have, in their stored forms, with their kinds."""
        joints = tuple((self._world._admit_joint(name), kind) for name, kind in kinds.items())  # noqa: SLF001
        self._joints = self._joints.union(name for name, _ in joints)
        return joints

    def know_joints(self, names: Iterable[str]) -> None:
        """Joints that are there, or come with this batch."""
        for name in names:
            if name not in self._joints:
                self._world._recall_joint(name)  # noqa: SLF001

    def admitted(self, name: str) -> str:
        """A name that may be made by use."""
        return name if self._is_new(name) else self._world._admit(name)  # noqa: SLF001

    def declared(self, name: str) -> str:
        """A name that is made on purpose."""
        return self._world._declare(name)  # noqa: SLF001

    def known(self, name: str) -> str:
        """A frame that is there, or comes with this batch."""
        return name if self._is_new(name) else self._recalled(name)

    def source(self, source: str | None) -> str:
        """Who says it."""
        return self.author if source is None else source

    def body(self, name: str, frames: list[str]) -> tuple[str, list[str]]:
        """A body and the frames that are to be on it."""
        return self._world._check_body(name, frames)  # noqa: SLF001

    def is_only_a_body(self, name: str) -> bool:
        """Whether no frame has the name of this body."""
        return self._world._is_only_a_body(name)  # noqa: SLF001

    def removed(self, names: list[str], *, subtree: bool) -> list[str]:
        """These frames; with what hangs under them."""
        if not subtree:
            return names
        return list(dict.fromkeys(below for name in names for below in self._world._subtree(name, True)))  # noqa: SLF001

    def living(self, node: NodeId | UUID) -> NodeId:
        """An end of a connection: it must be there by now, after all that the batch did before."""
        self._nodes_by_now().check(node)
        return node  # type: ignore[return-value]


class InsistingContext(ChangeContext):
    """One that does not ask whether the world allows it."""

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


def node_of_frame(world: SceneWorld, frame: str) -> tuple[NodeId, str]:
    """The id of the node that stands for a frame, and the frame's name as it is stored."""
    if frame == world.root_frame:
        return ROOT_NODE, frame
    stored = world._recall(frame)  # noqa: SLF001
    return id_of_frame(stored), stored


def id_of_frame(stored: str) -> NodeId:
    """The id of the node that stands for a frame. A frame that is named like a node is that node's."""
    try:
        return NodeId(stored)
    except ValueError:
        return NodeId.of_name(_FRAME_SPACE, stored)


def frame_wish(node: NodeId, frame: str, at: int) -> tuple[Any, ...]:
    """A node that stands for a frame of the world."""
    return ("add_node", "frame", node, ROOT_NODE, None, at, None, (Transform.identity(), None, True, "", frame))
