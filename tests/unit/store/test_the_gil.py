"""Whoever computes much, or waits, lets other threads of Python run meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import WaitTimeout
from unit.kit import PROMPT_S, lets_others_run, moved

ROWS, FRAMES = 20_000, 2_000
TIP = {"of": "tip", "in_frame": "map"}


@pytest.fixture(scope="module")
def world():
    """Two links that move, and many frames that stand."""
    with World(history=None) as made:
        for of, in_frame in (("base", "map"), ("tip", "base")):
            for t in (0.0, 1.0, 2.0):
                made.set_pose(of=of, in_frame=in_frame, transform=moved(t), at=seconds(t), covariance=np.eye(6))
        for number in range(FRAMES):
            made.fix(of=f"frame_{number}", in_frame="tip", transform=moved(number))
        yield made


@pytest.fixture(scope="module")
def at():
    return np.linspace(0, seconds(2), ROWS).astype(np.int64)


def time_out(wait, **asked):
    with pytest.raises(WaitTimeout):
        wait(**asked, timeout_s=PROMPT_S)


class TestOtherThreads:
    def test_do_not_run_where_nobody_lets_them(self):
        """The control: what never gives the GIL away is found out."""
        assert not lets_others_run(lambda: sum(range(300_000)), tries=20)

    @pytest.mark.parametrize("policy", ["unique", "latest", "fuse"])
    def test_run_during_transforms(self, world, at, policy):
        assert lets_others_run(lambda: world.transforms(**TIP, at=at, policy=policy))

    def test_run_during_map_points(self, world, at):
        points = np.zeros((ROWS, 3))
        assert lets_others_run(lambda: world.map_points(points, from_frame="tip", to_frame="map", at=at))

    def test_run_during_map_points_at_one_instant(self, world):
        points = np.zeros((10 * ROWS, 3))
        assert lets_others_run(lambda: world.map_points(points, from_frame="tip", to_frame="map", at=seconds(1)))

    @pytest.mark.parametrize("when", [seconds(1), LATEST])
    def test_run_during_a_snapshot(self, world, when):
        assert lets_others_run(lambda: world.snapshot(in_frame="map", at=when))

    @pytest.mark.parametrize("window", [None, seconds(0.01)])
    def test_run_during_twists(self, world, at, window):
        asked = {"of": "tip", "relative_to": "map"}
        assert lets_others_run(lambda: world.twists(**asked, at=at, window=window))

    def test_run_during_set_poses(self, world, at):
        rows = np.tile(Transform.identity().xyz_wxyz, (ROWS, 1))
        assert lets_others_run(lambda: world.set_poses(of="wheel", in_frame="base", transforms=rows, at=at))

    def test_run_while_a_pose_is_waited_for(self, world):
        assert lets_others_run(lambda: time_out(world.wait_for_pose, **TIP, at=seconds(9)), tries=5)

    def test_run_while_a_twist_is_waited_for(self, world):
        asked = {"of": "tip", "relative_to": "map", "at": seconds(9)}
        assert lets_others_run(lambda: time_out(world.wait_for_twist, **asked), tries=5)
