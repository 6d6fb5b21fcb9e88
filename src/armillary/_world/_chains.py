"""Frames that joints and fixed poses alone join, as expressions of the joints of the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions import PoseExpression
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary._world._mount import MountedLink
    from armillary._world._mounting import MountingWorld

__all__ = ["poses_in_common"]


def poses_in_common(world: MountingWorld, frames: tuple[str, str], at: int) -> tuple[PoseExpression, PoseExpression]:
    """Where two frames are, in the nearest frame above both.

    Raises:
        InvalidArgument: Something else than joints of mounted models and fixed poses is between them.
    """
    links = {frame: link for mount in world.mounts for frame, link in mount.links.items()}
    parents = world._parents(at)  # noqa: SLF001  (one world, two modules)
    first, second = (_chain(world, frame, at, links, parents) for frame in frames)
    common = next((frame for frame in first if frame in second), None)
    if common is None:
        raise InvalidArgument(
            f"'{frames[0]}' and '{frames[1]}' are not joined by joints of mounted models and fixed poses alone: the "
            f"ways up from them end at '{list(first)[-1]}' and '{list(second)[-1]}'. Fix what carries the two models.",
            frames,
        )
    return first[common], second[common]


def _chain(
    world: MountingWorld, frame: str, at: int, links: dict[str, MountedLink], parents: dict[str, Any]
) -> dict[str, PoseExpression]:
    """By each frame above it, the lowest first, where the frame is."""
    pose = PoseExpression.identity()
    found = {frame: pose}
    while (step := _step_up(world, frame, at, links, parents)) is not None and step[0] not in found:
        frame, pose = step[0], step[1] @ pose
        found[frame] = pose
    return found


def _step_up(
    world: MountingWorld, frame: str, at: int, links: dict[str, MountedLink], parents: dict[str, Any]
) -> tuple[str, PoseExpression] | None:
    link = links.get(frame)
    if link is not None and link.parent is not None:
        return link.parent, link.parent_T_link
    above = parents.get(frame)
    if above is None:
        return None
    pose = world.pose(of=frame, in_frame=above[0], at=at)
    return (above[0], PoseExpression.from_transform(pose.transform)) if pose.stamp is None else None
