"""Reading a scene: one version of it, as it is or as it was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import InvalidArgument, InvalidName, UnknownFrame, WrongKind
from armillary.errors.format import short_repr
from armillary.scene.traversal import AnyVisitor, Direction, Once, traverse
from armillary.store.conditions import conditions_of
from armillary.store.nodes import MOUNT, node_of_frame

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.fusion.policies import AnyPolicy
    from armillary.scene.difference import Difference, Side
    from armillary.shapes import Levels, Shape
    from armillary.store import Store
    from armillary.store.payloads import Connection

__all__ = ["SceneReader", "SceneVersion"]


class SceneReader(ABC):
    """The queries that the present scene and past scenes have in common. Each query sees one version."""

    _store: Store

    @abstractmethod
    def _view(self) -> SceneView:
        """The version that is read."""

    @property
    def store(self) -> Store:
        """The store whose frames the nodes have: it answers for poses and has the clock."""
        return self._store

    @property
    def root(self) -> NodeId:
        """The node under which everything is; its frame is the world's `root_frame`."""
        return ROOT_NODE

    @property
    def remote_roots(self) -> list[NodeId]:
        """The roots of other agents' graphs that are not mounted, in the order in which they were added."""
        return self._view().remote_roots()

    def node(self, frame: str) -> NodeId:
        """The id of the node of a frame; the node exists once the scene has a change about it."""
        return node_of_frame(self._store, frame)[0]

    def kind(self, id: NodeId | str) -> str:  # noqa: A002
        """`group`, `transform`, `uncertain_transform`, `geometry`, `connection` or `frame`."""
        return self._view().kind(self._named(id))

    def parents(self, id: NodeId | str) -> list[NodeId]:  # noqa: A002
        """The parents of a node, the oldest containment first."""
        return self._view().parents(self._named(id))

    def contained_since(self, id: NodeId | str, parent: NodeId | str) -> int | None:  # noqa: A002
        """Since when a node is in one of its parents [ns]; if two assertions conflict, the earlier one wins.

        Raises:
            NotItsParent: The node is not in that parent.
        """
        return self._view().contained_since(self._named(id), self._named(parent))

    def children(self, id: NodeId | str) -> list[NodeId]:  # noqa: A002
        """The children of a node, in the order in which they were added."""
        return self._view().children(self._named(id))

    def attributes(self, id: NodeId | str) -> dict[str, Any]:  # noqa: A002
        """The attributes of a node; its own, never inherited ones."""
        return self._view().attributes(self._named(id))

    def stamp(self, id: NodeId | str) -> int | None:  # noqa: A002
        """Since when the node exists [ns]; for geometry, the instant it shows. None for the root."""
        return self._view().created_at(self._named(id))

    def geometry(
        self,
        id: NodeId | str,  # noqa: A002
        *,
        level: int | None = None,
        max_points: int | None = None,
        distance_m: float | None = None,
    ) -> Shape:
        """The shape of a node: the finest, unless a coarser one is asked for.

        Args:
            id: A geometry.
            level: 0 is the finest.
            max_points: The finest with at most so many points; the coarsest where all have more.
            distance_m: The coarsest that a viewer at this distance cannot tell from the finest: what it leaves out
                (`levels(id).errors_m`) is seen under a milliradian or less.
        """
        levels = self.levels(id)
        given = [value for value in (level, max_points, distance_m) if value is not None]
        if len(given) > 1:
            raise InvalidArgument("Ask for a level, or for max_points, or for distance_m: one of them.", given)
        if max_points is not None:
            return levels.with_at_most(max_points)
        if distance_m is not None:
            return levels.seen_from(distance_m)
        return levels[0 if level is None else level]

    def levels(self, id: NodeId | str) -> Levels:  # noqa: A002
        """All resolutions of a geometry, the finest first."""
        levels: Levels = self._payload(id, "geometry", "`scene.children(id)` may have one.")
        return levels

    def connection(self, id: NodeId | str) -> Connection:  # noqa: A002
        """The ends of a connection, and the interval for which it holds."""
        connection: Connection = self._payload(id, "connection", "`scene.find` gives connections by their attributes.")
        return connection

    def _payload(self, id: NodeId | str, kind: str, hint: str) -> Any:  # noqa: A002
        view, node = self._view(), self._named(id)
        found = view.kind(node)
        if found != kind:
            raise WrongKind(node, found, kind, hint, view.names([node]))
        return view.payload(node)

    def frame(self, id: NodeId | str) -> str:  # noqa: A002
        """The frame in which a node is: every query of the world takes it.

        A transform, a node that was moved or has several parents, one with `frame=` and the node of a frame have one
        of their own; other nodes are in that of their parent.
        """
        return self._view().frame(self._named(id))

    def find(self, query: Mapping[str, Any], *, under: NodeId | str | None = None) -> list[NodeId]:
        """The nodes of which everything in the query is true, oldest first.

        Texts, truth values and lists must be equal, numbers compare by value, `re.compile(...)` must match the whole
        text. The functions `less`, `less_equal`, `greater`, `greater_equal`, `between`, `contains`, `exists` and
        `absent` of `armillary.scene` make further conditions. An empty query finds every node.

        Args:
            query: Names of attributes and the values that they must have.
            under: Only this node and what is under it.
        """
        return self._view().find(conditions_of(query), self._top(under))

    def relation_matches(self, relation: tuple[str, str, str], query: Mapping[str, Any]) -> bool:
        """Whether the parent frame of a relation, or its source, is a node of which everything in a query is true.

        Args:
            relation: (of, in_frame, source), as `world.pose(...).relations` has them.
            query: As for `find`.
        """
        nodes = {self._node_or_none(name.removesuffix(MOUNT)) for name in relation[1:]}
        return any(node is not None and node in self.find(query, under=node) for node in nodes)

    def _node_or_none(self, name: str) -> NodeId | None:
        """The node of a frame, where it is in this version of the scene."""
        try:
            node = self.node(name)
        except (UnknownFrame, InvalidName):
            return None
        return node if node in self else None

    def traverse(
        self,
        visitor: AnyVisitor,
        *,
        under: NodeId | str | None = None,
        direction: Direction | None = None,
        once: Once | None = None,
    ) -> AnyVisitor:
        """Call a visitor for the nodes, depth first, a node before those beyond it; returns the visitor.

        The whole walk sees one version, whatever others change meanwhile. It continues unless the visitor returns
        `Walk.SKIP` or `Walk.STOP`.

        Args:
            visitor: A `Visitor`, or a callable that takes a `VisitedNode`.
            under: Where the walk begins; the root if not given.
            direction: "down" to the children of a node, "up" to its parents; that of the visitor if not given.
            once: Visit each "node" once, or once for each "path" to it, of which there may be very many.
        """
        version = SceneVersion(self._store, self._view())
        start = self._top(under)
        return traverse(version, visitor, start=start, direction=direction, once=once)

    # -- Comparisons

    def difference(
        self,
        other: Any,
        other_still: Any = None,
        /,
        *,
        tolerance_m: float = 1e-3,
        tolerance_rad: float = 1e-3,
        outside: str = "hold",
        policy: AnyPolicy = "latest",
    ) -> Difference:
        """What differs between this scene and another: things added and removed, moved, attributes, shapes.

        `scene.difference(a, b)` compares two others. Each may be a scene, `scene.as_of(stamp)`, a world, or the path of
        a saved world. Poses are those of `LATEST`, or of the instant of a past scene, in the root frame; frames that no
        node has are compared as well. What merely moved along with something is marked as carried by it.

        >>> from armillary import Transform, World
        >>> world = World()
        >>> cup = world.scene.add_transform(parent=world.scene.root, transform=Transform.identity(), at=0)
        >>> before = world.copy()
        >>> world.scene.set_transform(cup, Transform.from_xyz_rpy(xyz=(8, 0, 0), rpy=(0, 0, 0)), at=1)
        >>> before.scene.difference(world).moved[0].distance_m
        8.0

        Args:
            other: What this scene is compared with; with two arguments, what is compared with the second.
            other_still: The second of two others.
            tolerance_m: Origins that are no further apart than this are equal [m].
            tolerance_rad: Orientations that are no further apart than this are equal [rad].
            outside: As for `world.pose`; by default a thing is where it was seen last.
            policy: As for `world.pose`, where several sources place a thing.
        """
        from armillary.scene.difference import Tolerance, difference_between  # noqa: PLC0415  (few programs compare)

        sides = (self, other) if other_still is None else (other, other_still)
        before, after = (self._side_of(side) for side in sides)
        tolerance = Tolerance(tolerance_m, tolerance_rad)
        return difference_between(before, after, tolerance=tolerance, outside=outside, policy=policy)

    def _side_of(self, other: Any) -> Side:
        """One of two scenes that are compared."""
        if isinstance(other, SceneReader):
            return other.side()
        if isinstance(other, str | PathLike):
            if self._store.load_world is None:
                raise InvalidArgument("Load the file with World.load(path), and give its scene.", other)
            return self._side_of(self._store.load_world(other))
        if isinstance(scene := getattr(other, "scene", None), SceneReader):
            return scene.side()
        raise InvalidArgument(
            f"A scene is compared with a scene, scene.as_of(stamp), a world or the path of a saved world, "
            f"got {short_repr(other)}.",
            other,
        )

    def side(self) -> Side:
        """This scene, as one of two that are compared."""
        from armillary.scene.difference import Side  # noqa: PLC0415  (see `difference`)

        return Side(self._store, self._view())

    def _repr_html_(self) -> str:
        return _scene_html(self._view(), self.root)

    def __contains__(self, id: object) -> bool:  # noqa: A002
        try:
            return self._view().contains(self._named(id))  # type: ignore[arg-type]
        except UnknownFrame:
            return False

    def _top(self, under: NodeId | str | None) -> NodeId:
        """The node that `under` names; the root, if it is not given."""
        return ROOT_NODE if under is None else self._named(under)

    def _named(self, target: NodeId | str) -> NodeId:
        """The node of an id, or of a frame's name."""
        if isinstance(target, str):
            return node_of_frame(self._store, target)[0]
        return target if isinstance(target, NodeId) else NodeId(target)


