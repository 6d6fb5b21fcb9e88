"""Where a frame went, as a table that other programs read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument
from unit.kit import moved


@pytest.fixture
def world():
    with World() as world:
        for i in range(4):
            turned = Transform.from_xyz_rpy(xyz=(i, 0, 0), rpy=(0, 0, 0.1 * i))
            world.set_pose(of="base", in_frame="odom", transform=turned, at=seconds(1_700_000_000) + i)
        for i in (1, 3):
            world.set_pose(of="odom", in_frame="map", transform=moved(10), at=seconds(1_700_000_000) + i)
        world.fix(of="camera", in_frame="base", transform=moved(1))
        yield world


class TestATrajectory:
    def test_has_every_instant_at_which_all_of_the_path_is_known(self, world, tmp_path):
        assert world.save_trajectory(tmp_path / "run.csv", of="camera", in_frame="map") == 3
        table = pd.read_csv(tmp_path / "run.csv", dtype={"timestamp": str})
        assert list(table.timestamp) == [f"1700000000.00000000{i}" for i in (1, 2, 3)]
        last = world.pose(of="camera", in_frame="map", at=seconds(1_700_000_000) + 3).transform
        assert table[["tx", "ty", "tz"]].iloc[-1].tolist() == last.translation.tolist()
        assert table[["qx", "qy", "qz", "qw"]].iloc[-1].tolist() == last.rotation.xyzw.tolist()

    def test_has_the_instants_that_are_asked_for(self, world, tmp_path):
        asked = [seconds(1_700_000_000) + i for i in (2, 1)]
        assert world.save_trajectory(tmp_path / "run.tum", of="base", in_frame="odom", at=asked) == 2
        table = np.loadtxt(tmp_path / "run.tum")
        assert table.shape == (2, 8)
        assert table[:, 1].tolist() == [2.0, 1.0]

    def test_refuses_what_it_cannot_write(self, world, tmp_path):
        with pytest.raises(InvalidArgument, match=r"\.tum"):
            world.save_trajectory(tmp_path / "run.xls", of="base", in_frame="odom")
        with pytest.raises(InvalidArgument, match="at="):
            world.save_trajectory(tmp_path / "run.tum", of="camera", in_frame="base")
