"""Errors about the nodes of a scene, its changes, observers and function blocks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from armillary.errors.base import ArmillaryError
from armillary.errors.format import nearest_name, short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import NodeId

__all__ = [
    "AlreadyItsParent",
    "BlockFailed",
    "BuiltUpon",
    "ChangesForgotten",
    "FrameNameTaken",
    "FramesHanging",
    "InvalidAttribute",
    "NoOpposite",
    "NodeExists",
    "NotAGroup",
    "NotATransform",
    "NotItsParent",
    "NothingToUndo",
    "ObserverBehind",
    "PermanentNode",
    "PortMismatch",
    "SceneCycle",
    "UnknownBlock",
    "UnknownNode",
    "UnusableBlock",
    "WrongKind",
]


_ID_DIGITS = 8  # as many as the repr of an id shows
_USE_ANOTHER_ID = (
    "Leave `id` out for a new one, or remove it first. "
    "The nodes of a saved scene keep their ids: load it once, or into another world."
)


Names = Mapping["NodeId", str]
"""The names of the nodes that have one."""
_NO_NAMES: Names = MappingProxyType({})


def _label(node: NodeId, names: Names) -> str:
    """The beginning of the id and the name of a node that has one, else the whole id."""
    return f"{str(node)[:_ID_DIGITS]} {short_repr(names[node])}" if node in names else str(node)


class UnknownNode(ArmillaryError, LookupError):
    """No node of the scene has this id: it never existed, or was removed with its last parent."""

    def __init__(self, node: NodeId, names: Names = _NO_NAMES) -> None:
        self.node = node
        super().__init__(
            f"There is no node {_label(node, names)} in this scene: it never existed, or was removed with its last "
            "parent. `scene.find({...})` returns the ids that exist, `scene.as_of(stamp)` shows an earlier scene."
        )


class NodeExists(ArmillaryError, ValueError):
    """A node with this id exists already."""

    def __init__(self, node: NodeId, hint: str = _USE_ANOTHER_ID, names: Names = _NO_NAMES) -> None:
        self.node = node
        super().__init__(f"The id {_label(node, names)} is taken by a node of this scene. {hint}")


class FrameNameTaken(ArmillaryError, ValueError):
    """The frame of a node was to have a name that another frame has, or a body; `owner` is the node that has it."""

    def __init__(self, frame: str, owner: NodeId | None, names: Names = _NO_NAMES) -> None:
        del names  # the owner's name is the one in question
        self.frame, self.owner = frame, owner
        if owner is None:
            super().__init__(
                f"A frame or a body is called '{frame}' already. Give the new node another `frame`; or let the node of "
                f"that frame be the thing: scene.set_attributes('{frame}', {{...}}), parent='{frame}'."
            )
        else:
            super().__init__(
                f"Node {str(owner)[:_ID_DIGITS]} has the frame '{frame}' already, and a name is that of one frame. "
                "Give another `frame`, or remove that node first with scene.remove."
            )


class WrongKind(ArmillaryError, TypeError):
    """The operation needs a node of another kind; `kind` is the kind it has."""

    def __init__(self, node: NodeId, kind: str, wanted: str, hint: str, names: Names = _NO_NAMES) -> None:
        self.node, self.kind = node, kind
        super().__init__(f"Node {_label(node, names)} is a {kind}, not a {wanted}. {hint}")


class NotAGroup(WrongKind):
    """A node that is not a group cannot contain nodes."""

    def __init__(self, node: NodeId, kind: str, names: Names = _NO_NAMES) -> None:
        super().__init__(node, kind, "group", "Put both under one group or transform.", names)


class NotATransform(WrongKind):
    """A node that is not a transform has no pose to set."""

    def __init__(self, node: NodeId, kind: str, names: Names = _NO_NAMES) -> None:
        hint = "Set the transform above it, or put one there with `add_transform`."
        super().__init__(node, kind, "transform", hint, names)


class SceneCycle(ArmillaryError, ValueError):
    """A node would contain itself; `path` leads from the requested parent up to the node."""

    def __init__(self, node: NodeId, path: Sequence[NodeId], names: Names = _NO_NAMES) -> None:
        self.node, self.path = node, tuple(path)
        chain = " is in ".join(_label(step, names) for step in self.path)
        super().__init__(
            f"Node {_label(node, names)} would contain itself: {chain}. "
            "Choose another parent, or remove one of these first."
        )


class NotItsParent(ArmillaryError, ValueError):
    """The group is not a parent of the node."""

    def __init__(self, node: NodeId, parent: NodeId, names: Names = _NO_NAMES) -> None:
        self.node, self.parent = node, parent
        this, other = _label(node, names), _label(parent, names)
        super().__init__(f"Node {this} is not in {other}. `scene.parents(id)` returns its parents.")


class AlreadyItsParent(ArmillaryError, ValueError):
    """The group is a parent of the node already."""

    def __init__(self, node: NodeId, parent: NodeId, names: Names = _NO_NAMES) -> None:
        self.node, self.parent = node, parent
        this, other = _label(node, names), _label(parent, names)
        super().__init__(f"Node {this} is in {other} already. Nothing was changed.")


class PermanentNode(ArmillaryError, ValueError):
    """The root of a scene can be neither moved nor removed."""

    def __init__(self, node: NodeId) -> None:
        self.node = node
        super().__init__("The root of a scene stays: it has no parent and cannot be removed. Remove what is in it.")


class InvalidAttribute(ArmillaryError, ValueError):
    """An attribute cannot have this value."""

    def __init__(self, key: str, value: object, why: str) -> None:
        self.key, self.value = key, value
        super().__init__(f"Attribute '{key}' cannot be {short_repr(value)}: {why}.")


class FramesHanging(ArmillaryError, ValueError):
    """Other frames are below a node that was to be removed; `frames` are their names."""

    def __init__(self, frames: Sequence[str]) -> None:
        self.frames = tuple(frames)
        named = ", ".join(f"'{name}'" for name in self.frames[:5]) + (", ..." if len(self.frames) > 5 else "")  # noqa: PLR2004
        super().__init__(
            f"Other frames are below it: {named}. Attach them elsewhere first, or pass subtree=True to detach them."
        )


class NothingToUndo(ArmillaryError, LookupError):
    """There is no change to undo, or to redo."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to undo or redo: `undo` needs a change that was applied here and is among the last "
            "`max_undo`, and `redo` an `undo` after which nothing was applied."
        )


