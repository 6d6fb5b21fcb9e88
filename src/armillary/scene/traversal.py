"""Traversals: a visitor is called for the nodes of one version of a scene, downwards or upwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from armillary._core import NodeId
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr
from armillary.store.nodes import frame_or_digits

if TYPE_CHECKING:
    from armillary.scene.reading import SceneVersion
    from armillary.shapes import Levels

__all__ = ["AnyVisitor", "Direction", "Once", "VisitedNode", "Visitor", "Walk", "traverse"]

Direction = Literal["down", "up"]
Once = Literal["node", "path"]
AnyVisitor = TypeVar("AnyVisitor")


class Walk(Enum):
    """What a visitor may return; None continues the walk."""

    SKIP = "skip"
    """Do not go beyond this node on this path."""
    STOP = "stop"
    """End the walk; `leave` is still called for every node that was entered."""


@dataclass(frozen=True, slots=True, eq=False)
class VisitedNode:
    """A node as a visitor gets it: one step of one walk, equal to no other.

    Attributes:
        id: The node.
        before: The previous step of the walk; None for the first node.
        scene: The version that is traversed, for further queries.
    """

    id: NodeId
    before: VisitedNode | None
    scene: SceneVersion

    def __repr__(self) -> str:
        attributes = f", {self.attributes!r}" if self.attributes else ""
        return f"VisitedNode({self.kind} {frame_or_digits(self.scene.view, self.id)}{attributes})"

    @property
    def path(self) -> tuple[NodeId, ...]:
        """The nodes from the beginning of the walk to this one, without it."""
        steps, node = [], self.before
        while node is not None:
            steps.append(node.id)
            node = node.before
        return tuple(reversed(steps))

    @property
    def kind(self) -> str:
        """`group`, `transform`, `uncertain_transform`, `geometry`, `connection` or `frame`."""
        return self.scene.kind(self.id)

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes."""
        return self.scene.attributes(self.id)

    @property
    def stamp(self) -> int | None:
        """Since when it exists [ns]; for geometry, the instant it shows."""
        return self.scene.stamp(self.id)

    @property
    def frame(self) -> str:
        """The frame it is in."""
        return self.scene.frame(self.id)

    @property
    def levels(self) -> Levels:
        """The shapes of a geometry, the finest first."""
        return self.scene.levels(self.id)

    @property
    def parents(self) -> list[NodeId]:
        """Its parents; empty for the root, and for a remote root that is not mounted."""
        return self.scene.parents(self.id)

    @property
    def children(self) -> list[NodeId]:
        """Its children."""
        return self.scene.children(self.id)


class Visitor:
    """A visitor of the nodes of a scene. A new domain is one subclass.

    Override `visit`, or `visit_group` and its relatives for the kinds that matter; `leave` is called after everything
    beyond a node was visited. `direction` and `once` are defaults for the arguments of `traverse`.

    >>> from armillary import World
    >>> from armillary.scene import Visitor
    >>> class Names(Visitor):
    ...     def __init__(self):
    ...         self.names = []
    ...
    ...     def visit(self, node):
    ...         self.names.append(node.attributes.get("name", "?"))
    >>> scene = World().scene
    >>> table = scene.add_group(parent=scene.root, attributes={"name": "table"})
    >>> scene.traverse(Names(), under=table).names
    ['table']
    """

    direction: ClassVar[Direction] = "down"
    once: ClassVar[Once] = "node"

    def __repr__(self) -> str:
        found = [_short_field(name, value) for name, value in vars(self).items() if not name.startswith("_")]
        return f"{type(self).__name__}({', '.join(found)})"

    def enter(self, node: VisitedNode) -> Walk | None:
        """Called for every node, before those beyond it; calls the method for its kind."""
        answer: Walk | None = getattr(self, f"visit_{node.kind}")(node)
        return answer

    def leave(self, node: VisitedNode) -> None:
        """Called for every node that was entered, after those beyond it."""

    def visit(self, node: VisitedNode) -> Walk | None:  # noqa: ARG002
        """Visit a node of a kind whose own method is not overridden."""
        return None

    def visit_group(self, node: VisitedNode) -> Walk | None:
        """Visit a group; the root is one."""
        return self.visit(node)

    def visit_transform(self, node: VisitedNode) -> Walk | None:
        """Visit a transform, or an uncertain one where its own method is not overridden."""
        return self.visit(node)

    def visit_uncertain_transform(self, node: VisitedNode) -> Walk | None:
        """Visit a transform with a covariance."""
        return self.visit_transform(node)

    def visit_geometry(self, node: VisitedNode) -> Walk | None:
        """Visit a geometry."""
        return self.visit(node)

    def visit_connection(self, node: VisitedNode) -> Walk | None:
        """Visit a connection."""
        return self.visit(node)

    def visit_frame(self, node: VisitedNode) -> Walk | None:
        """Visit the node of a frame."""
        return self.visit(node)


