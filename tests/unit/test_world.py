"""The world: how it is made, told, asked, trimmed and closed."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    BeforeHistory,
    FrameInUse,
    InvalidArgument,
    InvalidName,
    InvalidStamp,
    InvalidTransform,
    NoSamples,
    NotConnected,
    SingleSample,
    UnknownFrame,
    WorldClosed,
)
from unit.kit import STILL, drive, moved, x_of

COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
ROBOT = {"of": "robot", "in_frame": "map"}


def stamps_of(world, **names):
    return world.samples(**(ROBOT | names)).stamps.tolist()


class TestMakingAWorld:
    @pytest.mark.parametrize(
        ("wish", "sentence"),
        [
            ({"name": 5}, "name must be a str"),
            ({"history": 1.5}, r"history .* Pass seconds\(10\)"),
            ({"history": True}, "history"),
            ({"history": 0}, "history must be above zero"),
            ({"history": -1}, "history must be above zero"),
            ({"history": 2**62}, "below 146 years"),
            ({"history": "long"}, "history"),
            ({"history": None}, "history"),
            ({"max_samples": 0}, "max_samples must be a whole number of at least 1"),
            ({"max_samples": 1.5}, "max_samples"),
            ({"max_samples": True}, "max_samples"),
            ({"max_samples": 2**70}, "max_samples"),
            ({"max_runs": 0}, "max_runs"),
            ({"max_runs": None}, "max_runs"),
            ({"max_waits": 0}, "max_waits"),
            ({"max_waits": "many"}, "max_waits"),
            ({"clock": 5}, "clock must be a callable"),
            ({"default_covariance": np.eye(3)}, r"default_covariance must have shape \(6, 6\)"),
            ({"default_covariance": -np.eye(6)}, "default_covariance .* positive semi-definite"),
            ({"default_covariance": np.full((6, 6), math.nan)}, "default_covariance must be finite"),
            ({"default_covariance": "small"}, "default_covariance must be numbers"),
            ({"interpolation": "cubic"}, "interpolation must be 'linear' or 'screw', got 'cubic'"),
            ({"interpolation": 5}, "interpolation must be .*, got 5"),
            ({"interpolation": None}, "interpolation must be .*, got None"),
            ({"frames": "closed"}, "frames must be 'open' or 'declared', got 'closed'"),
            ({"frames": ["a"]}, "frames must be 'open' or 'declared'"),
            ({"max_ahead_s": -1.0}, "max_ahead_s"),
            ({"max_ahead_s": math.nan}, "max_ahead_s"),
            ({"max_ahead_s": "soon"}, "max_ahead_s"),
            ({"max_ahead_s": 1e300}, "max_ahead_s"),
            ({"thin_m": 0.1}, "thin_m and thin_rad go together"),
            ({"thin_rad": 0.1}, "thin_m and thin_rad go together"),
            ({"thin_m": -0.1, "thin_rad": 0.1}, "not negative"),
            ({"thin_m": 0.1, "thin_rad": math.inf}, "finite"),
            ({"thin_m": "some", "thin_rad": 0.1}, "thin_m"),
        ],
    )
    def test_is_refused_with_the_cure(self, wish, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            World(**wish)

    @pytest.mark.parametrize("root_frame", ["", "/map", 5, None, "a\nb"])
    def test_needs_a_name_for_its_root(self, root_frame):
        with pytest.raises(InvalidName):
            World(root_frame=root_frame)

    def test_needs_a_name_that_can_be_stored(self):
        with pytest.raises((InvalidName, InvalidArgument)):
            World("\ud800")

    @pytest.mark.parametrize(
        "wish",
        [
            {"history": np.int64(5)},
            {"max_samples": np.int32(5)},
            {"max_runs": np.int64(5)},
            {"max_ahead_s": np.float32(1.0)},
            {"max_ahead_s": 0},
            {"thin_m": np.float64(0.1), "thin_rad": 0},
            {"default_covariance": COVARIANCE.tolist()},
        ],
    )
    def test_takes_numbers_of_numpy_and_lists(self, wish):
        World(**wish).close()

    def test_has_a_map_and_no_frames(self, world):
        assert (world.name, world.root_frame, world.time_epoch) == ("", "map", 0)
        assert (world.frames(), world.relations()) == ((), ())

    def test_speaks_in_its_own_name(self):
        world = World("lab")
        world.fix(**ROBOT, transform=STILL)
        assert world.relations()[0].source == "lab"

    def test_prints_its_size(self, world):
        drive(world, 1)
        assert repr(world) == "World('', 2 frames, 1 relations)"

    def test_can_be_subclassed(self):
        class Robot(World):
            def __init__(self, arm, **more):
                super().__init__(**more)
                self.arm = arm

            def now(self):
                return seconds(7)

        with Robot("left", history=seconds(5), max_ahead_s=1.0) as robot:
            drive(robot, 8)
            assert (robot.arm, robot.relations()[0].age_s) == ("left", -1.0)
            with pytest.raises(InvalidStamp):
                drive(robot, 8.5)


class TestTheClock:
    def test_is_the_wall_clock_by_default(self, world):
        assert isinstance(world.now(), int)
        assert world.now() > seconds(1_600_000_000)

    def test_may_be_given(self, clock):
        world = World(clock=clock)
        clock.ns = 42
        assert world.now() == 42

    def test_may_tell_numpy_integers(self):
        assert World(clock=lambda: np.int64(42)).now() == 42

    @pytest.mark.parametrize("told", [1.5, "now", None, 2**70])
    def test_that_tells_no_stamp_is_refused(self, told):
        world = World(clock=lambda: told, max_ahead_s=1.0)
        for call in (world.now, lambda: drive(world, 1), lambda: world.attach(of="a", to="b")):
            world.add_frame("a", "b")
            with pytest.raises((InvalidArgument, InvalidStamp), match="clock"):
                call()

    def test_that_raises_is_heard(self):
        def broken():
            raise OSError("no clock")

        with pytest.raises(OSError, match="no clock"):
            World(clock=broken).now()

    def test_dates_what_has_no_date(self, clock):
        world = World(clock=clock)
        clock.ns = seconds(5)
        world.fix(of="cup", in_frame="table", transform=moved(1))
        world.fix(of="hand", in_frame="table", transform=moved(3))
        world.attach(of="cup", to="hand")
        assert world.pose(of="cup", in_frame="table", at=seconds(4)).relations == (("cup", "table", ""),)
        assert world.pose(of="cup", in_frame="hand", at=seconds(5)).relations == (("cup", "hand", ""),)


class TestResettingTime:
    def test_forgets_samples_and_keeps_what_is_fixed(self, world):
        drive(world, 5, 6)
        world.fix(of="camera", in_frame="robot", transform=moved(0, 1))
        world.reset_time()
        with pytest.raises(NoSamples):
            world.pose(**ROBOT)
        assert world.can_pose(of="camera", in_frame="robot")
        drive(world, 1, 2)
        assert x_of(world.pose(**ROBOT, at=seconds(1.5))) == 1.5

    def test_counts_epochs(self, world):
        world.reset_time()
        world.reset_time()
        assert world.time_epoch == 2

    def test_sets_the_clock(self, clock):
        world = World(clock=clock)
        clock.ns = seconds(100)
        world.reset_time(to=seconds(3))
        assert world.now() == seconds(3)
        clock.ns = seconds(101)
        assert world.now() == seconds(4)
        world.reset_time(to=np.int64(0))
        assert world.now() == 0

    def test_without_a_wish_leaves_the_clock(self, clock):
        world = World(clock=clock)
        world.reset_time(to=50)
        world.reset_time()
        assert world.now() == 50

    @pytest.mark.parametrize("to", [1.5, "now", 2**70, [1]])
    def test_to_no_stamp_is_refused_and_changes_nothing(self, world, to):
        drive(world, 1)
        with pytest.raises(InvalidStamp):
            world.reset_time(to=to)
        assert (world.time_epoch, stamps_of(world)) == (0, [seconds(1)])
        assert isinstance(world.now(), int)


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

    def test_keeps_what_is_not_said(self, world):
        drive(world, 1)
        world.keep(**ROBOT, history=seconds(3))
        world.keep(**ROBOT, max_samples=9)
        world.keep(**ROBOT, thin_m=0.1, thin_rad=0.2)
        world.keep(**ROBOT)
        drive(world, 4.5)
        assert stamps_of(world) == [seconds(4.5)]

    @pytest.mark.parametrize(
        ("wish", "kind", "sentence"),
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
    def test_is_not_changed_by_a_refused_wish(self, world, wish, kind, sentence):
        drive(world, 1, 2, 3)
        with pytest.raises(kind, match=sentence):
            world.keep(**(ROBOT | wish))
        assert len(stamps_of(world)) == 3


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
    def thinned(poses, at, **wish):
        world = World(history=seconds(100), **wish)
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
        with pytest.raises(InvalidStamp, match=r"0\.5|2\.5 s ahead .* max_ahead_s is 2.* Check the sender's clock"):
            drive(careful, 12.5)
        assert careful.frames() == ()
        clock.ns = seconds(11)
        drive(careful, 12.5)

    def test_are_refused_in_a_batch_naming_the_row(self, careful):
        rows = np.array([STILL.xyz_wxyz] * 3)
        with pytest.raises(InvalidStamp, match="ahead") as caught:
            careful.set_poses(**ROBOT, transforms=rows, at=[seconds(9), seconds(13), seconds(11)])
        assert "1" in str(caught.value).split("ahead")[0] or "row 1" in str(caught.value)
        assert careful.frames() == ()

    def test_follow_the_clock_when_time_is_reset(self, careful):
        careful.reset_time(to=seconds(1000))
        drive(careful, 1001)

    def test_with_no_bound_are_welcome(self, clock):
        drive(World(clock=clock), 10**9)


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
        ("wish", "kind", "sentence"),
        [
            ({"transforms": np.zeros((4, 6))}, InvalidArgument, r"transforms must have shape \(N, 7\), got \(4, 6\)"),
            ({"transforms": np.zeros(7)}, InvalidArgument, r"transforms must have shape \(N, 7\)"),
            ({"transforms": "rows"}, InvalidArgument, "transforms must be numbers"),
            ({"transforms": STILL}, InvalidArgument, "transforms must be numbers"),
            ({"at": [0, 1, 2]}, InvalidArgument, "transforms has 4 rows and at has 3 stamps"),
            ({"at": [0.0, 1.0, 2.0, 3.0]}, InvalidStamp, r"got dtype float64. Convert seconds with"),
            ({"at": [[0, 1, 2, 3]]}, InvalidArgument, r"at must have shape \(N,\)"),
            ({"at": [True] * 4}, InvalidStamp, "got dtype bool"),
            ({"at": 5}, InvalidArgument, r"at must have shape \(N,\)"),
            ({"covariances": np.zeros((3, 6, 6))}, InvalidArgument, r"covariances must have shape \(4, 6, 6\)"),
        ],
    )
    def test_of_the_wrong_shape_is_refused(self, world, wish, kind, sentence):
        with pytest.raises(kind, match=sentence):
            world.set_poses(**ROBOT, **({"transforms": self.ROWS, "at": self.AT} | wish))
        assert world.frames() == ()


class TestAttaching:
    @pytest.fixture
    def kitchen(self, clock):
        clock.ns = seconds(10)
        world = World(clock=clock)
        world.fix(of="cup", in_frame="table", transform=moved(1))
        drive(world, 0, 8, of="hand", in_frame="table")
        return world

    def test_keeps_where_it_is(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(4))) == pytest.approx(1.0)
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(7))) == pytest.approx(-3.0)

    def test_goes_along_afterwards(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(6))) == pytest.approx(3.0)

    def test_leaves_the_past_as_it_was(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert kitchen.pose(of="cup", in_frame="table", at=seconds(3)).relations == (("cup", "table", ""),)

    def test_without_a_date_takes_where_it_was_last_seen(self, kitchen):
        kitchen.attach(of="cup", to="hand")
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(11))) == pytest.approx(-7.0)
        assert kitchen.tree(at=seconds(9)).parents["cup"] == ("table", "")

    def test_and_detaching_is_a_round_trip(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(2))
        kitchen.detach(of="cup", to="table", at=seconds(6))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(99))) == pytest.approx(5.0)

    def test_speaks_for_who_holds_it(self, kitchen):
        kitchen.fix(of="plate", in_frame="table", transform=STILL, source="camera")
        kitchen.attach(of="plate", to="hand", at=seconds(4))
        assert kitchen.pose(of="plate", in_frame="hand", at=seconds(5)).relations == (("plate", "hand", "camera"),)

    def test_in_another_name_is_a_rival(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4), source="planner")
        with pytest.raises(AmbiguousPath):
            kitchen.pose(of="cup", in_frame="table", at=seconds(5))

    def test_in_the_empty_name_means_that_name(self):
        world = World("me")
        world.fix(of="cup", in_frame="table", transform=STILL, source="camera")
        world.fix(of="hand", in_frame="table", transform=STILL)
        world.attach(of="cup", to="hand", at=5, source="")
        assert {info.source for info in world.relations() if info.of == "cup"} == {"camera", ""}

    @pytest.mark.parametrize(
        ("wish", "kind"),
        [
            ({"of": "cupp"}, UnknownFrame),
            ({"to": "handd"}, UnknownFrame),
            ({"to": "cup"}, InvalidArgument),
            ({"of": 5}, InvalidName),
            ({"at": 1.5}, InvalidStamp),
            ({"at": seconds(9)}, AfterHistory),
            ({"at": seconds(-1)}, BeforeHistory),
            ({"to": "moon"}, NotConnected),
            ({"source": 5}, InvalidName),
            ({"outside": "guess"}, InvalidArgument),
        ],
    )
    def test_that_is_refused_changes_nothing(self, kitchen, wish, kind):
        kitchen.add_frame("moon")
        before = str(kitchen.tree()), len(kitchen.relations())
        for call in (kitchen.attach, kitchen.detach):
            with pytest.raises(kind):
                call(**({"of": "cup", "to": "hand", "at": seconds(4)} | wish))
        assert (str(kitchen.tree()), len(kitchen.relations())) == before

    def test_outside_the_history_can_be_wished(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(9), outside="hold")
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(9))) == pytest.approx(-7.0)


class TestRivals:
    @pytest.fixture
    def rivals(self, world):
        for x, who in ((1, "left"), (2, "right")):
            world.set_pose(**ROBOT, transform=moved(x), at=seconds(1), source=who)
        return world

    def test_are_not_chosen_from(self, rivals):
        with pytest.raises(AmbiguousPath):
            rivals.pose(**ROBOT)
        assert not rivals.can_pose(**ROBOT)

    @pytest.mark.parametrize(("who", "x"), [("left", 1), ("right", 2)])
    def test_are_settled_by_a_preference(self, rivals, who, x):
        rivals.prefer(of="robot", source=who)
        assert x_of(rivals.pose(**ROBOT)) == x

    def test_are_rivals_again_when_it_is_taken_back(self, rivals):
        rivals.prefer(of="robot", source="left")
        rivals.prefer(of="robot", source="right")
        assert x_of(rivals.pose(**ROBOT)) == 2
        rivals.prefer(of="robot", source=None)
        with pytest.raises(AmbiguousPath):
            rivals.pose(**ROBOT)

    def test_before_the_chosen_one_spoke_are_who_did(self, world):
        drive(world, 1, 2, 3, source="early")
        world.fix(**ROBOT, transform=moved(9), source="late", at=seconds(2))
        world.prefer(of="robot", source="late")
        assert x_of(world.pose(**ROBOT, at=seconds(1.5))) == 1.5
        assert x_of(world.pose(**ROBOT, at=seconds(2.5))) == 9

    @pytest.mark.parametrize(
        ("wish", "kind", "sentence"),
        [
            ({"source": "nobody"}, InvalidArgument, "No source 'nobody' places frame 'robot'; these do: 'left', 'right'"),
            ({"of": "map", "source": "left"}, InvalidArgument, "nobody does yet"),
            ({"of": "robott"}, UnknownFrame, "Did you mean"),
            ({"source": 5}, InvalidName, "source must be a str"),
        ],
    )
    def test_are_not_settled_by_a_refused_wish(self, rivals, wish, kind, sentence):
        with pytest.raises(kind, match=sentence):
            rivals.prefer(**({"of": "robot", "source": "left"} | wish))
        assert not rivals.can_pose(**ROBOT)


class TestRemovingFrames:
    def test_erases_the_past(self, world):
        drive(world, 1)
        world.remove_frame("robot")
        assert world.frames() == ("map",)
        with pytest.raises(UnknownFrame):
            world.pose(**ROBOT)

    def test_is_refused_while_others_hang_there(self, world):
        drive(world, 1)
        with pytest.raises(FrameInUse) as caught:
            world.remove_frame("map")
        assert caught.value.frames == ("robot",)
        world.remove_frame("map", subtree=True)
        assert world.frames() == ()

    def test_makes_room_for_the_same_name(self, world):
        drive(world, 1)
        world.remove_frame("robot")
        drive(world, 2, in_frame="odom")
        assert world.pose(of="robot", in_frame="odom").relations == (("robot", "odom", ""),)
        with pytest.raises(NotConnected):
            world.pose(**ROBOT)

    @pytest.mark.parametrize(("name", "kind"), [("robott", UnknownFrame), (5, InvalidName), ("/map", InvalidName)])
    def test_that_are_not_there_is_refused(self, world, name, kind):
        drive(world, 1)
        with pytest.raises(kind):
            world.remove_frame(name)


class TestClearing:
    def test_keeps_the_structure(self, world):
        drive(world, 1, 2)
        world.fix(of="camera", in_frame="robot", transform=STILL)
        world.clear()
        assert world.frames() == ("robot", "map", "camera")
        assert world.time_epoch == 0
        with pytest.raises(NoSamples):
            world.pose(of="camera", in_frame="map")
        drive(world, 1)
        with pytest.raises(SingleSample):
            world.pose(**ROBOT, at=seconds(2))


class TestClosing:
    def test_twice_is_once(self, world):
        world.close()
        world.close()

    def test_leaves_what_is_stored_readable(self, world):
        drive(world, 1, 2)
        world.close()
        assert x_of(world.pose(**ROBOT)) == 2.0
        assert len(world.snapshot(in_frame="map")) == 2
        assert world.relations()[0].samples == 2
        assert "robot" in str(world.tree())

    def test_happens_at_the_end_of_a_with(self):
        with World() as world:
            drive(world, 1)
        with pytest.raises(WorldClosed):
            world.wait_for_pose(**ROBOT)
        with pytest.raises(WorldClosed), world:
            pass

    def test_happens_when_the_body_fails(self):
        with pytest.raises(KeyError), World() as world:
            raise KeyError
        with pytest.raises(WorldClosed):
            world.on_pose(print, **ROBOT)

    def test_does_not_start_a_thread(self):
        before = threading.active_count()
        World().close()
        assert threading.active_count() == before
