"""How much a world remembers: history, numbers of samples and runs, thinning, and no outliers from the future."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import BeforeHistory, InvalidArgument, InvalidName, InvalidStamp, SamplesDropped, UnknownFrame
from armillary.scene import AddJoints
from unit.kit import STILL, drive, moved

ROBOT = {"of": "robot", "in_frame": "map"}


def stamps_of(world, **names):
    return world.samples(**(ROBOT | names)).stamps.tolist()


class TestMemory:
    def test_reaches_back_as_far_as_the_history(self):
        world = World(history=seconds(2))
        drive(world, 1, 2, 3, 4)
        assert stamps_of(world) == [seconds(2), seconds(3), seconds(4)]

    def test_is_bounded_by_a_number_of_samples(self):
        world = World(max_samples=3)
        drive(world, 1, 2, 3, 4, 5)
        assert stamps_of(world) == [seconds(3), seconds(4), seconds(5)]
        with pytest.raises(BeforeHistory):
            drive(world, 2)

    def test_of_batches_is_bounded_too(self):
        world = World(max_samples=3)
        rows = np.array([moved(t).xyz_wxyz for t in range(10)])
        with pytest.warns(SamplesDropped, match="7 of 10 samples"):
            world.set_poses(**ROBOT, transforms=rows, at=np.arange(10))
        assert stamps_of(world) == [7, 8, 9]

    def test_of_parents_is_bounded(self):
        world = World(max_runs=3)
        for t in range(10):
            drive(world, t, in_frame=f"parent{t}")
        assert sorted(info.in_frame for info in world.relations()) == ["parent7", "parent8", "parent9"]

    def test_of_one_relation_can_be_shortened(self, world):
        drive(world, 1, 2, 3, 4)
        drive(world, 1, 2, 3, 4, of="cart")
        world.keep(**ROBOT, history=seconds(1))
        assert stamps_of(world) == [seconds(3), seconds(4)]
        assert len(stamps_of(world, of="cart")) == 4
        drive(world, 5)
        assert stamps_of(world) == [seconds(4), seconds(5)]

    def test_of_one_relation_can_be_lengthened(self):
        world = World(history=seconds(1))
        drive(world, 1)
        world.keep(**ROBOT, history=seconds(5))
        drive(world, 2, 3, 4)
        assert len(stamps_of(world)) == 4

    def test_of_one_relation_can_be_counted(self, world):
        drive(world, 1, 2, 3)
        world.keep(**ROBOT, max_samples=2)
        assert stamps_of(world) == [seconds(2), seconds(3)]

    def test_of_one_relation_can_be_without_end(self, world):
        drive(world, 1, of="cart")
        world.keep(**ROBOT | {"of": "cart"}, history=None)
        drive(world, 1, 5000)
        drive(world, 5000, of="cart")
        assert stamps_of(world) == [seconds(5000)]
        assert stamps_of(world, of="cart") == [seconds(1), seconds(5000)]
        world.keep(**ROBOT | {"of": "cart"}, max_samples=1)
        world.keep(**ROBOT | {"of": "cart"}, max_samples=None)
        drive(world, 9000, of="cart")
        assert stamps_of(world, of="cart") == [seconds(5000), seconds(9000)]

    def test_keeps_the_options_that_are_not_given(self, world):
        drive(world, 1)
        world.keep(**ROBOT, history=seconds(3))
        world.keep(**ROBOT, max_samples=9)
        world.keep(**ROBOT, thin_m=0.1, thin_rad=0.2)
        world.keep(**ROBOT)
        drive(world, 4.5)
        assert stamps_of(world) == [seconds(4.5)]

    @pytest.mark.parametrize(
        ("options", "kind", "sentence"),
        [
            ({"history": 1.5}, InvalidArgument, r"Pass seconds\(10\)"),
            ({"history": 0}, InvalidArgument, "above zero"),
            ({"max_samples": 0}, InvalidArgument, "at least 1"),
            ({"max_samples": 2**70}, InvalidArgument, "max_samples"),
            ({"thin_m": 0.1}, InvalidArgument, "go together"),
            ({"thin_m": math.nan, "thin_rad": 0.1}, InvalidArgument, "finite"),
            ({"of": "robott"}, UnknownFrame, "Did you mean 'robot'"),
            ({"of": "map", "in_frame": "robot"}, InvalidArgument, "places 'map' directly in 'robot'"),
            ({"source": "nobody"}, InvalidArgument, "No source 'nobody'"),
            ({"source": 5}, (InvalidName, InvalidArgument), "source must be a str"),
        ],
    )
    def test_is_not_changed_by_refused_options(self, world, options, kind, sentence):
        drive(world, 1, 2, 3)
        with pytest.raises(kind, match=sentence):
            world.keep(**(ROBOT | options))
        assert len(stamps_of(world)) == 3


class TestABatchThatIsTooLong:
    ROWS = np.array([moved(t).xyz_wxyz for t in range(100)])
    AT = np.arange(100) * seconds(1)

    def test_says_how_much_of_it_is_kept(self):
        world = World(history=seconds(9))
        with pytest.warns(SamplesDropped) as caught:
            world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT)
        warning = caught[0].message
        assert (warning.what, warning.dropped, warning.given) == ("'robot' in 'map'", 90, 100)
        assert "history=None" in str(warning)
        assert caught[0].filename == __file__
        assert len(stamps_of(world)) == 10

    def test_says_so_once_for_each_relation(self):
        world = World(history=seconds(9))
        for of in ("robot", "cart"):
            with pytest.warns(SamplesDropped, match=of):
                world.set_poses(of=of, in_frame="map", transforms=self.ROWS, at=self.AT)
            world.set_poses(of=of, in_frame="map", transforms=self.ROWS, at=self.AT + seconds(200))

    def test_of_joints_says_so_too(self):
        world = World(history=seconds(9))
        world.apply([AddJoints({"hinge": "linear"})])
        with pytest.warns(SamplesDropped, match="90 of 100 samples of joint 'hinge'"):
            world.set_joint_series(["hinge"], positions=np.zeros((100, 1)), at=self.AT)

    @pytest.mark.parametrize("history", [None, seconds(99)])
    def test_says_nothing_where_it_is_kept(self, history):
        world = World(history=history)
        world.set_poses(**ROBOT, transforms=self.ROWS, at=self.AT)
        assert len(stamps_of(world)) == 100


EVERY_MS = np.arange(4000) * 1_000_000


@pytest.fixture(scope="module")
def poses():
    """Four seconds of a winding drive, a thousand samples a second."""
    t = 1e-9 * EVERY_MS
    xyz = np.stack([t, np.sin(3 * t), 0.2 * np.cos(5 * t)], axis=1)
    half = 0.5 * np.sin(2 * t)
    wxyz = np.stack([np.cos(half), np.zeros_like(t), np.zeros_like(t), np.sin(half)], axis=1)
    return np.hstack([xyz, wxyz])


class TestThinning:
    BOUND_M, BOUND_RAD = 0.01, 0.02

    @staticmethod
    def thinned(poses, at, **options):
        world = World(history=seconds(100), **options)
        for row, stamp in zip(poses, at, strict=True):
            world.set_poses(**ROBOT, transforms=row[None], at=[stamp])
        return world

    def check(self, world, poses):
        seen = world.transforms(**ROBOT, at=EVERY_MS, as_="xyz_wxyz")
        assert np.linalg.norm(seen[:, :3] - poses[:, :3], axis=1).max() <= self.BOUND_M * (1 + 1e-9)
        cosines = np.abs((seen[:, 3:] * poses[:, 3:]).sum(axis=1)).clip(max=1.0)
        assert (2 * np.arccos(cosines)).max() <= self.BOUND_RAD + 1e-6
        kept = world.samples(**ROBOT)
        assert len(kept) < len(poses) / 4
        assert (kept.stamps[0], kept.stamps[-1]) == (EVERY_MS[0], EVERY_MS[-1])

    def test_keeps_every_original_within_the_bound(self, poses):
        self.check(self.thinned(poses, EVERY_MS, thin_m=self.BOUND_M, thin_rad=self.BOUND_RAD), poses)

    def test_of_a_batch_does_the_same(self, poses):
        world = World(history=seconds(100), thin_m=self.BOUND_M, thin_rad=self.BOUND_RAD)
        world.set_poses(**ROBOT, transforms=poses, at=EVERY_MS)
        self.check(world, poses)

    def test_can_be_wished_later(self, poses):
        world = self.thinned(poses[:1], EVERY_MS[:1])
        world.keep(**ROBOT, thin_m=self.BOUND_M, thin_rad=self.BOUND_RAD)
        world.set_poses(**ROBOT, transforms=poses, at=EVERY_MS)
        self.check(world, poses)

    def test_drops_nothing_that_is_needed(self):
        world = World(thin_m=0.01, thin_rad=0.01)
        for i in range(1000):
            world.set_pose(**ROBOT, transform=moved(i % 2), at=i)
        assert len(stamps_of(world)) == 1000

    def test_without_bounds_drops_nothing(self, poses):
        world = World(history=seconds(100))
        world.set_poses(**ROBOT, transforms=poses, at=EVERY_MS)
        assert len(stamps_of(world)) == len(poses)


class TestSamplesFromTheFuture:
    @pytest.fixture
    def careful(self, clock):
        clock.ns = seconds(10)
        return World(clock=clock, max_ahead_s=2.0)

    def test_are_taken_up_to_the_bound(self, careful):
        drive(careful, 12)
        assert stamps_of(careful) == [seconds(12)]

    def test_are_refused_beyond(self, careful, clock):
        with pytest.raises(InvalidStamp, match=r"2\.5 s ahead .* max_ahead_s is 2.* Check the sender's clock"):
            drive(careful, 12.5)
        assert careful.frames() == ()
        clock.ns = seconds(11)
        drive(careful, 12.5)

    def test_are_refused_in_a_batch_naming_the_row(self, careful):
        rows = np.array([STILL.xyz_wxyz] * 3)
        with pytest.raises(InvalidStamp, match=r"ahead .*row 1 of the batch"):
            careful.set_poses(**ROBOT, transforms=rows, at=[seconds(9), seconds(13), seconds(11)])
        assert careful.frames() == ()

    def test_follow_the_clock_when_time_is_reset(self, careful):
        careful.reset_time(to=seconds(1000))
        drive(careful, 1001)

    def test_with_no_bound_are_welcome(self, clock):
        drive(World(clock=clock), 10**9)
