"""Changes of a scene: frozen, typed, named after the methods that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from armillary._core import ROOT_NODE
from armillary.errors import InvalidArgument, NodeExists
from armillary.scene._payloads import as_several, connection_payload, shape_payload

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary._core import NodeId
    from armillary.scene._context import ChangeContext
    from armillary.shapes import Shape
    from armillary.transforms import Transform

__all__ = [
    "NOW",
    "AddConnection",
    "AddFrameNode",
    "AddGeometry",
    "AddGroup",
    "AddParent",
    "AddRemoteRoot",
    "AddTransform",
    "AddUncertainTransform",
    "Change",
    "Remove",
    "RemoveParent",
    "Restore",
    "SetAttributes",
    "SetTransform",
]


_A_ROOT_OF_ITS_OWN = (
    "It is the root, the same in every world. Let the other world keep what is to be mounted under a root of its own, "
    "add_remote_root(NodeId.of_name('arm', 'root')); merge its changes, and mount that one with add_parent."
)


@final
class Now:
    """The type of `NOW`: the time of the world's clock when the change is applied."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOW"

    def __reduce__(self) -> str:
        return "NOW"


NOW: Final = Now()


class Change:
    """One change of a scene, as its author wants it. `world.apply` takes a list of them: all happen, or none."""

    __slots__ = ()  # and no ABC: every `apply` asks what is a Change, and asking an ABC takes several times as long

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:
        """The same for the native door."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class AddGroup(Change):
    """A node that holds others together."""

    parent: NodeId | str
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return group_wish(context, self.parent, self.attributes, self.at, self.id)


def group_wish(
    context: ChangeContext,
    parent: NodeId | str,
    attributes: Mapping[str, Any] | None,
    at: int | Now,
    node: NodeId | None,
) -> tuple[Any, ...]:
    """A new group."""
    return ("add_node", "group", node, context.node(parent), attributes, context.at(at), None, None)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddTransform(Change):
    """A node with a pose in its parent, and a frame of its own. `at=None`: fixed there, always."""

    parent: NodeId | str
    transform: Transform
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return placed(self, "transform", None, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddUncertainTransform(Change):
    """The same, with how sure the pose is: (6, 6), translation then rotation, in the tangent of the node."""

    parent: NodeId | str
    transform: Transform
    covariance: ArrayLike
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if self.covariance is None:
            raise InvalidArgument("An uncertain transform needs a covariance. Use add_transform where there is none.")
        return placed(self, "uncertain_transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredTransform(AddTransform):
    """One whose first sample may have come with a covariance: from a file, or from another world."""

    covariance: ArrayLike | None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:
        return placed(self, "transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredUncertainTransform(AddUncertainTransform):
    """One whose first sample may have come without a covariance: from a file, or from another world."""

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:
        return placed(self, "uncertain_transform", self.covariance, context)


def placed(
    change: AddTransform | AddUncertainTransform, kind: str, covariance: ArrayLike | None, context: ChangeContext
) -> tuple[Any, ...]:
    """What both of them wish for."""
    transform = context.transform(change.transform)
    placement = (transform, covariance, change.at is None, context.author, "")
    at = context.since(change.at)
    return ("add_node", kind, change.id, context.node(change.parent), change.attributes, at, None, placement)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddGeometry(Change):
    """What something looks like. `levels` are coarser shapes of the same thing, the finest first. `at=None`: always."""

    parent: NodeId | str
    shape: Shape
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    levels: Sequence[Shape] = ()
    id: NodeId | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        payload = shape_payload(self.shape, self.levels, is_always=self.at is None)
        parent, at = context.node(self.parent), context.since(self.at)
        return ("add_node", "geometry", self.id, parent, self.attributes, at, payload, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddConnection(Change):
    """A labelled tie from some nodes to others, over a span of time. It outlives its ends, and does not hold them."""

    parent: NodeId | str
    sources: Sequence[NodeId]
    targets: Sequence[NodeId]
    start: int | None = None
    end: int | None = None
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        sources = tuple(context.living(node) for node in as_several(self.sources, "sources"))
        targets = tuple(context.living(node) for node in as_several(self.targets, "targets"))
        payload = connection_payload(sources, targets, self.start, self.end)
        parent, at = context.node(self.parent), context.at(self.at)
        return ("add_node", "connection", self.id, parent, self.attributes, at, payload, None)


@dataclass(frozen=True, slots=True)
class AddRemoteRoot(Change):
    """The root of another agent's graph: addressed by its id, found by searches once `add_parent` mounts it."""

    id: NodeId
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if self.id == ROOT_NODE:
            raise NodeExists(self.id, _A_ROOT_OF_ITS_OWN)
        return ("add_node", "group", self.id, None, self.attributes, context.at(self.at), None, None)


@dataclass(frozen=True, slots=True)
class AddFrameNode(Change):
    """A node that stands for a frame of the world. Made by itself where something is said of the frame."""

    frame: str
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.frame(self.frame, context.at(self.at))


@dataclass(frozen=True, slots=True)
class SetAttributes(Change):
    """Values for some keys; the others stay. None removes a key."""

    id: NodeId | str
    attributes: Mapping[str, Any]
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("set_attributes", context.node(self.id), self.attributes, context.at(self.at))


@dataclass(frozen=True, eq=False)
class SetTransform(Change):
    """Where a transform is at one instant: a sample of its history. Not structure: neither undone nor digested."""

    id: NodeId
    transform: Transform
    covariance: ArrayLike | None = None
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        transform = context.transform(self.transform)
        return (
            "set_transform",
            context.node(self.id),
            (transform, self.covariance, False, "", ""),
            context.at(self.at),
        )


@dataclass(frozen=True, slots=True)
class AddParent(Change):
    """One more parent: another piece of information on the same thing, not another thing."""

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("add_parent", context.node(self.id), context.node(self.parent), context.at(self.at))


@dataclass(frozen=True, slots=True)
class Restore(Change):
    """A node that was removed is in a parent again, as `undo` does it, with all that it had.

    Without a parent it is the root of another agent's graph again, which is mounted nowhere.
    """

    id: NodeId
    parent: NodeId | str | None
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        parent = None if self.parent is None else context.node(self.parent)
        return ("restore", context.node(self.id), parent, context.at(self.at))


@dataclass(frozen=True, slots=True)
class RemoveParent(Change):
    """One parent less; with the last one the node dies, and what is under it alone."""

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("remove_parent", context.node(self.id), context.node(self.parent), context.at(self.at))


@dataclass(frozen=True, slots=True)
class Remove(Change):
    """A node leaves all its parents. Questions about earlier instants still answer.

    Frames of others that hang under it refuse, unless `subtree=True`.
    """

    id: NodeId
    at: int | Now = NOW
    subtree: bool = False

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return removal_wish(context, self.id, self.at, self.subtree)


def removal_wish(context: ChangeContext, node: NodeId, at: int | Now, subtree: bool) -> tuple[Any, ...]:  # noqa: FBT001
    """A node that leaves all its parents."""
    return ("remove", context.node(node), context.at(at), subtree)
