"""Where a node is in one of its parents."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary._core import NodeId, Pose
    from armillary.scene.reading import SceneVersion

__all__ = ["latest_common", "step_pose", "step_poses"]

TRANSFORMS = ("transform", "uncertain_transform")


def step_pose(scene: SceneVersion, parent: NodeId, node: NodeId, at: int | Latest) -> Pose | None:
    """`parent_T_node` by this containment alone; None where the node adds nothing to where its parent is."""
    kind, view = scene.kind(node), scene.view
    if kind not in TRANSFORMS and kind != "frame":
        return None
    in_frame = view.base_frame(node) if kind in TRANSFORMS else view.frame(parent)
    pose: Pose = scene.world.pose(of=view.frame(node), in_frame=in_frame, at=at)
    return pose


def step_poses(scene: SceneVersion, path: Sequence[NodeId], at: int | Latest) -> list[Pose]:
    """The poses along a path, the root's first, all of one instant."""
    found = [step_pose(scene, *step, at) for step in pairwise(path)]
    poses = [pose for pose in found if pose is not None]
    common = latest_common(poses) if at is LATEST else None
    return poses if common is None else step_poses(scene, path, common)


def latest_common(poses: Sequence[Pose]) -> int | None:
    """The newest instant that all of them cover; None where all are fixed."""
    stamps = [pose.stamp for pose in poses if pose.stamp is not None]
    return min(stamps) if stamps else None
