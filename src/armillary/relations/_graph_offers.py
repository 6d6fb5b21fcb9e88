"""What a graph could take in instead of a relation it has to refuse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from armillary.relations import rules
from armillary.relations._graph_insertion import at_head, missing_poses
from armillary.relations._graph_queries import loosened
from armillary.relations._graph_store import GraphStore
from armillary.relations._graph_views import basic_pose, turned_round
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist
from armillary.relations.structure import TwistEdge

ZeroTwists = Callable[[Pose], Collection[TwistEdge]]


def offered_pose(store: GraphStore, pose: Pose, twists_with: ZeroTwists) -> Pose | None:
    """The inverse, or either of both moved to another frame of the same body: the first that no rule refuses."""
    for candidate in _poses_instead(store, pose):
        edge = (candidate.of, candidate.in_frame)
        if rules.new_pose(store.structure, *edge, twists_with(candidate)) is None:
            return candidate
    return None


def _poses_instead(store: GraphStore, pose: Pose) -> Iterator[Pose]:
    for way in (pose, turned_round(pose)):
        if way is not pose:
            yield way
        root = store.structure.root_of(way.of)
        if root != way.of and store.body_of(root) == way.body:
            yield way @ basic_pose(store, root, way.of)


def offered_twist(store: GraphStore, twist: Twist, head: str) -> Twist | None:
    """The twist of another frame of its body, or the inverse at a frame of the other body."""
    if missing_poses(store, twist, head) is not None:
        return None
    free = loosened(twist)
    for way in (free, free.inverse()):
        for frame in store.structure.frames_of(way.body):
            if _takes(store, way, frame, head):
                return at_head(store, way, frame)
    return None


def _takes(store: GraphStore, twist: Twist, frame: str, head: str) -> bool:
    is_near = store.structure.in_one_tree(frame, head)
    return is_near and rules.new_twist(store.structure, frame, twist.reference_body) is None
