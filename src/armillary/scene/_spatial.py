"""Spatial queries of a scene, as it is and as it was: bounding spheres, overlaps, rays."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import ArmillaryError, InvalidArgument, InvalidStamp
from armillary.errors.format import format_stamp, short_repr
from armillary.scene._distances import closest_to, nearest_of, placed_under
from armillary.scene.reading import SceneReader
from armillary.scene.search import (
    Hierarchy,
    NearNode,
    NearNodes,
    Overlaps,
    Placements,
    PlaceQuestion,
    check_nearest,
    distance_to,
)
from armillary.shapes import Sphere
from armillary.stamps import LATEST, Latest
from armillary.store import Query
from armillary.store.nodes import id_of_frame, node_of_frame
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import SceneView
    from armillary.collision import Distance
    from armillary.collision.shape_pairs import PlacedShape
    from armillary.fusion.policies import AnyPolicy
    from armillary.scene.difference import Side
    from armillary.scene.search import RayHits
    from armillary.shapes import Shape
    from armillary.shapes.volumes import BoundingSphere
    from armillary.store import Store

__all__ = ["PastScene", "SpatialReader"]

_FIRST_RADIUS_M = 0.25
"""Around the point, of the first search for the nearest; then twice as far, until there are enough."""
_LAST_RADIUS_M = 1e8


class SpatialReader(SceneReader):
    """A scene that can be searched by space."""

    def __init__(self) -> None:
        self._hierarchy = Hierarchy()
        self._structure = _Structure(self._view(), -1)

    def bounding_sphere(self, id: NodeId | str, *, at: int | Latest = LATEST) -> BoundingSphere | None:  # noqa: A002
        """A sphere around everything at or under a node, in its own frame; None where nothing has a shape."""
        return self._hierarchy.bounding_sphere(self._geometry(), self._named(id), at=self._instant(at))

    def overlapping(
        self,
        shape: Shape,
        *,
        in_frame: str,
        at: int | Latest = LATEST,
        under: NodeId | str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Overlaps:
        """The nodes whose shapes have a point in common with this one, which is in `in_frame`.

        With `where`, a query as for `find`, the answer are things: of each shape that was met the node nearest at or
        above it that the query describes, each once. What could be grasped within a metre of the gripper two seconds
        ago: `overlapping(Sphere(1.0), in_frame="gripper", at=now - seconds(2), where={"graspable": True})`.

        Whole branches are skipped by the spheres around them; `.visited` counts the nodes that were tested, `.missing`
        names those whose frames have no pose at this instant: none at all, or several and `policy` does not choose.
        Searches the nodes that exist now, at their poses of that instant; `scene.as_of(stamp)` has the nodes that
        existed then, and is searched in the same way. `outside`, `policy` and `hold_up_to_s` are those of `world.pose`,
        applied to what moves or has several poses; what is fixed to that follows.
        """
        here, below = self._frame_named(in_frame), self._top(under)
        asked = self._asked(here, PlaceQuestion(at, outside, policy, hold_up_to_s))
        found = self._hierarchy.overlapping(self._geometry(), shape, in_frame=here, under=below, **asked)
        if where is None:
            return found
        things = dict.fromkeys(thing for thing, _ in self._things(found, where))
        return Overlaps(list(things), visited=found.visited, missing=found.missing)

    def nearest(
        self,
        count: int = 1,
        *,
        in_frame: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        at: int | Latest = LATEST,
        max_m: float = math.inf,
        where: Mapping[str, Any] | None = None,
        under: NodeId | str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
    ) -> NearNodes:
        """The nodes whose shapes are nearest to a point in `in_frame`, with their distances, the nearest first.

        The distance is that to the surface; 0 where the point is inside. With `where` the answer are things, as for
        `overlapping`, each as near as the nearest of its shapes; the rest as there.

        Args:
            count: At most so many.
            in_frame: The frame of the point.
            point: Its coordinates [m].
            at: The instant.
            max_m: Nothing farther away.
            where: A query as for `find`, for things.
            under: Only at and under this node.
            outside: As for `world.pose`.
            policy: As for `world.pose`.
            hold_up_to_s: As for `world.pose`.
        """
        here, below = self._frame_named(in_frame), self._top(under)
        question = PlaceQuestion(at, outside, policy, hold_up_to_s)
        asked = self._asked(here, question)
        check_nearest(count, max_m)
        sphere_T_here = Transform.from_xyz_rpy(xyz=np.asarray(point, dtype=float), rpy=(0.0, 0.0, 0.0)).inverse()

        def met(radius_m: float) -> Overlaps:
            geometry, sphere = self._geometry(), Sphere(radius_m)
            return self._hierarchy.overlapping(
                geometry, sphere, in_frame=here, under=below, in_frame_T_shape=sphere_T_here.inverse(), **asked
            )

        def distance_m(node: NodeId, within_m: float) -> float:
            shape = self.geometry(node)
            here_T_node = self._store.pose(of=self.frame(node), in_frame=here, **asked).transform
            return distance_to(shape, sphere_T_here @ here_T_node, within_m)

        radius_m = min(_FIRST_RADIUS_M, max_m)
        while True:
            found = met(radius_m)
            pairs = [(node, node) for node in found] if where is None else self._things(found, where)
            is_all = radius_m >= min(max_m, _LAST_RADIUS_M)
            if is_all or len({thing for thing, _ in pairs}) >= count:
                break
            radius_m = min(2.0 * radius_m, max_m)
        nearest: dict[NodeId, float] = {}
        for thing, node in pairs:
            nearest[thing] = min(nearest.get(thing, math.inf), distance_m(node, radius_m))
        near = sorted(nearest.items(), key=lambda item: (item[1], str(item[0])))[:count]
        return NearNodes([NearNode(*item) for item in near], visited=found.visited, missing=found.missing)

    def _things(self, shapes: Iterable[NodeId], where: Mapping[str, Any]) -> list[tuple[NodeId, NodeId]]:
        """Each shape with the nodes nearest at or above it that a query describes, one for every way up."""
        described, pairs = set(self.find(where)), []
        for shape in shapes:
            pending, seen = [shape], set[NodeId]()
            while pending:
                node = pending.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node in described:
                    pairs.append((node, shape))
                else:
                    pending.extend(self.parents(node))
        return pairs

    def distance(
        self,
        a: NodeId | str,
        b: NodeId | str,
        *,
        at: int | Latest = LATEST,
        in_frame: str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
    ) -> Distance:
        """How far two things are from each other at an instant: all shapes at and below one, and those of the other.

        It is signed for solids, with the nearest points. Without the extra `armillary[collision]`, and for point
        clouds, the spheres around the shapes are compared, and `is_bound` is set: it is at least so far.

        Args:
            a: One.
            b: The other.
            at: The instant.
            in_frame: The frame of the points and of the normal; the root of the scene, if left out.
            outside: As for `world.pose`.
            policy: As for `world.pose`.
            hold_up_to_s: As for `world.pose`.

        Raises:
            InvalidArgument: One of them has no shape, or is at or below the other.
        """
        own, there = self._placed(PlaceQuestion(at, outside, policy, hold_up_to_s), in_frame)
        one, other = self._named(a), self._named(b)
        shared = own(one) & own(other)
        if shared:
            raise InvalidArgument(
                f"{short_repr(a)} and {short_repr(b)} share a shape, so they have no distance from each other. Give "
                "two things of which none is below the other.",
                (a, b),
            )
        return nearest_of(there(own(one), self.frame(one)), there(own(other), self.frame(other)))

    def closest(
        self,
        to: NodeId | str,
        count: int = 1,
        *,
        at: int | Latest = LATEST,
        max_m: float = math.inf,
        in_frame: str | None = None,
        under: NodeId | str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
    ) -> list[Distance]:
        """The shapes that are nearest to a thing, with distance, nearest points and normal, the nearest first.

        Shapes at and below the thing do not count, nor do those whose place at this instant is unknown; `b` of each
        distance is the frame of a node. The rest as for `distance`.

        Args:
            to: The thing.
            count: At most so many.
            at: The instant.
            max_m: Nothing farther away.
            in_frame: The frame of points and normals; the root of the scene, if left out.
            under: Only shapes at and below this node.
            outside: As for `world.pose`.
            policy: As for `world.pose`.
            hold_up_to_s: As for `world.pose`.
        """
        check_nearest(count, max_m)
        own, there = self._placed(PlaceQuestion(at, outside, policy, hold_up_to_s), in_frame)
        mine = own(self._named(to))
        others = []
        for node in own(self._top(under)) - mine:
            try:
                others += there({node}, self.frame(node))
            except InvalidArgument:
                raise
            except ArmillaryError:
                continue
        return closest_to(there(mine, self.frame(self._named(to))), others, count, max_m)

    def _placed(
        self, question: PlaceQuestion, in_frame: str | None
    ) -> tuple[Callable[[NodeId], set[NodeId]], Callable[[set[NodeId], str], list[PlacedShape]]]:
        """Return what is at and below a node, and where shapes of nodes are."""
        here = self._frame_named(self._store.root_frame if in_frame is None else in_frame)
        asked = self._asked(here, question)
        view = self._view()

        def there(nodes: set[NodeId], name: str) -> list[PlacedShape]:
            ordered = sorted(nodes, key=str)
            return placed_under(
                view,
                ordered,
                name,
                lambda node: self._store.pose(of=view.frame(node), in_frame=here, **asked).transform,
            )

        return lambda node: set(view.subtree(node)), there

    def raycast(
        self,
        *,
        origin: ArrayLike,
        direction: ArrayLike,
        in_frame: str,
        at: int | Latest = LATEST,
        max_m: float = math.inf,
        under: NodeId | str | None = None,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
        hold_up_to_s: float | None = None,
    ) -> RayHits:
        """The nodes that a ray meets, the nearest first; the rest as for `overlapping`."""
        here, below = self._frame_named(in_frame), self._top(under)
        asked = self._asked(here, PlaceQuestion(at, outside, policy, hold_up_to_s))
        return self._hierarchy.raycast(
            self._geometry(), origin=origin, direction=direction, in_frame=here, max_m=max_m, under=below, **asked
        )

    def _asked(self, here: str, question: PlaceQuestion) -> dict[str, Any]:
        """Check how poses are asked for, whether or not anything moves."""
        asked: dict[str, Any] = question._asdict() | {"at": self._instant(question.at)}
        self._store.check_question(of=here, in_frame=here, of_at=None, fixed_frame=None, interpolation=None, **asked)
        return asked

    def _instant(self, at: int | Latest) -> int | Latest:
        """Check the instant: a search would leave out frames without a pose, whatever the reason."""
        stamp: int | Latest = at if at is LATEST else self._store.as_stamp(at, "at")
        return stamp

    def _frame_named(self, in_frame: str) -> str:
        """The stored name of a frame that exists."""
        return node_of_frame(self._store, in_frame)[1]

    def _geometry(self) -> _Geometry:
        view, frames_changed = self._view(), self._store.frames_changed()
        if (view.number, frames_changed) != (self._structure.view.number, self._structure.frames_changed):
            self._structure = _Structure(view, frames_changed, self._structure.frames_swept)
        return _Geometry(self._store, self._structure)


class PastScene(SpatialReader):
    """A scene at one instant of the past, with its containment and attributes of then. It does not change.

    Searches use the poses of that instant, unless another `at` is given.
    """

    def __init__(self, store: Store, view: SceneView, stamp: int) -> None:
        oldest = view.oldest_past
        if oldest is not None and stamp < oldest:
            raise InvalidStamp(
                f"The scene is asked for as it was at {format_stamp(stamp)}, and what ended before "
                f"{format_stamp(oldest)} is forgotten. Ask for a later instant, or give the world a longer history.",
                stamp,
            )
        self._store, self._past, self.at = store, view, stamp
        super().__init__()

    def _view(self) -> SceneView:
        return self._past

    def side(self) -> Side:
        """This scene at its instant, as one of two that are compared."""
        from armillary.scene.difference import Side  # noqa: PLC0415  (few programs compare)

        return Side(self._store, self._past, self.at, is_past=True)

    def _instant(self, at: int | Latest) -> int | Latest:
        return self.at if at is LATEST else super()._instant(at)

    def __len__(self) -> int:
        return len(self._past.subtree(self.root))

    def __repr__(self) -> str:
        return f"PastScene({len(self)} nodes, at {format_stamp(self.at)})"


class _Structure:
    """One version of the structure: that of the scene, and how many frames were published until then.

    Attributes:
        frames_swept: How many frames the last sweep over all of them looked at; 0 before the first.
    """

    def __init__(self, view: SceneView, frames_changed: int, frames_swept: int = 0) -> None:
        self.view, self.frames_changed, self.frames_swept = view, frames_changed, frames_swept


class _Geometry:
    """Implements `armillary.scene.search.SceneGeometry` for a scene."""

    def __init__(self, store: Store, seen: _Structure) -> None:
        self._store, self._structure = store, seen

    @property
    def version(self) -> object:
        return self._structure

    def changed_since(self, version: object) -> set[Hashable] | None:
        if not isinstance(version, _Structure):
            return None
        moved = _moved_nodes(self._store, self._structure.view, version.frames_changed)
        return None if moved is None else _changed_nodes(version.view, self._structure.view) | moved

    def children(self, node: Hashable) -> Sequence[Hashable]:
        return self._structure.view.children(node)  # type: ignore[arg-type]

    def parents(self, node: Hashable) -> Sequence[Hashable]:
        return self._structure.view.parents(node) if self._structure.view.contains(node) else []  # type: ignore[arg-type]

    def shape(self, node: Hashable) -> Shape | None:
        levels = self._structure.view.payload(node) if self._structure.view.kind(node) == "geometry" else None  # type: ignore[arg-type]
        return None if levels is None else levels[0]

    def frame(self, node: Hashable) -> str:
        return self._structure.view.frame(node)

    def in_frame_T_frames(self, in_frame: str, frames: Sequence[str], question: PlaceQuestion) -> Placements:
        names, query = list(frames), Query(**question._asdict())
        if len(names) < _FEW_FRAMES or len(names) * _FRAMES_A_QUESTION < self._structure.frames_swept:
            matrices = _placed_one_by_one(self._store, in_frame, names, query)
        else:
            matrices = self._swept(in_frame, names, query)
        is_fixed = np.asarray(self._store.are_one_place(in_frame, names), dtype=bool)
        return Placements(matrices, is_fixed & ~np.isnan(matrices[:, 0, 0]))

    def _swept(self, in_frame: str, frames: list[str], query: Query) -> NDArray[np.float64]:
        snapshot = self._store.snapshot(in_frame, query)
        self._structure.frames_swept = len(snapshot) + len(snapshot.missing)
        return _matrices(map(snapshot.get, frames), len(frames))

    def in_parent_T_node(self, parent: Hashable, node: Hashable, at: int | Latest) -> NDArray[np.float64]:
        view = self._structure.view
        query = Query(at=at)
        matrices = _placed_one_by_one(self._store, view.frame(parent), [view.frame(node)], query)
        if np.isnan(matrices).any() and len(view.parents(node)) > 1:  # type: ignore[arg-type]
            matrices = _placed_one_by_one(self._store, view.hub_frame(node), [view.frame(node)], query)
        parent_T_node: NDArray[np.float64] = matrices[0]
        return parent_T_node


def _moved_nodes(store: Store, view: SceneView, frames_changed: int) -> set[Hashable] | None:
    """The nodes whose frames may have moved since so many frames had been published; None where that is forgotten."""
    names = store.frames_changed_since(frames_changed)
    if names is None:
        return None
    nodes = (store.node_of_frame(name) or id_of_frame(name) for name in names if name != store.root_frame)
    moved: set[Hashable] = {node for node in nodes if view.contains(node)}
    if store.root_frame in names:
        moved.add(ROOT_NODE)
    return moved | _placed_in(view, moved)


def _placed_in(view: SceneView, nodes: Iterable[Any]) -> set[Hashable]:
    """What is placed in the frames of these nodes: their children, and those of children without a frame."""
    found: set[Hashable] = set()
    pending = [child for node in nodes for child in view.children(node)]
    while pending:
        child = pending.pop()
        if child not in found:
            found.add(child)
            pending.extend(() if view.has_frame(child) else view.children(child))
    return found


def _changed_nodes(before: SceneView, after: SceneView) -> set[Hashable]:
    """The nodes that differ, and their parents; below a node that got a frame, or lost it, all differ."""
    ids, _ = after.difference(before)
    changed: set[Hashable] = set(ids)
    for node in ids:
        views = [view for view in (before, after) if view.contains(node)]
        changed.update(parent for view in views for parent in view.parents(node))
        if len({view.has_frame(node) for view in views}) > 1:
            changed.update(after.subtree(node))
    return changed


_FEW_FRAMES = 16
_FRAMES_A_QUESTION = 8
"""A sweep over all frames is cheaper than a question for each of some, where it looks at less than so many for each."""


def _placed_one_by_one(store: Store, in_frame: str, frames: Sequence[str], query: Query) -> NDArray[np.float64]:
    return _matrices((_transform_or_none(store, in_frame, frame, query) for frame in frames), len(frames))


def _matrices(transforms: Iterable[Transform | None], number: int) -> NDArray[np.float64]:
    """Where frames are, (N, 4, 4), NaN where that is not known."""
    matrices = np.full((number, 4, 4), np.nan)
    for i, transform in enumerate(transforms):
        if transform is not None:
            matrices[i] = transform.matrix
    return matrices


def _transform_or_none(store: Store, in_frame: str, frame: str, query: Query) -> Transform | None:
    try:
        return store.pose(of=frame, in_frame=in_frame, **query.keywords).transform
    except InvalidArgument:
        raise
    except ArmillaryError:
        return None
