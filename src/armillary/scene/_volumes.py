"""Spheres around the nodes of a scene, and what they make short: overlaps and rays."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import NodeId
from armillary.scene._context import node_of_frame
from armillary.scene.geometry import Placements, PlaceQuestion
from armillary.scene.hierarchy import Hierarchy
from armillary.scene.reading import SceneReader
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import SceneView
    from armillary.fusion.policies import AnyPolicy
    from armillary.scene._found import Overlaps, RayHits
    from armillary.shapes import Shape
    from armillary.shapes.volumes import BoundingSphere

__all__ = ["SceneVolumes"]


class SceneVolumes(SceneReader):
    """The part of a scene that asks where its shapes are."""

    _world: Any

    def __init__(self) -> None:
        self._hierarchy = Hierarchy()
        self._seen = _Seen(self._view(), -1)

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
    ) -> Overlaps:
        """The nodes whose shapes have a point in common with this one, which is in `in_frame`.

        Whole branches are passed over by the spheres around them; `.visited` counts the nodes that were looked at,
        `.missing` names those whose frames have no pose at this instant: none at all, or several and `policy` does not
        choose. They are the things that are there now, where they were at that instant; `scene.as_of(stamp)` has those
        that were there then, and searches them in the same way. `outside` and `policy` are those of `world.pose`, asked
        for what moves or is in several places; what is fixed to that is carried along.
        """
        here, below = self._frame_named(in_frame), self._top(under)
        asked = self._asked(here, at, outside, policy)
        return self._hierarchy.overlapping(self._geometry(), shape, in_frame=here, under=below, **asked)

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
    ) -> RayHits:
        """The nodes that a ray meets, the nearest first; `outside` and `policy` as for `overlapping`."""
        here, below = self._frame_named(in_frame), self._top(under)
        asked = self._asked(here, at, outside, policy)
        return self._hierarchy.raycast(
            self._geometry(), origin=origin, direction=direction, in_frame=here, max_m=max_m, under=below, **asked
        )

    def _asked(self, here: str, at: int | Latest, outside: str, policy: AnyPolicy) -> dict[str, Any]:
        """How it is asked where things are: refused here, where it is said, whether or not anything moves."""
        instant = self._instant(at)
        self._world._check_policy(policy)  # noqa: SLF001  (one world, two modules)
        self._world._check_question(  # noqa: SLF001
            of=here,
            in_frame=here,
            at=instant,
            of_at=None,
            fixed_frame=None,
            outside=outside,
            policy=policy,
            interpolation=None,
        )
        return {"at": instant, "outside": outside, "policy": policy}

    def _instant(self, at: int | Latest) -> int | Latest:
        """Refused here: a frame without a pose is left out of a search, whatever the reason."""
        stamp: int | Latest = at if at is LATEST else self._world._as_stamp(at, "at")  # noqa: SLF001
        return stamp

    def _frame_named(self, in_frame: str) -> str:
        """A frame that is there, as it is stored."""
        return node_of_frame(self._world, in_frame)[1]

    def _geometry(self) -> _Geometry:
        world = self._world
        view, outside = self._view(), world._structure_number() + world._fixed_changes()  # noqa: SLF001
        if (view.number, outside) != (self._seen.view.number, self._seen.outside):
            self._seen = _Seen(view, outside)
        return _Geometry(self._world, self._seen)


class _Seen:
    """One version of the structure: the scene's, and how often frames were changed beside it, or by samples."""

    def __init__(self, view: SceneView, outside: int) -> None:
        self.view, self.outside = view, outside


class _Geometry:
    """A scene as searches see it. Implements `armillary.scene.geometry.SceneGeometry`."""

    def __init__(self, world: Any, seen: _Seen) -> None:
        self._world, self._seen = world, seen

    @property
    def version(self) -> object:
        return self._seen

    def changed_since(self, version: object) -> Collection[Hashable] | None:
        if not isinstance(version, _Seen) or version.outside != self._seen.outside:
            return None
        return _touched(version.view, self._seen.view)

    def children(self, node: Hashable) -> Sequence[Hashable]:
        return self._seen.view.children(node)  # type: ignore[arg-type]

    def parents(self, node: Hashable) -> Sequence[Hashable]:
        return self._seen.view.parents(node) if self._seen.view.contains(node) else []  # type: ignore[arg-type]

    def shape(self, node: Hashable) -> Shape | None:
        levels = self._seen.view.payload(node) if self._seen.view.kind(node) == "geometry" else None  # type: ignore[arg-type]
        return None if levels is None else levels[0]

    def frame(self, node: Hashable) -> str:
        return self._seen.view.frame(node)

    def in_frame_T_frames(self, in_frame: str, frames: Sequence[str], question: PlaceQuestion) -> Placements:
        matrices, is_fixed = self._world._placements(in_frame, list(frames), question)  # noqa: SLF001
        return Placements(matrices, np.asarray(is_fixed, dtype=bool) & ~np.isnan(matrices[:, 0, 0]))

    def in_parent_T_node(self, parent: Hashable, node: Hashable, at: int | Latest) -> NDArray[np.float64]:
        view = self._seen.view
        matrices, _ = self._world._placements(view.frame(parent), [view.frame(node)], PlaceQuestion(at))  # noqa: SLF001
        if np.isnan(matrices).any() and len(view.parents(node)) > 1:  # type: ignore[arg-type]
            matrices, _ = self._world._placements(view.hub_frame(node), [view.frame(node)], PlaceQuestion(at))  # noqa: SLF001
        place: NDArray[np.float64] = matrices[0]
        return place


def _touched(before: SceneView, after: SceneView) -> Collection[Hashable] | None:
    """Nodes that differ, and their parents; None where a node got a frame, so that others below are in another one."""
    ids, _ = after.difference(before)
    touched: set[Hashable] = set(ids)
    for node in ids:
        views = [view for view in (before, after) if view.contains(node)]
        if len({view.has_frame(node) for view in views}) > 1:
            return None
        touched.update(parent for view in views for parent in view.parents(node))
    return touched
