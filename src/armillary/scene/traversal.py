"""Walking through a scene: a visitor is shown the nodes, downwards or upwards, one version for the whole walk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from armillary._core import NodeId
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from armillary.scene.reading import SceneVersion
    from armillary.shapes import Levels

__all__ = ["AnyVisitor", "Direction", "Once", "VisitedNode", "Visitor", "Walk", "traverse"]

Direction = Literal["down", "up"]
Once = Literal["node", "path"]
AnyVisitor = TypeVar("AnyVisitor")


class Walk(Enum):
    """What a visitor may answer; None goes on."""

    SKIP = "skip"
    """Do not go beyond this node on this path."""
    STOP = "stop"
    """End the walk; every node that was entered is still left."""


@dataclass(frozen=True, slots=True, eq=False)
class VisitedNode:
    """A node as a visitor sees it: one step of one walk, and equal to no other.

    Attributes:
        id: The node.
        before: Where the walk came from; None where it began.
        scene: The version that is walked through, for further questions.
    """

    id: NodeId
    before: VisitedNode | None
    scene: SceneVersion

    def __repr__(self) -> str:
        said = f", {self.attributes!r}" if self.attributes else ""
        return f"VisitedNode({self.kind} {str(self.id)[:8]}{said})"

    @property
    def path(self) -> tuple[NodeId, ...]:
        """The nodes from the beginning of the walk to this one, which is not among them."""
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
        """What is said of it."""
        return self.scene.attributes(self.id)

    @property
    def stamp(self) -> int | None:
        """Since when it is there; of geometry, the instant it shows."""
        return self.scene.stamp(self.id)

    @property
    def frame(self) -> str:
        """The frame it is in."""
        return self.scene.frame(self.id)

    @property
    def levels(self) -> Levels:
        """What a geometry looks like, the finest first."""
        return self.scene.levels(self.id)

    @property
    def parents(self) -> list[NodeId]:
        """What it is in; nothing for the root, and for a root of others that is not mounted."""
        return self.scene.parents(self.id)

    @property
    def children(self) -> list[NodeId]:
        """What is in it."""
        return self.scene.children(self.id)


class Visitor:
    """What is shown the nodes of a scene. A new domain is one subclass.

    Override `visit`, or `visit_group` and its relatives for the kinds that matter; `leave` is called after everything
    beyond a node was visited. `direction` and `once` say how it wants to be led, unless `traverse` is told otherwise.

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
        found = [_told(name, value) for name, value in vars(self).items() if not name.startswith("_")]
        return f"{type(self).__name__}({', '.join(found)})"

    def enter(self, node: VisitedNode) -> Walk | None:
        """Called for every node, before what is beyond it; chooses the method for its kind."""
        answer: Walk | None = getattr(self, f"visit_{node.kind}")(node)
        return answer

    def leave(self, node: VisitedNode) -> None:
        """Called for every node that was entered, after what is beyond it."""

    def visit(self, node: VisitedNode) -> Walk | None:  # noqa: ARG002
        """A node of any kind whose own method is not overridden."""
        return None

    def visit_group(self, node: VisitedNode) -> Walk | None:
        """A group; the root is one."""
        return self.visit(node)

    def visit_transform(self, node: VisitedNode) -> Walk | None:
        """A transform, and an uncertain one whose own method is not overridden."""
        return self.visit(node)

    def visit_uncertain_transform(self, node: VisitedNode) -> Walk | None:
        """A transform with a covariance."""
        return self.visit_transform(node)

    def visit_geometry(self, node: VisitedNode) -> Walk | None:
        """A shape."""
        return self.visit(node)

    def visit_connection(self, node: VisitedNode) -> Walk | None:
        """A connection."""
        return self.visit(node)

    def visit_frame(self, node: VisitedNode) -> Walk | None:
        """A frame of the world of which something is said."""
        return self.visit(node)


def _told(name: str, value: object) -> str:
    """Of what a visitor collected, how many: that may be thousands."""
    return f"{len(value)} {name}" if isinstance(value, list | dict | set) else f"{name}={short_repr(value)}"


def traverse(
    scene: SceneVersion,
    visitor: AnyVisitor,
    *,
    start: NodeId,
    direction: Direction | None = None,
    once: Once | None = None,
) -> AnyVisitor:
    """Lead a visitor through a version, depth first, a node before what is beyond it."""
    way = _choice("direction", _wish(visitor, "direction", "down") if direction is None else direction, ("down", "up"))
    often = _choice("once", _wish(visitor, "once", "node") if once is None else once, ("node", "path"))
    enter, leave = _hooks(visitor)
    _walk(VisitedNode(start, None, scene), "children" if way == "down" else "parents", often == "node", enter, leave)
    return visitor


Enter = Callable[[VisitedNode], object]
Level = tuple[VisitedNode, Iterator[NodeId]]


def _walk(start: VisitedNode, beyond: str, each_once: bool, enter: Enter, leave: Enter) -> None:  # noqa: FBT001
    """Without recursion: a scene may be deeper than the interpreter's stack."""
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


def _wish(visitor: object, name: str, otherwise: str) -> object:
    """How the visitor wants to be led."""
    return getattr(visitor, name, otherwise)


def _hooks(visitor: object) -> tuple[Enter, Enter]:
    if isinstance(visitor, type) and issubclass(visitor, Visitor):
        name = visitor.__name__
        raise InvalidArgument(f"{name} is a class of visitors. Make one for this walk: {name}(...).", visitor)
    enter = getattr(visitor, "enter", visitor)
    if not callable(enter):
        raise InvalidArgument(
            f"{short_repr(visitor)} is no visitor. Give a function that takes a node, or an object of a "
            f"subclass of Visitor "
            "with a method `visit(self, node)`.",
            visitor,
        )
    return enter, getattr(visitor, "leave", _nothing)


def _nothing(node: VisitedNode) -> None:
    """Where there is no `leave`."""


def _choice(name: str, value: object, allowed: tuple[str, str]) -> str:
    if value not in allowed:
        raise InvalidArgument(f"{name} is '{allowed[0]}' or '{allowed[1]}', got {value!r}.", value)
    return str(value)
