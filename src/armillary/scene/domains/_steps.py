"""Where a node is in one of its parents."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import NodeId, Pose
    from armillary.scene._reading import SceneVersion

__all__ = ["TRANSFORMS", "latest_common", "step_pose", "step_poses"]

TRANSFORMS = frozenset({"transform", "uncertain_transform"})


def step_pose(scene: SceneVersion, parent: NodeId, node: NodeId, at: int | Latest) -> Pose | None:
    """`parent_T_node` by this containment alone; None where the node adds nothing to where its parent is."""
    kind, view = scene.kind(node), scene.view
    if kind in TRANSFORMS:
        pose: Pose = scene.world.pose(of=view.frame(node), in_frame=view.base_frame(node), at=at)
        return pose
    if kind == "frame":
        pose = scene.world.pose(of=view.frame(node), in_frame=view.frame(parent), at=at)
        return pose
    return None


def step_poses(scene: SceneVersion, path: Sequence[NodeId], at: int | Latest) -> list[Pose]:
    """The poses along a path, the root's first, all of one instant."""
    steps = [pair for pair in pairwise(path) if scene.kind(pair[1]) in TRANSFORMS | {"frame"}]
    poses = [step_pose(scene, *step, at) for step in steps]
    common = latest_common(poses) if at is LATEST else None
    if common is not None:
        poses = [step_pose(scene, *step, common) for step in steps]
    return [pose for pose in poses if pose is not None]


def latest_common(poses: Sequence[Pose | None]) -> int | None:
    """The newest instant that all of them cover; None where all are fixed."""
    stamps = [pose.stamp for pose in poses if pose is not None and pose.stamp is not None]
    return min(stamps) if stamps else None
