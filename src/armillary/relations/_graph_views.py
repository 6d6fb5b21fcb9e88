"""The frames of a tree as they are seen from one of them."""

from __future__ import annotations

from armillary.relations._graph_store import GraphStore
from armillary.relations._pose import Pose


def basic_pose(store: GraphStore, of: str, in_frame: str) -> Pose:
    """`in_frame_T_of` along the path through the youngest common ancestor."""
    store.require_path(of, in_frame)
    to_of, to_in_frame = store.structure.pose_ways(of, in_frame)
    if not to_in_frame:
        return _down(store, to_of) if to_of else store.identity(of)
    back = turned_round(_down(store, to_in_frame))
    return back @ _down(store, to_of) if to_of else back


def _down(store: GraphStore, way: list[str]) -> Pose:
    """From the ancestor above the last name of the way down to its first."""
    poses = store.poses
    pose = poses[way[0]]
    for head in way[1:]:
        pose = poses[head] @ pose
    return pose


def turned_round(pose: Pose) -> Pose:
    """The inverse, along the axes of its own reference; coordinates with a free position keep the old axes."""
    back = pose.inverse()
    return back if back.expressed_in == back.in_frame else back.change_coordinate_frame(back.orientation)


class SeenFrom:
    """Poses of several frames in one frame; what their paths share is computed once.

    All frames asked for are in the tree of that frame.
    """

    __slots__ = ("_seen", "_store", "_top", "frame")

    def __init__(self, store: GraphStore, frame: str) -> None:
        self._store, self._top, self.frame = store, frame, frame
        self._seen: dict[str, Pose | None] = {frame: None}  # None: the frame itself, nothing to compose with

    def pose(self, of: str) -> Pose:
        """The pose of a frame in the one it is seen from."""
        way, here = self._way_to_seen(of)
        pose = self._seen[here]
        for head in reversed(way):
            pose = self._seen[head] = _composed(pose, self._store.poses[head])
        return self._store.identity(of) if pose is None else pose

    def _way_to_seen(self, of: str) -> tuple[list[str], str]:
        """The frames from `of` upwards that were not seen yet, and the first one above them that was."""
        way, here = dict[str, None](), of
        while here not in self._seen:
            way[here] = None
            if (met := self._climb()) in way:
                names = list(way)
                return names[: names.index(met)], met
            here = self._store.structure.pose_parent(here) or here
        return list(way), here

    def _climb(self) -> str:
        """One frame further up from where it is seen from, so that both ends of a path meet half way."""
        parent = self._store.structure.pose_parent(self._top)
        if parent is not None:
            back = turned_round(self._store.poses[self._top])
            self._seen[parent] = _composed(self._seen[self._top], back)
            self._top = parent
        return self._top


def _composed(upper: Pose | None, lower: Pose) -> Pose:
    return lower if upper is None else upper @ lower