class ChangesForgotten(ArmillaryError, LookupError):
    """Changes that a replica lacks are no longer in the change log; `kept` is how many it keeps."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        super().__init__(
            f"Some of the missing changes are forgotten: this world keeps the last {kept}. "
            "Start from a full copy, or give it a larger `max_changes`."
        )


class ObserverBehind(ArmillaryError, RuntimeError):
    """The queue of an observer is full; `missed` batches of changes did not reach it so far."""

    def __init__(self, observer: object, missed: int) -> None:
        self.observer, self.missed = observer, missed
        super().__init__(
            f"Observer {observer!r} is behind: it has missed {missed} batch{'es' if missed > 1 else ''} of changes. "
            "Make it faster or its queue longer, and read the scene anew to catch up."
        )


class BuiltUpon(ArmillaryError, ValueError):
    """A change cannot be undone because later changes depend on `node`: a node, or the name of a frame."""

    def __init__(self, node: NodeId | str, names: Names = _NO_NAMES) -> None:
        self.node = node
        what = f"frame '{node}'" if isinstance(node, str) else f"node {_label(node, names)}"
        super().__init__(f"The last change cannot be undone: later changes depend on {what}. Undo those first.")


class NoOpposite(ArmillaryError, ValueError):
    """A change has no inverse: it began a new time epoch."""

    def __init__(self, frame: str) -> None:
        self.frame = frame
        about = f" about '{frame}'" if frame else ""
        super().__init__(
            f"The last change{about} cannot be undone: `reset_time` begins a new time epoch, and ends what is to be "
            "undone. Assert what holds instead; to try things, use `world.copy()`."
        )


_WRONG_ENTRY_POINT = "Its entry point must name a subclass of armillary.scene.FunctionBlock."


class UnknownBlock(ArmillaryError, LookupError):
    """No installed function block has this name; `block` is the name."""

    def __init__(self, block: str, known: Sequence[str]) -> None:
        self.block, self.known = block, tuple(known)
        near = nearest_name(block, self.known)
        hint = f"Did you mean '{near}'?" if near else f"Installed: {', '.join(self.known)}."
        super().__init__(f"No function block is named '{block}'. {hint}")


class UnusableBlock(ArmillaryError, TypeError):
    """An installed function block cannot be used; `reason` says why."""

    def __init__(self, block: str, reason: str, hint: str = _WRONG_ENTRY_POINT) -> None:
        self.block, self.reason = block, reason
        super().__init__(f"The block '{block}' is installed, but cannot be used: {reason}. {hint}")


class PortMismatch(ArmillaryError, TypeError):
    """A port of a function block does not accept the data; `block` and `port` are their names."""

    def __init__(self, block: str, port: str, reason: str, hint: str) -> None:
        self.block, self.port = block, port
        where = f"Port '{port}' of the block '{block}'" if port else f"The block '{block}'"
        super().__init__(f"{where}: {reason}. {hint}")


class BlockFailed(ArmillaryError, RuntimeError):
    """A function block raised `reason`; the scene is unchanged."""

    def __init__(self, block: str, reason: Exception) -> None:
        self.block, self.reason = block, reason
        message = str(reason).rstrip(".")
        super().__init__(
            f"The block '{block}' failed, and the scene is as it was: {type(reason).__name__}: {message}. "
            "Mend the block, its data or its parameters, and execute it again."
        )