class SceneVersion(SceneReader):
    """A scene that is read in several steps, all of which see the same structure; samples may be added meanwhile."""

    def __init__(self, store: Store, view: SceneView) -> None:
        self._store, self._seen = store, view

    def _view(self) -> SceneView:
        return self._seen

    @property
    def view(self) -> SceneView:
        """The version, as the C++ core has it."""
        return self._seen


# -- Notebooks


def _scene_html(view: SceneView, root: NodeId) -> str:
    """The number of nodes, and the first of them as an indented tree, for notebooks."""
    from armillary.notebook import card, listing  # noqa: PLC0415  (most programs are no notebooks)

    nodes = view.subtree(root)
    kinds = Counter(view.kind(node) for node in nodes)
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(kinds.items()))
    return card(f"Scene of {len(nodes)} nodes: {counts}", listing(_tree_lines(view, root), len(nodes)))


def _tree_lines(view: SceneView, root: NodeId) -> Iterator[str]:
    """Every node once, below the first of its parents that a walk reaches."""
    stack, shown = [(root, 0)], set()
    while stack:
        node, depth = stack.pop()
        if node in shown:
            continue
        shown.add(node)
        yield "  " * depth + _node_line(view, node)
        stack.extend((child, depth + 1) for child in reversed(view.children(node)))


def _node_line(view: SceneView, node: NodeId) -> str:
    kind = view.kind(node).replace("_", " ")
    called = view.frame(node) if node == ROOT_NODE else view.names([node]).get(node)
    return f"{called or repr(node)}  [{kind}]"
