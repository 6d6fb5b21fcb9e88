"""Attaching what several sources place: a policy says where it is."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import AmbiguousPath
from armillary.fusion.policies import by_source

CLOSE_M = 1e-9
CLOSE_RAD = 1e-9


def shift(x):
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


def seen(covariance=None):
    """Two cameras that are equally sure, and a gripper that drives along x."""
    world = World("robot", clock=lambda: seconds(9))
    for t in range(6):
        world.set_pose(
            of="gripper", in_frame="map", transform=shift(0.1 * t), at=seconds(t), covariance=np.zeros((6, 6))
        )
        for source, x in (("left", 1.0), ("right", 1.2)):
            world.set_pose(
                of="cup", in_frame="map", transform=shift(x), at=seconds(t), source=source, covariance=covariance
            )
    return world


@pytest.fixture
def world():
    return seen(covariance=1e-4 * np.eye(6))


class TestAttachingWhatTwoSourcesPlace:
    def test_needs_a_policy(self, world):
        with pytest.raises(AmbiguousPath):
            world.attach(of="cup", to="gripper", at=seconds(2), source="hand")

    def test_keeps_it_where_the_policy_finds_it(self, world):
        world.attach(of="cup", to="gripper", at=seconds(2), source="hand", policy="fuse")
        for t, x in ((2.0, 1.1), (4.5, 1.35)):
            held = world.pose(of="cup", in_frame="map", at=seconds(t), policy=by_source("hand"))
            assert held.transform.is_close(shift(x), m=CLOSE_M, rad=CLOSE_RAD)

    def test_is_as_sure_as_the_policy_was(self, world):
        fused = world.pose(of="cup", in_frame="gripper", at=seconds(2), policy="fuse")
        world.attach(of="cup", to="gripper", at=seconds(2), source="hand", policy="fuse")
        held = world.pose(of="cup", in_frame="gripper", at=seconds(3), policy=by_source("hand"))
        np.testing.assert_allclose(held.covariance, fused.covariance, atol=1e-15)

    def test_without_an_instant_begins_now_where_it_was_seen_last(self, world):
        world.attach(of="cup", to="gripper", source="hand", policy=by_source("left"))
        assert not world.can_pose(of="cup", in_frame="gripper", at=seconds(5), policy=by_source("hand"))
        held = world.pose(of="cup", in_frame="gripper", at=seconds(9), policy=by_source("hand"))
        assert held.transform.is_close(shift(0.5), m=CLOSE_M, rad=CLOSE_RAD)

    def test_has_the_world_as_source_unless_another_is_given(self, world):
        world.attach(of="cup", to="gripper", at=seconds(2), policy="fuse")
        assert {info.source for info in world.relations() if info.of == "cup"} == {"left", "right", "robot"}

    def test_is_undone_by_detach_with_a_policy(self, world):
        world.attach(of="cup", to="gripper", at=seconds(2), source="hand", policy="fuse")
        world.detach(of="cup", to="map", at=seconds(4), source="hand", policy=by_source("hand"))
        assert {one.source for one in world.relations() if one.of == "cup"} == {"left", "right", "hand"}
        after_the_cameras = world.pose(of="cup", in_frame="map", at=seconds(99))
        assert after_the_cameras.transform.is_close(shift(1.3), m=CLOSE_M, rad=CLOSE_RAD)

    def test_is_as_unsure_as_what_nobody_knows_how_well(self):
        world = seen()
        world.attach(of="cup", to="gripper", at=seconds(2), source="hand", policy=by_source("left"))
        held = world.pose(of="cup", in_frame="map", at=seconds(4))
        assert held.transform.is_close(shift(1.2), m=CLOSE_M, rad=CLOSE_RAD)
        assert held.covariance is None
