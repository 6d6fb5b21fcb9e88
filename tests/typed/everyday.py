"""A program as users write it, for type checkers in strict mode: see tests/test_typing.py. It is never run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from armillary import LATEST, Rotation, Transform, World, seconds
from armillary.fusion.filter import FilteredPose
from armillary.fusion.policies import PolicyPose
from armillary.relations import Pose

world = World(history=None)
still = Transform.from_translation((1, 2, 3))

# Instants come in every common form.
for at in (seconds(1.5), np.int64(5), np.uint32(7), np.datetime64("2026-11-16T11:14:15"), datetime.now(UTC)):
    world.set_pose(of="cup", in_frame="map", transform=still, at=at)
    world.pose(of="cup", in_frame="map", at=at)
    world.can_pose(of="cup", in_frame="map", at=at)
    world.tree(at)

# The answer is of the type that the policy gives.
assert_type(world.pose(of="cup", in_frame="map"), Pose)
assert_type(world.pose(of="cup", in_frame="map", at=LATEST, outside="hold", policy="unique"), Pose)
fused = world.pose(of="cup", in_frame="map", policy="fuse")
assert_type(fused, PolicyPose)
assert_type(world.pose(of="cup", in_frame="map", policy="filter"), FilteredPose)
assert_type(fused.disagreement, float | None)
assert_type(world.wait_for_pose(of="cup", in_frame="map", timeout_s=1), Pose)
assert_type(world.wait_for_pose(of="cup", in_frame="map", at=seconds(1), policy="latest"), PolicyPose)
assert_type(world.wait_for_pose(of="cup", in_frame="map", policy="filter"), FilteredPose)


async def wait() -> None:
    assert_type(await world.pose_when_ready(of="cup", in_frame="map", outside="hold"), Pose)
    assert_type(await world.pose_when_ready(of="cup", in_frame="map", policy="fuse"), PolicyPose)


def seen(pose: PolicyPose) -> None:
    print(pose.disagreements)


world.on_pose(seen, of="cup", in_frame="map", policy="fuse", on_failure=print)
world.on_pose(print, of="cup", in_frame="map")
print(len(fused.paths_used), fused.transform.matrix)

# Values keep their types through products.
points: NDArray[np.float64] = np.zeros((5, 3))
assert_type(still @ still, Transform)
assert_type(still @ points, NDArray[np.float64])
assert_type(still.rotation @ still.rotation, Rotation)
assert_type(still.rotation @ points, NDArray[np.float64])
