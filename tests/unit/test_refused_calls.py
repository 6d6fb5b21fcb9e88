"""A call that fails changes nothing: everything about the world is compared before and after."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from unit.kit import STILL, FakeClock, drive, error_of, everything_about, moved

ROWS = np.array([moved(t).xyz_wxyz for t in range(3)])
NEW = {"of": "new", "in_frame": "map"}
ROBOT = {"of": "robot", "in_frame": "map"}
HUGE = Transform.from_xyz_rpy(xyz=(1e308, 0, 0), rpy=(0, 0, 0))

REFUSED = {
    "a name": lambda w: w.set_pose(of="new", in_frame="/map", transform=STILL, at=0),
    "the other name": lambda w: w.set_pose(of="", in_frame="new", transform=STILL, at=0),
    "a frame in itself": lambda w: w.set_pose(of="new", in_frame="new", transform=STILL, at=0),
    "a float stamp": lambda w: w.set_pose(**NEW, transform=STILL, at=1.5),
    "a huge stamp": lambda w: w.set_pose(**NEW, transform=STILL, at=2**63),
    "a stamp of the future": lambda w: w.set_pose(**NEW, transform=STILL, at=seconds(99)),
    "a rotation matrix for a transform": lambda w: w.set_pose(**NEW, transform=np.eye(3), at=0),
    "a covariance": lambda w: w.set_pose(**NEW, transform=STILL, at=0, covariance=-np.eye(6)),
    "a covariance of a known edge": lambda w: w.set_pose(**ROBOT, transform=STILL, at=0, covariance=np.eye(5)),
    "a source": lambda w: w.set_pose(**NEW, transform=STILL, at=0, source=5),
    "a source of a known edge": lambda w: w.set_pose(**ROBOT, transform=STILL, at=seconds(2), source=5),
    "an old sample": lambda w: w.set_pose(**ROBOT, transform=STILL, at=seconds(-5)),
    "a loop": lambda w: w.set_pose(of="map", in_frame="robot", transform=STILL, at=seconds(2)),
    "a loop through a new source": lambda w: w.fix(of="map", in_frame="camera", transform=STILL, source="new"),
    "a loop in a batch": lambda w: w.set_poses(
        of="map", in_frame="robot", transforms=ROWS, at=np.arange(3) + seconds(1)
    ),
    "a batch with a bad row": lambda w: w.set_poses(**NEW, transforms=np.vstack([ROWS, np.zeros(7)]), at=range(4)),
    "a batch with an old row": lambda w: w.set_poses(
        **ROBOT, transforms=ROWS, at=[seconds(4), seconds(-9), seconds(5)]
    ),
    "a batch with a future row": lambda w: w.set_poses(
        **ROBOT, transforms=ROWS, at=[seconds(4), seconds(99), seconds(5)]
    ),
    "a batch with a huge stamp": lambda w: w.set_poses(**ROBOT, transforms=ROWS, at=np.array([1, -(2**63), 3])),
    "a batch of floats": lambda w: w.set_poses(**NEW, transforms=ROWS, at=[0.0, 1.0, 2.0]),
    "a batch too short": lambda w: w.set_poses(**NEW, transforms=ROWS, at=[0, 1]),
    "a batch with a covariance": lambda w: w.set_poses(
        **NEW, transforms=ROWS, at=range(3), covariances=-np.ones((3, 6, 6))
    ),
    "a fixing with a float": lambda w: w.fix(**NEW, transform=STILL, at=0.5),
    "a fixing with a covariance": lambda w: w.fix(**NEW, transform=STILL, covariance=np.full((6, 6), math.nan)),
    "a fixing that overflowed": lambda w: w.fix(**NEW, transform=HUGE @ HUGE),
    "a fixing that closes a loop": lambda w: w.fix(of="map", in_frame="camera", transform=STILL),
    "an attachment to itself": lambda w: w.attach(of="cup", to="cup", at=seconds(2)),
    "an attachment of nothing": lambda w: w.attach(of="pot", to="cup", at=seconds(2)),
    "an attachment too early": lambda w: w.attach(of="cup", to="robot", at=seconds(-3)),
    "an attachment that closes a loop": lambda w: w.attach(of="robot", to="camera", at=seconds(2)),
    "an attachment in two trees": lambda w: w.attach(of="moon", to="camera", at=seconds(2)),
    "a preference for nobody": lambda w: w.prefer(of="robot", source="nobody"),
    "a preference about nothing": lambda w: w.prefer(of="pot", source=None),
    "a memory of nothing": lambda w: w.keep(of="pot", in_frame="map", history=seconds(1)),
    "a memory of no length": lambda w: w.keep(**ROBOT, history=0),
    "a memory half thinned": lambda w: w.keep(**ROBOT, history=seconds(0.5), thin_m=0.1),
    "a removal in use": lambda w: w.remove_frame("robot"),
    "a removal of nothing": lambda w: w.remove_frame("pot", subtree=True),
    "a declaration": lambda w: w.add_frame("new", "newer", 5),
    "a new time": lambda w: w.reset_time(to="tomorrow"),
    "a question": lambda w: w.pose(of="pot", in_frame="map"),
    "a question in time": lambda w: w.transforms(**ROBOT, at=[seconds(1), seconds(99)]),
    "a cloud": lambda w: w.map_points(np.zeros((2, 3)), from_frame="robot", to_frame="map", at=[seconds(1)]),
    "a wait": lambda w: w.wait_for_pose(of="pot", in_frame="map", timeout_s=0),
    "a callback": lambda w: w.on_pose(print, of="pot", in_frame="map", at=1.5),
    "a queue": lambda w: w.stamped_queue(print, in_frames=[]),
}


@pytest.fixture
def kitchen():
    """Samples, a fixing, a covariance, rivals, a preference, a short memory and a frame by itself."""
    with World(clock=FakeClock(seconds(5)), max_ahead_s=10.0, history=seconds(4)) as world:
        drive(world, 1, 2, 3, covariance=0.1 * np.eye(6))
        world.fix(of="camera", in_frame="robot", transform=moved(0, 1))
        world.fix(of="cup", in_frame="table", transform=STILL, source="left")
        world.fix(of="cup", in_frame="map", transform=STILL, source="right", at=seconds(1))
        world.prefer(of="cup", source="right")
        world.fix(of="table", in_frame="map", transform=moved(2))
        world.keep(**ROBOT, history=seconds(3))
        world.add_frame("moon")
        yield world


class TestARefusedCall:
    @pytest.mark.parametrize("reason", REFUSED)
    def test_leaves_the_world_as_it_was(self, kitchen, reason):
        before = everything_about(kitchen)
        error = error_of(REFUSED[reason], kitchen)
        assert isinstance(error, ArmillaryError), error
        assert everything_about(kitchen) == before
        assert kitchen.store.waits_pending() == 0

    def test_does_not_make_the_next_one_fail(self, kitchen):
        for call in REFUSED.values():
            error_of(call, kitchen)
        drive(kitchen, 4)
        assert kitchen.pose(**ROBOT).stamp == seconds(4)
        kitchen.fix(**NEW, transform=STILL)
        assert kitchen.can_pose(of="new", in_frame="camera")
