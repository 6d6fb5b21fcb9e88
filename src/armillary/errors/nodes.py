"""What the structure of a scene refuses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import NodeId

__all__ = [
    "AlreadyItsParent",
    "BuiltUpon",
    "ChangesForgotten",
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
    "SceneCycle",
    "UnknownNode",
    "WrongKind",
]


_SHORT = 8  # digits of an id, as its repr shows it
_ANOTHER_ID = (
    "Leave `id` out for a new one, or remove it first. "
    "The nodes of a saved scene keep their ids: load it once, or into another world."
)


Names = Mapping["NodeId", str]
"""What nodes are called that have a name."""
_NOBODY: Names = MappingProxyType({})


def _called(node: NodeId, names: Names) -> str:
    """The whole id, or the beginning that is shown elsewhere and the name; `node` of the error is all of it."""
    return f"{str(node)[:_SHORT]} {short_repr(names[node])}" if node in names else str(node)


class UnknownNode(ArmillaryError, LookupError):
    """A node that is not in the scene: it never was, or it died with its last parent."""

    def __init__(self, node: NodeId, names: Names = _NOBODY) -> None:
        self.node = node
        super().__init__(
            f"There is no node {_called(node, names)} in this scene: it never was, or it went with its last parent. "
            "`scene.find({...})` gives the ids of those that are there, `scene.as_of(stamp)` those that were."
        )


class NodeExists(ArmillaryError, ValueError):
    """An id that is taken."""

    def __init__(self, node: NodeId, hint: str = _ANOTHER_ID, names: Names = _NOBODY) -> None:
        self.node = node
        super().__init__(f"The id {_called(node, names)} is taken by a node of this scene. {hint}")


class WrongKind(ArmillaryError, TypeError):
    """A node of a kind that cannot do this; `kind` is what it is."""

    def __init__(self, node: NodeId, kind: str, wanted: str, hint: str, names: Names = _NOBODY) -> None:
        self.node, self.kind = node, kind
        super().__init__(f"Node {_called(node, names)} is a {kind}, not a {wanted}. {hint}")


class NotAGroup(WrongKind):
    """A leaf that was to have children."""

    def __init__(self, node: NodeId, kind: str, names: Names = _NOBODY) -> None:
        super().__init__(node, kind, "group", "Put both under one group or transform.", names)


class NotATransform(WrongKind):
    """A node without a pose of its own that was to be moved."""

    def __init__(self, node: NodeId, kind: str, names: Names = _NOBODY) -> None:
        hint = "Set the transform above it, or put one there with `add_transform`."
        super().__init__(node, kind, "transform", hint, names)


class SceneCycle(ArmillaryError, ValueError):
    """A node that was to contain itself; `path` leads from the wanted parent up to the node."""

    def __init__(self, node: NodeId, path: Sequence[NodeId], names: Names = _NOBODY) -> None:
        self.node, self.path = node, tuple(path)
        way = " is in ".join(_called(step, names) for step in self.path)
        called = _called(node, names)
        super().__init__(
            f"Node {called} would contain itself: {way}. Choose another parent, or remove one of these first."
        )


class NotItsParent(ArmillaryError, ValueError):
    """A containment that is not there."""

    def __init__(self, node: NodeId, parent: NodeId, names: Names = _NOBODY) -> None:
        self.node, self.parent = node, parent
        this, other = _called(node, names), _called(parent, names)
        super().__init__(f"Node {this} is not in {other}. `scene.parents(id)` tells where it is.")


class AlreadyItsParent(ArmillaryError, ValueError):
    """A containment that is there already."""

    def __init__(self, node: NodeId, parent: NodeId, names: Names = _NOBODY) -> None:
        self.node, self.parent = node, parent
        this, other = _called(node, names), _called(parent, names)
        super().__init__(f"Node {this} is in {other} already. Nothing was changed.")


class PermanentNode(ArmillaryError, ValueError):
    """The root, which stays."""

    def __init__(self, node: NodeId) -> None:
        self.node = node
        super().__init__("The root of a scene stays: it has no parent and cannot be removed. Remove what is in it.")


class InvalidAttribute(ArmillaryError, ValueError):
    """A value that an attribute cannot have."""

    def __init__(self, key: str, value: object, why: str) -> None:
        self.key, self.value = key, value
        super().__init__(f"Attribute '{key}' cannot be {short_repr(value)}: {why}.")


class FramesHanging(ArmillaryError, ValueError):
    """Frames of others that hang under what was to be removed."""

    def __init__(self, frames: Sequence[str]) -> None:
        self.frames = tuple(frames)
        named = ", ".join(f"'{name}'" for name in self.frames[:5]) + (", ..." if len(self.frames) > 5 else "")  # noqa: PLR2004
        super().__init__(
            f"Other frames hang under it: {named}. Attach them elsewhere first, or pass subtree=True to let them go."
        )


class NothingToUndo(ArmillaryError, LookupError):
    """Nothing that could be taken back."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to take back: `undo` needs something that was applied here, not too long ago "
            "(`max_undo`), and `redo` an `undo` after which nothing was applied."
        )


class ChangesForgotten(ArmillaryError, LookupError):
    """Changes that somebody lacks and that are not kept any more; `kept` is how many are."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        super().__init__(
            f"Some of the changes that are lacking are forgotten: this world keeps the last {kept}. "
            "Start from a full copy, or give it a larger `max_changes`."
        )


class ObserverBehind(ArmillaryError, RuntimeError):
    """An observer that is too slow, or its queue too short; `missed` batches of changes did not reach it so far."""

    def __init__(self, observer: object, missed: int) -> None:
        self.observer, self.missed = observer, missed
        super().__init__(
            f"Observer {observer!r} is behind: it has missed {missed} batch{'es' if missed > 1 else ''} of changes. "
            "Make it faster or its queue longer, and read the scene anew to catch up."
        )


class BuiltUpon(ArmillaryError, ValueError):
    """A change on which something later rests: a node, or a frame by its name."""

    def __init__(self, node: NodeId | str, names: Names = _NOBODY) -> None:
        self.node = node
        what = f"frame '{node}'" if isinstance(node, str) else f"node {_called(node, names)}"
        super().__init__(f"It cannot be taken back: later changes rest on {what}. Take those back first.")


class NoOpposite(ArmillaryError, ValueError):
    """A change that nothing takes back: samples were forgotten with it, or a body was declared."""

    def __init__(self, frame: str) -> None:
        self.frame = frame
        about = f" about '{frame}'" if frame else ""
        super().__init__(
            f"The last change{about} cannot be taken back: it forgot samples or declared a body. Say what holds "
            "instead; to try things, use `world.copy()`."
        )
