"""The world: how it is made, how its time goes, and how it ends."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import (
    FrameInUse,
    InvalidArgument,
    InvalidName,
    InvalidStamp,
    NoSamples,
    NotConnected,
    SingleSample,
    UnknownFrame,
    WorldClosed,
)
from unit.kit import STILL, FakeClock, drive, moved, x_of

COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
ROBOT = {"of": "robot", "in_frame": "map"}


def stamps_of(world, **names):
    return world.samples(**(ROBOT | names)).stamps.tolist()


class TestMakingAWorld:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"name": 5}, "name must be a str"),
            ({"history": 1.5}, r"history .* Pass seconds\(10\)"),
            ({"history": True}, "history"),
            ({"history": 0}, "history must be above zero"),
            ({"history": -1}, "history must be above zero"),
            ({"history": 2**62}, "below 146 years"),
            ({"history": "long"}, "history"),
            ({"max_samples": 0}, "max_samples must be a whole number of at least 1"),
            ({"max_samples": 1.5}, "max_samples"),
            ({"max_samples": True}, "max_samples"),
            ({"max_samples": 2**70}, "max_samples"),
            ({"max_runs": 0}, "max_runs"),
            ({"max_runs": None}, "max_runs"),
            ({"authority": 256}, "authority must be a whole number from 0 to 255"),
            ({"authority": -1}, "authority"),
            ({"authority": 0.5}, "authority"),
            ({"authority": True}, "authority"),
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
    def test_is_refused_with_the_cure(self, options, sentence):
        with pytest.raises(InvalidArgument, match=sentence):
            World(**options)

    @pytest.mark.parametrize("root_frame", ["", "/map", 5, None, "a\nb"])
    def test_needs_a_name_for_its_root(self, root_frame):
        with pytest.raises(InvalidName):
            World(root_frame=root_frame)

    def test_needs_a_name_that_can_be_stored(self):
        with pytest.raises((InvalidName, InvalidArgument)):
            World("\ud800")

    @pytest.mark.parametrize(
        "options",
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
    def test_takes_numbers_of_numpy_and_lists(self, options):
        World(**options).close()

    def test_has_a_map_and_no_frames(self, world):
        assert (world.name, world.root_frame, world.time_epoch) == ("", "map", 0)
        assert (world.frames(), world.relations()) == ((), ())

    def test_is_its_own_source(self):
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

    def test_may_return_numpy_integers(self):
        assert World(clock=lambda: np.int64(42)).now() == 42

    @pytest.mark.parametrize("returned", [1.5, "now", None, 2**70])
    def test_that_returns_no_stamp_is_refused(self, returned):
        world = World(clock=lambda: returned, max_ahead_s=1.0)
        for call in (world.now, lambda: drive(world, 1), lambda: world.add_frame("a")):
            with pytest.raises((InvalidArgument, InvalidStamp), match="clock"):
                call()

    def test_that_counts_as_false_is_used_all_the_same(self):
        class Paused(FakeClock):
            def __bool__(self):
                return False

        assert World(clock=Paused(42)).now() == 42

    def test_that_raises_is_reported(self):
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

    def test_without_an_instant_leaves_the_clock(self, clock):
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


class TestRemovingFrames:
    def test_erases_the_past(self, world):
        drive(world, 1)
        world.remove_frame("robot")
        assert world.frames() == ("map",)
        with pytest.raises(UnknownFrame):
            world.pose(**ROBOT)

    def test_is_refused_while_it_is_a_parent(self, world):
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
