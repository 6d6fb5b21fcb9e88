"""What a block wants to change, collected until it has come to its end."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import InvalidArgument
from armillary.scene.reading import SceneVersion
from armillary.store.changes import (
    AddConnection,
    AddGeometry,
    AddGroup,
    AddParent,
    AddTransform,
    AddUncertainTransform,
    Change,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
)

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.scene._scene import Scene
    from armillary.shapes import Shape
    from armillary.store import Store

__all__ = ["Transaction"]

Adding = AddConnection | AddGeometry | AddGroup | AddTransform | AddUncertainTransform
_ADDING = (AddConnection, AddGeometry, AddGroup, AddTransform, AddUncertainTransform)
_KINDS = dict(zip(_ADDING, ("connection", "geometry", "group", "transform", "uncertain_transform"), strict=True))
_CHANGES = {
    re.sub("(?<!^)(?=[A-Z])", "_", change.__name__).lower(): change.__name__
    for change in (*_ADDING, AddParent, Remove, RemoveParent, SetAttributes, SetTransform)
}
"""Methods of a scene to the classes of changes that they make."""


class Transaction(SceneVersion):
    """The scene as it was when a block began, and the changes that the block plans.

    Queries do not see planned changes; these are applied together after the block has returned.
    """

    def __init__(self, store: Store, view: SceneView) -> None:
        super().__init__(store, view)
        self.planned: list[Change] = []
        self._new: dict[NodeId, Adding] = {}
        self._is_over = False

    @classmethod
    def on(cls, scene: Scene) -> Transaction:
        """A transaction on the present version of a scene."""
        return cls(scene.store, scene.store.view())

    def plan(self, change: Change) -> NodeId:
        """Plan a change; returns the node that it is about, which gets an id if it is new."""
        if self._is_over:
            raise InvalidArgument(
                "The block is through: plan changes before compute() returns, in threads too.", change
            )
        if not isinstance(change, Change):
            raise InvalidArgument(f"A change is made by the classes of armillary.scene, got {change!r}.", change)
        if isinstance(change, _ADDING):
            node = NodeId.random() if change.id is None else change.id
            self._new[node] = change = replace(change, id=node)
        self.planned.append(change)
        about: NodeId | str = getattr(change, "id", ROOT_NODE)
        return self._named(about)

    if not TYPE_CHECKING:  # a type checker finds such mistakes itself

        def __getattr__(self, name: str) -> NoReturn:
            change = _CHANGES.get(name)
            if change is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AttributeError(
                f"A block plans what it changes. Instead of {name}(...), self.scene.plan({change}(...))"
            )

    def end(self) -> tuple[Change, ...]:
        """Return all planned changes; after this none can be planned."""
        self._is_over = True
        return tuple(self.planned)

    def described(self, node: NodeId) -> tuple[str, Shape | None]:
        """The kind and the shape of a node that exists or is planned."""
        new = self._new.get(self._named(node))
        if new is not None:
            return _KINDS[type(new)], getattr(new, "shape", None)
        kind = self.kind(node)
        return kind, self.geometry(node) if kind == "geometry" else None
