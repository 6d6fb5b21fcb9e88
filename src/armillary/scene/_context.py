"""What a change refers to, looked up while a batch is made ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from armillary._core import LIMBO_NODE, ROOT_NODE, NodeId
from armillary.errors import UnknownNode
from armillary.scene.changes import NOW, Change, Now
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary._core import SceneView

__all__ = ["ChangeContext", "SceneWorld"]

FRAME_SPACE = "frame"
"""Nodes that stand for frames of the world have ids of their names in this space."""


class SceneWorld(Protocol):
    """What a scene asks of the world it belongs to."""

    name: str
    root_frame: str

    def now(self) -> int:
        """The time of the world's clock [ns]."""

    def _recall(self, name: object) -> str:
        """A frame that exists, or UnknownFrame."""

    def _as_transform(self, value: object) -> Transform:
        """A transform from any pose coordinates."""


class ChangeContext:
    """One batch on its way to the native door: names become nodes, `NOW` becomes one instant for all of it."""

    def __init__(self, world: SceneWorld, view: SceneView) -> None:
        self._world, self._view = world, view
        self.now_ns, self.author = world.now(), world.name
        self.wishes: list[tuple[Any, ...]] = []
        self.places: list[int] = []  # of each change among the wishes
        self._frames: set[NodeId] = set()

    def add(self, change: Change) -> None:
        """One more change; a frame that it names gets its node first."""
        wish = change.wish(self)
        self.places.append(len(self.wishes))
        self.wishes.append(wish)

    def at(self, at: int | Now) -> int:
        """One instant for every `NOW` of the batch."""
        return self.now_ns if at is NOW else at  # type: ignore[return-value]

    def transform(self, value: Any) -> Transform:
        """Any pose coordinates, as the world takes them."""
        return self._world._as_transform(value)  # noqa: SLF001

    def node(self, target: NodeId | UUID | str) -> NodeId:
        """The node meant; a text names a frame, which gets a node where it has none yet."""
        if not isinstance(target, str):
            if target == LIMBO_NODE:
                raise UnknownNode(LIMBO_NODE)
            return target  # type: ignore[return-value]  # the native door checks it
        node, frame = node_of_frame(self._world, target)
        if node != ROOT_NODE and node not in self._frames and not self._view.contains(node):
            self._frames.add(node)
            self.wishes.append(frame_wish(node, frame, self.now_ns))
        return node

    def frame(self, name: str, at: int) -> tuple[Any, ...]:
        """The wish for a node that stands for a frame."""
        node, frame = node_of_frame(self._world, name)
        return frame_wish(node, frame, at)

    def living(self, node: NodeId | UUID) -> NodeId:
        """An end of a connection: it must be there now, or come with this batch."""
        is_new = any(wish[0] == "add_node" and wish[2] == node for wish in self.wishes)
        if not is_new:
            self._view.kind(node)  # raises UnknownNode
        return node  # type: ignore[return-value]


def node_of_frame(world: SceneWorld, frame: str) -> tuple[NodeId, str]:
    """The id of the node that stands for a frame, and the frame's name as it is stored."""
    if frame == world.root_frame:
        return ROOT_NODE, frame
    stored = world._recall(frame)  # noqa: SLF001
    try:
        return NodeId(stored), stored  # the frame of a node that was made here
    except ValueError:
        return NodeId.of_name(FRAME_SPACE, stored), stored


def frame_wish(node: NodeId, frame: str, at: int) -> tuple[Any, ...]:
    """A node that stands for a frame of the world."""
    return ("add_node", "frame", node, ROOT_NODE, None, at, None, (Transform.identity(), None, True, "", frame))
