"""What a block wants to change, collected until it has come to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, NodeId
from armillary.scene._reading import SceneVersion
from armillary.scene.changes import AddConnection, AddGeometry, AddGroup, AddTransform, AddUncertainTransform, Change

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.scene.shapes import Shape

__all__ = ["Transaction"]

_KINDS: dict[type[Change], str] = {
    AddConnection: "connection",
    AddGeometry: "geometry",
    AddGroup: "group",
    AddTransform: "transform",
    AddUncertainTransform: "uncertain_transform",
}


class Transaction(SceneVersion):
    """The scene as it was when a block began, and the changes that the block plans.

    What is planned is not seen by questions, and happens all at once after the block has come to its end.
    """

    def __init__(self, world: Any, view: SceneView) -> None:
        super().__init__(world, view)
        self.planned: list[Change] = []
        self._new: dict[NodeId, Change] = {}

    def plan(self, change: Change) -> NodeId:
        """One more change; the node it is about, with its id where it is new."""
        if type(change) in _KINDS:
            change = replace(change, id=change.id or NodeId.random())  # type: ignore[call-arg, attr-defined]
            self._new[change.id] = change  # type: ignore[attr-defined]
        self.planned.append(change)
        node = getattr(change, "id", ROOT_NODE)
        return node if isinstance(node, NodeId) else self._named(node)

    def described(self, node: NodeId) -> tuple[str, Shape | None]:
        """The kind of a node that is there or planned, and its shape."""
        new = self._new.get(node)
        if new is not None:
            return _KINDS[type(new)], getattr(new, "shape", None)
        kind = self.kind(node)
        return kind, self.geometry(node) if kind == "geometry" else None
