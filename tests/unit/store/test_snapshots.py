"""All frames seen from one: as precise as one frame asked by itself."""

import pickle

import numpy as np
import pytest

from armillary import Transform, World, seconds

FAR_M = 1e8
TURNED = Transform.from_xyz_rpy(xyz=(0.3, -0.2, 0.1), rpy=(0.4, -0.7, 1.9))
CLOSE_M = 1e-13


@pytest.fixture
def world():
    """Two branches of a tree whose root is as far away as a satellite."""
    world = World()
    far = Transform.from_xyz_rpy(xyz=(FAR_M, -FAR_M, FAR_M / 3), rpy=(0.3, 0.2, 0.1))
    for k in range(2):
        world.set_pose(of="odom", in_frame="earth", transform=far, at=seconds(k))
        for of, in_frame in (("base", "odom"), ("arm", "base"), ("tool", "arm"), ("eye", "base"), ("chip", "eye")):
            world.set_pose(of=of, in_frame=in_frame, transform=TURNED, at=seconds(k))
    return world


class TestASnapshotFarFromTheRoot:
    @pytest.mark.parametrize("in_frame", ["tool", "chip", "base", "odom"])
    def test_is_as_precise_as_a_pose(self, world, in_frame):
        seen = world.snapshot(in_frame=in_frame, at=seconds(0.5))
        for frame in ("odom", "base", "arm", "tool", "eye", "chip"):
            alone = world.pose(of=frame, in_frame=in_frame, at=seconds(0.5)).transform
            np.testing.assert_allclose(seen[frame].matrix, alone.matrix, atol=CLOSE_M)

    def test_sees_the_root_too(self, world):
        seen = world.snapshot(in_frame="tool", at=seconds(0.5))
        alone = world.pose(of="earth", in_frame="tool", at=seconds(0.5)).transform
        np.testing.assert_allclose(seen["earth"].matrix, alone.matrix, rtol=1e-14, atol=1e-7)


class TestASnapshotInAPickle:
    @pytest.mark.parametrize("policy", ["unique", "latest"])
    def test_says_what_it_said(self, world, policy):
        world.set_pose(of="door", in_frame="odom", transform=TURNED, at=0)
        world.set_pose(of="boat", in_frame="sea", transform=TURNED, at=0)
        seen = world.snapshot(in_frame="base", at=seconds(0.5), outside="hold", policy=policy)
        again = pickle.loads(pickle.dumps(seen))
        assert dict(again) == dict(seen)
        assert (again.in_frame, again.stamps, again.held) == (seen.in_frame, seen.stamps, seen.held)
        assert again.held == {"door"}
        assert (again.held_samples, again.predicted) == (seen.held_samples, seen.predicted)
        assert {name: type(error) for name, error in again.missing.items()} == {
            name: type(error) for name, error in seen.missing.items()
        }
        np.testing.assert_array_equal(again.xyz_wxyz(["arm", "sea"]), seen.xyz_wxyz(["arm", "sea"]))
        assert repr(again) == repr(seen) == repr(pickle.loads(pickle.dumps(again)))
