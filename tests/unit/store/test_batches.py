"""Many poses in one call: all are stored, or none, and the row at fault is named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import BeforeHistory, InvalidArgument, InvalidStamp, InvalidTransform
from unit.kit import STILL, drive, moved, x_of

COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
ROBOT = {"of": "robot", "in_frame": "map"}


def stamps_of(world, **names):
    return world.samples(**(ROBOT | names)).stamps.tolist()


class TestABatch:
    ROWS = np.array([moved(t).xyz_wxyz for t in range(4)])
    AT = np.arange(4) * seconds(1)

    def test_is_stored_whole(self, world):
        world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT)
        assert x_of(world.pose(**ROBOT, at=seconds(2.5))) == 2.5

    def test_may_come_in_any_order(self, world):
        order = [2, 0, 3, 1]
        world.set_poses(**ROBOT, transforms=self.ROWS[order], at=self.AT[order])
        assert stamps_of(world) == self.AT.tolist()

    def test_may_be_lists(self, world):
        world.set_poses(**ROBOT, transforms=self.ROWS.tolist(), at=self.AT.tolist())
        assert len(stamps_of(world)) == 4

    def test_may_be_matrices(self, world):
        turned = [Transform.from_xyz_rpy(xyz=(t, 1, 2), rpy=(0.1, 0.2, t)) for t in range(4)]
        world.set_poses(**ROBOT, transforms=np.stack([pose.matrix for pose in turned]), at=self.AT)
        rows = world.samples(**ROBOT).transforms
        for row, pose in zip(rows, turned, strict=True):
            assert Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]).is_close(pose, m=1e-15, rad=1e-15)

    @pytest.mark.parametrize(
        ("place", "value", "text"),
        [
            ((3, 0), 1.0, "last row"),
            ((0, 0), -1.0, "reflection"),
            ((0, 3), math.inf, "infinite"),
            ((1, 1), 2.0, "unit"),
        ],
    )
    def test_of_matrices_names_the_one_that_is_no_pose(self, world, place, value, text):
        matrices = np.stack([np.eye(4)] * 3)
        matrices[(2, *place)] = value
        with pytest.raises(InvalidTransform, match=rf"transforms\[2\] is not a pose: .*{text}"):
            world.set_poses(**ROBOT, transforms=matrices, at=self.AT[:3])
        assert world.frames() == ()

    def test_may_be_empty(self, world):
        world.set_poses(**ROBOT, transforms=np.zeros((0, 7)), at=[])
        assert world.frames() == ()

    def test_does_not_keep_the_arrays_of_the_caller(self, world):
        rows = self.ROWS.copy()
        world.set_poses(**ROBOT, transforms=rows, at=self.AT)
        rows[:] = 0
        assert x_of(world.pose(**ROBOT, at=seconds(3))) == 3.0

    def test_takes_covariances_with_nan_where_unknown(self, world):
        covariances = np.stack([COVARIANCE, np.full((6, 6), math.nan), COVARIANCE, COVARIANCE])
        world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT, covariances=covariances)
        np.testing.assert_allclose(world.samples(**ROBOT).covariances, covariances)
        assert world.pose(**ROBOT, at=seconds(1)).covariance is None

    def bad_row(self, **parts):
        rows = self.ROWS.copy()
        for column, value in parts.items():
            rows[2, "xyzwijk".index(column)] = value
        return rows

    @pytest.mark.parametrize(
        "parts", [{"x": math.nan}, {"z": math.inf}, {"w": 0.0}, {"w": 1.1}, {"w": math.nan}, {"x": 1e308, "y": 1e308}]
    )
    def test_names_the_row_that_is_no_pose(self, world, parts):
        with pytest.raises(InvalidTransform, match=r"transforms\[2\]"):
            world.set_poses(**ROBOT, transforms=self.bad_row(**parts), at=self.AT)
        assert world.frames() == ()

    def test_names_the_covariance_that_is_none(self, world):
        covariances = np.stack([COVARIANCE] * 4)
        covariances[2, 0, 0] = -1
        with pytest.raises(InvalidArgument, match=r"covariances\[2\]"):
            world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT, covariances=covariances)
        assert world.frames() == ()

    @pytest.mark.parametrize("entry", [(0, 0), (3, 3), (0, 5)])
    def test_names_the_covariance_that_is_half_unknown(self, world, entry):
        covariances = np.stack([COVARIANCE] * 4)
        covariances[(2, *entry)] = math.nan
        with pytest.raises(InvalidArgument, match=r"covariances\[2\]"):
            world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT, covariances=covariances)

    def test_names_the_row_that_is_too_old(self):
        world = World(history=seconds(2))
        drive(world, 4)
        with pytest.raises(BeforeHistory, match=r"row 1 of the batch") as caught:
            world.set_poses(**ROBOT, transforms=self.ROWS, at=[seconds(5), seconds(1), seconds(0), seconds(6)])
        assert caught.value.row == 1
        assert stamps_of(world) == [seconds(4)]

    @pytest.mark.parametrize("stamp", [2**62, -(2**62), 2**63 - 1, -(2**63)])
    def test_names_the_row_that_is_no_stamp(self, world, stamp):
        with pytest.raises(InvalidStamp, match=r"\b2\b"):
            world.set_poses(**ROBOT, transforms=self.ROWS, at=np.array([0, 1, stamp, 3]))
        assert world.frames() == ()

    def test_does_not_wrap_unsigned_stamps(self, world):
        with pytest.raises(InvalidStamp):
            world.set_poses(**ROBOT, transforms=self.ROWS, at=np.array([0, 1, 2**64 - 5, 3], dtype=np.uint64))
        assert world.frames() == ()

    @pytest.mark.parametrize(
        ("options", "kind", "sentence"),
        [
            ({"transforms": np.zeros((4, 6))}, InvalidArgument, r"transforms must have shape \(N, 7\), got \(4, 6\)"),
            ({"transforms": np.zeros(7)}, InvalidArgument, r"transforms must have shape \(N, 7\)"),
            ({"transforms": "rows"}, InvalidArgument, "transforms must be numbers"),
            ({"transforms": STILL}, InvalidArgument, r"transforms must have shape \(N, 7\), got \(4, 4\)"),
            ({"at": [0, 1, 2]}, InvalidArgument, "transforms has 4 rows and at has 3 stamps"),
            ({"at": [0.0, 1.0, 2.0, 3.0]}, InvalidStamp, r"got dtype float64. Convert seconds with"),
            ({"at": [[0, 1, 2, 3]]}, InvalidArgument, r"at must have shape \(N,\)"),
            ({"at": [True] * 4}, InvalidStamp, "got dtype bool"),
            ({"at": 5}, InvalidArgument, r"at must have shape \(N,\)"),
            ({"covariances": np.zeros((3, 6, 6))}, InvalidArgument, r"covariances must have shape \(4, 6, 6\)"),
        ],
    )
    def test_of_the_wrong_shape_is_refused(self, world, options, kind, sentence):
        with pytest.raises(kind, match=sentence):
            world.set_poses(**ROBOT, **({"transforms": self.ROWS, "at": self.AT} | options))
        assert world.frames() == ()