def _short_field(name: str, value: object) -> str:
    """A field of a visitor; of a collection, which may be large, its length."""
    return f"{len(value)} {name}" if isinstance(value, list | dict | set) else f"{name}={short_repr(value)}"


def traverse(
    scene: SceneVersion,
    visitor: AnyVisitor,
    *,
    start: NodeId,
    direction: Direction | None = None,
    once: Once | None = None,
) -> AnyVisitor:
    """Call a visitor for the nodes of a version, depth first, a node before those beyond it."""
    direction = getattr(visitor, "direction", "down") if direction is None else direction
    once = getattr(visitor, "once", "node") if once is None else once
    _check_choice("direction", direction, ("down", "up"))
    _check_choice("once", once, ("node", "path"))
    enter, leave = _hooks(visitor)
    _walk(
        VisitedNode(start, None, scene), "children" if direction == "down" else "parents", once == "node", enter, leave
    )
    return visitor


Enter = Callable[[VisitedNode], object]
Level = tuple[VisitedNode, Iterator[NodeId]]


def _walk(start: VisitedNode, beyond: str, each_once: bool, enter: Enter, leave: Enter) -> None:  # noqa: FBT001
    """Walk without recursion: a scene may be deeper than the interpreter's stack."""
    seen: set[NodeId] = {start.id}
    answer = _entered(start, enter)
    levels: list[Level] = [(start, _next(start, beyond, answer))]
    while levels:
        node, waiting = levels[-1]
        child = None if answer is Walk.STOP else next(waiting, None)
        if child is None:
            levels.pop()
            leave(node)
        elif not each_once or child not in seen:
            seen.add(child)
            visited = VisitedNode(child, node, node.scene)
            answer = _entered(visited, enter)
            levels.append((visited, _next(visited, beyond, answer)))


def _next(node: VisitedNode, beyond: str, answer: Walk | None) -> Iterator[NodeId]:
    return iter(getattr(node, beyond) if answer is None else ())


def _entered(node: VisitedNode, enter: Enter) -> Walk | None:
    answer = enter(node)
    if answer is not None and not isinstance(answer, Walk):
        raise InvalidArgument(
            f"A visitor answers None to go on, Walk.SKIP or Walk.STOP; it answered {answer!r} at {node.id}.", answer
        )
    return answer


def _hooks(visitor: object) -> tuple[Enter, Enter]:
    if isinstance(visitor, type) and issubclass(visitor, Visitor):
        name = visitor.__name__
        raise InvalidArgument(f"{name} is a class of visitors. Make one for this walk: {name}(...).", visitor)
    enter = getattr(visitor, "enter", visitor)
    if not callable(enter):
        raise InvalidArgument(
            f"{short_repr(visitor)} is no visitor. Give a function that takes a node, or an object of a subclass of "
            "Visitor with a method `visit(self, node)`.",
            visitor,
        )
    return enter, getattr(visitor, "leave", _no_leave)


def _no_leave(node: VisitedNode) -> None:
    """Do nothing, for visitors without `leave`."""


def _check_choice(name: str, value: object, allowed: tuple[str, str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(f"{name} is '{allowed[0]}' or '{allowed[1]}', got {value!r}.", value)
